//! Results as short texts: `s1.0` is the first task of stream 1, `t1.2` the third call of thread 1.

use ascend_trace_analysis::stats::StallStats;
use ascend_trace_analysis::{Cause, Dependencies, Edge, Lane, Node, Root, Stall, Stalls};
use ascend_trace_recording::Trace;

pub(super) fn node(trace: &Trace, node: Node) -> String {
    match node {
        Node::Task(id) => {
            let task = trace.task(id);
            format!("s{}.{}", trace.stream(task.stream).number(), task.sequence)
        }
        Node::Call(id) => {
            let thread = trace.call(id).thread;
            let place = trace.thread_calls(thread).iter().position(|it| *it == id);
            format!("{}.{}", trace.thread(thread).name, place.expect("listed"))
        }
    }
}

pub(super) fn edge(trace: &Trace, edge: &Edge) -> String {
    let kind = edge.kind.name();
    format!(
        "{kind} {} > {}",
        node(trace, edge.from),
        node(trace, edge.to)
    )
}

/// All stored edges, sorted.
pub(super) fn edges(trace: &Trace, dependencies: &Dependencies) -> Vec<String> {
    let mut words: Vec<_> = dependencies
        .edges()
        .iter()
        .map(|it| edge(trace, it))
        .collect();
    words.sort();
    words
}

pub(super) fn lane(trace: &Trace, lane: Lane) -> String {
    match lane {
        Lane::Stream(id) => format!("s{}", trace.stream(id).number()),
        Lane::Thread(id) => trace.thread(id).name.clone(),
    }
}

/// A stall with its lane, time, cause and culprit.
pub(super) fn stall(trace: &Trace, dependencies: &Dependencies, stall: &Stall) -> String {
    let mut words = format!(
        "{} {}..{} {}",
        lane(trace, stall.lane),
        stall.begin,
        stall.end,
        stall.cause.name()
    );
    let culprit = stall.culprit(trace, dependencies);
    if let Some(stream) = culprit.stream {
        words += &format!(" by s{}", trace.stream(stream).number());
    }
    if let Some(task) = culprit.task {
        words += &format!(" {}", trace.task_name(trace.task(task)));
    }
    if let Some(record) = culprit.record {
        words += &format!(" rec {}", node(trace, Node::Task(record)));
    }
    if let Some(call) = culprit.call {
        words += &format!(" {}", trace.function(trace.call(call).function).name);
    }
    words
}

/// All stalls of the wanted causes, by time.
pub(super) fn stalls(trace: &Trace, wanted: &[Cause]) -> Vec<String> {
    let dependencies = Dependencies::of(trace);
    let stalls = Stalls::of(trace);
    stalls
        .sorted()
        .into_iter()
        .filter(|it| wanted.contains(&it.cause))
        .map(|it| stall(trace, &dependencies, it))
        .collect()
}

/// A stall of a stream with its time, its cause, and what shows that.
pub(super) fn idle(
    trace: &Trace,
    dependencies: &Dependencies,
    stalls: &Stalls,
    stall: &Stall,
) -> String {
    let mut words = format!(
        "{} {}..{} {}",
        lane(trace, stall.lane),
        stall.begin,
        stall.end,
        stall.cause.name()
    );
    let name = |node| match node {
        Node::Task(task) => trace.task_name(trace.task(task)),
        Node::Call(call) => &trace.function(trace.call(call).function).name,
    };
    let evidence = stalls.evidence(trace, dependencies, stall);
    let culprit = evidence.culprit;
    if let Some(stream) = culprit.stream {
        words += &format!(" by s{}", trace.stream(stream).number());
    }
    if let (Some(task), false) = (culprit.task, stall.cause == Cause::Callback) {
        words += &format!(" {}", name(Node::Task(task)));
    }
    match (stall.cause, culprit.call) {
        (_, None) | (Cause::Callback, _) => {}
        (Cause::HostLate | Cause::GraphLaunch, Some(call)) => {
            words += &format!(" {}", name(Node::Call(call)));
        }
        (_, Some(call)) => words += &format!(" call {}", name(Node::Call(call))),
    }
    match evidence.chain.root {
        Some(Root::Task(task)) => words += &format!(" root {}", name(Node::Task(task))),
        Some(Root::Call(call)) => words += &format!(" root call {}", name(Node::Call(call))),
        None => {}
    }
    if let Some(why) = StallStats::of(trace, dependencies, stalls, stall).why {
        words += &format!(": {why}");
    }
    words
}

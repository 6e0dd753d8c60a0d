//! Why captures fail, in words, with the call that is to blame.

use ascend_trace_format::api::Role;
use ascend_trace_recording::{CallId, StreamId, TimeRange, Trace};

use super::build::failed;
use super::return_codes::{self, *};
use super::{Graph, GraphNode, Graphs, Outcome, links};

/// Why a capture failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub text: String,
    /// The call that is to blame, if it is known.
    pub call: Option<CallId>,
}

/// A call that was refused because of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub call: CallId,
    pub text: String,
}

/// A stream for people.
fn stream(trace: &Trace, id: StreamId) -> String {
    let stream = trace.stream(id);
    if stream.is_default {
        return "the default stream".to_owned();
    }
    format!("stream {}", stream.number())
}

fn function(trace: &Trace, call: CallId) -> &str {
    &trace.function(trace.call(call).function).name
}

/// A code with its name.
fn code(trace: &Trace, code: i64) -> String {
    match trace.error_name(code) {
        Some(name) => format!("{code} {name}"),
        None => code.to_string(),
    }
}

fn blame(text: String, call: CallId) -> Explanation {
    Explanation {
        text,
        call: Some(call),
    }
}

pub(super) fn failure(graphs: &Graphs, trace: &Trace, graph: &Graph) -> Option<Explanation> {
    let failed = match graph.outcome {
        Outcome::Ready => return None,
        Outcome::Failed(code) => code,
        Outcome::Open => return never_ended(graphs, trace, graph),
    };
    let end = graph.end?;
    Some(match failed {
        UNJOINED => unjoined(trace, graph),
        INVALIDATED => invalidated(graphs, trace, graph, end),
        WRONG_THREAD => wrong_thread(trace, graph, end),
        UNMATCHED => unmatched(trace, graph, end),
        DEPENDENCY => unrecorded(trace, graph, end),
        GROUP_STATUS => blame(
            "a task group was still open when the capture was ended".to_owned(),
            end,
        ),
        other => {
            let reason =
                return_codes::refusal(other).unwrap_or("the runtime gives no other reason");
            blame(format!("{}: {reason}", code(trace, other)), end)
        }
    })
}

/// The capture was under way when the recording ended.
fn never_ended(graphs: &Graphs, trace: &Trace, graph: &Graph) -> Option<Explanation> {
    trace.end()?;
    let begin = graph.begin?;
    let mut text = "its capture was never ended".to_owned();
    if let Some(first) = refusals(graphs, trace, graph).first() {
        let name = function(trace, first.call);
        text = format!("{text}; before, {name} had been refused: {}", first.text);
        return Some(blame(text, first.call));
    }
    Some(blame(text, begin))
}

/// The rule of the runtime: the last node of every stream that joined is an event record that some
/// stream waits for, and the stream that began the capture waits for one of these.
fn unjoined(trace: &Trace, graph: &Graph) -> Explanation {
    let origin = graph
        .origin
        .map_or_else(String::new, |id| stream(trace, id));
    let mut came_back = false;
    for joined in graph.streams() {
        if Some(joined) == graph.origin {
            continue;
        }
        let own = || graph.nodes.iter().filter(|node| node.stream == joined);
        let waiters = |node: &GraphNode| waiters(trace, graph, node);
        let Some(last) = own().next_back() else {
            continue;
        };
        let who = stream(trace, joined);
        if waiters(last).is_empty() {
            let text = match own().rfind(|node| !waiters(node).is_empty()) {
                Some(record) => format!(
                    "{who} had joined the origin again with node {}, but then got {} (node {}) that no \
                     stream waits for. Submit it before the record, or record again and wait for that on \
                     {origin}",
                    record.number,
                    trace.task_name(trace.task(last.task)),
                    last.number,
                ),
                None => format!(
                    "{who} joined the capture and did not come back: its last node is {} (node {}). \
                     Record an event on {who} after it and wait for that on {origin} before the \
                     capture ends",
                    trace.task_name(trace.task(last.task)),
                    last.number,
                ),
            };
            return blame(text, last.call);
        }
        came_back |= waiters(last)
            .iter()
            .any(|waiter| Some(waiter.stream) == graph.origin);
    }
    let text = if came_back {
        "the runtime found a stream that did not come back, but by its nodes all did".to_owned()
    } else {
        format!("no stream came back to {origin}: it waits for none of their last records")
    };
    Explanation {
        text,
        call: graph.end,
    }
}

/// The nodes of other streams that wait for the record of a node.
fn waiters<'g>(trace: &Trace, graph: &'g Graph, record: &GraphNode) -> Vec<&'g GraphNode> {
    let Some(recorded) = links::event(trace, record, Role::RecordEvent) else {
        return Vec::new();
    };
    let waits = |node: &&GraphNode| {
        links::event(trace, node, Role::WaitEvent) == Some(recorded) && node.stream != record.stream
    };
    graph.nodes.iter().filter(waits).collect()
}

/// An event call that failed on one of its streams, or that touched it from another capture.
fn invalidated(graphs: &Graphs, trace: &Trace, graph: &Graph, end: CallId) -> Explanation {
    let all = refusals(graphs, trace, graph);
    let spoils = |refusal: &&Refusal| {
        let call = trace.call(refusal.call);
        call.ret == CONFLICT || (touches(trace, refusal.call) && call.ret != INVALIDATED)
    };
    let Some(first) = all.iter().find(spoils) else {
        let text = "a call invalidated the capture; the trace does not show which".to_owned();
        return blame(text, end);
    };
    let call = trace.call(first.call);
    let place = call.stream.map(|id| format!(" on {}", stream(trace, id)));
    let text = format!(
        "{}{} failed with {} and invalidated the capture: {}",
        function(trace, first.call),
        place.unwrap_or_default(),
        code(trace, call.ret),
        first.text
    );
    blame(text, first.call)
}

/// Whether a call adds something to a stream.
fn touches(trace: &Trace, call: CallId) -> bool {
    let function = trace.function(trace.call(call).function);
    function.task.is_some()
}

fn wrong_thread(trace: &Trace, graph: &Graph, end: CallId) -> Explanation {
    let thread = |call: CallId| {
        let thread = trace.thread(trace.call(call).thread);
        match thread.name.as_str() {
            "" => format!("thread {}", thread.tid),
            name => format!("thread {} ({name})", thread.tid),
        }
    };
    let began = graph.begin.map(thread);
    let text = format!(
        "{} began the capture and {} ended it: only a capture in relaxed mode may be ended by \
         another thread",
        began.as_deref().unwrap_or("another thread"),
        thread(end),
    );
    blame(text, end)
}

fn unmatched(trace: &Trace, graph: &Graph, end: CallId) -> Explanation {
    let name = |id: Option<StreamId>| {
        id.map_or_else(|| "another stream".to_owned(), |id| stream(trace, id))
    };
    let text = format!(
        "the capture began on {} and has to be ended there, not on {}",
        name(graph.origin),
        name(trace.call(end).stream),
    );
    blame(text, end)
}

/// A wait for an event that nothing in the graph records.
fn unrecorded(trace: &Trace, graph: &Graph, end: CallId) -> Explanation {
    let records = links::records(graph, trace);
    let orphan = graph.nodes.iter().find(|node| {
        links::event(trace, node, Role::WaitEvent)
            .is_some_and(|event| !records.contains_key(&event))
    });
    match orphan {
        Some(node) => blame(
            format!(
                "node {} on {} waits for an event that was not recorded in the capture",
                node.number,
                stream(trace, node.stream)
            ),
            node.call,
        ),
        None => blame("an event was waited for but never recorded".to_owned(), end),
    }
}

pub(super) fn refusals(graphs: &Graphs, trace: &Trace, graph: &Graph) -> Vec<Refusal> {
    let during = graph.begin.filter(|_| graph.origin.is_some());
    let span = during.map(|begin| {
        let end = graph.end.map_or(i64::MAX, |end| trace.call(end).end);
        TimeRange::new(trace.call(begin).begin, end)
    });
    let elsewhere = graphs.unassigned.iter().copied().filter(|id| {
        let call = trace.call(*id);
        let own = trace.thread(call.thread).process == graph.process;
        own && span.is_some_and(|span| span.covers(call.range()))
    });
    // A conflict spoils two captures, but its call can name only one of them.
    let conflicts = graphs
        .graphs
        .iter()
        .filter(|other| other.process == graph.process && other.serial != graph.serial)
        .flat_map(|other| other.refused.iter().copied())
        .filter(|id| {
            let call = trace.call(*id);
            call.ret == CONFLICT && span.is_some_and(|span| span.covers(call.range()))
        });
    let own = graph.refused.iter().copied();
    let mut calls: Vec<CallId> = own.chain(elsewhere).chain(conflicts).collect();
    calls.retain(|id| failed(trace, trace.call(*id)));
    calls.sort_by_key(|id| (trace.call(*id).begin, *id));
    calls.dedup();
    let refusal = |call: CallId| Refusal {
        call,
        text: match return_codes::refusal(trace.call(call).ret) {
            Some(text) => text.to_owned(),
            None => format!("it failed with {}", code(trace, trace.call(call).ret)),
        },
    };
    calls.into_iter().map(refusal).collect()
}

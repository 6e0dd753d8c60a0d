//! Stalls in a few words: the cause, who is to blame, and how long it took.

use ascend_trace_analysis::{Cause, Culprit, Dependencies, Lane, Node, Stall, Stalls};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{CallId, ThreadId, Trace};

use crate::display_names;
use crate::item::CallOrTask;
use crate::text::{duration, short_name};

/// Stalls of a thread that are looked at to find the one that held a stream up.
const LOOKED_AT: usize = 1_000;

/// What stalls are explained by.
#[derive(Clone, Copy)]
pub(crate) struct StallContext<'a> {
    pub(crate) dependencies: &'a Dependencies,
    pub(crate) stalls: &'a Stalls,
}

/// A stall in words, the longest form first and its mere length last.
pub(crate) fn words(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> Vec<String> {
    let length = duration(stall.length());
    let mut forms: Vec<String> = forms(known, trace, stall)
        .into_iter()
        .map(|form| format!("{form} {length}"))
        .collect();
    forms.dedup();
    forms.push(length);
    forms
}

/// The cause and who is to blame, without the length.
pub(crate) fn sentence(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> String {
    forms(known, trace, stall).swap_remove(0)
}

/// Whether the stall names the host function, and not the task behind it.
fn is_of_function(trace: &Trace, stall: &Stall) -> bool {
    matches!(stall.node, Node::Task(task) if trace.task(task).kind == TaskKind::HostFunc)
}

fn forms(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> Vec<String> {
    match stall.cause {
        Cause::EventWait | Cause::SignalWait | Cause::HostSync | Cause::HostCopy => {
            awaited(known, trace, stall)
        }
        Cause::QueueFull if !stall.is_gap() => awaited(known, trace, stall),
        Cause::ReturnLatency if !stall.is_gap() => returning(trace, stall),
        Cause::HostLate => of_host(trace, stall, "host late"),
        Cause::TracerOverhead => of_host(trace, stall, "tracer overhead"),
        Cause::GraphLaunch => of_host(trace, stall, "graph launch"),
        Cause::HostBlocked | Cause::ReturnLatency | Cause::QueueFull => {
            held_up(known, trace, stall)
        }
        Cause::Callback if !is_of_function(trace, stall) => vec!["host function".to_owned()],
        Cause::Callback => {
            let name = CallOrTask::from(stall.node).label(trace);
            vec![
                format!("host function '{name}'"),
                format!("host function '{}'", short_name(&name)),
                "host function".to_owned(),
            ]
        }
        Cause::CollectivePeer => of_peer(known, trace, stall),
        Cause::Drained => vec!["nothing more to do".to_owned()],
        Cause::Switch => vec!["idle".to_owned()],
        Cause::Untimed => vec!["tasks without a time".to_owned(), "untimed".to_owned()],
        Cause::Unknown => vec!["cause unknown".to_owned(), "idle".to_owned()],
    }
}

/// A wait on a stream or in a call, and its target.
fn awaited(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> Vec<String> {
    let culprit = stall.culprit(trace, known.dependencies);
    let (long, short) = match stall.cause {
        Cause::EventWait => {
            let event = culprit.event.map(|it| display_names::event(trace, it));
            let event = event.unwrap_or_else(|| "an event".to_owned());
            (format!("waits {event}"), event)
        }
        Cause::SignalWait => {
            let what = "a notify or value".to_owned();
            (format!("waits for {what}"), what)
        }
        cause => {
            let name = CallOrTask::from(stall.node).name(trace).to_owned();
            let short = match cause {
                Cause::QueueFull => "queue full",
                Cause::HostCopy => "copy",
                _ => "sync",
            };
            (name, short.to_owned())
        }
    };
    let (from, task) = source(trace, &culprit, device_of(trace, stall));
    vec![
        format!("{long}{from}{}", quoted(task.as_deref())),
        format!(
            "{}{from}{}",
            short_name(&long),
            quoted(task.as_deref().map(short_name))
        ),
        format!("{short}{from}{}", quoted(task.as_deref().map(short_name))),
        format!("{short}{from}"),
        short,
    ]
}

/// A call that had not returned after its target was done.
fn returning(trace: &Trace, stall: &Stall) -> Vec<String> {
    let name = CallOrTask::from(stall.node).name(trace);
    vec![
        format!("{name} returns"),
        format!("{} returns", short_name(name)),
        "return latency".to_owned(),
        "return".to_owned(),
    ]
}

/// Where a culprit is and what ran there.
fn source(trace: &Trace, culprit: &Culprit, device: Option<u32>) -> (String, Option<String>) {
    let stream = culprit
        .stream
        .map(|id| display_names::stream_from(trace, id, device));
    let task = culprit
        .task
        .map(|id| CallOrTask::Task(id).label(trace).into_owned());
    (
        stream.map(|it| format!(" ← {it}")).unwrap_or_default(),
        task,
    )
}

fn quoted(name: Option<&str>) -> String {
    name.map(|it| format!(" '{it}'")).unwrap_or_default()
}

fn device_of(trace: &Trace, stall: &Stall) -> Option<u32> {
    match (stall.lane, stall.node) {
        (Lane::Stream(stream), _) => Some(trace.stream(stream).device),
        (_, Node::Task(task)) => Some(trace.stream(trace.task(task).stream).device),
        (_, Node::Call(call)) => trace.call(call).device.map(u32::from),
    }
}

/// The thread that came late.
fn of_host(trace: &Trace, stall: &Stall, what: &str) -> Vec<String> {
    let call = CallOrTask::from(stall.node).call(trace);
    let thread = display_names::thread(trace, trace.call(call).thread);
    vec![format!("{what} ← {thread}"), what.to_owned()]
}

/// The call that held up the thread that submits.
fn held_up(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> Vec<String> {
    let short = match stall.cause {
        Cause::QueueFull => "queue full",
        Cause::ReturnLatency => "return latency",
        _ => "host blocked",
    };
    let submission = CallOrTask::from(stall.node).call(trace);
    let thread = trace.call(submission).thread;
    let Some(call) = blocker(known, stall, thread) else {
        return vec![short.to_owned()];
    };
    let name = CallOrTask::Call(call).name(trace);
    let thread = display_names::thread(trace, thread);
    vec![
        format!("{short} ← {thread} in {name}"),
        format!("{short} ← {thread} in {}", short_name(name)),
        format!("{short} ← {}", short_name(name)),
        short.to_owned(),
    ]
}

/// The call that took most of a gap.
pub(crate) fn blocker(known: StallContext<'_>, stall: &Stall, thread: ThreadId) -> Option<CallId> {
    let lane = Lane::Thread(thread);
    let stalls = known.stalls.in_window(lane, stall.begin, stall.end);
    let part = |it: &&Stall| it.end.min(stall.end) - it.begin.max(stall.begin);
    let holds = |it: &&Stall| stall.cause.is_by(it.cause);
    let found = stalls.iter().take(LOOKED_AT).filter(holds);
    match found.max_by_key(part)?.node {
        Node::Call(call) => Some(call),
        Node::Task(_) => None,
    }
}

fn of_peer(known: StallContext<'_>, trace: &Trace, stall: &Stall) -> Vec<String> {
    let evidence = known.stalls.evidence(trace, known.dependencies, stall);
    let (from, task) = source(trace, &evidence.culprit, device_of(trace, stall));
    vec![
        format!("waits for a peer{from}{}", quoted(task.as_deref())),
        format!(
            "waits for a peer{from}{}",
            quoted(task.as_deref().map(short_name))
        ),
        format!("waits for a peer{from}"),
        "waits for a peer".to_owned(),
    ]
}

//! The process made streams, events or graphs again and again, after it had destroyed others. Each costs the host a call or
//! two, and the runtime a place on the device. A stream that is destroyed waits for its work first. The capture of a graph
//! takes as long as the submission of its tasks, so it saves nothing if the graph is replayed once.
//!
//! Keep them and reuse them: you can record an event any number of times, and replay a graph any number of times.
//!
//! The check reports 64 streams, events or graphs, or 16 if the calls that make and destroy them take a hundredth of the time.
//! Graphs that were replayed twice or more do not count.

use std::collections::HashMap;

use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::units::count;
use ascend_trace_recording::{CallId, ProcessId, Trace};

use super::super::finding::began;
use super::super::object_lifetimes::ObjectKind;
use super::super::{Check, Finding, Remedy};
use crate::Window;

/// Graphs that are followed at a time.
const MOST_GRAPHS: usize = 1 << 16;

/// A kind of things that a process makes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CheckedKind {
    Object(ObjectKind),
    Graph,
}

/// Effect of a call.
#[derive(Clone, Copy, Debug)]
enum Change {
    Makes(CheckedKind),
    Ends(CheckedKind),
    Replays,
}

/// The calls of one kind in a process.
#[derive(Debug, Default)]
struct ProcessCalls {
    /// Destroyed, and not made again since.
    spare: u64,
    /// The time of the calls that made or destroyed one. Nanoseconds.
    spent_ns: i64,
    /// The calls that made one where another had been destroyed.
    again: Option<Finding>,
}

#[derive(Debug, Default)]
pub(super) struct ShortLived {
    seen: HashMap<(ProcessId, CheckedKind), ProcessCalls>,
    /// How often each graph was replayed.
    replays: HashMap<(ProcessId, u32), u32>,
}

impl Check for ShortLived {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        let changes = window.calls().filter_map(|id| Some((id, change(trace, id)?)));
        let mut changes: Vec<(CallId, Change)> = changes.collect();
        // Calls of different threads come in any order.
        changes.sort_by_key(|(id, _)| began(trace, *id));
        for (id, change) in changes.into_iter().filter(|(id, _)| wanted(*id)) {
            self.note(trace, id, change);
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let seen = std::mem::take(&mut self.seen).into_iter();
        let found = seen.filter_map(|((_, kind), seen)| {
            let finding = seen.again.filter(|it| it.is_often(seen.spent_ns))?;
            let times = count(finding.count);
            let (what, advice) = match kind {
                CheckedKind::Object(kind) => (
                    format!("{times} {} were made after others had been destroyed", kind.name()),
                    format!("keep {} and use them again", kind.name()),
                ),
                CheckedKind::Graph => (
                    format!("{times} graphs were captured after others had been replayed once and destroyed"),
                    "capture a graph once, and replay it: its memory may have other contents".to_owned(),
                ),
            };
            Some(Finding {
                what,
                advice,
                remedy: Some(Remedy::NotSimulated),
                ..finding
            })
        });
        found.collect()
    }
}

impl ShortLived {
    fn note(&mut self, trace: &Trace, id: CallId, change: Change) {
        let call = trace.call(id);
        let process = trace.thread(call.thread).process;
        let graph = call.graph.map(|it| (process, it.serial));
        let took = call.end - call.begin;
        match change {
            Change::Replays => {
                if let Some(graph) = graph
                    && (self.replays.len() < MOST_GRAPHS || self.replays.contains_key(&graph))
                {
                    *self.replays.entry(graph).or_default() += 1;
                }
            }
            Change::Ends(kind) => {
                let replays = graph.and_then(|it| self.replays.remove(&it));
                if kind == CheckedKind::Graph && replays != Some(1) {
                    return;
                }
                let seen = self.seen.entry((process, kind)).or_default();
                seen.spare += 1;
                seen.spent_ns += took;
            }
            Change::Makes(kind) => {
                let seen = self.seen.entry((process, kind)).or_default();
                if seen.spare == 0 {
                    return;
                }
                seen.spare -= 1;
                seen.spent_ns += took;
                let this = Finding::of_call(trace, id);
                match &mut seen.again {
                    Some(known) => known.join(&this),
                    None => seen.again = Some(this),
                }
            }
        }
    }
}

fn change(trace: &Trace, id: CallId) -> Option<Change> {
    let call = trace.call(id);
    let role = trace.function(call.function).role;
    let of_object = ObjectKind::of(role).map(|(kind, makes)| match makes {
        true => Change::Makes(CheckedKind::Object(kind)),
        false => Change::Ends(CheckedKind::Object(kind)),
    });
    let of_graph = || {
        let graph = call.graph.filter(|it| it.serial != 0)?;
        let is_replay = call.task.is_some_and(|it| trace.task(it).kind == TaskKind::Graph);
        match role {
            Role::CaptureEnd => Some(Change::Makes(CheckedKind::Graph)),
            Role::DestroyGraph => Some(Change::Ends(CheckedKind::Graph)),
            Role::ExecuteGraph => Some(Change::Replays),
            _ => (is_replay && graph.serial != 0).then_some(Change::Replays),
        }
    };
    of_object.or_else(of_graph).filter(|_| call.result() == Some(0))
}

//! The process ended, and streams, events, contexts, graphs or memory that it had made were still there. The runtime
//! frees them with the process, so this costs nothing at the end. In a program that runs for long, or in a library, the
//! same calls may fill the device: the number of streams and events has a limit.
//!
//! Give back what the call made. Frameworks keep memory, streams and events for reuse until the process ends: this is
//! intended there.
//!
//! The check looks only at processes that the recording saw end. A reset of the device does not count as giving back.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Role};
use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, FunctionId, ProcessId, ThreadId, Trace};

use super::super::order::{Fact, Note};
use super::super::{Check, Finding};
use crate::Window;

/// Things that are followed at a time; with more, none are reported.
const MOST: usize = 1 << 20;

/// Kinds of objects that can be made and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Stream,
    Event,
    Context,
    Graph,
    Memory,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Event => "event",
            Self::Context => "context",
            Self::Graph => "graph",
            Self::Memory => "allocation",
        }
    }
}

/// A thing of a process: by serial, or by address.
type Thing = (ProcessId, Kind, u64);

/// Objects made by calls of one function in one thread.
type Group = (ProcessId, Kind, ThreadId, FunctionId);

/// When something was made or given back, in the order of the calls.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: i64,
    thing: Thing,
    made: Option<(Note, u64)>,
}

#[derive(Debug, Default)]
pub(super) struct Leak {
    live: HashMap<Thing, (Note, u64)>,
    ahead: Vec<Change>,
    gave_up: bool,
    unknown: Vec<Option<ProcessId>>,
    found: Vec<(ProcessId, Finding)>,
}

impl Check for Leak {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls() {
            self.ahead.extend(change(trace, id, wanted));
        }
        self.ahead.sort_by_key(|it| (it.at, it.made.is_some()));
        let until = window.part.until;
        let due = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|it| it.at < until),
        };
        for change in self.ahead.drain(..due) {
            match change.made {
                None => drop(self.live.remove(&change.thing)),
                Some(made) => drop(self.live.insert(change.thing, made)),
            }
        }
        self.gave_up |= self.live.len() > MOST;
        if self.gave_up {
            self.live.clear();
        }
        // After a range of a recording, everything may still be given back.
        if window.part.is_last && !trace.has_future() {
            self.found = findings(trace, &self.live);
        }
    }

    fn judge(&mut self, _: &Trace, facts: &[Fact]) {
        for fact in facts {
            if let Fact::Unknown(process) = fact {
                self.unknown.push(*process);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let (found, unknown) = (std::mem::take(&mut self.found), &self.unknown);
        let is_known = |process| !unknown.contains(&None) && !unknown.contains(&Some(process));
        let found = found.into_iter().filter(|(process, _)| is_known(*process));
        found.map(|(_, finding)| finding).collect()
    }
}

/// The object that a call makes or gives back.
fn change(trace: &Trace, id: CallId, wanted: &dyn Fn(CallId) -> bool) -> Option<Change> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let process = trace.thread(call.thread).process;
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let stream = || Some((Kind::Stream, u64::from(call.stream?.0)));
    let event = || Some((Kind::Event, u64::from(call.event?.event.0)));
    let context = || Some((Kind::Context, u64::from(call.context?.0)));
    let graph = || Some((Kind::Graph, u64::from(call.graph?.serial)));
    let memory = |address: u64| (Kind::Memory, address);
    let allocated = word(ArgPart::Allocated).or_else(|| word(ArgPart::HostAllocated));
    let freed = word(ArgPart::Freed).or_else(|| word(ArgPart::HostFreed));
    let (thing, makes) = match function.role {
        Role::CreateStream => (stream()?, true),
        Role::DestroyStream => (stream()?, false),
        Role::CreateEvent => (event()?, true),
        Role::DestroyEvent => (event()?, false),
        Role::CreateContext => (context()?, true),
        Role::DestroyContext => (context()?, false),
        Role::CaptureEnd | Role::BuildGraph => (graph()?, true),
        Role::DestroyGraph => (graph()?, false),
        _ => match (allocated, freed) {
            (Some(address), _) => (memory(address), true),
            (None, Some(address)) => (memory(address), false),
            (None, None) => return None,
        },
    };
    let is_thing = thing.0 != Kind::Memory || thing.1 != 0;
    if call.result() != Some(0) || !is_thing {
        return None;
    }
    let bytes = word(ArgPart::Size).unwrap_or(0);
    Some(Change {
        // Another thread may get the memory before the call that gives it back returns.
        at: if makes { call.end } else { call.begin },
        thing: (process, thing.0, thing.1),
        made: makes.then(|| (Note::of(trace, id, wanted(id)), bytes)),
    })
}

fn findings(trace: &Trace, live: &HashMap<Thing, (Note, u64)>) -> Vec<(ProcessId, Finding)> {
    let mut groups: HashMap<Group, (Note, Finding, u64)> = HashMap::new();
    for ((process, kind, _), (note, size)) in live {
        let has_ended = trace.process(*process).end_ns.is_some();
        if !has_ended || !note.is_wanted {
            continue;
        }
        let this = Finding::of_note(trace, note);
        groups
            .entry((*process, *kind, note.thread, note.function))
            .and_modify(|(first, finding, sum)| {
                // They come in no order, and several may have begun at the same time.
                let is_first = (note.begin, note.number) < (first.begin, first.number);
                finding.join(&this);
                if is_first {
                    (finding.site, finding.depth) = (this.site.clone(), this.depth);
                    *first = *note;
                }
                *sum += size;
            })
            .or_insert((*note, this, *size));
    }
    let found = groups
        .into_iter()
        .map(|((process, kind, ..), (_, finding, sum))| {
            let size = match kind {
                Kind::Memory => format!(" with {}", bytes(sum)),
                _ => String::new(),
            };
            let finding = Finding {
                what: format!(
                    "{} left {} {}{}{size} when the process ended",
                    finding.site.name,
                    count(finding.count),
                    kind.name(),
                    if finding.count == 1 { "" } else { "s" },
                ),
                advice: "give back what the call makes".to_owned(),
                streams: Vec::new(),
                ..finding
            };
            (process, finding)
        });
    found.collect()
}

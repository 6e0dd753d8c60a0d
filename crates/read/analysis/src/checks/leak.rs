//! The process ended, and streams, events, contexts, graphs or memory that it had made were still there. The runtime
//! frees them with the process, so this costs nothing at the end. In a program that runs for long, or in a library, the
//! same calls may fill the device: the number of streams and events has a limit.
//!
//! Release the objects that the call made. Frameworks keep memory, streams and events for reuse until the process ends: this is
//! intended there. So these are no findings:
//!
//! - streams and events of interpreters of Python: PyTorch makes pools of them
//! - pools: four or more streams or events that one function made in one thread. After the last of them was made, all that
//!   were used before are used again.
//!
//! The check looks only at processes that the recording saw end. A reset of the device does not count as giving back.
//!
//! A process that a signal ended, or that failed, may have had no time to release anything. It has findings only if it had called
//! `aclFinalize` or `aclrtResetDevice`. The same holds for processes with an unknown status: those that another process of the
//! recording started, and those that `serve` and `attach` recorded.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::api::{ArgPart, Role};
use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, FunctionId, ProcessId, ThreadId, Trace};

use super::super::grouping::ProcessFindings;
use super::super::happens_before::{NotedCall, OrderFact};
use super::super::process_end::ProcessEnd;
use super::super::{Check, Finding};
use crate::Window;

/// Things that are followed at a time; with more, none are reported.
const MOST: usize = 1 << 20;

/// The least number of streams or events of a pool.
const POOL: u64 = 4;

/// Kinds of objects that can be made and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ObjectKind {
    Stream,
    Event,
    Context,
    Graph,
    Memory,
    /// Physical memory, by its handle.
    Physical,
}

impl ObjectKind {
    fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Event => "event",
            Self::Context => "context",
            Self::Graph => "graph",
            Self::Memory => "allocation",
            Self::Physical => "piece",
        }
    }
}

/// A thing of a process: by serial, or by address.
type ObjectKey = (ProcessId, ObjectKind, u64);

/// Objects made by calls of one function in one thread.
type Group = (ProcessId, ObjectKind, ThreadId, FunctionId);

/// When something was made or given back, in the order of the calls.
#[derive(Clone, Copy, Debug)]
struct AllocationChange {
    at: i64,
    entity: ObjectKey,
    made: Option<(NotedCall, u64)>,
}

#[derive(Debug, Default)]
pub(super) struct Leak {
    live: HashMap<ObjectKey, (NotedCall, u64)>,
    ahead: Vec<AllocationChange>,
    gave_up: bool,
    used: LastUses,
    /// Processes that called `aclFinalize` or `aclrtResetDevice`.
    ending: HashSet<ProcessId>,
    found: ProcessFindings,
}

/// When streams and events were used last, by their ids.
#[derive(Debug, Default)]
struct LastUses {
    streams: Vec<i64>,
    events: Vec<i64>,
}

impl LastUses {
    /// A call that is no making or ending of an object.
    fn note(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let role = trace.function(call.function).role;
        if call.task.is_none() && !role.names_record() {
            return;
        }
        let stream = call.stream.map(|it| (&mut self.streams, it.0));
        if let Some((last, at)) = stream {
            set(last, at, call.begin);
        }
        if let Some(event) = call.event {
            set(&mut self.events, event.event.0, call.begin);
        }
    }

    fn last(&self, (_, kind, id): &ObjectKey) -> Option<i64> {
        let last = match kind {
            ObjectKind::Stream => &self.streams,
            ObjectKind::Event => &self.events,
            _ => return None,
        };
        let at = usize::try_from(*id).ok()?;
        last.get(at).copied().filter(|it| *it != i64::MIN)
    }
}

fn set(last: &mut Vec<i64>, at: u32, time: i64) {
    let at = at as usize;
    if last.len() <= at {
        last.resize(at + 1, i64::MIN);
    }
    last[at] = last[at].max(time);
}

/// The streams or events of a group that are live at the end.
#[derive(Clone, Copy, Debug)]
struct KeptObjects {
    last_made: i64,
    /// Of those that were used: the earliest last use.
    first_left: Option<i64>,
}

impl KeptObjects {
    fn join(self, other: Self) -> Self {
        let left = self.first_left.into_iter().chain(other.first_left);
        Self {
            last_made: self.last_made.max(other.last_made),
            first_left: left.min(),
        }
    }

    /// Whether they are used again and again until the end.
    fn is_pool(self, count: u64) -> bool {
        count >= POOL && self.first_left.is_some_and(|it| it > self.last_made)
    }
}

impl Check for Leak {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for id in window.calls() {
            self.ahead.extend(change(trace, id, wanted));
            self.used.note(trace, id);
            let call = trace.call(id);
            let role = trace.function(call.function).role;
            if matches!(role, Role::Finalize | Role::ResetDevice) {
                self.ending.insert(trace.thread(call.thread).process);
            }
        }
        self.ahead.sort_by_key(|it| (it.at, it.made.is_some()));
        let until = window.part.until;
        let due = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|it| it.at < until),
        };
        for change in self.ahead.drain(..due) {
            match change.made {
                None => drop(self.live.remove(&change.entity)),
                Some(made) => drop(self.live.insert(change.entity, made)),
            }
        }
        self.gave_up |= self.live.len() > MOST;
        if self.gave_up {
            self.live.clear();
        }
        // After a range of a recording, everything may still be given back.
        if window.part.is_last && !trace.has_future() {
            let ending = std::mem::take(&mut self.ending);
            let is_over = |process: ProcessId| {
                let has_succeeded = ProcessEnd::of(trace, process) == ProcessEnd::Success;
                trace.process(process).end_ns.is_some()
                    && (has_succeeded || ending.contains(&process))
            };
            let found = findings(trace, &self.live, &self.used, is_over);
            self.found.set(found);
        }
    }

    fn judge(&mut self, _: &Trace, facts: &[OrderFact]) {
        self.found.judge(facts);
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.found.take()
    }
}

/// The object that a call makes or gives back.
fn change(trace: &Trace, id: CallId, wanted: &dyn Fn(CallId) -> bool) -> Option<AllocationChange> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let process = trace.thread(call.thread).process;
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let stream = || Some((ObjectKind::Stream, u64::from(call.stream?.0)));
    let event = || Some((ObjectKind::Event, u64::from(call.event?.event.0)));
    let context = || Some((ObjectKind::Context, u64::from(call.context?.0)));
    let graph = || Some((ObjectKind::Graph, u64::from(call.graph?.serial)));
    let memory = |part: ArgPart| Some((ObjectKind::Memory, word(part)?));
    let physical = |part: ArgPart| Some((ObjectKind::Physical, word(part)?));
    let allocated = memory(ArgPart::Allocated).or_else(|| memory(ArgPart::HostAllocated));
    let allocated = allocated.or_else(|| physical(ArgPart::PhysicalAllocated));
    let freed = memory(ArgPart::Freed).or_else(|| memory(ArgPart::HostFreed));
    let freed = freed.or_else(|| physical(ArgPart::PhysicalFreed));
    let (entity, makes) = match function.role {
        Role::CreateStream => (stream()?, true),
        Role::DestroyStream => (stream()?, false),
        Role::CreateEvent => (event()?, true),
        Role::DestroyEvent => (event()?, false),
        Role::CreateContext => (context()?, true),
        Role::DestroyContext => (context()?, false),
        Role::CaptureEnd | Role::BuildGraph => (graph()?, true),
        Role::DestroyGraph => (graph()?, false),
        _ => match (allocated, freed) {
            (Some(memory), _) => (memory, true),
            (None, Some(memory)) => (memory, false),
            (None, None) => return None,
        },
    };
    let is_memory = matches!(entity.0, ObjectKind::Memory | ObjectKind::Physical);
    let is_entity = !is_memory || entity.1 != 0;
    if call.result() != Some(0) || !is_entity {
        return None;
    }
    let bytes = word(ArgPart::Size).unwrap_or(0);
    Some(AllocationChange {
        // Another thread may get the memory before the call that gives it back returns.
        at: if makes { call.end } else { call.begin },
        entity: (process, entity.0, entity.1),
        made: makes.then(|| (NotedCall::of(trace, id, wanted(id)), bytes)),
    })
}

fn findings(
    trace: &Trace,
    live: &HashMap<ObjectKey, (NotedCall, u64)>,
    used: &LastUses,
    is_over: impl Fn(ProcessId) -> bool,
) -> Vec<(ProcessId, Finding)> {
    let mut groups: HashMap<Group, (NotedCall, Finding, u64, KeptObjects)> = HashMap::new();
    for (key, (note, size)) in live {
        let (process, kind, _) = key;
        let is_pooled = matches!(kind, ObjectKind::Stream | ObjectKind::Event);
        let is_pooled = is_pooled && trace.process(*process).is_python();
        if !is_over(*process) || !note.is_wanted || is_pooled {
            continue;
        }
        let this = Finding::of_note(trace, note);
        let kept = KeptObjects {
            last_made: note.end,
            first_left: used.last(key),
        };
        groups
            .entry((*process, *kind, note.thread, note.function))
            .and_modify(|(first, finding, sum, all)| {
                // They come in no order, and several may have begun at the same time.
                let is_first = (note.begin, note.number) < (first.begin, first.number);
                finding.join(&this);
                if is_first {
                    (finding.site, finding.depth) = (this.site.clone(), this.depth);
                    *first = *note;
                }
                *sum += size;
                *all = all.join(kept);
            })
            .or_insert((*note, this, *size, kept));
    }
    groups.retain(|_, (_, finding, _, kept)| !kept.is_pool(finding.count));
    let found = groups
        .into_iter()
        .map(|((process, kind, ..), (_, finding, sum, _))| {
            let size = match kind {
                ObjectKind::Memory => format!(" with {}", bytes(sum)),
                ObjectKind::Physical => format!(" of physical memory with {}", bytes(sum)),
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
                advice: "release what the call makes".to_owned(),
                streams: Vec::new(),
                ..finding
            };
            (process, finding)
        });
    found.collect()
}

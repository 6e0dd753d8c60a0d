//! A thread made thousands of copies of a few bytes. Each of them costs a submission and a transfer, which take a few
//! microseconds for any number of bytes.
//!
//! Collect the data in one buffer, and copy them at once. Values that a kernel needs can be its arguments. For copies within the
//! device, use one copy with a pitch (`aclrtMemcpy2dAsync`), or a kernel.
//!
//! Only copies that could be one count: two or more of one direction, with no wait of the thread between them. Of copies to the
//! host, no other task may be between them either. So the copy of one result in each step is no finding.

use std::collections::HashMap;

use ascend_trace_format::api::{TaskKind, WaitTarget};
use ascend_trace_recording::units::{bytes, count};
use ascend_trace_recording::{CallId, Direction, ThreadId, Trace};

use super::super::grouping::Groups;
use super::super::happens_before::NotedCall;
use super::super::{Check, Finding, Remedy};
use crate::Window;

/// Larger copies are not small.
const MOST_BYTES: u64 = 256;
/// Fewer copies are not worth a word.
const LEAST: u64 = 1_000;

/// Directions of runs.
const ALL: [Direction; 4] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::Peer,
];

/// Copies of a thread in one direction that could be one.
#[derive(Clone, Copy, Debug)]
enum Run {
    /// The first of them, and its bytes.
    First(NotedCall, u64),
    GoesOn,
}

#[derive(Debug, Default)]
pub(super) struct SmallCopies {
    groups: Groups<Direction>,
    runs: HashMap<(ThreadId, Direction), Run>,
}

impl Check for SmallCopies {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                match small(trace, id) {
                    Some((direction, moved)) => {
                        let note = NotedCall::of(trace, id, wanted(id));
                        self.copied(trace, note, direction, moved);
                    }
                    None => self.ends_runs(trace, id),
                }
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let groups = std::mem::take(&mut self.groups);
        let found = groups.into_findings(|found, direction, moved| {
            let what = format!(
                "{} made {} copies {} of {} each, on average",
                found.site.name,
                count(found.count),
                direction.name(),
                bytes(moved / found.count.max(1)),
            );
            let advice = match direction {
                Direction::DeviceToDevice => {
                    "use one copy with a pitch (aclrtMemcpy2dAsync), or a kernel"
                }
                _ => "collect the data in one buffer, and copy them at once",
            };
            (what, advice.to_owned())
        });
        let found = found.into_iter().filter(|it| it.count >= LEAST);
        let remedy = Some(Remedy::NotSimulated);
        found.map(|it| Finding { remedy, ..it }).collect()
    }
}

impl SmallCopies {
    fn copied(&mut self, trace: &Trace, note: NotedCall, direction: Direction, moved: u64) {
        let key = (note.thread, direction);
        let run = self.runs.get(&key).copied();
        let next = match run {
            None => Run::First(note, moved),
            Some(_) => Run::GoesOn,
        };
        self.runs.insert(key, next);
        let first = match run {
            Some(Run::First(first, moved)) => Some((first, moved)),
            _ => None,
        };
        let this = run.map(|_| (note, moved));
        for (note, moved) in first.into_iter().chain(this) {
            if note.is_wanted {
                self.groups.add_noted(trace, &note, direction, moved);
            }
        }
    }

    /// A wait ends all runs of its thread, and other work that of copies to the host.
    fn ends_runs(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let meaning = trace.function(call.function).role.meaning();
        let ends: &[Direction] = match call.task.map(|task| trace.task(task).kind) {
            Some(TaskKind::Memcpy | TaskKind::Memset) => &[],
            Some(_) => &[Direction::DeviceToHost],
            None if meaning.waits.is_sync() && call.depth == 0 => &ALL,
            None => &[],
        };
        for direction in ends {
            self.runs.remove(&(call.thread, *direction));
        }
    }
}

/// The direction and the size of a small copy from or to the device.
fn small(trace: &Trace, id: CallId) -> Option<(Direction, u64)> {
    let call = trace.call(id);
    let function = trace.function(call.function);
    let is_task = call
        .task
        .is_some_and(|task| trace.task(task).kind == TaskKind::Memcpy);
    let copies = is_task || function.role.meaning().waits == WaitTarget::Transfer;
    if !copies || call.depth > 0 || call.result() != Some(0) {
        return None;
    }
    let moved = trace
        .bytes(call)
        .filter(|it| (1..=MOST_BYTES).contains(it))?;
    let direction = trace.direction(call)?;
    (direction != Direction::HostToHost).then_some((direction, moved))
}

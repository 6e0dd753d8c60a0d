//! How long the tasks of a stream usually are, by name and moved bytes: for those without a time.

use ascend_trace_format::fnv;
use ascend_trace_recording::{TaskId, TaskTime, Trace};

/// Names that are kept of a stream.
const NAMES: usize = 64;
/// Spreads small numbers over all bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Lengths that are kept of a name.
const LAST: usize = 3;

/// The last lengths of the tasks with one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NameLengths {
    name: u64,
    last: [i64; LAST],
    count: usize,
}

/// The usual lengths of a stream's tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lengths(Vec<NameLengths>);

fn key(trace: &Trace, id: TaskId) -> u64 {
    let task = trace.task(id);
    let bytes = trace.bytes(trace.call(task.call)).unwrap_or_default();
    let name = trace.task_name(task).as_bytes();
    fnv::hash(name) ^ bytes.wrapping_mul(SPREAD)
}

impl Lengths {
    /// A task took this time.
    pub(super) fn note(&mut self, trace: &Trace, id: TaskId, time: TaskTime) {
        let (name, length) = (key(trace, id), time.end.saturating_sub(time.begin));
        if let Some(known) = self.0.iter_mut().find(|known| known.name == name) {
            known.last[known.count % LAST] = length;
            known.count += 1;
        } else if self.0.len() < NAMES {
            self.0.push(NameLengths {
                name,
                last: [length; LAST],
                count: 1,
            });
        }
    }

    /// How long a task of this name usually takes, and how far off that may be.
    pub(super) fn usual(&self, trace: &Trace, id: TaskId) -> Option<(i64, i64)> {
        let name = key(trace, id);
        let known = self.0.iter().find(|known| known.name == name)?;
        let mut last = known.last;
        last.sort_unstable();
        let [least, middle, most] = last;
        let spread = (most - least).max(middle / 16);
        let error = match known.count {
            1 => middle / 2,
            _ => spread,
        };
        Some((middle, error))
    }
}

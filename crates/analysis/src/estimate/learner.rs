//! The best estimate of single tasks, by those before them on their stream.

use ascend_trace_recording::{Task, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::{ClassKey, Classes, Estimate, Location, Sort, Tally};

/// A class on one stream, up to now.
#[derive(Clone, Debug, Default)]
struct Learned {
    tally: Tally,
    location: Option<Location>,
    /// At this number of tasks, the location is made again.
    next: u64,
}

/// The best estimate of the time of a task, and by how much its duration may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) time: TimeRange,
    pub(crate) error: i64,
}

/// Estimates tasks. Those of a stream come in their order, and later tasks change nothing. So the estimates do not depend on
/// the parts in which a recording is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learner {
    classes: Classes,
    streams: Vec<FxHashMap<ClassKey, Learned>>,
}

/// The most classes that are kept of a stream.
const CLASSES: usize = 1024;

impl Learner {
    /// Takes in the next task of its stream. `None` if it has no time.
    pub(crate) fn place(&mut self, trace: &Trace, task: &Task) -> Option<Placed> {
        let time = task.time.as_ref()?;
        let stream = task.stream.index();
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, FxHashMap::default);
        }
        let mut found = Estimate::of(time);
        let key = self.classes.key(trace, task);
        let known = &mut self.streams[stream];
        if known.contains_key(&key) || known.len() < CLASSES {
            let learned = known.entry(key).or_default();
            learned.take(trace, task);
            let location = learned.location.filter(|it| it.is_of_single());
            let located = location.and_then(|it| it.of_task(time));
            found = located
                .filter(|it| it.width() < found.width())
                .unwrap_or(found);
        }
        let length = found.value_ns().clamp(0, time.duration());
        // If the end is open, the begin is known better.
        let time = match time.durations().0 {
            0 => TimeRange::new(time.begin, time.begin + length),
            _ => TimeRange::new(time.end - length, time.end),
        };
        let error = found.error_ns();
        Some(Placed { time, error })
    }
}

impl Learned {
    fn take(&mut self, trace: &Trace, task: &Task) {
        self.tally.add(task.time.as_ref(), 0);
        if self.tally.timed() >= self.next {
            self.next = self.tally.timed() + self.tally.timed() / 4 + 1;
            let sort = Sort::of(trace, task);
            self.location = self.tally.location(sort);
        }
    }
}

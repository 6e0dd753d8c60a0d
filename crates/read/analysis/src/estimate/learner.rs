//! The best estimate of single tasks, by those before them on their stream.

use ascend_trace_recording::{StreamId, Task, TaskId, TaskTime, TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::{
    ClassKey, Classes, Comparability, Estimate, FEW_TICKS, Location, Measured, RunClasses, Tallies,
    Tally, Totals,
};
use crate::TaskRole;
use crate::dependencies::runs;
use crate::window::{AnalysisNeeds, Fold, Window};

/// A class on one stream, up to now.
#[derive(Clone, Debug, Default)]
struct StreamClass {
    tally: Tally,
    location: Option<Location>,
    /// At this number of tasks, the location is made again.
    next: u64,
}

/// The best estimate of the time of a task. Nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EstimatedTime {
    pub time: TimeRange,
    /// By how much its duration may be off.
    pub error: i64,
    /// By how much the durations of all tasks like it may be off to the same side.
    pub common: i64,
}

impl EstimatedTime {
    /// A task with a time, in a class with this usual duration.
    pub(super) fn of(time: &TaskTime, location: Option<&Location>) -> Self {
        let measured = Measured::of(time);
        let mut found = Estimate::of(&measured);
        let mut common = found.error_ns();
        // A few ticks of the clock are as good as any estimate.
        let location = location.filter(|it| it.is_of_single() && measured.open() > FEW_TICKS);
        let located = location.and_then(|it| Some((it.of_task(&measured)?, it.mean_error())));
        if let Some((located, mean_error)) = located
            && located.width() < found.width()
        {
            (found, common) = (located, mean_error);
        }
        let length = found.value_ns().clamp(0, time.duration());
        // If the end is open, the begin is known better.
        let range = match time.is_end_open() {
            true => TimeRange::new(time.begin, time.begin + length),
            false => TimeRange::new(time.end - length, time.end),
        };
        let error = found.error_ns();
        Self {
            time: range,
            error,
            common: common.min(error),
        }
    }
}

/// Estimates tasks. Those of a stream come in their order, and later tasks change nothing. So the estimates do not depend on
/// the parts in which a recording is read.
#[derive(Clone, Debug, Default)]
pub struct Learner {
    classes: Classes,
    streams: Vec<Stream>,
}

/// The classes of a stream.
type Stream = FxHashMap<ClassKey, StreamClass>;

/// The most classes that are kept of a stream.
const CLASSES: usize = 1024;

impl Learner {
    /// Takes in the next task of its stream. `None` if it has no time.
    pub fn place(&mut self, trace: &Trace, task: &Task) -> Option<EstimatedTime> {
        let time = task.time.as_ref()?;
        let key = self.classes.key(trace, task);
        let known = self.stream(task);
        let location = match known.contains_key(&key) || known.len() < CLASSES {
            true => known.entry(key).or_default().take(trace, task),
            false => None,
        };
        Some(EstimatedTime::of(time, location))
    }

    /// The usual duration of tasks like one without a time, and its error. `None` if none of its class had a time on its
    /// stream.
    pub fn usual(&mut self, trace: &Trace, task: &Task) -> Option<(i64, i64)> {
        let key = self.classes.key(trace, task);
        let learned = self.stream(task).get(&key)?;
        let one = learned.location.as_ref()?.of_tasks(1);
        Some((one.value_ns(), one.error_ns()))
    }

    fn stream(&mut self, task: &Task) -> &mut Stream {
        let stream = task.stream.index();
        if self.streams.len() <= stream {
            self.streams.resize_with(stream + 1, Stream::default);
        }
        &mut self.streams[stream]
    }
}

impl StreamClass {
    /// Takes in a task, and returns the usual duration of such tasks.
    fn take(&mut self, trace: &Trace, task: &Task) -> Option<&Location> {
        let measured = task.time.as_ref().map(Measured::of);
        self.tally.add(measured.as_ref(), 0);
        if self.tally.timed() >= self.next {
            self.next = self.tally.timed() + self.tally.timed() / 4 + 1;
            let sort = Comparability::of(trace, task);
            self.location = self.tally.location(sort);
        }
        self.location.as_ref()
    }
}

/// Estimates of the tasks of a trace in memory, by all of them.
#[derive(Clone, Debug, Default)]
pub struct Estimates {
    classes: Classes,
    totals: Totals,
}

/// Makes the estimates of a recording.
#[derive(Debug, Default)]
pub struct EstimateMaker {
    classes: Classes,
    runs: RunClasses,
    sums: Tallies,
}

impl EstimateMaker {
    fn add(&mut self, trace: &Trace, id: TaskId) {
        if runs(trace, id) {
            let task = trace.task(id);
            let key = self.classes.key(trace, task);
            let measured = task.time.as_ref().map(Measured::of);
            let tally = self.sums.of(key);
            tally.add(measured.as_ref(), 0);
            if let Some(run) = self.runs.take(trace, id, key) {
                tally.add_run(&run);
            }
        }
    }
}

impl Fold for EstimateMaker {
    type Answer = Estimates;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in 0..trace.streams().len() as u32 {
            let tasks = window.stream_tasks(StreamId(stream));
            tasks.for_each(|id| self.add(trace, id));
        }
    }

    fn finish(self) -> Estimates {
        let totals = Totals::of(&self.classes, std::iter::once(&self.sums));
        Estimates {
            classes: self.classes,
            totals,
        }
    }
}

impl Estimates {
    pub fn of(trace: &Trace) -> Self {
        let mut maker = EstimateMaker::default();
        let tasks = (0..trace.tasks().len() as u32).map(TaskId);
        tasks.for_each(|id| maker.add(trace, id));
        maker.finish()
    }

    /// The best estimate of a task. `None` if it has no time, or waited for others.
    pub fn task(&self, trace: &Trace, task: &Task) -> Option<EstimatedTime> {
        let time = task.time.as_ref()?;
        if TaskRole::of(trace, task) != TaskRole::Work {
            return None;
        }
        let key = self.classes.find(trace, task);
        Some(EstimatedTime::of(
            time,
            key.and_then(|it| self.totals.location(it)),
        ))
    }

    /// The usual duration of tasks like one without a time. `None` where nothing is known of them, or where a task takes as long
    /// as others let it.
    pub(super) fn usual(&self, trace: &Trace, task: &Task) -> Option<Estimate> {
        let location = self.totals.location(self.classes.find(trace, task)?)?;
        let is_alike = Comparability::of(trace, task) == Comparability::Alike;
        is_alike.then(|| location.of_tasks(1))
    }
}

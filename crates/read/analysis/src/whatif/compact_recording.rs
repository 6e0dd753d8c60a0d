//! A recording in as few bytes as a simulation needs: a tape for each thread and stream, and the waits
//! between them.

use std::collections::BTreeSet;

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::TimeRange;

use super::links::{LanePosition, Link, QueueWait};
use super::other_threads::OtherThreads;
use super::records::{Call, CallShape, Calls, Task, TaskShape, Tasks};
use super::untimed::PlacedTask;
use crate::TaskRole;
use crate::estimate::EstimatedTime;
use crate::pause_work::{PauseWork, Work};
use crate::stats::CallSite;

/// A stream, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamPlace {
    pub(super) process: u32,
    pub(super) device: u32,
    pub(super) stream_id: i64,
}

/// A thread with its outermost calls.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) process: u32,
    pub(super) tid: u32,
    /// What recording has cost it.
    pub(super) overhead: u64,
    /// The part of it for reading the times of tasks.
    pub(super) reading: u64,
    pub(super) calls: Calls,
    /// How long the thread used a processor in a pause, by the place of the call after it, where that is known.
    pub(super) work: Vec<(u32, Work)>,
    pub(super) pauses: PauseWork,
    /// The begin of its first call.
    pub(super) first: Option<i64>,
    /// How many calls are before the last one that submitted a task.
    pub(super) last_submission: Option<u32>,
}

impl Thread {
    pub(super) fn new(process: u32, tid: u32) -> Self {
        Self {
            process,
            tid,
            overhead: 0,
            reading: 0,
            calls: Calls::default(),
            work: Vec::new(),
            pauses: PauseWork::default(),
            first: None,
            last_submission: None,
        }
    }

    pub(super) fn push(&mut self, call: &Call) {
        self.first.get_or_insert(call.begin);
        self.calls.push(call);
    }
}

/// A stream with its tasks.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) place: StreamPlace,
    pub(super) tasks: Tasks,
    /// How long it worked and waited, and how often it waited.
    pub(super) worked: i64,
    pub(super) waited: i64,
    pub(super) waits: u64,
    /// How many of them were for notifies or values.
    pub(super) signal_waits: u64,
    /// How long the calls took that submitted these waits.
    pub(super) wait_calls: i64,
}

impl Stream {
    pub(super) fn new(place: StreamPlace) -> Self {
        Self {
            place,
            tasks: Tasks::default(),
            worked: 0,
            waited: 0,
            waits: 0,
            signal_waits: 0,
            wait_calls: 0,
        }
    }
}

/// Tasks of one shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskSums {
    pub(super) count: u64,
    pub(super) lasted: i64,
    /// The squares of their durations.
    pub(super) lasted_squares: f64,
    /// How far their durations may be off: in all; the same way in tasks that are alike; and the squares of the rest.
    pub(super) error: f64,
    pub(super) common: f64,
    pub(super) squares: f64,
}

impl TaskSums {
    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.lasted += other.lasted;
        self.lasted_squares += other.lasted_squares;
        self.error += other.error;
        self.common += other.common;
        self.squares += other.squares;
    }
}

/// A duration is hardly known if its error is larger, and most of it. Nanoseconds.
const HARDLY_NS: i64 = 10_000;

/// Calls that a program is judged by, where a change takes waits away.
const CHECKED: u64 = 1 << 17;

/// All of a recording.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) threads: Vec<Thread>,
    pub(super) streams: Vec<Stream>,
    /// Names of operations.
    pub(super) operations: Vec<String>,
    /// By name, and what their calls wait for.
    pub(super) functions: Vec<(String, WaitTarget)>,
    /// Places in the program that made blocking calls, if stacks were recorded.
    pub(super) sites: Vec<CallSite>,
    /// With how many calls have them.
    pub(super) call_shapes: Vec<CallShape>,
    pub(super) call_counts: Vec<u64>,
    pub(super) task_shapes: Vec<TaskShape>,
    pub(super) task_sums: Vec<TaskSums>,
    /// By what waits.
    pub(super) links: Vec<Link>,
    /// By the task.
    pub(super) rooms: Vec<QueueWait>,
    /// Calls that have submitted more or fewer tasks than their shapes say, by place.
    pub(super) corrections: Vec<(LanePosition, i32)>,
    /// Functions with calls that waited for tasks.
    pub(super) blocked: BTreeSet<u32>,
    /// Tasks that ran and have no time.
    pub(super) untimed: u64,
    /// The longest time between two queries, of all loops that waited.
    pub(super) poll_periods: i64,
    /// Threads without recorded calls.
    pub(super) others: OtherThreads,
    /// Tasks without a time, where they probably ran, by place; and how far their durations may be off.
    pub(super) placed: Vec<PlacedTask>,
    pub(super) slack: i64,
    /// Too little is known of the times of tasks to say how far a prediction may be off.
    pub(super) is_open: bool,
    /// How far the durations of tasks may be off that are hardly known.
    pub(super) late: i64,
    range: Option<TimeRange>,
}

impl Facts {
    pub(super) fn extend(&mut self, range: TimeRange) {
        self.range = TimeRange::grown(self.range, range);
    }

    pub(super) fn count_call(&mut self, shape: u32) {
        if let Some(count) = at(&mut self.call_counts, shape) {
            *count += 1;
        }
    }

    /// A task on a stream, with its best estimate, and how long the call took that submitted it.
    pub(super) fn add_task(
        &mut self,
        (task, shape): (&Task, &TaskShape),
        on: usize,
        best: Option<&EstimatedTime>,
        call: i64,
    ) {
        self.extend(TimeRange::new(task.begin, task.end));
        let lasted = task.end.saturating_sub(task.begin);
        let is_work = shape.class == TaskRole::Work;
        self.untimed += u64::from(!shape.is_timed && is_work);
        let stream = &mut self.streams[on];
        stream.worked += if is_work { lasted } else { 0 };
        stream.waited += if shape.is_wait() { lasted } else { 0 };
        stream.waits += u64::from(shape.is_wait());
        stream.signal_waits += u64::from(shape.class == TaskRole::SignalWait);
        stream.wait_calls += if shape.is_wait() { call } else { 0 };
        if let Some(sums) = at(&mut self.task_sums, task.shape) {
            sums.count += 1;
            sums.lasted += lasted;
            sums.lasted_squares += (lasted as f64).powi(2);
            let (error, common) = best.map_or((0, 0), |it| (it.error, it.common));
            let is_hardly_known = error > HARDLY_NS && 2 * error > lasted;
            self.late += if is_work && is_hardly_known { error } else { 0 };
            sums.error += error as f64;
            sums.common += common as f64;
            sums.squares += ((error - common) as f64).powi(2);
        }
    }

    pub(super) fn sort(&mut self) {
        self.links.sort_by_key(|it| it.to);
        self.rooms.sort_by_key(|it| it.task);
        self.corrections.sort_by_key(|it| it.0);
    }

    /// What recording has cost the thread that it has cost most, of those that made calls.
    pub(super) fn overhead(&self) -> i64 {
        let own = self.threads.iter().filter(|it| it.first.is_some());
        own.map(|it| i64::try_from(it.overhead).unwrap_or(i64::MAX))
            .fold(0, i64::max)
    }

    /// From the first call or task to the end of the last.
    pub(super) fn range(&self) -> TimeRange {
        self.range.unwrap_or_default()
    }

    /// Until when the order of the program is looked at: about as many calls as [`CHECKED`].
    pub(super) fn checked_until(&self) -> i64 {
        let calls: u64 = self.call_counts.iter().sum();
        let range = self.range();
        match calls {
            0..=CHECKED => i64::MAX,
            _ => {
                let part = i128::from(range.duration()) * i128::from(CHECKED) / i128::from(calls);
                range.begin.saturating_add(part as i64)
            }
        }
    }

    /// What calls of a shape wait for.
    pub(super) fn waits(&self, shape: &CallShape) -> WaitTarget {
        let function = self.functions.get(shape.function as usize);
        function.map_or(WaitTarget::Nothing, |it| it.1)
    }
}

/// A row of a table that grows.
fn at<T: Clone + Default>(rows: &mut Vec<T>, number: u32) -> Option<&mut T> {
    let place = number as usize;
    if rows.len() <= place {
        rows.resize(place + 1, T::default());
    }
    rows.get_mut(place)
}

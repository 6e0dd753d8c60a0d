//! When streams worked, and what for.

use std::collections::BTreeMap;

use ascend_trace_analysis::dependencies::{is_pending, runs};
use ascend_trace_analysis::{Intervals, Lane, Learner, Node, TaskRole, Window};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, Task, TaskTime, TimeRange};

/// Use of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeviceUse {
    Compute,
    Communication,
    Copy,
}

impl DeviceUse {
    pub(super) const ALL: [Self; 3] = [Self::Compute, Self::Communication, Self::Copy];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Copy => "copy",
        }
    }

    fn of(task: &Task) -> Self {
        match task.kind {
            TaskKind::Collective => Self::Communication,
            TaskKind::Memcpy | TaskKind::Memset => Self::Copy,
            _ => Self::Compute,
        }
    }
}

/// A time in which a stream worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BusyInterval {
    pub(super) range: TimeRange,
    pub(super) used: DeviceUse,
}

/// A task that worked: the part of its bar that is work, without the time for which it waited, and without the time of
/// others.
struct TaskWork<'t> {
    task: &'t Task,
    time: &'t TaskTime,
    bar: TimeRange,
}

/// The tasks of a stream that worked.
fn worked<'t>(window: &Window<'t>, stream: StreamId) -> Vec<TaskWork<'t>> {
    let trace = window.trace;
    let mut held = BTreeMap::new();
    for stall in window.stalls.lane(Lane::Stream(stream)) {
        if let (Node::Task(task), false) = (stall.node, stall.is_gap()) {
            held.insert(task, stall.end);
        }
    }
    let mut found = Vec::new();
    let mut until = i64::MIN;
    for id in trace.stream_tasks(stream) {
        let task = trace.task(*id);
        let (Some(time), class) = (&task.time, TaskRole::of(trace, task)) else {
            continue;
        };
        let held_until = held.get(id).copied();
        let begin = time.begin.max(until).max(held_until.unwrap_or(i64::MIN));
        until = match class {
            TaskRole::Work | TaskRole::Callback => until.max(time.end),
            TaskRole::EventWait | TaskRole::SignalWait => until.max(held_until.unwrap_or(until)),
            TaskRole::Mark => until,
        };
        let bar = TimeRange::new(begin, time.end);
        if class == TaskRole::Work && !bar.is_empty() {
            found.push(TaskWork { task, time, bar });
        }
    }
    found
}

/// Work of a stream in a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) pieces: Vec<BusyInterval>,
    pub(super) estimated: EstimateSums,
}

/// Sums of best estimates. Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EstimateSums {
    pub(super) busy: i64,
    pub(super) error: i64,
    /// Tasks that ran and have no time, and those of them of which nothing is known.
    pub(super) untimed: u64,
    pub(super) unestimated: u64,
}

impl EstimateSums {
    pub(super) fn add(&mut self, more: Self) {
        self.busy += more.busy;
        self.error += more.error;
        self.untimed += more.untimed;
        self.unestimated += more.unestimated;
    }
}

/// The work of a stream in a range. Estimates are those of tasks that end in it, or without a time are submitted in it:
/// each counts once, in the order of the stream. `is_first`: the range is the stream's first.
pub(super) fn work(
    window: &Window<'_>,
    stream: StreamId,
    (range, is_first): (TimeRange, bool),
    learner: &mut Learner,
) -> Work {
    let trace = window.trace;
    let mut found = Work::default();
    let is_here = |at: i64| (is_first || range.begin < at) && at <= range.end;
    let mut worked = worked(window, stream).into_iter().peekable();
    for id in trace.stream_tasks(stream) {
        let task = trace.task(*id);
        let Some(own) = worked.next_if(|it| std::ptr::eq(it.task, task)) else {
            let is_untimed = task.time.is_none() && !is_pending(trace, *id);
            let submitted = trace.call(task.call).end;
            let is_work = TaskRole::of(trace, task) == TaskRole::Work && runs(trace, *id);
            if is_untimed && is_work && is_here(submitted) {
                found.estimated.untimed(learner.usual(trace, task));
            }
            continue;
        };
        let inside = own.bar.intersection(range);
        if !inside.is_empty() {
            found.pieces.push(BusyInterval {
                range: inside,
                used: DeviceUse::of(task),
            });
        }
        if is_here(own.time.end)
            && let Some(placed) = learner.place(trace, task)
        {
            // A part of a bar that is too long is too long as well.
            let part = own.bar.duration() as f64 / own.time.duration().max(1) as f64;
            let busy = (placed.time.duration() as f64 * part).round() as i64;
            found.estimated.add(EstimateSums {
                busy,
                error: placed.error,
                ..EstimateSums::default()
            });
        }
    }
    found
}

impl EstimateSums {
    /// Adds a task without a time, with the usual duration of such tasks and its error.
    fn untimed(&mut self, usual: Option<(i64, i64)>) {
        let (busy, error) = usual.unwrap_or_default();
        self.add(Self {
            busy,
            error,
            untimed: 1,
            unestimated: u64::from(usual.is_none()),
        });
    }
}

/// How long a device was used, with any of its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UseTotals {
    pub(super) busy: i64,
    /// By [`DeviceUse::ALL`].
    pub(super) by_use: [i64; 3],
    /// It communicated and did not compute.
    pub(super) exposed: i64,
}

impl UseTotals {
    fn of<'p>(pieces: impl Iterator<Item = &'p BusyInterval> + Clone, range: TimeRange) -> Self {
        let of = |wanted: &dyn Fn(DeviceUse) -> bool| {
            let own = pieces.clone().filter(|it| wanted(it.used));
            Intervals::union_of(own.map(|it| it.range.intersection(range)))
        };
        let of_use = DeviceUse::ALL.map(|used| of(&|it| it == used));
        let [compute, communication, _] = &of_use;
        Self {
            busy: of(&|_| true).total(),
            by_use: of_use.each_ref().map(Intervals::total),
            exposed: communication.difference(compute).total(),
        }
    }

    /// Adds the difference of two sums.
    fn add(&mut self, more: Self, than: Self) {
        self.busy += (more.busy - than.busy).max(0);
        for (place, sum) in self.by_use.iter_mut().enumerate() {
            *sum += (more.by_use[place] - than.by_use[place]).max(0);
        }
        // Work that is known late can cover communication that has been counted.
        self.exposed += (more.exposed - than.exposed).max(0);
    }
}

/// The use of a device until now.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceUsage {
    pub(super) totals: UseTotals,
    /// Work since a stream of the device lags behind: work of that stream may have been at the same
    /// time.
    since: Vec<BusyInterval>,
    /// That was too much to be kept.
    is_full: bool,
}

/// Pieces that are kept while a stream lags behind.
const MOST: usize = 1 << 17;

impl DeviceUsage {
    /// Adds the work of all streams in a range, and of some before it that is known only now. `lags`: of a stream, less is
    /// known than up to the range's end.
    pub(super) fn add(&mut self, pieces: &[BusyInterval], range: TimeRange, lags: bool) {
        let is_late = pieces.iter().any(|it| it.range.begin < range.begin);
        if is_late && !self.is_full {
            let before = TimeRange::new(i64::MIN, range.begin);
            let counted = UseTotals::of(self.since.iter(), before);
            let all = UseTotals::of(self.since.iter().chain(pieces), before);
            self.totals.add(all, counted);
        }
        self.totals
            .add(UseTotals::of(pieces.iter(), range), UseTotals::default());
        if lags && self.since.len() < MOST {
            self.since.extend(pieces);
        } else {
            self.is_full = lags;
            self.since = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::Trace;
    use ascend_trace_testkit::Timeline;

    use super::*;

    /// Twenty tasks of 10 µs; one with a bar of 90 µs, of which 80 µs are open; and four without a time.
    fn trace() -> Trace {
        let mut text = String::new();
        for number in 0..20 {
            let at = number * 20;
            let (begin, end, call) = (at + 5, at + 15, at + 1);
            text += &format!("s1: A[{begin}us..{end}us] by t1[{at}us..{call}us]\n");
        }
        text += "s1: A[not-sampled] by t1[410us..411us] A[not-sampled] by t1[412us..413us]\n";
        text += "s1: A[not-sampled] by t1[414us..415us] B[no-event] by t1[416us..417us]\n";
        text += "s1: A[500us..590us] by t1[500us..580us]\n";
        let timeline = Timeline::of(&text);
        let timeline = timeline.with_times(|row| {
            let is_open = row.begin_device_ns == 500_000;
            row.submitting_ns = if is_open { 80_000 } else { 2_000 };
        });
        timeline.trace()
    }

    #[test]
    fn estimates_count_each_task_once_for_any_ranges() {
        let trace = trace();
        let window = Window::whole(&trace);
        let span = trace.span().expect("a span");
        let mut found = Vec::new();
        for cuts in [vec![], vec![100_000], vec![10_000, 412_500, 550_000]] {
            let ends = cuts.into_iter().chain([span.end]);
            let (mut reached, mut learner) = (span.begin, Learner::default());
            let (mut sums, mut bars) = (EstimateSums::default(), 0);
            for (place, end) in ends.enumerate() {
                let range = TimeRange::new(reached, end);
                let work = work(&window, StreamId(0), (range, place == 0), &mut learner);
                sums.add(work.estimated);
                bars += work
                    .pieces
                    .iter()
                    .map(|it| it.range.duration())
                    .sum::<i64>();
                reached = end;
            }
            assert_eq!(bars, 290_000);
            assert_eq!((sums.untimed, sums.unestimated), (4, 1));
            // 24 tasks of 10 µs.
            assert!((sums.busy - 240_000).abs() <= sums.error, "{sums:?}");
            assert!(sums.error < 20_000, "{sums:?}");
            found.push(sums);
        }
        assert!(found.iter().all(|it| it == &found[0]), "{found:?}");
    }

    #[test]
    fn times_of_several_streams_are_united() {
        let piece = |begin, end, used| BusyInterval {
            range: TimeRange::new(begin, end),
            used,
        };
        let pieces = [
            piece(0, 10, DeviceUse::Compute),
            piece(5, 15, DeviceUse::Communication),
            piece(12, 20, DeviceUse::Communication),
            piece(30, 40, DeviceUse::Copy),
        ];
        let mut used = DeviceUsage::default();
        used.add(&pieces, TimeRange::new(0, 35), false);
        let expected = UseTotals {
            busy: 25,
            by_use: [10, 15, 5],
            exposed: 10,
        };
        assert_eq!(used.totals, expected);
        // The rest of it, for any cut of the time.
        let rest = [piece(35, 40, DeviceUse::Copy)];
        used.add(&rest, TimeRange::new(35, 100), false);
        assert_eq!(used.totals.busy, 30);
    }

    #[test]
    fn work_that_is_known_late_counts_where_nothing_else_was_done() {
        let piece = |begin, end| BusyInterval {
            range: TimeRange::new(begin, end),
            used: DeviceUse::Compute,
        };
        let mut used = DeviceUsage::default();
        used.add(&[piece(0, 10)], TimeRange::new(0, 20), true);
        used.add(&[piece(20, 25)], TimeRange::new(20, 30), true);
        assert_eq!(used.totals.busy, 15);
        // It ran from 5 to 35, and reaches into the range.
        let late = [piece(5, 35), piece(32, 38)];
        used.add(&late, TimeRange::new(30, 40), false);
        assert_eq!(used.totals.busy, 38);
        assert!(used.since.is_empty());
    }
}

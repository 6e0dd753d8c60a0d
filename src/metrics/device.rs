//! When streams worked, and what for.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Class, Intervals, Lane, Node, Window};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, Task, TimeRange};

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

/// The work of a stream in a range. The waiting part of a task is left out, and no time counts twice.
pub(super) fn pieces(window: &Window<'_>, stream: StreamId, range: TimeRange) -> Vec<BusyInterval> {
    let trace = window.trace;
    let mut held = BTreeMap::new();
    for stall in window.stalls.lane(Lane::Stream(stream)) {
        if let (Node::Task(task), false) = (stall.node, stall.is_gap()) {
            held.insert(task, stall.end);
        }
    }
    let mut pieces = Vec::new();
    let mut until = i64::MIN;
    for id in trace.stream_tasks(stream) {
        let task = trace.task(*id);
        let (Some(time), class) = (task.time, Class::of(trace, task)) else {
            continue;
        };
        let held_until = held.get(id).copied();
        let begin = time.begin.max(until).max(held_until.unwrap_or(i64::MIN));
        until = match class {
            Class::Work | Class::Callback => until.max(time.end),
            Class::EventWait | Class::SignalWait => until.max(held_until.unwrap_or(until)),
            Class::Mark => until,
        };
        let inside = TimeRange::new(begin, time.end).intersection(range);
        if class == Class::Work && begin < time.end && !inside.is_empty() {
            pieces.push(BusyInterval {
                range: inside,
                used: DeviceUse::of(task),
            });
        }
    }
    pieces
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
    use super::*;

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

//! For how long devices worked, with any of their streams and with several at once.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_recording::{ProcessId, StreamId, TaskTime, TimeRange};

use super::lane_rows::Overlap;
use crate::Intervals;

/// A time in which a stream worked.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkInterval {
    /// By the bar of its task.
    pub(super) bar: TimeRange,
    /// It certainly worked here: from the latest possible begin to the earliest possible end.
    sure: TimeRange,
    /// It worked here at most.
    possible: TimeRange,
    /// The part of the longest possible duration that `possible` leaves out.
    beyond: i64,
    pub(super) is_copy: bool,
}

/// A task may begin this much earlier than its bar. Nothing is summed up before nothing can begin there.
const EARLIEST_NS: i64 = 1_000_000;

impl WorkInterval {
    /// The part of a task's bar that is work.
    pub(super) fn of(bar: TimeRange, time: &TaskTime, is_copy: bool) -> Self {
        let (least, most) = time.durations();
        let (shorter, longer) = (time.duration() - least, most - time.duration());
        // Each end may be off by as much as the times of any event are.
        let both = shorter.min(longer);
        let early = longer.min(EARLIEST_NS);
        let sure = TimeRange::new(
            bar.begin.max(time.begin.saturating_add(shorter)),
            bar.end.saturating_sub(both),
        );
        Self {
            bar,
            sure: match sure.begin < sure.end {
                true => sure,
                false => TimeRange::at(bar.begin),
            },
            possible: TimeRange::new(bar.begin - early, bar.end.saturating_add(both)),
            beyond: longer - early,
            is_copy,
        }
    }

    pub(super) fn length(&self) -> i64 {
        self.bar.duration()
    }

    /// Its part inside a range.
    pub(super) fn clip(self, range: TimeRange) -> Option<Self> {
        let inside = |it: TimeRange| TimeRange::new(range.clamp(it.begin), range.clamp(it.end));
        let possible = inside(self.possible);
        (!possible.is_empty()).then_some(Self {
            bar: inside(self.bar),
            sure: inside(self.sure),
            possible,
            ..self
        })
    }
}

/// The streams that a process has on a device.
type Device = (ProcessId, u32);

/// For how long at least one stream worked: by the bars of tasks, at least, and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnionTime {
    pub(super) bars: i64,
    pub(super) least: i64,
    pub(super) most: i64,
}

/// For how long the streams of a process on a device worked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceTime {
    pub(super) busy: UnionTime,
    pub(super) copy: UnionTime,
    pub(super) compute: UnionTime,
    /// Copied and computed.
    pub(super) both: i64,
    /// At least two streams worked.
    pub(super) shared: i64,
}

/// Sums of the streams' simultaneous work, up to a time, and their later work.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Work outside of the sums, by stream.
    open: BTreeMap<StreamId, (Device, Vec<WorkInterval>)>,
    devices: BTreeMap<Device, DeviceTime>,
    overlap: Overlap,
}

/// Times of one stream in a stretch of time: of copies, of other work, and of both.
#[derive(Default)]
struct Times {
    copies: Intervals,
    computes: Intervals,
    busy: Intervals,
}

/// Work of one stream in a stretch of time.
struct Lane {
    device: Device,
    pieces: Vec<WorkInterval>,
    bars: Times,
}

impl Work {
    /// Adds the times in which a stream worked.
    pub(super) fn add(&mut self, stream: StreamId, device: Device, pieces: Vec<WorkInterval>) {
        if !pieces.is_empty() {
            let open = self.open.entry(stream);
            let (_, known) = open.or_insert_with(|| (device, Vec::new()));
            known.extend(pieces);
        }
    }

    /// Sums up the work before a time: no bar that begins before it will be added.
    pub(super) fn settle(&mut self, until: i64) {
        let until = match until {
            i64::MAX => until,
            until => until.saturating_sub(EARLIEST_NS),
        };
        let open = self.open.values_mut();
        let lanes = open.map(|(device, pieces)| Lane::settled(*device, pieces, until));
        let lanes: Vec<Lane> = lanes.filter(|it| !it.pieces.is_empty()).collect();
        self.open.retain(|_, (_, pieces)| !pieces.is_empty());
        let mut devices: BTreeMap<Device, Vec<&Lane>> = BTreeMap::new();
        for lane in &lanes {
            devices.entry(lane.device).or_default().push(lane);
        }
        for (device, lanes) in devices {
            self.devices.entry(device).or_default().add(&lanes);
        }
        // Several processes can use the same device of the machine.
        let numbers: BTreeSet<u32> = lanes.iter().map(|lane| lane.device.1).collect();
        let by_number = numbers.into_iter().map(|number| {
            let own = lanes.iter().filter(|lane| lane.device.1 == number);
            united(own.map(|lane| &lane.bars.busy))
        });
        let by_number: Vec<Intervals> = by_number.collect();
        self.overlap.busy_ns += united(by_number.iter()).total();
        self.overlap.shared_ns += Intervals::shared_by(&by_number).total();
    }

    pub(super) fn of(&self, device: Device) -> DeviceTime {
        self.devices.get(&device).copied().unwrap_or_default()
    }

    pub(super) fn overlap(&self) -> Overlap {
        self.overlap
    }
}

impl Times {
    fn of<'p>(
        pieces: impl Iterator<Item = &'p WorkInterval> + Clone,
        range: impl Fn(&WorkInterval) -> TimeRange,
    ) -> Self {
        let of = |is_copy: bool| {
            let own = pieces.clone().filter(|it| it.is_copy == is_copy);
            Intervals::in_order(own.map(&range))
        };
        let (copies, computes) = (of(true), of(false));
        let busy = match (copies.is_empty(), computes.is_empty()) {
            (true, _) => computes.clone(),
            (_, true) => copies.clone(),
            (false, false) => copies.union(&computes),
        };
        Self {
            copies,
            computes,
            busy,
        }
    }

    /// The times in any of those of several streams.
    fn united<'t>(all: impl Iterator<Item = &'t Self> + Clone) -> Self {
        Self {
            copies: united(all.clone().map(|it| &it.copies)),
            computes: united(all.clone().map(|it| &it.computes)),
            busy: united(all.map(|it| &it.busy)),
        }
    }
}

impl Lane {
    /// Takes the parts before a time from pieces.
    fn settled(device: Device, pieces: &mut Vec<WorkInterval>, until: i64) -> Self {
        let (before, after) = TimeRange::EVERYTHING.split_at(until);
        let mut done = Vec::new();
        pieces.retain_mut(|piece| {
            if piece.possible.end <= until {
                done.push(*piece);
                return false;
            }
            if let Some(first) = piece.clip(before) {
                done.push(first);
                piece.beyond = 0;
                *piece = piece.clip(after).unwrap_or(*piece);
            }
            true
        });
        Self {
            device,
            bars: Times::of(done.iter(), |it| it.bar),
            pieces: done,
        }
    }

    /// How long one stream worked alone: copies, and other work.
    fn alone(&self) -> (UnionTime, UnionTime, UnionTime) {
        let of = |wanted: &dyn Fn(&&WorkInterval) -> bool, bars: &Intervals| {
            let own = || self.pieces.iter().filter(wanted);
            UnionTime {
                bars: bars.total(),
                // Bars of one stream do not overlap.
                least: own().map(|it| it.sure.duration()).sum(),
                most: Intervals::in_order(own().map(|it| it.possible)).total()
                    + own().map(|it| it.beyond).sum::<i64>(),
            }
        };
        let (bars, none) = (&self.bars, UnionTime::default());
        let busy = of(&|_| true, &bars.busy);
        let has = |is_copy: bool| self.pieces.iter().any(|it| it.is_copy == is_copy);
        match (has(true), has(false)) {
            (false, _) => (busy, none, busy),
            (_, false) => (busy, busy, none),
            (true, true) => (
                busy,
                of(&|it| it.is_copy, &bars.copies),
                of(&|it| !it.is_copy, &bars.computes),
            ),
        }
    }
}

impl DeviceTime {
    fn add(&mut self, lanes: &[&Lane]) {
        if let [only] = lanes {
            let (busy, copy, compute) = only.alone();
            self.busy.add(busy);
            self.copy.add(copy);
            self.compute.add(compute);
            self.both += only.bars.copies.intersection(&only.bars.computes).total();
            return;
        }
        let bars = Times::united(lanes.iter().map(|lane| &lane.bars));
        let sure = lanes
            .iter()
            .map(|lane| Times::of(lane.pieces.iter(), |it| it.sure));
        let sure = Times::united(sure.collect::<Vec<_>>().iter());
        // Each stream adds as much beyond its bars as it would alone.
        let (mut busy, mut copy, mut compute) = (0, 0, 0);
        for (all, copied, computed) in lanes.iter().map(|lane| lane.alone()) {
            busy += all.most - all.bars;
            copy += copied.most - copied.bars;
            compute += computed.most - computed.bars;
        }
        let of = |bars: &Intervals, sure: &Intervals, beyond: i64| UnionTime {
            bars: bars.total(),
            least: sure.total(),
            most: bars.total() + beyond,
        };
        self.busy.add(of(&bars.busy, &sure.busy, busy));
        self.copy.add(of(&bars.copies, &sure.copies, copy));
        self.compute
            .add(of(&bars.computes, &sure.computes, compute));
        self.both += bars.copies.intersection(&bars.computes).total();
        self.shared += Intervals::shared_by(lanes.iter().map(|lane| &lane.bars.busy)).total();
    }
}

impl UnionTime {
    fn add(&mut self, more: Self) {
        self.bars += more.bars;
        self.least += more.least;
        self.most += more.most;
    }
}

/// The times in any of the sets.
fn united<'a>(sets: impl Iterator<Item = &'a Intervals>) -> Intervals {
    /// This number is united one after another. More are sorted together.
    const FEW: usize = 4;
    let sets: Vec<&Intervals> = sets.filter(|it| !it.is_empty()).collect();
    match sets.split_first() {
        Some((first, rest)) if rest.len() < FEW => rest
            .iter()
            .fold((*first).clone(), |union, set| union.union(set)),
        _ => Intervals::union_of(sets.iter().flat_map(|set| set.parts().iter().copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task with a bar, by how much it may be shorter, and by how much longer.
    fn piece(
        (begin, end): (i64, i64),
        (shorter, longer): (u32, u32),
        is_copy: bool,
    ) -> WorkInterval {
        let time = TaskTime {
            begin,
            end,
            error: 0,
            local_error: 0,
            shorter,
            longer,
            noise: 0,
        };
        WorkInterval::of(TimeRange::new(begin, end), &time, is_copy)
    }

    fn sharp(begin: i64, end: i64, is_copy: bool) -> WorkInterval {
        piece((begin, end), (0, 0), is_copy)
    }

    /// Each stream's pieces, summed up in two parts.
    fn worked(streams: &[&[WorkInterval]], cut: i64) -> (DeviceTime, Overlap) {
        let device = (ProcessId(0), 0);
        let mut work = Work::default();
        for (number, pieces) in (0..).zip(streams) {
            work.add(StreamId(number), device, pieces.to_vec());
        }
        work.settle(cut);
        work.settle(i64::MAX);
        (work.of(device), work.overlap())
    }

    const CUTS: [i64; 7] = [
        i64::MAX,
        1_000_000,
        1_000_007,
        1_000_015,
        1_000_025,
        1_000_040,
        0,
    ];

    #[test]
    fn sums_do_not_depend_on_where_time_is_cut() {
        let copies = [sharp(0, 10, true), sharp(20, 30, true)];
        let computes = [sharp(5, 25, false)];
        for cut in CUTS {
            let (time, overlap) = worked(&[&copies, &computes], cut);
            let sums = [time.busy, time.copy, time.compute].map(|it| it.bars);
            assert_eq!(sums, [30, 20, 20], "{cut}");
            assert_eq!([time.both, time.shared], [10, 10], "{cut}");
            assert_eq!(time.busy.least, 30, "{cut}");
            assert_eq!(time.busy.most, 30, "{cut}");
            assert_eq!((overlap.busy_ns, overlap.shared_ns), (30, 0));
        }
    }

    /// Of a task that may have begun late, the end alone is certain; another stream may have worked meanwhile.
    #[test]
    fn a_union_is_certain_where_any_stream_certainly_worked() {
        let open = [piece((0, 20), (15, 2), false)];
        let other = [sharp(5, 12, false)];
        for cut in CUTS {
            let alone = worked(&[&open], cut).0.busy;
            // From 15 to 18; from -2 to 22.
            assert_eq!((alone.bars, alone.least, alone.most), (20, 3, 24));
            let both = worked(&[&open, &other], cut).0.busy;
            assert_eq!((both.bars, both.least, both.most), (20, 10, 24));
        }
    }

    #[test]
    fn the_inside_of_a_busy_stretch_is_not_open_if_another_stream_covers_it() {
        let tasks: Vec<WorkInterval> = (0..100)
            .map(|it| piece((it * 10, it * 10 + 10), (2, 2), false))
            .collect();
        let shifted: Vec<WorkInterval> = (0..100)
            .map(|it| piece((it * 10 + 5, it * 10 + 15), (2, 2), false))
            .collect();
        for cut in CUTS {
            let alone = worked(&[&tasks], cut).0.busy;
            assert_eq!((alone.bars, alone.least, alone.most), (1000, 600, 1004));
            let both = worked(&[&tasks, &shifted], cut).0.busy;
            assert_eq!((both.bars, both.least, both.most), (1005, 1001, 1013));
        }
    }

    #[test]
    fn a_task_that_may_have_been_much_longer_counts_in_full() {
        let long = [piece((0, 10), (0, 3_000_000), false)];
        for cut in CUTS {
            let busy = worked(&[&long], cut).0.busy;
            assert_eq!((busy.bars, busy.least, busy.most), (10, 10, 3_000_010));
        }
    }
}

//! For how long devices worked, with any of their streams and with several at once.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_recording::{ProcessId, StreamId, TimeRange};

use super::lanes::Overlap;
use crate::Intervals;

/// A time in which a stream worked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) is_copy: bool,
}

impl Piece {
    pub(super) fn length(&self) -> i64 {
        self.end - self.begin
    }

    pub(super) const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }

    /// Its part inside a range.
    pub(super) fn clip(self, range: TimeRange) -> Option<Self> {
        let inside = self.range().intersection(range);
        (!inside.is_empty()).then_some(Self {
            begin: inside.begin,
            end: inside.end,
            ..self
        })
    }
}

/// The streams that a process has on a device.
type Device = (ProcessId, u32);

/// For how long the streams of a process on a device worked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceTime {
    pub(super) busy: i64,
    pub(super) copy: i64,
    pub(super) compute: i64,
    /// Copied and computed.
    pub(super) both: i64,
    /// At least two streams worked.
    pub(super) shared: i64,
}

/// Sums of the streams' simultaneous work, up to a time, and their later work.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Work outside of the sums, by stream.
    open: BTreeMap<StreamId, (Device, Vec<Piece>)>,
    devices: BTreeMap<Device, DeviceTime>,
    overlap: Overlap,
}

/// Work of one stream in a stretch of time.
struct Lane {
    device: Device,
    busy: Intervals,
    copies: Intervals,
    computes: Intervals,
}

impl Work {
    /// Adds the times in which a stream worked.
    pub(super) fn add(&mut self, stream: StreamId, device: Device, pieces: Vec<Piece>) {
        if !pieces.is_empty() {
            let open = self.open.entry(stream);
            let (_, known) = open.or_insert_with(|| (device, Vec::new()));
            known.extend(pieces);
        }
    }

    /// Sums up the work before a time: nothing that begins before it will be added.
    pub(super) fn settle(&mut self, until: i64) {
        let open = self.open.values_mut();
        let lanes = open.map(|(device, pieces)| Lane::settled(*device, pieces, until));
        let lanes: Vec<Lane> = lanes.filter(|lane| !lane.busy.is_empty()).collect();
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
            united(own.map(|lane| &lane.busy))
        });
        let by_number: Vec<Intervals> = by_number.collect();
        self.overlap.busy_ns += united(&by_number).total();
        self.overlap.shared_ns += Intervals::shared_by(&by_number).total();
    }

    pub(super) fn of(&self, device: Device) -> DeviceTime {
        self.devices.get(&device).copied().unwrap_or_default()
    }

    pub(super) fn overlap(&self) -> Overlap {
        self.overlap
    }
}

impl Lane {
    /// Takes the parts before a time from pieces.
    fn settled(device: Device, pieces: &mut Vec<Piece>, until: i64) -> Self {
        let (before, after) = TimeRange::EVERYTHING.split_at(until);
        let before = pieces.iter().filter_map(|it| it.clip(before));
        let of = |is_copy: bool| {
            let own = before.clone().filter(move |it| it.is_copy == is_copy);
            Intervals::union_of(own.map(|it| it.range()))
        };
        let (copies, computes) = (of(true), of(false));
        pieces.retain_mut(|piece| match piece.clip(after) {
            Some(rest) => {
                *piece = rest;
                true
            }
            None => false,
        });
        Self {
            device,
            busy: copies.union(&computes),
            copies,
            computes,
        }
    }
}

impl DeviceTime {
    fn add(&mut self, lanes: &[&Lane]) {
        let copies = united(lanes.iter().map(|lane| &lane.copies));
        let computes = united(lanes.iter().map(|lane| &lane.computes));
        self.busy += copies.union(&computes).total();
        self.copy += copies.total();
        self.compute += computes.total();
        self.both += copies.intersection(&computes).total();
        self.shared += Intervals::shared_by(lanes.iter().map(|lane| &lane.busy)).total();
    }
}

fn united<'a>(sets: impl IntoIterator<Item = &'a Intervals>) -> Intervals {
    let parts = sets.into_iter().flat_map(|set| set.parts().iter().copied());
    Intervals::union_of(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(begin: i64, end: i64, is_copy: bool) -> Piece {
        Piece {
            begin,
            end,
            is_copy,
        }
    }

    #[test]
    fn sums_do_not_depend_on_where_time_is_cut() {
        let device = (ProcessId(0), 0);
        for cut in [i64::MAX, 0, 7, 15, 25, 40] {
            let mut work = Work::default();
            let copies = vec![piece(0, 10, true), piece(20, 30, true)];
            work.add(StreamId(0), device, copies);
            work.add(StreamId(1), device, vec![piece(5, 25, false)]);
            work.settle(cut);
            work.settle(i64::MAX);
            let time = work.of(device);
            let sums = [time.busy, time.copy, time.compute, time.both, time.shared];
            assert_eq!(sums, [30, 20, 20, 10, 10], "{cut}");
            assert_eq!(work.overlap().busy_ns, 30);
            assert_eq!(work.overlap().shared_ns, 0);
        }
    }
}

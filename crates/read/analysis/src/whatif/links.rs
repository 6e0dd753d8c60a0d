//! What waited for what, by places in the recording.

use crate::ReleaseKind;

/// A thread or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaneCode(u32);

impl LaneCode {
    pub(super) fn thread(number: usize) -> Self {
        Self((number as u32) << 1)
    }

    pub(super) fn stream(number: usize) -> Self {
        Self((number as u32) << 1 | 1)
    }

    /// Its number, if it is a thread.
    pub(super) fn thread_number(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Its number, if it is a stream.
    pub(super) fn stream_number(self) -> Option<u32> {
        (self.0 & 1 == 1).then_some(self.0 >> 1)
    }
}

/// A call or a task: its lane, and how many are before it on the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LanePosition(u64);

impl LanePosition {
    pub(super) fn new(lane: LaneCode, ordinal: u32) -> Self {
        // Half of the lanes that there can be are left for the bit of a point.
        Self(u64::from(lane.0 & (u32::MAX >> 1)) << 32 | u64::from(ordinal))
    }

    pub(super) fn lane(self) -> LaneCode {
        LaneCode((self.0 >> 32) as u32)
    }

    /// How many are before it on its lane.
    pub(super) fn ordinal(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn begin(self) -> ItemEdge {
        ItemEdge(self.0 << 1)
    }

    pub(super) fn end(self) -> ItemEdge {
        ItemEdge(self.0 << 1 | 1)
    }
}

/// The begin or the end of a call or task. Those of a lane are in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ItemEdge(u64);

impl ItemEdge {
    pub(super) fn place(self) -> LanePosition {
        LanePosition(self.0 >> 1)
    }

    pub(super) fn is_end(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Why something could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkKind {
    /// The end of a wait, for the end of a task.
    Wait,
    /// The end of a call, for the end of a task.
    Sync,
    /// The same, for room in the queue of a stream.
    Room,
    /// The end of a function on the host, for the end of another one that the same thread ran before it.
    Turn,
    /// The begin of a call, for the end of another thread's call.
    Plan,
    /// The begin of a call, for the end of another thread's call or of a host function. This was learnt from times.
    Handover,
    /// The same, for the begin of a host function.
    HandoverBegin,
    /// As [`Self::Handover`] and [`Self::HandoverBegin`], where the times could also be the thread's own work.
    PossibleHandover,
    PossibleHandoverBegin,
    /// The begin of a call, for the end of the last call of a thread that ended.
    Join,
    /// The begin of a call after a handover, for the end of the last call of the thread that waited for it. The recording
    /// does not show such a wait: it shows only that the two threads work together.
    Reverse,
    /// The begin of a call, for the end of another thread's call that it may have waited for if that had ended later.
    Unshown,
    /// The first call of a thread, for the call of the first thread that had ended before.
    Start,
    /// The end of a call, for the begin of a task.
    Callback,
    /// The end of a collective, for the begin of another.
    Peer,
}

impl LinkKind {
    /// For a row of the table of releases.
    pub(super) fn of_release(kind: ReleaseKind) -> Option<Self> {
        match kind {
            ReleaseKind::Event | ReleaseKind::Signal => Some(Self::Wait),
            ReleaseKind::Room => Some(Self::Room),
            ReleaseKind::Plan => Some(Self::Plan),
            ReleaseKind::CallbackBegin => Some(Self::Callback),
            ReleaseKind::Peer => Some(Self::Peer),
            kind => kind.is_sync().then_some(Self::Sync),
        }
    }

    /// The pause may also be the own work of the thread.
    pub(super) fn is_possible(self) -> bool {
        matches!(self, Self::PossibleHandover | Self::PossibleHandoverBegin)
    }

    /// The points of two places that it links.
    pub(super) fn points(self, from: LanePosition, to: LanePosition) -> (ItemEdge, ItemEdge) {
        match self {
            Self::Wait | Self::Sync | Self::Room | Self::Turn => (from.end(), to.end()),
            Self::Plan
            | Self::Start
            | Self::Handover
            | Self::PossibleHandover
            | Self::Join
            | Self::Unshown
            | Self::Reverse => (from.end(), to.begin()),
            Self::HandoverBegin | Self::PossibleHandoverBegin => (from.begin(), to.begin()),
            Self::Callback | Self::Peer => (from.begin(), to.end()),
        }
    }
}

/// A wait, its target, and the time of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) way: LinkKind,
    pub(super) from: ItemEdge,
    pub(super) to: ItemEdge,
    /// The time of `from` in the recording.
    pub(super) at: i64,
}

/// A task of a call that waited for room in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueWait {
    pub(super) task: LanePosition,
    /// The outermost call.
    pub(super) call: LanePosition,
    /// From the begin of the call that submitted to its end.
    pub(super) lasts: i64,
}

/// Those of sorted rows that belong to a lane.
pub(super) fn of_lane<T>(rows: &[T], lane: LaneCode, place: impl Fn(&T) -> LanePosition) -> &[T] {
    let from = rows.partition_point(|it| place(it).lane() < lane);
    let until = from + rows[from..].partition_point(|it| place(it).lane() == lane);
    &rows[from..until]
}

/// Takes the next rows of a lane off that are at a key. Those before it are left out.
pub(super) fn take_at<'r, T, K: Ord>(rows: &mut &'r [T], key: K, of: impl Fn(&T) -> K) -> &'r [T] {
    let from = rows.iter().take_while(|it| of(it) < key).count();
    let until = from + rows[from..].iter().take_while(|it| of(it) == key).count();
    let found = &rows[from..until];
    *rows = &rows[until..];
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_the_order_of_their_lane() {
        let place = |lane, ordinal| LanePosition::new(lane, ordinal);
        let (first, second) = (LaneCode::thread(0), LaneCode::stream(0));
        let points = [
            place(first, 0).begin(),
            place(first, 0).end(),
            place(first, u32::MAX).begin(),
            place(second, 0).begin(),
            place(LaneCode::thread(1), 0).end(),
        ];
        assert!(points.is_sorted());
        assert_eq!(points[1].place().lane(), first);
        assert_eq!(points[2].place(), place(first, u32::MAX));
        assert!(points[4].is_end() && !points[3].is_end());
    }

    #[test]
    fn rows_are_taken_off_in_order() {
        let rows = [1, 3, 3, 4, 9];
        let mut left = &rows[..];
        assert!(take_at(&mut left, 2, |it| *it).is_empty());
        assert_eq!(take_at(&mut left, 3, |it| *it), &[3, 3]);
        assert_eq!(take_at(&mut left, 9, |it| *it), &[9]);
        assert!(left.is_empty());
    }
}

//! Stalls: intervals in which a lane could not go on, each with one cause.
//!
//! A stream stalls while a wait holds it at its head, and while it is idle between two tasks; a
//! host thread stalls inside a blocking call. The stalls of one lane never overlap.

mod culprit;
mod hosts;
mod streams;

use ascend_trace_model::{StreamId, ThreadId, Trace};

use crate::dependencies::Node;

pub use culprit::Culprit;

/// Idle gaps of a stream shorter than this are not stalls: they are the cost of switching from one
/// task to the next. Waits and blocking calls count whatever their length.
pub const IDLE_FLOOR_NS: i64 = 1_000;

/// What stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    Stream(StreamId),
    Thread(ThreadId),
}

/// Why a lane could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// A wait at the head of the stream had not been released by its event.
    EventWait,
    /// The stream was empty: its next task had not been submitted.
    HostLate,
    /// The stream was idle though its next task had been submitted, or what lies between could
    /// not be timed.
    Unknown,
    /// The thread waited for a stream, an event or a device.
    HostSync,
    /// The thread was inside a synchronous copy.
    HostCopy,
}

impl Cause {
    pub const ALL: [Self; 5] = [
        Self::EventWait,
        Self::HostLate,
        Self::Unknown,
        Self::HostSync,
        Self::HostCopy,
    ];

    /// The word for this cause in tables and exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EventWait => "event-wait",
            Self::HostLate => "host-late",
            Self::Unknown => "unknown",
            Self::HostSync => "host-sync",
            Self::HostCopy => "host-copy",
        }
    }
}

/// One interval in which a lane could not go on. Its [`Stall::culprit`] says who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    pub lane: Lane,
    pub begin: i64,
    pub end: i64,
    pub cause: Cause,
    /// What could not go on: the wait, the task after the gap, or the blocking call.
    pub node: Node,
}

impl Stall {
    pub fn length(&self) -> i64 {
        self.end - self.begin
    }
}

/// The stalls of a trace, by lane and time.
///
/// O(n) to build. [`Stalls::update`] reads only what a growing trace has gained; a stream is
/// followed up to its first task whose time is still to be read.
#[derive(Clone, Debug, Default)]
pub struct Stalls {
    streams: Vec<streams::StreamStalls>,
    hosts: hosts::HostStalls,
}

impl Stalls {
    /// The stalls of a whole trace: times that are not known now count as lost.
    pub fn of(trace: &Trace) -> Self {
        let mut stalls = Self::default();
        stalls.advance(trace, true);
        stalls
    }

    /// Takes in what a growing trace has gained.
    pub fn update(&mut self, trace: &Trace) {
        self.advance(trace, trace.end().is_some());
    }

    fn advance(&mut self, trace: &Trace, finished: bool) {
        self.streams
            .resize_with(trace.streams().len(), Default::default);
        for (index, stream) in self.streams.iter_mut().enumerate() {
            stream.advance(trace, StreamId(index as u32), finished);
        }
        self.hosts.advance(trace);
    }

    /// The stalls of one lane by begin time; they do not overlap.
    pub fn lane(&self, lane: Lane) -> &[Stall] {
        match lane {
            Lane::Stream(stream) => {
                let lane = self.streams.get(stream.index());
                lane.map_or(&[], |lane| lane.stalls.as_slice())
            }
            Lane::Thread(thread) => self.hosts.thread(thread),
        }
    }

    /// The stalls of one lane that have a part in `[begin, end]`.
    pub fn in_window(&self, lane: Lane, begin: i64, end: i64) -> &[Stall] {
        let stalls = self.lane(lane);
        let first = stalls.partition_point(|stall| stall.end < begin);
        let last = stalls.partition_point(|stall| stall.begin <= end);
        stalls.get(first..last).unwrap_or(&[])
    }

    fn lanes(&self) -> impl Iterator<Item = &[Stall]> {
        let streams = self.streams.iter().map(|stream| stream.stalls.as_slice());
        streams.chain(self.hosts.lanes())
    }

    /// Every stall, lane by lane.
    pub fn iter(&self) -> impl Iterator<Item = &Stall> {
        self.lanes().flatten()
    }

    /// Every stall by begin time.
    pub fn sorted(&self) -> Vec<&Stall> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|stall| (stall.begin, stall.lane));
        all
    }

    /// The `n` longest stalls, longest first.
    pub fn worst(&self, n: usize) -> Vec<&Stall> {
        self.worst_where(n, |_| true)
    }

    /// The `n` longest of the stalls that `wanted` accepts, longest first.
    pub fn worst_where(&self, n: usize, wanted: impl Fn(&Stall) -> bool) -> Vec<&Stall> {
        let mut all: Vec<_> = self.iter().filter(|stall| wanted(stall)).collect();
        let order = |stall: &&Stall| (-stall.length(), stall.begin, stall.lane);
        if n < all.len() {
            all.select_nth_unstable_by_key(n, order);
            all.truncate(n);
        }
        all.sort_by_key(order);
        all
    }

    /// The first stall that begins after `time`, on any lane.
    pub fn next_after(&self, time: i64) -> Option<&Stall> {
        let firsts = self.lanes().filter_map(|lane| {
            let next = lane.partition_point(|stall| stall.begin <= time);
            lane.get(next)
        });
        firsts.min_by_key(|stall| (stall.begin, stall.lane))
    }

    /// The last stall that begins before `time`, on any lane.
    pub fn previous_before(&self, time: i64) -> Option<&Stall> {
        let lasts = self.lanes().filter_map(|lane| {
            let next = lane.partition_point(|stall| stall.begin < time);
            lane.get(next.checked_sub(1)?)
        });
        lasts.max_by_key(|stall| (stall.begin, stall.lane))
    }
}

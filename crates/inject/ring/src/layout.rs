//! The structures in a session's shared memory, with atomics where two sides meet.

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::filter::{FILTER_WORDS, Filters};
use ascend_trace_format::record::{RecordKind, SLOT_WORDS};
use ascend_trace_format::session::{
    CHANNEL_BYTES, HEADER_BYTES, OPEN_BYTES, OPEN_LEVELS, TickSource, Timing,
};
use ascend_trace_format::window::Window;

/// The collector's settings for every traced process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    pub timing: Timing,
    pub ticks: TickSource,
    /// Fingerprint of the hook table: calls are recorded by their index in it.
    pub table_hash: u64,
    /// Number of recorded frames of each call's stack; 0 for none.
    pub stacks: u32,
    /// The part of a stream's time that events of `Timing::Auto` may take, of `WHOLE_BUDGET`; 0 for no limit.
    pub budget: u32,
    /// When each process records.
    pub window: Window,
    /// What each process records.
    pub filters: Filters,
}

/// What changes while the program runs and all its calls read: apart from words that change often.
#[repr(C, align(128))]
pub(crate) struct Control {
    /// A [`Switch`](ascend_trace_format::window::Switch).
    pub(crate) switch: AtomicU32,
    /// Number of processes that have met the condition at the begin of their window.
    pub(crate) begun: AtomicU32,
    /// The present timing, and its budget.
    pub(crate) timing: AtomicU32,
    pub(crate) budget: AtomicU32,
}

/// The first page.
#[repr(C)]
pub(crate) struct HeaderPage {
    pub(crate) magic: AtomicU64,
    pub(crate) version: AtomicU32,
    pub(crate) timing: AtomicU32,
    pub(crate) table_hash: AtomicU64,
    pub(crate) ticks: AtomicU32,
    /// Segments the file has room for, whether or not they have memory yet.
    pub(crate) segments: AtomicU32,
    /// Number of processes that have attached.
    pub(crate) attached: AtomicU32,
    /// Where the search for a free channel begins.
    pub(crate) channel_hint: AtomicU32,
    /// Channels from this one on have never been claimed.
    pub(crate) channels_used: AtomicU32,
    /// Records of threads for which there was no channel.
    pub(crate) without_channel: AtomicU64,
    /// The pool: number of the first free segment, and a tag that changes with every pop so that
    /// a stale compare-and-swap fails.
    pub(crate) free: AtomicU64,
    /// Segments in use.
    pub(crate) taken: AtomicU32,
    /// Segments with a number up to this one have been given memory, by the collector or by a producer.
    pub(crate) provided: AtomicU32,
    /// Not 0: a producer found no memory for a new segment. Until the collector clears it, none tries again.
    pub(crate) has_no_memory: AtomicU32,
    /// Number of channels with memory for open calls.
    pub(crate) open_provided: AtomicU32,
    /// While this number is in use, only threads without any may take one.
    pub(crate) limit: AtomicU32,
    /// Frames of a stack that are recorded.
    pub(crate) stacks: AtomicU32,
    /// The part of a stream's time that events may take.
    pub(crate) budget: AtomicU32,
    /// Not 0: each process begins with a pause.
    pub(crate) begins_paused: AtomicU32,
    /// The conditions at the begin and at the end of a process's window.
    pub(crate) window: [AtomicU64; 4],
    /// The text of the filters.
    pub(crate) filters: [AtomicU64; FILTER_WORDS],
    pub(crate) control: Control,
}

/// States of a channel.
pub(crate) mod state {
    pub(crate) const FREE: u32 = 0;
    pub(crate) const CLAIMED: u32 = 1;
    pub(crate) const LIVE: u32 = 2;
    pub(crate) const CLOSED: u32 = 3;
}

/// One thread's entry in the channel table.
#[repr(C)]
pub(crate) struct Channel {
    pub(crate) state: AtomicU32,
    pub(crate) pid: AtomicU32,
    pub(crate) tid: AtomicU32,
    /// First segment of the chain, 0 until the first record.
    pub(crate) first: AtomicU32,
    /// Distinguishes processes that had the same pid: ticks at which the process attached.
    pub(crate) process_key: AtomicU64,
    /// The pid namespace that `pid` and `tid` are of; 0 when it is not known.
    pub(crate) namespace: AtomicU64,
    /// Records that found no room, by [`LostRecords`]'s order.
    pub(crate) dropped: [AtomicU64; 3],
    /// Calls that the filters left out.
    pub(crate) filtered: AtomicU64,
    reserved: [u64; 8],
}

/// Numbers of lost records, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostRecords {
    pub calls: u64,
    /// When tasks ran.
    pub times: u64,
    /// Names of things, clock readings, counters.
    pub others: u64,
}

impl LostRecords {
    pub fn total(self) -> u64 {
        let total = self.calls.saturating_add(self.times);
        total.saturating_add(self.others)
    }

    /// Records lost since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            calls: self.calls.saturating_sub(earlier.calls),
            times: self.times.saturating_sub(earlier.times),
            others: self.others.saturating_sub(earlier.others),
        }
    }
}

impl Channel {
    pub(crate) fn count_dropped(&self, kind: RecordKind) {
        let [calls, times, others] = &self.dropped;
        let counter = match kind {
            RecordKind::Call => calls,
            RecordKind::TaskTime => times,
            _ => others,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn dropped(&self) -> LostRecords {
        let [calls, times, others] = &self.dropped;
        LostRecords {
            calls: calls.load(Relaxed),
            times: times.load(Relaxed),
            others: others.load(Relaxed),
        }
    }
}

/// A call that is under way, laid out like the first slot of its record. Word 0 is 0 while there is
/// none, and stored last; the word with duration and return code means nothing.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct OpenCall(pub [AtomicU64; SLOT_WORDS]);

/// The calls that are under way in a thread, outermost first. Only the thread writes them.
pub type OpenCalls = [OpenCall; OPEN_LEVELS];

impl OpenCall {
    /// No call.
    pub const fn none() -> Self {
        Self([const { AtomicU64::new(0) }; SLOT_WORDS])
    }

    /// The published call of a thread that may continue meanwhile; `None` without one, or when it has
    /// changed during the reading.
    pub(crate) fn read(&self) -> Option<[u64; SLOT_WORDS]> {
        let look = || self.0.each_ref().map(|word| word.load(Acquire));
        let words = look();
        (words[0] != 0 && look() == words).then_some(words)
    }
}

/// Slot 0 of a segment.
#[repr(C)]
pub(crate) struct SegmentHeader {
    /// Slots that are published, counted from slot 1.
    pub(crate) committed: AtomicU32,
    /// The segment that follows in the chain; 0 while this one is the last.
    pub(crate) next: AtomicU32,
    /// The segment that follows in the pool; 0 at its end.
    pub(crate) link: AtomicU32,
    reserved: [u32; 13],
}

const _: () = assert!(size_of::<HeaderPage>() <= HEADER_BYTES);
const _: () = assert!(size_of::<Channel>() == CHANNEL_BYTES);
const _: () = assert!(size_of::<OpenCalls>() == OPEN_BYTES);
const _: () = assert!(size_of::<SegmentHeader>() == ascend_trace_format::record::SLOT_BYTES);

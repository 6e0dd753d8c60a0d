//! The structures that lie in a session's shared memory, with atomics where two sides meet.

use std::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::session::{CHANNEL_BYTES, HEADER_BYTES, TickSource, Timing};

/// What the collector tells every traced process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionSettings {
    pub timing: Timing,
    pub ticks: TickSource,
    /// Fingerprint of the hook table: calls are recorded by their index in it.
    pub table_hash: u64,
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
    /// Processes that have attached so far.
    pub(crate) attached: AtomicU32,
    /// Where the search for a free channel begins.
    pub(crate) channel_hint: AtomicU32,
    /// Records of threads for which there was no channel.
    pub(crate) homeless: AtomicU64,
    /// The pool: number of the first free segment, and a tag that changes with every pop so that
    /// a stale compare-and-swap fails.
    pub(crate) free: AtomicU64,
    /// Segments in use.
    pub(crate) taken: AtomicU32,
    /// Segments that have been given memory.
    pub(crate) provided: AtomicU32,
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
    /// Tells processes apart that had the same pid: ticks at which the process attached.
    pub(crate) process_key: AtomicU64,
    pub(crate) dropped_calls: AtomicU64,
    pub(crate) dropped_others: AtomicU64,
    reserved: [u64; 11],
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
const _: () = assert!(size_of::<SegmentHeader>() == ascend_trace_format::record::SLOT_BYTES);

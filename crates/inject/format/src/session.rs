//! The layout of a session's shared memory: one header page, a table of channels, the calls that are
//! under way in each, then segments.
//!
//! A *channel* belongs to one thread of one traced process. Its records are in a chain of *segments*;
//! segments come from one pool that all threads of all processes share, so a session has one budget and
//! no thread has a fixed part of it. Nothing ever wraps around: a full segment points to the next one,
//! and returns to the pool when the collector has read it.

use crate::coded_enum;
use crate::record::SLOT_BYTES;

/// Bytes of the largest pages that kernels for aarch64 are configured with.
const LARGEST_PAGE: usize = 64 * 1024;

/// Bytes of the header page.
pub const HEADER_BYTES: usize = LARGEST_PAGE;
/// Bytes of one channel's entry.
pub const CHANNEL_BYTES: usize = 128;
/// Threads that can be recorded at one time.
pub const CHANNELS: usize = 4096;
/// Bytes of a segment: large enough that taking one is rare, small enough that 128 idle
/// threads have one each in the smallest memory budget.
pub const SEGMENT_BYTES: usize = 64 * 1024;
/// Slots of a segment; slot 0 is the segment's header.
pub const SEGMENT_SLOTS: usize = SEGMENT_BYTES / SLOT_BYTES;

/// Nested calls that a channel lists while they are running.
pub const OPEN_LEVELS: usize = 8;
/// Bytes of a channel's open calls: one slot each, laid out like a record of a call.
pub const OPEN_BYTES: usize = OPEN_LEVELS * SLOT_BYTES;

/// Offset of the channel table.
pub const CHANNELS_OFFSET: usize = HEADER_BYTES;
/// Offset of the open calls of the channels.
pub const OPEN_OFFSET: usize = CHANNELS_OFFSET + CHANNELS * CHANNEL_BYTES;
/// Offset of segment 1; segment numbers begin at 1 because 0 means none.
pub const SEGMENTS_OFFSET: usize = OPEN_OFFSET + CHANNELS * OPEN_BYTES;

const _: () = assert!(OPEN_OFFSET.is_multiple_of(LARGEST_PAGE));
const _: () = assert!(SEGMENTS_OFFSET.is_multiple_of(LARGEST_PAGE));
const _: () = assert!(SEGMENT_BYTES.is_multiple_of(LARGEST_PAGE));

/// Bytes of a session with room for `segments` segments.
pub const fn session_bytes(segments: u32) -> usize {
    SEGMENTS_OFFSET + segments as usize * SEGMENT_BYTES
}

/// The environment variable with the session file for the interposer.
pub const SESSION_VARIABLE: &str = "ASCEND_TRACE_SESSION";

/// How the interposer times tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Calls only; the interposer makes no AscendCL call itself.
    Off,
    /// Event pairs around tasks.
    Events,
    /// As `Events`, but on a busy stream a task begins with the end event of the one before it.
    Chained,
    /// Event pairs around every Nth task of a stream.
    Sample(u32),
    /// `Events`, `Chained` or `Sample` for each stream, by how long its tasks are and by the chip.
    Auto,
    /// The hardware log, from msPTI; as `Auto` without it.
    Hardware,
    /// `Events`, and the hardware log as well.
    Both,
}

/// A budget of this value lets events take all of a stream's time. Budgets are in 1/10,000 of it; 0 means no limit.
pub const WHOLE_BUDGET: u32 = 10_000;

/// Marks the code of `Timing::Sample`; the other bits are its number.
const SAMPLE: u32 = 1 << 31;

impl Timing {
    pub const fn code(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::Events => 1,
            Self::Chained => 2,
            Self::Sample(step) => SAMPLE | step,
            Self::Auto => 3,
            Self::Hardware => 4,
            Self::Both => 5,
        }
    }

    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            0 => Some(Self::Off),
            1 => Some(Self::Events),
            2 => Some(Self::Chained),
            3 => Some(Self::Auto),
            4 => Some(Self::Hardware),
            5 => Some(Self::Both),
            _ if code > SAMPLE => Some(Self::Sample(code & !SAMPLE)),
            _ => None,
        }
    }
}

/// Code of the architecture's tick counter. An emulated program of another architecture must not read its own counter
/// as the host's.
const COUNTER: u32 = match () {
    () if cfg!(target_arch = "x86_64") => 1,
    () if cfg!(target_arch = "aarch64") => 2,
    () => 3,
};

coded_enum! {
    /// Which counter the `begin` and `end` ticks of records come from.
    TickSource: u32 {
        /// `CLOCK_MONOTONIC` in nanoseconds.
        Monotonic = 0,
        /// The processor's own counter (TSC, CNTVCT); the collector converts it.
        Counter = COUNTER,
    }
}

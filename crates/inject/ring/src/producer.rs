//! The writing end of a channel: one thread of a traced process.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::compiler_fence;
use std::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::record::{MAX_SLOTS, RecordKind, SLOT_BYTES, SLOT_WORDS};
use ascend_trace_format::session::{CHANNELS, SEGMENT_SLOTS};

use crate::layout::{Channel, OpenCalls, SegmentHeader, state};
use crate::map::Session;
use crate::pool;

/// Slots of a segment that hold records.
const USABLE: u32 = SEGMENT_SLOTS as u32 - 1;

/// The writing end of a channel. It is meant to live in thread-local memory without a destructor;
/// [`Producer::close`] hands the channel back.
pub struct Producer {
    session: Session,
    channel: u32,
    /// The segment being written, 0 when none could be had.
    segment: u32,
    /// Slots of it that are published; all of them while there is no segment.
    used: u32,
    /// Where the segment begins; only looked at while there is one.
    start: *mut u8,
    /// The chain is being extended. A thread that finds this set has jumped out of that.
    is_torn: bool,
}

impl Producer {
    /// Claims a channel for the calling thread. `None` when every channel is in use: the records
    /// of such a thread are counted with [`Session::count_homeless`].
    pub fn claim(session: Session, pid: u32, tid: u32, process_key: u64) -> Option<Self> {
        let start = session.header().channel_hint.fetch_add(1, Relaxed) as usize;
        for step in 0..CHANNELS {
            let index = start.wrapping_add(step) % CHANNELS;
            let channel = session.channel(index);
            if channel.state.load(Relaxed) == state::FREE
                && channel
                    .state
                    .compare_exchange(state::FREE, state::CLAIMED, Acquire, Relaxed)
                    .is_ok()
            {
                // First of all, so that the collector always looks here.
                let used = &session.header().channels_used;
                used.fetch_max(index as u32 + 1, Release);
                for call in session.open_calls(index).into_iter().flatten() {
                    call.0[0].store(0, Relaxed);
                }
                channel.tid.store(tid, Relaxed);
                channel.process_key.store(process_key, Relaxed);
                channel.namespace.store(session.namespace(), Relaxed);
                // After them, since a channel with a pid has a known owner.
                channel.pid.store(pid, Release);
                channel.state.store(state::LIVE, Release);
                return Some(Self {
                    session,
                    channel: index as u32,
                    segment: 0,
                    used: USABLE,
                    start: core::ptr::null_mut(),
                    is_torn: false,
                });
            }
        }
        None
    }

    /// Room for a record of `slots` slots, to be filled and then published with
    /// [`Producer::publish`]. `None` when the pool is empty: count the loss with
    /// [`Producer::count_dropped`].
    #[inline]
    pub fn reserve(&mut self, slots: usize) -> Option<&mut [u64]> {
        if slots == 0 || slots > MAX_SLOTS {
            return None;
        }
        if self.used + slots as u32 > USABLE {
            self.next_segment()?;
        }
        let offset = (1 + self.used as usize) * SLOT_BYTES;
        // SAFETY: there is a segment, for without one `used` leaves no room; `used + slots` is
        // within it, which this producer alone writes; slots past `committed` are not read by
        // anybody; the address is a multiple of 64.
        Some(unsafe {
            std::slice::from_raw_parts_mut(self.start.add(offset).cast::<u64>(), slots * SLOT_WORDS)
        })
    }

    /// Publishes a record of `slots` slots that `write` fills, if the present segment has room for it.
    #[inline(always)]
    pub fn put(&mut self, slots: usize, write: impl FnOnce(&mut [u64])) -> bool {
        let used = self.used;
        if used > USABLE.saturating_sub(slots as u32) {
            return false;
        }
        let start = self.start;
        let offset = (1 + used as usize) * SLOT_BYTES;
        // SAFETY: as in `reserve`: without a segment all slots are used.
        let room = unsafe {
            std::slice::from_raw_parts_mut(start.add(offset).cast::<u64>(), slots * SLOT_WORDS)
        };
        write(room);
        let used = used + slots as u32;
        self.used = used;
        // SAFETY: as in `publish`; there is a segment.
        let header = unsafe { &*start.cast::<SegmentHeader>() };
        header.committed.store(used, Release);
        true
    }

    /// Whether the pool is nearly empty: records that say little should leave the rest to others.
    pub fn has_little_room(&self) -> bool {
        pool::has_little(&self.session)
    }

    /// Publishes the record that was written into the last reservation of `slots` slots. Returns
    /// whether it was the first one in its segment.
    #[inline]
    pub fn publish(&mut self, slots: usize) -> bool {
        if self.start.is_null() {
            return false;
        }
        self.used += slots as u32;
        // SAFETY: a segment begins with its header, which consists of atomics, and is aligned.
        let header = unsafe { &*self.start.cast::<SegmentHeader>() };
        header.committed.store(self.used, Release);
        self.used == slots as u32
    }

    /// The part of the channel that a signal handler may use.
    pub fn ledger(&self) -> Ledger {
        Ledger {
            session: self.session,
            channel: self.channel,
        }
    }

    /// Counts a record that found no room.
    pub fn count_dropped(&self, kind: RecordKind) {
        self.entry().count_dropped(kind);
    }

    /// Gives the channel back when its thread ends; published records are still read.
    pub fn close(self) {
        self.entry().state.store(state::CLOSED, Release);
    }

    /// Whether a signal handler has jumped out during an extension of the chain. Its progress is not
    /// known: the channel must be closed, and another one claimed. Published records are read.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }

    #[cold]
    fn next_segment(&mut self) -> Option<()> {
        self.is_torn = true;
        compiler_fence(SeqCst);
        let lengthened = self.lengthen();
        compiler_fence(SeqCst);
        self.is_torn = false;
        lengthened
    }

    fn lengthen(&mut self) -> Option<()> {
        let number = pool::take(&self.session, self.segment == 0)?;
        let start = self.session.segment(number)?;
        self.link_from().store(number, Release);
        self.segment = number;
        self.start = start;
        self.used = 0;
        Some(())
    }

    /// Where the chain continues.
    fn link_from(&self) -> &AtomicU32 {
        match self.session.segment_header(self.segment) {
            Some(header) => &header.next,
            None => &self.entry().first,
        }
    }

    fn entry(&self) -> &Channel {
        self.session.channel(self.channel as usize)
    }
}

/// The entry of a channel, to count lost records and to list running calls. Unlike the producer, a
/// signal handler that has interrupted the thread anywhere may use it.
#[derive(Clone, Copy)]
pub struct Ledger {
    session: Session,
    channel: u32,
}

impl Ledger {
    /// Counts a record that will not be written.
    pub fn count_dropped(&self, kind: RecordKind) {
        self.session
            .channel(self.channel as usize)
            .count_dropped(kind);
    }

    /// Counts a call that the filters leave out.
    pub fn count_filtered(&self) {
        let channel = self.session.channel(self.channel as usize);
        channel.filtered.fetch_add(1, Relaxed);
    }

    /// The thread's list of running calls; `None` without memory for it.
    pub fn open_calls(&self) -> Option<&'static OpenCalls> {
        self.session.open_calls(self.channel as usize)
    }
}

impl Session {
    /// Counts records of threads that have no channel.
    pub fn without_channel(&self) -> &'static AtomicU64 {
        let counter = core::ptr::from_ref(&self.header().without_channel);
        // SAFETY: the memory of a session that producers use stays mapped.
        unsafe { &*counter }
    }

    /// Counts a record of a thread that has no channel.
    pub fn count_homeless(&self) {
        self.header().without_channel.fetch_add(1, Relaxed);
    }
}

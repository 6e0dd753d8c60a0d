//! The memory of a session: how much of it there is, and how far ahead of the program.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use ascend_trace_format::session::{
    CHANNELS, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES, SEGMENTS_OFFSET,
};

use super::{AHEAD, Arena, FREE_THREADS};
use crate::pool;

/// With more threads than this, there may soon be many times as many.
const FEW_THREADS: usize = 16;
/// Segments that lie ready for threads to come, for each that there is, and at most.
const AHEAD_OF_EACH: usize = 16;
const MOST_AHEAD: usize = 1024;
/// Number of these that are provided at a time: meanwhile no records are read.
const STEP_AHEAD: u32 = 64;

impl Arena {
    /// Keeps some memory free for the producers, within the budget. They take more themselves if a burst needs
    /// it. Returns an error if they or the collector found no memory. All memory is allocated before a producer
    /// writes to it, so a full file system cannot kill a program.
    pub fn replenish(&mut self) -> io::Result<()> {
        self.provide_open_calls()?;
        let provided = self.provide_for_bursts();
        self.limit = self.most();
        self.session.header().limit.store(self.limit, Relaxed);
        self.provide_for_newcomers();
        provided.and(self.let_producers_try())
    }

    /// Producers stop taking memory when they find none. With some room in the file system, they may try again.
    fn let_producers_try(&self) -> io::Result<()> {
        let has_no_memory = &self.session.header().has_no_memory;
        if has_no_memory.load(Relaxed) == 0 {
            return Ok(());
        }
        if free_bytes(&self.home.file) >= u64::from(STEP_AHEAD) * SEGMENT_BYTES as u64 {
            has_no_memory.store(0, Relaxed);
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    /// Threads that come by the hundred, as those of many processes do, find a first segment each even
    /// if the collector is late: what there is beyond the budget is for them alone.
    fn provide_for_newcomers(&mut self) {
        let threads = self.channels_used();
        if threads <= FEW_THREADS {
            return;
        }
        let free = self.free_segments();
        let wanted = (threads * AHEAD_OF_EACH).min(MOST_AHEAD) as u32;
        if free >= wanted {
            return;
        }
        // The program needs room there as well.
        let room = free_bytes(&self.home.file) / 4 / SEGMENT_BYTES as u64;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let count = (wanted - free).min(room).min(STEP_AHEAD);
        // Without free memory, producers find none and count their records.
        let _ = self.provide(count, u32::MAX);
    }

    fn provide_for_bursts(&mut self) -> io::Result<()> {
        let most = self.most();
        if self.free_segments() >= AHEAD / 2 || self.provided() >= most {
            return Ok(());
        }
        self.provide(AHEAD, most)
    }

    /// Segments that have memory now.
    pub(crate) fn provided(&self) -> u32 {
        let provided = self.session.header().provided.load(Acquire);
        if provided > self.session.segments() {
            return self.provided;
        }
        provided.max(self.provided)
    }

    fn free_segments(&self) -> u32 {
        let taken = self.session.header().taken.load(Acquire);
        self.provided().saturating_sub(taken)
    }

    /// Provides memory for the open calls of twice the largest number of channels until now. The others
    /// list no running calls.
    fn provide_open_calls(&mut self) -> io::Result<()> {
        let now = self.open_provided as usize;
        if now >= CHANNELS || self.channels_used() * 2 <= now {
            return Ok(());
        }
        let next = (now * 2).min(CHANNELS);
        let offset = OPEN_OFFSET + now * OPEN_BYTES;
        allocate(&self.home.file, offset, (next - now) * OPEN_BYTES)?;
        self.open_provided = next as u32;
        let provided = &self.session.header().open_provided;
        provided.store(self.open_provided, Release);
        Ok(())
    }

    /// Segments that may be provided for as many threads as there have been at one time.
    fn most(&self) -> u32 {
        let threads = self.channels_used();
        self.budget + threads.saturating_sub(FREE_THREADS) as u32
    }

    /// Whether producers may soon find no room: more than half of the budget is in use.
    pub fn is_pressed(&self) -> bool {
        self.session.header().taken.load(Relaxed) > self.most() / 2
    }

    /// Bytes of memory that the session takes now.
    pub fn bytes(&self) -> usize {
        let open_calls = self.open_provided as usize * OPEN_BYTES;
        OPEN_OFFSET + open_calls + self.provided() as usize * SEGMENT_BYTES
    }

    /// Provides `count` segments more, up to `most` in all.
    pub(super) fn provide(&mut self, count: u32, most: u32) -> io::Result<()> {
        let before = self.provided();
        let last = before
            .saturating_add(count)
            .min(most.min(self.session.segments()));
        if last <= before {
            return Ok(());
        }
        let offset = SEGMENTS_OFFSET + before as usize * SEGMENT_BYTES;
        allocate(
            &self.home.file,
            offset,
            (last - before) as usize * SEGMENT_BYTES,
        )?;
        // Producers may have taken some of them meanwhile.
        let before = self.session.header().provided.fetch_max(last, AcqRel);
        self.provided = self.provided();
        for number in before + 1..=last {
            pool::put(&self.session, number);
        }
        Ok(())
    }
}

/// Bytes that the file's file system has left.
fn free_bytes(file: &File) -> u64 {
    // SAFETY: an all-zero statvfs is a valid out-parameter.
    let mut stat: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the file is open and `stat` a live local.
    match unsafe { libc::fstatvfs(file.as_raw_fd(), &mut stat) } {
        0 => stat.f_bavail.saturating_mul(stat.f_frsize),
        _ => 0,
    }
}

pub(crate) fn allocate(file: &File, offset: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: plain system call on an open file.
    let code = unsafe {
        libc::posix_fallocate(
            file.as_raw_fd(),
            offset as libc::off_t,
            bytes as libc::off_t,
        )
    };
    if code == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(code))
    }
}

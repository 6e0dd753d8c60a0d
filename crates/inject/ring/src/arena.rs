//! The collector's end: makes the session, provides memory, reads the channels.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use ascend_trace_format::record::{RecordHead, SLOT_BYTES, SLOT_WORDS};
use ascend_trace_format::session::{
    CHANNELS, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES, SEGMENT_SLOTS, SEGMENTS_OFFSET, Timing,
    session_bytes,
};

use ascend_trace_format::window::Switch;

use crate::guard::Guard;
use crate::home::SessionFile;
use crate::layout::{LostRecords, OpenCall, SessionSettings, state};
use crate::map::{AttachError, Session};
use crate::nested::{self, NestedRecorder};
use crate::pool;

/// Segments of one channel that a pass reads, unless its thread has ended: the others must not wait.
const MOST_OF_ONE: u32 = 512;
/// Segments of the smallest session.
const LEAST: u32 = 64;
/// Free segments at the beginning. Every thread takes one with its first record, so a program that
/// starts threads by the hundred needs as many before the collector next gets a processor.
const AHEAD: u32 = 256;
/// Threads that share the budget alone. Each one beyond adds a segment to it: however many threads
/// there are, the first record of one finds room.
pub const FREE_THREADS: usize = 128;

/// With more threads than this, there may soon be many times as many.
const FEW_THREADS: usize = 16;
/// Segments that lie ready for threads to come, for each that there is, and at most.
const AHEAD_OF_EACH: usize = 16;
const MOST_AHEAD: usize = 1024;
/// Number of these that are provided at a time: meanwhile no records are read.
const STEP_AHEAD: u32 = 64;

/// Why a session could not be made. Written by hand: this crate is part of the library in traced
/// programs, and depends on libc only.
#[derive(Debug)]
pub enum ArenaError {
    Create {
        path: PathBuf,
        source: io::Error,
    },
    Map {
        path: PathBuf,
        source: io::Error,
    },
    Room {
        path: PathBuf,
        bytes: usize,
        source: io::Error,
    },
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, source } => write!(f, "cannot make {}: {source}", path.display()),
            Self::Map { path, source } => write!(f, "cannot map {}: {source}", path.display()),
            Self::Room {
                path,
                bytes,
                source,
            } => {
                write!(
                    f,
                    "no room for {bytes} bytes in {}: {source}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for ArenaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create { source, .. } | Self::Map { source, .. } | Self::Room { source, .. } => {
                Some(source)
            }
        }
    }
}

/// Who a channel belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChannelInfo {
    pub pid: u32,
    pub tid: u32,
    /// Differs between processes that had the same pid: grows from one to the next.
    pub process_key: u64,
    /// The pid namespace of `pid` and `tid`, from [`Session::set_namespace`].
    pub namespace: u64,
}

/// What draining a channel found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainResult {
    pub records: usize,
    /// The thread or its process has ended; the channel has been given back.
    pub ended: bool,
    /// Records lost since the channel was claimed.
    pub dropped: LostRecords,
    /// Calls that the filters left out since then.
    pub filtered: u64,
    /// Places in the memory that hold values which the producers never write.
    pub damaged: u64,
}

/// How far a channel has been read.
#[derive(Clone, Copy, Default)]
pub(crate) struct Position {
    segment: u32,
    consumed: u32,
    /// The count of published slots was impossible, and this has been counted.
    pub(crate) is_damaged: bool,
    /// The chain leads nowhere from here on.
    is_broken: bool,
}

/// A session as its owner sees it. Dropping it removes the file.
pub struct Arena {
    pub(crate) session: Session,
    pub(crate) home: SessionFile,
    pub(crate) guard: Guard,
    pub(crate) settings: SessionSettings,
    pub(crate) positions: Vec<Position>,
    /// Who holds each channel that has been admitted.
    pub(crate) tenants: Vec<Option<ChannelInfo>>,
    /// For each segment, the number of the channel that reads it, plus one.
    holders: Vec<u16>,
    words: Vec<u64>,
    /// Segments that may be provided while there are few threads.
    budget: u32,
    // What only the collector writes is kept here as well: the program may write over the memory.
    /// The largest number of segments with memory that was read: producers increase it as well.
    pub(crate) provided: u32,
    pub(crate) open_provided: u32,
    pub(crate) limit: u32,
    pub(crate) switch: Switch,
    /// The present timing, and its budget.
    pub(crate) timing: (Timing, u32),
    /// Number of the highest channel that was claimed, plus one.
    pub(crate) used: usize,
    /// The largest count of attached processes that was read.
    pub(crate) joined: u32,
}

impl Arena {
    /// Makes a session file in `directory` with room for `budget` bytes of records, and more only
    /// for more than [`FREE_THREADS`] threads.
    pub fn create(
        directory: &Path,
        budget: usize,
        settings: SessionSettings,
    ) -> Result<Self, ArenaError> {
        let most = u32::MAX as usize - CHANNELS;
        let budget = (budget / SEGMENT_BYTES).clamp(LEAST as usize, most) as u32;
        // Unprovided memory takes no room, so this is only address space.
        let segments = budget + (CHANNELS - FREE_THREADS) as u32;
        Self::fill(SessionFile::create(directory)?, budget, segments, settings)
    }

    fn fill(
        home: SessionFile,
        budget: u32,
        segments: u32,
        settings: SessionSettings,
    ) -> Result<Self, ArenaError> {
        let (path, file) = (home.path.clone(), &home.file);
        let room = |source| ArenaError::Room {
            path: path.clone(),
            bytes: session_bytes(segments),
            source,
        };
        let length = session_bytes(segments) as libc::off_t;
        // SAFETY: plain system call on an open file.
        if unsafe { libc::ftruncate(file.as_raw_fd(), length) } != 0 {
            return Err(room(io::Error::last_os_error()));
        }
        allocate(file, 0, OPEN_OFFSET + AHEAD as usize * OPEN_BYTES).map_err(room)?;
        let session = Session::map_new(file.as_raw_fd(), segments).map_err(|error| {
            let source = match error {
                AttachError::System(code) => io::Error::from_raw_os_error(code),
                AttachError::Foreign => io::ErrorKind::InvalidData.into(),
            };
            ArenaError::Map {
                path: path.clone(),
                source,
            }
        })?;
        let mut arena = Self {
            guard: session.guard(&home.file),
            session,
            home,
            settings,
            positions: vec![Position::default(); CHANNELS],
            tenants: vec![None; CHANNELS],
            holders: vec![0; segments as usize + 1],
            words: Vec::new(),
            budget,
            provided: 0,
            open_provided: AHEAD,
            limit: budget,
            switch: Switch::default(),
            timing: (settings.timing, settings.budget),
            used: 0,
            joined: 0,
        };
        arena.restore_header();
        let ahead = AHEAD.min(budget);
        arena
            .provide(ahead, budget)
            .map_err(|source| ArenaError::Room {
                path: arena.home.path.clone(),
                bytes: ahead as usize * SEGMENT_BYTES,
                source,
            })?;
        Ok(arena)
    }

    /// The session file, for the traced program's environment.
    pub fn path(&self) -> &Path {
        &self.home.path
    }

    /// Recorders inside this recording that have taken processes until now.
    pub fn nested(&self) -> Vec<NestedRecorder> {
        nested::announced(&self.home.path)
    }

    /// Number of processes that have attached.
    pub fn attached(&self) -> u32 {
        self.session
            .header()
            .attached
            .load(Relaxed)
            .max(self.joined)
    }

    /// Changes the timing and its budget. Processes follow when the switch says so.
    pub fn set_timing(&mut self, timing: Timing, budget: u32) {
        self.timing = (timing, budget);
        let control = &self.session.header().control;
        control.timing.store(timing.code(), Relaxed);
        control.budget.store(budget, Relaxed);
    }

    /// Pauses or resumes all processes, or has them follow the timing; each notices it at its next call.
    pub fn set_switch(&mut self, switch: Switch) {
        self.switch = switch;
        let place = &self.session.header().control.switch;
        place.store(switch.0, Release);
    }

    /// Number of processes that have met the condition at the begin of their window.
    pub fn begun(&self) -> u32 {
        self.session.header().control.begun.load(Relaxed)
    }

    /// Records lost because there was no channel for their thread.
    pub fn without_channel(&self) -> u64 {
        self.session.header().without_channel.load(Relaxed)
    }

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

    /// The running calls in a channel, innermost first, each as the first slot of a call's record.
    /// While its thread continues, each of them was running at some time.
    pub fn open_calls(&self, index: usize) -> Vec<[u64; SLOT_WORDS]> {
        if index >= self.open_provided as usize {
            return Vec::new();
        }
        let calls = self.session.open_calls(index).into_iter().flatten();
        let mut calls: Vec<_> = calls.filter_map(OpenCall::read).collect();
        calls.reverse();
        calls
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
    fn provide(&mut self, count: u32, most: u32) -> io::Result<()> {
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

    /// Channels that some thread has claimed. An admitted thread keeps its channel until that is drained to
    /// its end, even if the memory names another owner.
    pub fn channels(&self) -> Vec<(usize, ChannelInfo)> {
        (0..self.channels_used())
            .filter_map(|index| Some((index, self.info(index)?)))
            .collect()
    }

    fn channels_used(&self) -> usize {
        let used = self.session.header().channels_used.load(Acquire) as usize;
        used.min(CHANNELS).max(self.used)
    }

    fn info(&self, index: usize) -> Option<ChannelInfo> {
        if let Some(Some(tenant)) = self.tenants.get(index) {
            return Some(*tenant);
        }
        let channel = self.session.channel(index);
        if channel.state.load(Acquire) == state::FREE {
            return None;
        }
        let pid = channel.pid.load(Acquire);
        // A claim without an owner yet is left alone.
        (pid != 0).then(|| ChannelInfo {
            pid,
            tid: channel.tid.load(Relaxed),
            process_key: channel.process_key.load(Relaxed),
            namespace: channel.namespace.load(Relaxed),
        })
    }

    /// Hands every record published on a channel since the last call to `visit`, oldest first.
    /// With `gone`, the channel's process is known to have ended, so nothing more will come.
    pub fn drain(
        &mut self,
        index: usize,
        gone: bool,
        visit: &mut dyn FnMut(&[u64]),
    ) -> DrainResult {
        let session = self.session;
        let channel = session.channel(index);
        // The state is read first: all records of a closing thread are then visible.
        let ended = gone || channel.state.load(Acquire) == state::CLOSED;
        let mut position = self.positions.get(index).copied().unwrap_or_default();
        let most = if ended { u32::MAX } else { MOST_OF_ONE };
        let (records, damaged) = self.follow(index, &mut position, most, visit);
        let drained = DrainResult {
            records,
            ended,
            dropped: channel.dropped(),
            filtered: channel.filtered.load(Relaxed),
            damaged,
        };
        if ended {
            if position.segment != 0 {
                self.release(position.segment);
            }
            position = Position::default();
            self.free(index);
        }
        if let Some(place) = self.positions.get_mut(index) {
            *place = position;
        }
        drained
    }

    /// Frees a channel for another thread.
    pub(crate) fn free(&mut self, index: usize) {
        if let Some(tenant) = self.tenants.get_mut(index) {
            *tenant = None;
        }
        let channel = self.session.channel(index);
        channel.pid.store(0, Relaxed);
        channel.first.store(0, Relaxed);
        for counter in channel.dropped.iter().chain([&channel.filtered]) {
            counter.store(0, Relaxed);
        }
        channel.state.store(state::FREE, Release);
        // The next thread takes this one or one before it, so that few are looked at.
        let hint = &self.session.header().channel_hint;
        hint.fetch_min(index as u32, Relaxed);
    }

    /// Reads along a chain, giving back each segment that is done with. Returns how many records there
    /// were, and how much of the chain is damaged.
    fn follow(
        &mut self,
        index: usize,
        position: &mut Position,
        most: u32,
        visit: &mut dyn FnMut(&[u64]),
    ) -> (usize, u64) {
        let (mut records, mut damaged) = (0, 0);
        if position.segment == 0 && !position.is_broken {
            let first = self.session.channel(index).first.load(Acquire);
            position.is_broken = first != 0 && !self.hold(first, index);
            damaged += u64::from(position.is_broken);
            if first != 0 && !position.is_broken {
                position.segment = first;
            }
        }
        // A chain cannot be longer than the file; a corrupt chain must not hold the collector.
        for _ in 0..=self.session.segments().min(most) {
            let Some(header) = self.session.segment_header(position.segment) else {
                break;
            };
            // `next` before `committed`: once there is a next segment, this one grows no more.
            let next = header.next.load(Acquire);
            let committed = header.committed.load(Acquire);
            if (position.consumed..SEGMENT_SLOTS as u32).contains(&committed) {
                let from = position.consumed;
                let visited = self.visit_slots(position.segment, from, committed, visit);
                records += visited.0;
                damaged += visited.1;
                position.consumed = committed;
            } else if !position.is_damaged {
                position.is_damaged = true;
                damaged += 1;
            }
            if next == 0 || position.is_broken {
                break;
            }
            if !self.hold(next, index) {
                position.is_broken = true;
                damaged += 1;
                break;
            }
            self.release(position.segment);
            position.segment = next;
            position.consumed = 0;
        }
        (records, damaged)
    }

    /// Whether a segment can be read next in the chain of a channel: it has memory, and no chain has it.
    pub(crate) fn may_hold(&self, segment: u32) -> bool {
        let holder = self.holders.get(segment as usize);
        (1..=self.provided()).contains(&segment) && holder == Some(&0)
    }

    fn hold(&mut self, segment: u32, index: usize) -> bool {
        let may_hold = self.may_hold(segment);
        if may_hold && let Some(holder) = self.holders.get_mut(segment as usize) {
            *holder = index as u16 + 1;
        }
        may_hold
    }

    fn release(&mut self, segment: u32) {
        if let Some(holder) = self.holders.get_mut(segment as usize) {
            *holder = 0;
        }
        pool::give_back(&self.session, segment);
    }

    /// Segments that are read now.
    pub(crate) fn held(&self) -> u32 {
        self.holders.iter().filter(|holder| **holder != 0).count() as u32
    }

    /// Visits the records in slots `from..to` of a segment.
    fn visit_slots(
        &mut self,
        segment: u32,
        from: u32,
        to: u32,
        visit: &mut dyn FnMut(&[u64]),
    ) -> (usize, u64) {
        let Some(start) = self.session.segment(segment).filter(|_| from < to) else {
            return (0, 0);
        };
        let words = (to - from) as usize * SLOT_WORDS;
        // SAFETY: slots below `committed` are published and lie inside the segment; the producer
        // does not touch them again until the segment has been through the pool.
        let published = unsafe {
            let place = start.add((1 + from as usize) * SLOT_BYTES).cast::<u64>();
            std::slice::from_raw_parts(place, words)
        };
        // Copied out first: a misbehaving program may still scribble over shared memory.
        self.words.clear();
        self.words.extend_from_slice(published);
        visit_records(&self.words, visit)
    }
}

/// Splits slots into records. Returns their number, and how many slots are damaged: a slot without a sound
/// head is skipped, and nothing is read after a record that is longer than the published slots.
pub(crate) fn visit_records(mut words: &[u64], visit: &mut dyn FnMut(&[u64])) -> (usize, u64) {
    let (mut records, mut damaged) = (0, 0);
    while let Some(head) = words.first().map(|word| RecordHead::decode(*word)) {
        let slots = head.map_or(1, |head| usize::from(head.slots));
        let Some((record, rest)) = words.split_at_checked(slots * SLOT_WORDS) else {
            damaged += 1;
            break;
        };
        if head.is_some() {
            visit(record);
            records += 1;
        } else {
            damaged += 1;
        }
        words = rest;
    }
    (records, damaged)
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the arena is the only user of this mapping in the collector.
        unsafe { self.session.unmap() };
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

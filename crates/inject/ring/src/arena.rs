//! The collector's end: makes the session, provides memory, reads the channels.

mod drain;
mod error;
mod room;

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::record::SLOT_WORDS;
use ascend_trace_format::session::{
    CHANNELS, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES, Timing, session_bytes,
};
use ascend_trace_format::window::Switch;

use crate::guard::Guard;
use crate::home::SessionFile;
use crate::layout::{OpenCall, SessionSettings, state};
use crate::map::{AttachError, Session};
use crate::nested::{self, NestedRecorder};
use drain::Position;

pub use drain::DrainResult;
pub use error::ArenaError;
pub(crate) use room::allocate;

/// Segments of the smallest session.
const LEAST: u32 = 64;
/// Free segments at the beginning. Every thread takes one with its first record, so a program that
/// starts threads by the hundred needs as many before the collector next gets a processor.
const AHEAD: u32 = 256;
/// Threads that share the budget alone. Each one beyond adds a segment to it: however many threads
/// there are, the first record of one finds room.
pub const FREE_THREADS: usize = 128;

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
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the arena is the only user of this mapping in the collector.
        unsafe { self.session.unmap() };
    }
}

//! A session file mapped into this process.

use std::ffi::CStr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use ascend_trace_format::session::{
    CHANNEL_BYTES, CHANNELS, CHANNELS_OFFSET, HEADER_BYTES, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES,
    SEGMENTS_OFFSET, TickSource, Timing, session_bytes,
};
use ascend_trace_format::version::{SESSION_MAGIC, SESSION_VERSION};

use crate::guard::Guard;
use crate::layout::{Channel, HeaderPage, OpenCalls, SegmentHeader, SessionSettings};
use crate::sys;

/// The program makes no system calls any more, so neither does this crate in its threads.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// From now on no system calls are made to write records.
pub fn give_up_system_calls() {
    GIVEN_UP.store(true, Relaxed);
}

/// Why a process could not join a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The file could not be opened or mapped; the operating system's error number.
    System(i32),
    /// The file is not a session, or one of another version.
    Foreign,
}

/// A mapped session. It stays mapped until the process ends: a thread may be writing to it.
#[derive(Clone, Copy)]
pub struct Session {
    base: *mut u8,
    segments: u32,
    /// The pid namespace of this process.
    namespace: u64,
}

// SAFETY: everything reached through `base` is either atomic or slots owned by one producer.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

impl Session {
    /// Maps the session at `path`, which the collector has made.
    pub fn attach(path: &CStr) -> Result<Self, AttachError> {
        // Directly, since others may have wrapped the C library's functions and not be ready yet.
        let file = sys::File::open(path, libc::O_RDWR).map_err(AttachError::System)?;
        let bytes = file.length().map_err(AttachError::System)?;
        if bytes < SEGMENTS_OFFSET {
            return Err(AttachError::Foreign);
        }
        let base = map_shared(file.descriptor(), bytes)?;
        let session = Self {
            base,
            segments: ((bytes - SEGMENTS_OFFSET) / SEGMENT_BYTES) as u32,
            namespace: 0,
        };
        let header = session.header();
        let known = header.magic.load(Acquire) == SESSION_MAGIC
            && header.version.load(Relaxed) == SESSION_VERSION
            && header.segments.load(Relaxed) == session.segments;
        if !known {
            // SAFETY: the mapping was made above and nothing refers to it yet.
            unsafe { sys::unmap(base.cast(), bytes) };
            return Err(AttachError::Foreign);
        }
        Ok(session)
    }

    /// Maps a new session file that has room for `segments` segments.
    pub(crate) fn map_new(file: i32, segments: u32) -> Result<Self, AttachError> {
        let base = map_shared(file, session_bytes(segments))?;
        Ok(Self {
            base,
            segments,
            namespace: 0,
        })
    }

    /// Guards the mapping, which is of this file: for the recorder's side.
    pub(crate) fn guard(&self, file: &std::fs::File) -> Guard {
        Guard::new(self.base, session_bytes(self.segments), file)
    }

    /// The collector's settings; `None` when they contain something that this build does not know.
    pub fn settings(&self) -> Option<SessionSettings> {
        let header = self.header();
        Some(SessionSettings {
            timing: Timing::from_code(header.timing.load(Relaxed))?,
            ticks: TickSource::from_code(header.ticks.load(Relaxed))?,
            table_hash: header.table_hash.load(Relaxed),
            stacks: header.stacks.load(Relaxed),
        })
    }

    /// Notes the pid namespace of this process, for the channels that its threads claim: a pid means
    /// nothing without it. 0 when it is not known.
    pub fn set_namespace(&mut self, namespace: u64) {
        self.namespace = namespace;
    }

    pub(crate) fn namespace(&self) -> u64 {
        self.namespace
    }

    /// Counts this process as attached; it shows the collector whether the library was loaded.
    pub fn count_process(&self) {
        self.header().attached.fetch_add(1, Relaxed);
    }

    pub(crate) fn header(&self) -> &HeaderPage {
        const _: () = assert!(size_of::<HeaderPage>() <= HEADER_BYTES);
        // SAFETY: the mapping begins with a header page, is page-aligned and never unmapped; all
        // fields are atomics, so sharing them with other processes is sound.
        unsafe { &*self.base.cast::<HeaderPage>() }
    }

    pub(crate) fn channel(&self, index: usize) -> &Channel {
        let index = index.min(CHANNELS - 1);
        // SAFETY: the channel table lies inside the mapping and `index` inside the table; all
        // fields that two sides touch are atomics.
        unsafe {
            &*self
                .base
                .add(CHANNELS_OFFSET + index * CHANNEL_BYTES)
                .cast::<Channel>()
        }
    }

    /// The open calls of a channel, if they have been given memory.
    pub(crate) fn open_calls(&self, index: usize) -> Option<&'static OpenCalls> {
        let provided = self.header().open_provided.load(Acquire) as usize;
        if index >= provided.min(CHANNELS) {
            return None;
        }
        // SAFETY: the place lies inside the mapping because `index` is below the number of channels,
        // is aligned and consists of atomics; a session that producers use is never unmapped.
        Some(unsafe {
            &*self
                .base
                .add(OPEN_OFFSET + index * OPEN_BYTES)
                .cast::<OpenCalls>()
        })
    }

    /// The first byte of a segment, if there is one with this number.
    #[inline]
    pub(crate) fn segment(&self, number: u32) -> Option<*mut u8> {
        if number == 0 || number > self.segments {
            return None;
        }
        // SAFETY: the offset is inside the mapping because `number` is at most `segments`.
        Some(unsafe {
            self.base
                .add(SEGMENTS_OFFSET + (number as usize - 1) * SEGMENT_BYTES)
        })
    }

    #[inline]
    pub(crate) fn segment_header(&self, number: u32) -> Option<&SegmentHeader> {
        // SAFETY: a segment begins with its header, which consists of atomics, and is aligned.
        self.segment(number)
            .map(|start| unsafe { &*start.cast::<SegmentHeader>() })
    }

    /// Maps a segment's pages in one go: faulting them in one by one, as they are written, costs a
    /// program several times what its records cost.
    pub(crate) fn map_in(&self, number: u32) {
        let Some(start) = self.segment(number).filter(|_| !GIVEN_UP.load(Relaxed)) else {
            return;
        };
        // SAFETY: the range is one segment of the mapping, and populating it changes no contents.
        // Kernels before 5.14 refuse, and nothing is lost.
        unsafe { sys::advise(start.cast(), SEGMENT_BYTES, libc::MADV_POPULATE_WRITE) };
    }

    pub(crate) fn segments(&self) -> u32 {
        self.segments
    }

    /// Unmaps a session that no producer of this process uses.
    ///
    /// # Safety
    /// Nothing of this process may refer to the session afterwards.
    pub(crate) unsafe fn unmap(self) {
        // SAFETY: the range is the mapped one; the caller guarantees the rest.
        unsafe { sys::unmap(self.base.cast(), session_bytes(self.segments)) };
    }
}

fn map_shared(file: i32, bytes: usize) -> Result<*mut u8, AttachError> {
    let base = sys::map(bytes, libc::MAP_SHARED, file).map_err(AttachError::System)?;
    Ok(base.cast())
}

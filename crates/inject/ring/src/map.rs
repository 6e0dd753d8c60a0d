//! A session file mapped into this process.

use std::ffi::CStr;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU32};

use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::{
    CHANNEL_BYTES, CHANNELS, CHANNELS_OFFSET, HEADER_BYTES, OPEN_BYTES, OPEN_OFFSET, SEGMENT_BYTES,
    SEGMENTS_OFFSET, TickSource, Timing, session_bytes,
};
use ascend_trace_format::version::{SESSION_MAGIC, SESSION_VERSION};
use ascend_trace_format::window::{Condition, Window};

use crate::guard::Guard;
use crate::layout::{Channel, HeaderPage, OpenCalls, SegmentHeader, SessionSettings};
use crate::sys;

/// The program makes no system calls any more, so neither does this crate in its threads.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Bytes of the smallest page that a kernel has.
const SMALLEST_PAGE: usize = 4096;

/// From now on no system calls are made to write records.
pub fn give_up_system_calls() {
    GIVEN_UP.store(true, Relaxed);
}

/// Whether the program's threads may make system calls to write records.
pub(crate) fn may_call_system() -> bool {
    !GIVEN_UP.load(Relaxed)
}

/// Why a process could not join a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// The file could not be opened or mapped; the operating system's error number.
    System(i32),
    /// The file is not a session, or one of another version.
    Foreign,
}

/// A mapped session. Its memory stays mapped until the process ends: a thread may be writing to it. A process that has left
/// the session may put other memory there.
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

    /// Bytes of the mapping.
    pub fn bytes(&self) -> usize {
        session_bytes(self.segments)
    }

    /// Moves the mapping into the memory of an earlier session, which must be as large. Without success, it stays where it is.
    ///
    /// # Safety
    /// `room` must be retired, without a producer, and nothing may have been taken from this session.
    pub unsafe fn move_into(&mut self, room: &Self) {
        if room.bytes() < self.bytes() {
            return;
        }
        let (from, to) = (self.base.cast(), room.base.cast());
        // SAFETY: both are mapped; the caller guarantees the rest.
        if unsafe { sys::move_over(from, self.bytes(), to) }.is_ok() {
            self.base = room.base;
        }
    }

    /// Whether the mapping is in the memory of an earlier session.
    pub fn is_in(&self, room: &Self) -> bool {
        self.base == room.base
    }

    /// Unmaps a session that was attached to and is not joined.
    pub fn discard(self) {
        // SAFETY: no producer was made, and this consumes the value.
        unsafe { self.unmap() };
    }

    /// Gives the memory of the session back, and puts zeros in its place: producers that are late write there, and nothing reads
    /// it. `has_producers` says whether there may be any. Without them, only the header can be looked at.
    ///
    /// # Safety
    /// This process must have left the session.
    pub unsafe fn retire(&self, has_producers: bool) {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range is the mapped one. Without memory for the zeros, everything stays as it is.
        unsafe {
            if has_producers {
                let _ = sys::map_over(self.base.cast(), self.bytes(), access);
                return;
            }
            if sys::map_over(self.base.cast(), HEADER_BYTES, access).is_ok() {
                let rest = self.base.add(HEADER_BYTES);
                let bytes = self.bytes() - HEADER_BYTES;
                let _ = sys::map_over(rest.cast(), bytes, libc::PROT_NONE);
            }
        }
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
            window: self.window()?,
            filters: Filters::from_words(header.filters.iter().map(|word| word.load(Relaxed)))?,
            budget: header.budget.load(Relaxed),
        })
    }

    fn window(&self) -> Option<Window> {
        let header = self.header();
        let [start, start_key, stop, stop_key] =
            header.window.each_ref().map(|word| word.load(Relaxed));
        Some(Window {
            start: Condition::from_words([start, start_key])?,
            stop: Condition::from_words([stop, stop_key])?,
            is_paused: header.begins_paused.load(Relaxed) != 0,
        })
    }

    /// The recorder's switch, a [`Switch`](ascend_trace_format::window::Switch).
    pub fn switch(&self) -> &'static AtomicU32 {
        let switch = core::ptr::from_ref(&self.header().control.switch);
        // SAFETY: the memory of a session that producers use stays mapped.
        unsafe { &*switch }
    }

    /// The present timing, and its budget. `None` for one that this build does not know.
    pub fn timing(&self) -> Option<(Timing, u32)> {
        let control = &self.header().control;
        let timing = Timing::from_code(control.timing.load(Acquire))?;
        Some((timing, control.budget.load(Relaxed)))
    }

    /// Counts this process as one with a window that has begun.
    pub fn count_begun(&self) {
        self.header().control.begun.fetch_add(1, Relaxed);
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
    /// program several times what its records cost. The segment has memory.
    pub(crate) fn map_in(&self, number: u32) {
        if let Some(start) = self.segment(number)
            && may_call_system()
        {
            // Kernels before 5.14 refuse, and nothing is lost.
            let _ = populate(start);
        }
    }

    /// Gives memory to a new segment, which no other thread uses. `false` if the kernel has no memory for it.
    pub(crate) fn give_memory(&self, number: u32) -> bool {
        let Some(start) = self.segment(number).filter(|_| may_call_system()) else {
            return false;
        };
        match populate(start) {
            Err(libc::EINVAL) => write_into_pages(start),
            populated => populated.is_ok(),
        }
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

/// Maps the pages of a segment and takes memory for those without any.
fn populate(start: *mut u8) -> Result<(), i32> {
    // SAFETY: the range is one segment of a mapping, and populating it changes no contents.
    unsafe { sys::advise(start.cast(), SEGMENT_BYTES, libc::MADV_POPULATE_WRITE) }
}

/// Does the same on kernels before 5.14, and leaves other contents in the segment.
fn write_into_pages(start: *mut u8) -> bool {
    (0..SEGMENT_BYTES).step_by(SMALLEST_PAGE).all(|offset| {
        // SAFETY: the place is inside the segment, which has no user yet.
        unsafe { sys::could_write(start.add(offset).cast()) }
    })
}

fn map_shared(file: i32, bytes: usize) -> Result<*mut u8, AttachError> {
    let base = sys::map(bytes, libc::MAP_SHARED, file).map_err(AttachError::System)?;
    Ok(base.cast())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn old_kernels_report_that_there_is_no_memory() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SEGMENT_BYTES as u64).unwrap();
        let bytes = 2 * SEGMENT_BYTES;
        let start = map_shared(file.as_raw_fd(), bytes).unwrap();
        assert!(write_into_pages(start));
        // SAFETY: the second half of the mapping, which is past the end of the file.
        assert!(!write_into_pages(unsafe { start.add(SEGMENT_BYTES) }));
        // SAFETY: nothing refers to it any more.
        unsafe { sys::unmap(start.cast(), bytes) };
    }
}

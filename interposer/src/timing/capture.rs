//! Which streams are being captured into a graph. A record injected there would become part of the
//! graph or break it, so the question is asked before every injection.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::objects::{EventEntry, StreamEntry};
use crate::timing::api::Api;

/// Captures that can be under way at one time before tracking gives up and only asks the runtime.
const MOST: usize = 64;

static ACTIVE: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
static NEXT: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Whether any capture is under way in this process.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.load(Acquire) != 0
}

fn is_active(capture: u32) -> bool {
    capture != 0 && ACTIVE.iter().any(|active| active.load(Acquire) == capture)
}

/// A capture of `stream` is about to begin. Told before the real call, so that no other thread
/// injects meanwhile; undone by [`end`] when the call fails.
pub(crate) fn begin(stream: &StreamEntry) {
    COUNT.fetch_add(1, Release);
    let capture = NEXT.fetch_add(1, Relaxed).wrapping_add(1).max(1);
    for active in &ACTIVE {
        if active
            .compare_exchange(0, capture, Release, Relaxed)
            .is_ok()
        {
            stream.capture.store(capture, Release);
            return;
        }
    }
}

/// The capture that `stream` began is over, with all streams that had joined it.
pub(crate) fn end(stream: &StreamEntry) {
    let capture = stream.capture.swap(0, Relaxed);
    if capture == 0 {
        return;
    }
    for active in &ACTIVE {
        if active.load(Relaxed) == capture {
            active.store(0, Release);
        }
    }
    COUNT.fetch_sub(1, Release);
}

/// An event is recorded on a stream: whoever waits for it joins the stream's capture.
pub(crate) fn on_record(event: &EventEntry, stream: &StreamEntry) {
    event.capture.store(stream.capture.load(Relaxed), Relaxed);
}

/// A stream waits for an event and so joins the capture it was recorded in.
pub(crate) fn on_wait(event: &EventEntry, stream: &StreamEntry) {
    let capture = event.capture.load(Relaxed);
    if is_active(capture) {
        stream.capture.store(capture, Relaxed);
    }
}

/// Whether `stream` takes part in a capture, by what was seen and by the runtime's own word.
pub(crate) fn involves(stream: &StreamEntry, api: &Api) -> bool {
    if !any() {
        return false;
    }
    is_active(stream.capture.load(Acquire)) || api.is_capturing(stream.handle()) == Some(true)
}

pub(crate) fn forget() {
    COUNT.store(0, Relaxed);
    ACTIVE.iter().for_each(|active| active.store(0, Relaxed));
}

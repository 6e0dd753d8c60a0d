//! Streams that are being captured into a graph. A record injected there would become part of the graph
//! or break it, so this is checked before every injection: recorded captures are followed through
//! events, and during any capture the runtime is asked as well.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};

use ascend_trace_format::record::pair;

use crate::graphs::{self, GRAPH_SERIALS};
use crate::objects::{EventEntry, StreamEntry};
use crate::session;
use crate::timing::api::{self, StreamCapture};

/// Captures that can be under way at one time before tracking gives up and only asks the runtime.
const MOST: usize = 256;

/// A capture under way.
struct Capture {
    /// Serial of the graph that it makes; 0 while this place is free.
    serial: AtomicU32,
    /// Number of nodes.
    nodes: AtomicU32,
    /// The graph's handle, once the runtime has returned it.
    handle: AtomicU64,
    /// The stream that it began on.
    origin: AtomicPtr<StreamEntry>,
    /// The call that began it has succeeded.
    established: AtomicBool,
}

static ACTIVE: [Capture; MOST] = [const {
    Capture {
        serial: AtomicU32::new(0),
        nodes: AtomicU32::new(0),
        handle: AtomicU64::new(0),
        origin: AtomicPtr::new(core::ptr::null_mut()),
        established: AtomicBool::new(false),
    }
}; MOST];
static COUNT: AtomicU32 = AtomicU32::new(0);
/// There were more captures than places, or captures may have begun before this library came: from then on the runtime is always
/// asked.
static UNSEEN: AtomicBool = AtomicBool::new(false);

/// Captures may be under way that were not seen.
pub(crate) fn distrust() {
    UNSEEN.store(true, Relaxed);
}

/// Whether any capture is under way in this process.
#[inline]
pub(crate) fn any() -> bool {
    COUNT.load(Acquire) != 0 || UNSEEN.load(Relaxed)
}

fn find(serial: u32) -> Option<&'static Capture> {
    if serial == 0 {
        return None;
    }
    ACTIVE
        .iter()
        .find(|capture| capture.serial.load(Acquire) == serial)
}

/// The capture that a stream was seen to take part in.
fn seen(stream: &StreamEntry) -> Option<&'static Capture> {
    find(stream.capture.load(Acquire))
}

impl Capture {
    fn is_of(&self, stream: &StreamEntry) -> bool {
        core::ptr::eq(self.origin.load(Relaxed), stream)
    }
}

/// A capture of `stream` is about to begin. Told before the real call, so that no other thread
/// injects meanwhile. Returns the graph's serial; `None` when nothing was noted: the stream seems
/// to be in a capture already, or there is no place left.
pub(crate) fn begin(stream: &'static StreamEntry) -> Option<u32> {
    if seen(stream).is_some() {
        return None;
    }
    let serial = GRAPH_SERIALS.next();
    let free = ACTIVE.iter().find(|capture| {
        capture
            .serial
            .compare_exchange(0, serial, AcqRel, Relaxed)
            .is_ok()
    });
    let Some(capture) = free else {
        UNSEEN.store(true, Relaxed);
        return None;
    };
    capture.nodes.store(0, Relaxed);
    capture.handle.store(0, Relaxed);
    capture.established.store(false, Relaxed);
    capture
        .origin
        .store(core::ptr::from_ref(stream).cast_mut(), Relaxed);
    COUNT.fetch_add(1, Release);
    stream.capture.store(serial, Release);
    Some(serial)
}

/// The call has succeeded. `noted` is the result of [`begin`].
pub(crate) fn begun(stream: &'static StreamEntry, noted: Option<u32>) -> Option<u32> {
    let serial = match noted {
        Some(serial) => serial,
        // The end of an earlier capture was not seen.
        None => {
            if let Some(stale) = seen(stream) {
                retire(stale.serial.load(Relaxed));
            }
            begin(stream)?
        }
    };
    let capture = find(serial)?;
    if let Some(StreamCapture { handle, .. }) = reported(stream)
        && handle != 0
    {
        capture.handle.store(handle, Relaxed);
        graphs::name(handle, serial);
    }
    capture.established.store(true, Release);
    Some(serial)
}

/// A capture is over, with all streams that had joined it.
pub(crate) fn retire(serial: u32) {
    let Some(capture) = find(serial) else { return };
    // Read first: the place may be taken at once.
    let handle = capture.handle.load(Relaxed);
    if capture
        .serial
        .compare_exchange(serial, 0, AcqRel, Relaxed)
        .is_ok()
    {
        COUNT.fetch_sub(1, Release);
        graphs::forget(handle, serial);
    }
}

/// A capture has become the graph `handle`. Answers its serial.
pub(crate) fn completed(stream: &StreamEntry, handle: u64) -> u32 {
    let serial = match stream.capture.swap(0, Relaxed) {
        0 => GRAPH_SERIALS.next(),
        serial => serial,
    };
    retire(serial);
    graphs::name(handle, serial);
    serial
}

/// A capture could not be ended on `stream`. Most failures tear it down; the runtime knows.
pub(crate) fn not_completed(stream: &StreamEntry, code: u64) {
    let is_over = match reported(stream) {
        Some(reported) => !reported.is_capturing,
        None => !REFUSALS.contains(&code),
    };
    if is_over && let Some(capture) = seen(stream) {
        retire(capture.serial.load(Relaxed));
    }
}

/// The runtime's facts about a stream. Without timing it is not asked: then the tool makes no calls,
/// and the recorded facts must do.
fn reported(stream: &StreamEntry) -> Option<StreamCapture> {
    let api = api::get().filter(|_| session::is_timed())?;
    api.capture_of(stream.handle())
}

/// Codes that refuse to end a capture and leave it as it is: bad arguments, not capturing, not the
/// stream that it began on.
const REFUSALS: [u64; 4] = [100_000, 107_000, 107_029, 107_036];

/// A stream has been destroyed.
pub(crate) fn stream_ended(stream: &StreamEntry) {
    if let Some(capture) = seen(stream).filter(|capture| capture.is_of(stream)) {
        retire(capture.serial.load(Relaxed));
    }
    stream.capture.store(0, Relaxed);
}

/// A context has ended, and its captures with it.
pub(crate) fn context_ended(context: u32) {
    for capture in ACTIVE
        .iter()
        .filter(|capture| capture.serial.load(Acquire) != 0)
    {
        // SAFETY: stream entries are in static memory.
        let origin = unsafe { capture.origin.load(Relaxed).as_ref() };
        if origin.is_some_and(|stream| stream.context.load(Relaxed) == context) {
            retire(capture.serial.load(Relaxed));
        }
    }
}

/// The graph that `stream` is being captured into, by recorded facts and by the runtime's: its serial,
/// or 0 when only the runtime knows of the capture.
pub(crate) fn of(stream: &StreamEntry) -> Option<u32> {
    if !any() {
        return None;
    }
    let seen = seen(stream);
    let serial = seen.map(|capture| capture.serial.load(Relaxed));
    match reported(stream) {
        None => serial,
        Some(reported) if reported.is_capturing => {
            let known = serial.unwrap_or_else(|| graphs::serial_of(reported.handle));
            stream.capture.store(known, Relaxed);
            Some(known)
        }
        Some(_) => {
            let capture = seen?;
            if !capture.established.load(Acquire) {
                // The call that begins the capture is still under way in another thread.
                return serial;
            }
            // The end of the capture was not seen.
            if capture.is_of(stream) {
                serial.into_iter().for_each(retire);
            }
            None
        }
    }
}

/// The graph that a stream or an event was seen to be captured into. Costs no call.
pub(crate) fn seen_for(stream: Option<&StreamEntry>, event: Option<&EventEntry>) -> Option<u32> {
    if !any() {
        return None;
    }
    let of_stream = stream.map(|stream| stream.capture.load(Acquire));
    let of_event = event.map(|event| event.capture.load(Acquire));
    let mut serials = [of_stream, of_event].into_iter().flatten();
    serials.find(|serial| find(*serial).is_some())
}

/// Whether an event was recorded in a capture that is still under way: a stream that waits for it
/// joins that capture.
pub(crate) fn carries(event: &EventEntry) -> bool {
    any() && find(event.capture.load(Acquire)).is_some()
}

/// An event was recorded on a stream, in the capture of this graph if in any.
pub(crate) fn recorded(event: &EventEntry, graph: Option<u32>) {
    event.capture.store(graph.unwrap_or(0), Release);
}

/// A stream has waited for an event that [`carries`] a capture. Returns the graph if the stream is
/// now being captured.
pub(crate) fn joined(stream: &StreamEntry, event: &EventEntry) -> Option<u32> {
    let capture = find(event.capture.load(Acquire))?;
    if reported(stream).is_some_and(|reported| !reported.is_capturing) || stream.is_default() {
        return None;
    }
    let serial = capture.serial.load(Relaxed);
    stream.capture.store(serial, Release);
    Some(serial)
}

/// The graph word of a call that added a node to the graph with this serial.
pub(crate) fn node(serial: u32) -> u64 {
    let index = find(serial).map_or(0, |capture| {
        capture.nodes.fetch_add(1, Relaxed).wrapping_add(1)
    });
    pair(serial, index)
}

/// Forgets everything after a fork.
pub(crate) fn forget() {
    COUNT.store(0, Relaxed);
    UNSEEN.store(false, Relaxed);
    ACTIVE
        .iter()
        .for_each(|capture| capture.serial.store(0, Relaxed));
}

#[cfg(test)]
mod tests {
    //! Without a runtime: by recorded facts alone. The captures are those of the whole process, so the
    //! tests use separate streams.
    use super::*;
    use crate::objects;

    fn stream(handle: u64) -> &'static StreamEntry {
        let stream = objects::new_stream(handle).unwrap();
        stream.begin(1, 1, 0);
        stream
    }

    fn event(handle: u64) -> &'static EventEntry {
        let event = objects::new_event(handle).unwrap();
        let kind = objects::EventKind {
            resettable: false,
            uncapturable: false,
            external: false,
            timeline: true,
        };
        event.begin(1, kind, (0, 0, 0));
        event
    }

    fn established(stream: &'static StreamEntry) -> u32 {
        begun(stream, begin(stream)).unwrap()
    }

    #[test]
    fn streams_join_through_events_and_leave_with_the_end() {
        let (origin, side, far) = (stream(0x5010), stream(0x5020), stream(0x5030));
        let (fork, onward) = (event(0x5040), event(0x5050));
        let graph = established(origin);
        assert_eq!(of(origin), Some(graph));
        assert_eq!(of(side), None);
        recorded(fork, of(origin));
        assert!(carries(fork));
        assert_eq!(joined(side, fork), Some(graph));
        recorded(onward, of(side));
        assert_eq!(joined(far, onward), Some(graph));
        assert_eq!([node(graph), node(graph)], [pair(graph, 1), pair(graph, 2)]);
        assert_eq!(completed(origin, 0x5060), graph);
        assert_eq!([of(origin), of(side), of(far)], [None; 3]);
        assert!(!carries(fork));
        assert_eq!(graphs::serial_of(0x5060), graph);
    }

    #[test]
    fn a_refused_begin_leaves_the_capture_under_way_alone() {
        let origin = stream(0x5110);
        let graph = established(origin);
        assert_eq!(begin(origin), None);
        assert_eq!(of(origin), Some(graph));
        retire(graph);
        assert_eq!(of(origin), None);
    }

    #[test]
    fn an_event_that_is_recorded_elsewhere_carries_no_capture() {
        let (origin, side, fork) = (stream(0x5210), stream(0x5220), event(0x5230));
        let graph = established(origin);
        recorded(fork, Some(graph));
        recorded(fork, None);
        assert!(!carries(fork));
        assert_eq!(joined(side, fork), None);
        retire(graph);
    }

    #[test]
    fn captures_at_the_same_time_do_not_mix() {
        let (one, two) = (stream(0x5310), stream(0x5320));
        let (first, second) = (established(one), established(two));
        assert_ne!(first, second);
        assert_eq!((of(one), of(two)), (Some(first), Some(second)));
        retire(first);
        assert_eq!((of(one), of(two)), (None, Some(second)));
        retire(second);
    }

    #[test]
    fn a_refused_end_keeps_the_capture_and_any_other_failure_ends_it() {
        let origin = stream(0x5410);
        let graph = established(origin);
        not_completed(origin, 107_036);
        assert_eq!(of(origin), Some(graph));
        not_completed(origin, 107_025);
        assert_eq!(of(origin), None);
    }

    #[test]
    fn a_context_takes_its_captures_with_it() {
        let origin = stream(0x5510);
        origin.context.store(77, Relaxed);
        established(origin);
        context_ended(78);
        assert!(of(origin).is_some());
        context_ended(77);
        assert!(of(origin).is_none());
    }
}

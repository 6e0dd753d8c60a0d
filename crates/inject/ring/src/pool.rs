//! The pool of segments: a stack of free ones, linked through their headers, and those after the last one that
//! has been given memory.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use ascend_trace_format::record::{pair, unpair};

use crate::map::{Session, may_call_system};

/// Takes a segment, emptied and mapped. Segments that are reserved for new threads are only for their first
/// ones, `is_first`. No waiting loop.
pub(crate) fn take(session: &Session, is_first: bool) -> Option<u32> {
    let header = session.header();
    if !is_first && header.taken.load(Relaxed) >= header.limit.load(Relaxed) {
        return None;
    }
    let number = match pop(session) {
        Some(number) => {
            session.map_in(number);
            number
        }
        None => take_new(session)?,
    };
    let segment = session.segment_header(number)?;
    segment.committed.store(0, Relaxed);
    segment.next.store(0, Relaxed);
    // After the number of segments with memory, which is never less.
    header.taken.fetch_add(1, Release);
    Some(number)
}

/// Gives memory to a segment that had none: a burst need not wait for the collector. If there is no memory,
/// the segment stays unused, and no thread tries again until the collector has seen that there is some.
fn take_new(session: &Session) -> Option<u32> {
    let header = session.header();
    if header.has_no_memory.load(Relaxed) != 0 || !may_call_system() {
        return None;
    }
    let before = header.provided.fetch_update(AcqRel, Relaxed, |provided| {
        (provided < session.segments()).then(|| provided + 1)
    });
    let number = before.ok()? + 1;
    if !session.give_memory(number) {
        header.has_no_memory.store(1, Relaxed);
        return None;
    }
    Some(number)
}

/// Takes the first free segment. No system call.
pub(crate) fn pop(session: &Session) -> Option<u32> {
    let header = session.header();
    let mut head = header.free.load(Acquire);
    loop {
        let (number, tag) = unpair(head);
        let segment = session.segment_header(number)?;
        // Another thread may take this segment meanwhile; then the link read here is stale, and
        // the tag makes the exchange fail.
        let next = pair(segment.link.load(Relaxed), tag.wrapping_add(1));
        match header
            .free
            .compare_exchange_weak(head, next, AcqRel, Acquire)
        {
            Ok(_) => return Some(number),
            Err(current) => head = current,
        }
    }
}

/// Whether more than three quarters of the segments that can have memory are in use.
pub(crate) fn has_little(session: &Session) -> bool {
    let header = session.header();
    let limit = header.limit.load(Relaxed);
    let most = if header.has_no_memory.load(Relaxed) == 0 && may_call_system() {
        limit
    } else {
        limit.min(header.provided.load(Relaxed))
    };
    header.taken.load(Relaxed) > most - most / 4
}

/// Gives a segment back. Only the collector does so.
pub(crate) fn give_back(session: &Session, number: u32) {
    put(session, number);
    session.header().taken.fetch_sub(1, Relaxed);
}

/// Adds a segment that has just been provided with memory.
pub(crate) fn put(session: &Session, number: u32) {
    let Some(segment) = session.segment_header(number) else {
        return;
    };
    // A chain that is damaged must not lead through a free segment.
    segment.committed.store(0, Relaxed);
    segment.next.store(0, Relaxed);
    let header = session.header();
    let mut head = header.free.load(Relaxed);
    loop {
        let (first, tag) = unpair(head);
        segment.link.store(first, Relaxed);
        match header
            .free
            .compare_exchange_weak(head, pair(number, tag), Release, Relaxed)
        {
            Ok(_) => return,
            Err(current) => head = current,
        }
    }
}

//! The pool of free segments: a stack linked through the segments' headers.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use ascend_trace_format::record::{pair, unpair};

use crate::map::Session;

/// Takes a free segment, emptied. No system call, no waiting loop. Segments that are reserved for new
/// threads are only for their first ones, `is_first`.
pub(crate) fn take(session: &Session, is_first: bool) -> Option<u32> {
    let header = session.header();
    if !is_first && header.taken.load(Relaxed) >= header.limit.load(Relaxed) {
        return None;
    }
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
            Ok(_) => {
                segment.committed.store(0, Relaxed);
                segment.next.store(0, Relaxed);
                header.taken.fetch_add(1, Relaxed);
                return Some(number);
            }
            Err(current) => head = current,
        }
    }
}

/// Whether more than three quarters of the segments that have memory are in use.
pub(crate) fn has_little(session: &Session) -> bool {
    let header = session.header();
    let provided = header.provided.load(Relaxed);
    let most = header.limit.load(Relaxed).min(provided);
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

//! Reads the records of a channel along its chain of segments.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::record::{RecordHead, SLOT_BYTES, SLOT_WORDS};
use ascend_trace_format::session::SEGMENT_SLOTS;

use super::Arena;
use crate::layout::{LostRecords, state};
use crate::pool;

/// Segments of one channel that a pass reads, unless its thread has ended: the others must not wait.
const MOST_OF_ONE: u32 = 512;

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

impl Arena {
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
fn visit_records(mut words: &[u64], visit: &mut dyn FnMut(&[u64])) -> (usize, u64) {
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

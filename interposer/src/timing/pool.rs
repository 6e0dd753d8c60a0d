//! The events of one context that are pending nowhere. Threads take and give them without a lock:
//! none has to wait for another that lost its processor.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use crate::memory;
use crate::timing::api::Api;

/// Events that a process may have for measuring: the runtime keeps some hundred bytes for each. Timeline
/// events take no hardware id on current chips, but old ones have few; two per task in several full
/// queues is enough.
const MOST_EVENTS: u32 = 32_768;
/// As many where each pending event takes an id that the program may need.
const MOST_SCARCE_EVENTS: u32 = 256;
/// Attempts that are skipped after the runtime refused an event.
const REFUSED_PAUSE: u32 = 1024;
/// Free events that are always kept.
const KEPT: u32 = 64;
/// Events that are taken in one go at most.
pub(crate) const MOST_AT_ONCE: usize = 32;

/// Events in existence in all pools.
static ALL_MADE: AtomicU32 = AtomicU32::new(0);

/// This number of events has ended.
fn fewer(all: &AtomicU32, count: u32) {
    let less = |made: u32| Some(made.saturating_sub(count));
    let _ = all.fetch_update(Relaxed, Relaxed, less);
}

/// A place for an event.
struct Node {
    /// The place below it on its stack, counted from 1.
    next: AtomicU32,
    event: AtomicU64,
}

impl Node {
    const fn new() -> Self {
        Self {
            next: AtomicU32::new(0),
            event: AtomicU64::new(0),
        }
    }
}

/// Places stacked on each other: the uppermost one, counted from 1, and in the high half a number that
/// every change increments, so that a place that has returned is not taken for unmoved.
#[derive(Default)]
struct Stack(AtomicU64);

impl Stack {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn pop(&self, nodes: &Nodes) -> Option<(u32, &'static Node)> {
        let mut top = self.0.load(Acquire);
        loop {
            let place = top as u32;
            let node = node_at(nodes, place)?;
            let next = node.next.load(Relaxed);
            match self
                .0
                .compare_exchange_weak(top, above(top, next), AcqRel, Acquire)
            {
                Ok(_) => return Some((place, node)),
                Err(now) => top = now,
            }
        }
    }

    fn push(&self, place: u32, node: &Node) {
        self.push_chain(place, node);
    }

    /// Takes as many places as there is room for, the uppermost first. They stay linked to each
    /// other in this order. Returns how many.
    fn pop_several(&self, nodes: &Nodes, room: &mut [u32]) -> usize {
        let mut top = self.0.load(Acquire);
        loop {
            let (mut place, mut count) = (top as u32, 0_usize);
            for slot in room.iter_mut() {
                let Some(node) = node_at(nodes, place) else {
                    break;
                };
                *slot = place;
                count = count.wrapping_add(1);
                place = node.next.load(Relaxed);
            }
            if count == 0 {
                return 0;
            }
            // Whatever others did meanwhile has changed the word: then nothing of this counts.
            match self
                .0
                .compare_exchange_weak(top, above(top, place), AcqRel, Acquire)
            {
                Ok(_) => return count,
                Err(now) => top = now,
            }
        }
    }

    /// Puts places on the stack that are linked to each other from `first` on; `last` is the node of
    /// the last of them.
    fn push_chain(&self, first: u32, last: &Node) {
        let mut top = self.0.load(Relaxed);
        loop {
            last.next.store(top as u32, Relaxed);
            match self
                .0
                .compare_exchange_weak(top, above(top, first), AcqRel, Relaxed)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }
}

/// Places that are made at a time: few, since most contexts need few.
const CHUNK: usize = 128;
const CHUNKS: usize = MOST_EVENTS as usize / CHUNK;

/// The places of one context. They are made as they are needed, and kept for ever.
struct Nodes([AtomicPtr<[Node; CHUNK]>; CHUNKS]);

impl Nodes {
    const fn new() -> Self {
        Self([const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNKS])
    }

    /// The place with this number, counted from 0, if it has been made.
    fn get(&self, index: usize) -> Option<&'static Node> {
        let chunk = self.0.get(index / CHUNK)?.load(Acquire);
        // SAFETY: stored chunks were made and are never freed.
        unsafe { chunk.as_ref() }?.get(index % CHUNK)
    }

    /// The place with this number, made if need be; `None` beyond the last, and where there is no memory.
    fn get_or_make(&self, index: usize) -> Option<&'static Node> {
        let chunk = self.0.get(index / CHUNK)?;
        if chunk.load(Acquire).is_null() {
            let made = memory::make([const { Node::new() }; CHUNK])?;
            let (none, raw) = (core::ptr::null_mut(), made.as_ptr());
            if chunk.compare_exchange(none, raw, AcqRel, Acquire).is_err() {
                // SAFETY: the second chunk has no other user.
                unsafe { memory::free(made) };
            }
        }
        self.get(index)
    }
}

fn node_at(nodes: &Nodes, place: u32) -> Option<&'static Node> {
    nodes.get(place.checked_sub(1)? as usize)
}

/// The word of a stack after `place` has become the uppermost one.
fn above(top: u64, place: u32) -> u64 {
    ((top >> 32).wrapping_add(1) << 32) | u64::from(place)
}

pub(crate) struct Pool {
    nodes: Nodes,
    free: Stack,
    empty: Stack,
    /// Places that have never been used begin here.
    fresh: AtomicU32,
    /// Events in existence, free or pending.
    made: AtomicU32,
    /// Events on the stack.
    idle: AtomicU32,
    /// The fewest that were seen on it since it was last trimmed.
    least_idle: AtomicU32,
    pause: AtomicU32,
}

impl Pool {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Nodes::new(),
            free: Stack::new(),
            empty: Stack::new(),
            fresh: AtomicU32::new(0),
            made: AtomicU32::new(0),
            idle: AtomicU32::new(0),
            least_idle: AtomicU32::new(u32::MAX),
            pause: AtomicU32::new(0),
        }
    }

    /// An event that is pending nowhere, made if need be. The context must be current.
    pub(crate) fn take(&self, api: &Api) -> Option<u64> {
        self.pop().or_else(|| self.make(api))
    }

    /// As many events that are pending nowhere as there is room for and as there are, or one that is
    /// made. Returns how many.
    pub(crate) fn take_several(&self, api: &Api, room: &mut [u64]) -> usize {
        let count = self.pop_several(room);
        match room.first_mut() {
            Some(first) if count == 0 => match self.make(api) {
                Some(event) => {
                    *first = event;
                    1
                }
                None => 0,
            },
            _ => count,
        }
    }

    fn pop_several(&self, room: &mut [u64]) -> usize {
        let nodes = &self.nodes;
        let mut places = [0_u32; MOST_AT_ONCE];
        let most = room.len().min(MOST_AT_ONCE);
        let Some(wanted) = places.get_mut(..most) else {
            return 0;
        };
        let count = self.free.pop_several(nodes, wanted);
        let mut last = None;
        for (slot, place) in room.iter_mut().zip(wanted.iter().take(count)) {
            if let Some(node) = node_at(nodes, *place) {
                *slot = node.event.load(Relaxed);
                last = Some(node);
            }
        }
        if let (Some(first), Some(last)) = (wanted.first(), last) {
            self.empty.push_chain(*first, last);
            self.idle.fetch_sub(count as u32, Relaxed);
        }
        count
    }

    /// A new event, unless there are enough or the runtime has none.
    fn make(&self, api: &Api) -> Option<u64> {
        let scarce = api.events_are_scarce() && self.made.load(Relaxed) >= MOST_SCARCE_EVENTS;
        if scarce || self.has_all() {
            return None;
        }
        if self
            .pause
            .fetch_update(Relaxed, Relaxed, |pause| pause.checked_sub(1))
            .is_ok()
        {
            return None;
        }
        let event = api.create_event();
        match event {
            Some(_) => {
                self.made.fetch_add(1, Relaxed);
                ALL_MADE.fetch_add(1, Relaxed);
            }
            None => self.pause.store(REFUSED_PAUSE, Relaxed),
        }
        event
    }

    /// Whether there are as many events as the tool makes, where the chip has plenty.
    pub(crate) fn has_all(&self) -> bool {
        self.made.load(Relaxed) >= MOST_EVENTS || ALL_MADE.load(Relaxed) >= MOST_EVENTS
    }

    fn pop(&self) -> Option<u64> {
        let nodes = &self.nodes;
        let (place, node) = self.free.pop(nodes)?;
        let event = node.event.load(Relaxed);
        self.empty.push(place, node);
        self.idle.fetch_sub(1, Relaxed);
        Some(event)
    }

    /// Gives an event back after its time has been read. Returns it without room.
    pub(crate) fn give(&self, event: u64) -> Option<u64> {
        let nodes = &self.nodes;
        let place = self.empty.pop(nodes).or_else(|| {
            let fresh = self.fresh.fetch_add(1, Relaxed);
            let node = nodes.get_or_make(fresh as usize);
            if node.is_none() {
                self.fresh.fetch_sub(1, Relaxed);
            }
            Some((fresh.wrapping_add(1), node?))
        });
        let Some((place, node)) = place else {
            return Some(event);
        };
        node.event.store(event, Relaxed);
        self.idle.fetch_add(1, Relaxed);
        self.free.push(place, node);
        None
    }

    /// Gives events back, as long as places are free that have been used before. Returns the number of those given back.
    pub(crate) fn give_several(&self, events: &[u64]) -> usize {
        let nodes = &self.nodes;
        let mut places = [0_u32; MOST_AT_ONCE];
        let most = events.len().min(MOST_AT_ONCE);
        let Some(wanted) = places.get_mut(..most) else {
            return 0;
        };
        let count = self.empty.pop_several(nodes, wanted);
        let mut last = None;
        for (event, place) in events.iter().zip(wanted.iter().take(count)) {
            if let Some(node) = node_at(nodes, *place) {
                node.event.store(*event, Relaxed);
                last = Some(node);
            }
        }
        if let (Some(first), Some(last)) = (wanted.first(), last) {
            self.idle.fetch_add(count as u32, Relaxed);
            self.free.push_chain(*first, last);
        }
        count
    }

    /// An event has been given up or destroyed.
    pub(crate) fn lost(&self, count: u32) {
        fewer(&self.made, count);
        fewer(&ALL_MADE, count);
    }

    /// Notes how many events lie idle.
    pub(crate) fn sample(&self) {
        self.least_idle.fetch_min(self.idle.load(Relaxed), Relaxed);
    }

    /// Destroys half of the events that were idle at every look. The context must be current.
    pub(crate) fn trim(&self, api: &Api) {
        let least = self.least_idle.swap(u32::MAX, Relaxed);
        if least == u32::MAX {
            return;
        }
        for _ in 0..least.saturating_sub(KEPT) / 2 {
            let Some(event) = self.pop() else { return };
            api.destroy_event(event);
            self.lost(1);
        }
    }

    /// Destroys all events that are not pending.
    pub(crate) fn destroy(&self, api: &Api) {
        while let Some(event) = self.pop() {
            api.destroy_event(event);
        }
        fewer(&ALL_MADE, self.made.swap(0, Relaxed));
        self.pause.store(0, Relaxed);
    }

    /// Forgets everything after a fork: the events belong to the parent, and a thread of the parent
    /// may have been in the middle of something.
    pub(crate) fn forget(&self) {
        for stack in [&self.free, &self.empty] {
            stack.0.store(0, Relaxed);
        }
        fewer(&ALL_MADE, self.made.swap(0, Relaxed));
        for count in [&self.fresh, &self.idle, &self.pause] {
            count.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_last_event_put_back_is_taken_first() {
        let pool = Pool::new();
        assert_eq!(pool.pop(), None);
        for event in 1..=3 {
            assert_eq!(pool.give(event), None);
        }
        assert_eq!([pool.pop(), pool.pop()], [Some(3), Some(2)]);
        assert_eq!(pool.give(9), None);
        assert_eq!(
            [pool.pop(), pool.pop(), pool.pop()],
            [Some(9), Some(1), None]
        );
    }

    #[test]
    fn events_without_room_are_handed_back() {
        let pool = Pool::new();
        for event in 1..=u64::from(MOST_EVENTS) {
            assert_eq!(pool.give(event), None);
        }
        assert_eq!(pool.give(77), Some(77));
        assert_eq!(pool.pop(), Some(u64::from(MOST_EVENTS)));
        assert_eq!(pool.give(78), None);
    }

    #[test]
    fn several_are_taken_in_one_go_and_given_back_one_by_one() {
        let pool = Pool::new();
        for event in 1..=36 {
            pool.give(event);
        }
        let mut room = [0; 40];
        assert_eq!(pool.pop_several(&mut room), MOST_AT_ONCE);
        assert_eq!(
            room[..MOST_AT_ONCE],
            core::array::from_fn::<u64, MOST_AT_ONCE, _>(|place| 36 - place as u64)
        );
        assert_eq!(pool.idle.load(Relaxed), 4);
        assert_eq!(pool.pop_several(&mut room), 4);
        assert_eq!(pool.pop_several(&mut room), 0);
        for event in 1..=16 {
            assert_eq!(pool.give(event), None);
        }
        let rest: Vec<u64> = (17..=40).collect();
        assert_eq!(pool.give_several(&rest), 20, "no place is new");
        assert_eq!(pool.fresh.load(Relaxed), 36, "places are used again");
        assert_eq!(pool.idle.load(Relaxed), 36);
        assert_eq!(pool.pop_several(&mut room[..3]), 3);
        assert_eq!(room[..3], [17, 18, 19]);
    }

    #[test]
    fn no_event_is_lost_or_taken_twice_between_threads() {
        let pool = Pool::new();
        for event in 1..=16 {
            pool.give(event);
        }
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        let mut several = [0; 3];
                        let count = pool.pop_several(&mut several);
                        let given = pool.give_several(&several[..count]);
                        let rest = several[given..count].iter().copied();
                        for event in pool.pop().into_iter().chain(rest) {
                            pool.give(event);
                        }
                    }
                });
            }
        });
        let events: BTreeSet<u64> = core::iter::from_fn(|| pool.pop()).collect();
        assert_eq!(events, (1..=16).collect());
    }
}

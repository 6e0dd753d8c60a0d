//! Finds the entry of an object by its handle, without locks for lookups.
//!
//! Entries are made on demand and never freed, so a found entry may be used at any time. The entry of
//! an ended object is used again for another one. A program uses a handle only between the calls that
//! make and end its object; the serial in an entry distinguishes objects.
//!
//! The runtime may give a handle to another thread before the call that ends its object has returned. So a
//! handle leaves the table before that call, and comes back when the call fails.
//!
//! Invariant: a key that is seen in a place was put there after its entry, and a search ends only at a
//! place that no key has been put beyond.

use core::ptr::{NonNull, null_mut};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use crate::memory;
use crate::spin::PlainLock;
use crate::table::place;

/// An object's entry in a table.
pub(crate) trait Object: Sync + 'static {
    /// An entry with its link is aligned as this is.
    type Alignment: Sync + 'static;

    /// Of no object yet.
    const NEW: Self;

    /// Whether an object may have the entry of one with the same handle while the call that ends that is
    /// under way, since nothing is done with the entry after the call. Else it gets another one.
    const CAN_BE_TAKEN_OVER: bool;

    /// The handle of the object it is of, or was last.
    fn key(&self) -> &AtomicU64;

    /// Forgets its object: it will be used for another one.
    fn clear(&self);
}

/// An entry in its memory.
#[repr(C)]
struct Node<E: Object> {
    aligned: [E::Alignment; 0],
    entry: E,
    /// The next one that is of no object.
    free: AtomicPtr<Node<E>>,
}

/// Where a handle is looked for.
struct Slot<E: Object> {
    /// 0 where none has been, [`GONE`] where one was.
    key: AtomicU64,
    node: AtomicPtr<Node<E>>,
}

/// A handle was here, and others may be behind it.
const GONE: u64 = u64::MAX;
/// Marks the key of a handle with an object that is about to end; neither addresses nor other keys have
/// this bit.
const LEFT: u64 = 1 << 61;

/// Slots of a page of memory, which a table takes one by one.
pub(crate) const PAGE: usize = 256;
const PAGE_BYTES: usize = 4096;
/// Places that are looked at before a table counts as full.
const PROBES: usize = 256;

/// Entries that are made at a time.
struct Chunk<E: Object, const C: usize> {
    next: AtomicPtr<Chunk<E, C>>,
    nodes: [Node<E>; C],
}

/// A table of `N` places, which are `P` pages, that makes `C` entries at a time.
pub(crate) struct ObjectTable<E: Object, const N: usize, const P: usize, const C: usize> {
    slots: [Slot<E>; N],
    /// Pages that are in use; changed by who has the lock.
    pages: [AtomicBool; P],
    /// The first entries take no memory of the program's.
    first: Chunk<E, C>,
    /// All entries, for who goes through them.
    chunks: AtomicPtr<Chunk<E, C>>,
    /// Entries of no object. The lock is for who enters or removes a handle.
    free: PlainLock<Free<E>>,
}

struct Free<E: Object>(*mut Node<E>);

// SAFETY: entries may be used by any thread.
unsafe impl<E: Object> Send for Free<E> {}

impl<E: Object, const N: usize, const P: usize, const C: usize> ObjectTable<E, N, P, C> {
    pub(crate) const fn new() -> Self {
        assert!(N.is_power_of_two() && N == P * PAGE);
        assert!(size_of::<Slot<E>>() * PAGE == PAGE_BYTES);
        Self {
            slots: [const {
                Slot {
                    key: AtomicU64::new(0),
                    node: AtomicPtr::new(null_mut()),
                }
            }; N],
            pages: [const { AtomicBool::new(false) }; P],
            first: Chunk {
                next: AtomicPtr::new(null_mut()),
                nodes: [const {
                    Node {
                        aligned: [],
                        entry: E::NEW,
                        free: AtomicPtr::new(null_mut()),
                    }
                }; C],
            },
            chunks: AtomicPtr::new(null_mut()),
            free: PlainLock::new(Free(null_mut())),
        }
    }

    fn slot(&self, handle: u64, step: usize) -> Option<&Slot<E>> {
        self.slots.get(place(handle, step) & (N - 1))
    }

    /// The entry of a handle, if it has one.
    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<&'static E> {
        for step in 0..PROBES {
            let slot = self.slot(handle, step)?;
            match slot.key.load(Acquire) {
                key if key == handle => return entry_of(slot.node.load(Acquire)),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    /// The entry of a handle, taken for it if it had none. `None` when there is no room.
    pub(crate) fn get_or_insert(&'static self, handle: u64) -> Option<&'static E> {
        if handle == 0 || handle == GONE {
            return None;
        }
        self.get(handle).or_else(|| self.insert(handle))
    }

    #[cold]
    fn insert(&'static self, handle: u64) -> Option<&'static E> {
        let mut free = self.free.lock_for_a_while()?;
        // Another thread may have been faster.
        let mut room = None;
        for step in 0..PROBES {
            let at = place(handle, step) & (N - 1);
            let slot = self.slots.get(at)?;
            match slot.key.load(Acquire) {
                key if key == handle => return entry_of(slot.node.load(Acquire)),
                key if key == handle | LEFT => {
                    // The call that ends the other one is under way.
                    let node = match E::CAN_BE_TAKEN_OVER {
                        true => slot.node.load(Acquire),
                        false => self.take_node(&mut free)?,
                    };
                    return enter(slot, node, handle);
                }
                GONE => room = room.or(Some((at, slot))),
                0 => {
                    room = room.or(Some((at, slot)));
                    break;
                }
                _ => {}
            }
        }
        let (at, slot) = room?;
        if !self.has_page(at) {
            return None;
        }
        let node = self.take_node(&mut free)?;
        enter(slot, node, handle)
    }

    /// Whether the page of a place may be used.
    fn has_page(&self, at: usize) -> bool {
        let Some(page) = self.pages.get(at / PAGE) else {
            return false;
        };
        if page.load(Relaxed) {
            return true;
        }
        let has_room = memory::take(PAGE_BYTES);
        page.store(has_room, Relaxed);
        has_room
    }

    /// Nothing is in a place any more. Handles that wander through a program's memory come by page after page: one that
    /// is empty counts no longer, where memory is scarce.
    fn leave_place(&self, at: usize) {
        self.clear_slot(at);
        if memory::is_scarce() {
            self.leave_page((at & (N - 1)) / PAGE);
        }
    }

    /// Gives the memory of a page up if it has no entries.
    fn leave_page(&self, page: usize) {
        let mut slots = self.slots.iter().skip(page * PAGE).take(PAGE);
        if !slots.all(|slot| slot.key.load(Relaxed) == 0) {
            return;
        }
        if let Some(page) = self.pages.get(page)
            && page.swap(false, Relaxed)
        {
            memory::give(PAGE_BYTES);
        }
    }

    fn take_node(&'static self, free: &mut Free<E>) -> Option<*mut Node<E>> {
        if free.0.is_null() {
            match self.chunks.load(Relaxed).is_null() {
                true => self.take_first(free),
                false => self.make_chunk(free)?,
            }
        }
        let node = free.0;
        // SAFETY: nodes live for ever.
        free.0 = unsafe { node.as_ref() }?.free.load(Relaxed);
        Some(node)
    }

    fn take_first(&'static self, free: &mut Free<E>) {
        // A fork or jump here leaves entries without a user, and none with two.
        let chunk = core::ptr::from_ref(&self.first).cast_mut();
        self.chunks.store(chunk, Release);
        let mut first = free.0;
        for node in &self.first.nodes {
            node.free.store(first, Relaxed);
            first = core::ptr::from_ref(node).cast_mut();
        }
        free.0 = first;
    }

    /// Makes further entries of no object.
    fn make_chunk(&self, free: &mut Free<E>) -> Option<()> {
        let room: NonNull<Chunk<E, C>> = memory::allocate()?;
        let chunk = room.as_ptr();
        let mut first = free.0;
        // SAFETY: the room is large enough for a chunk, has no other user, and all of it is written.
        // Not in one piece: the stack may have no room for that.
        unsafe {
            (&raw mut (*chunk).next).write(AtomicPtr::new(self.chunks.load(Relaxed)));
            for index in 0..C {
                let node = (&raw mut (*chunk).nodes).cast::<Node<E>>().add(index);
                node.write(Node {
                    aligned: [],
                    entry: E::NEW,
                    free: AtomicPtr::new(first),
                });
                first = node;
            }
        }
        self.chunks.store(chunk, Release);
        free.0 = first;
        Some(())
    }

    /// The object of a handle is about to end. The handle is not found any more; returns its entry.
    pub(crate) fn leave(&self, handle: u64) -> Option<&'static E> {
        let _free = self.free.lock_for_a_while()?;
        let (_, slot) = self.find(handle)?;
        slot.key.store(handle | LEFT, Release);
        entry_of(slot.node.load(Acquire))
    }

    /// The object of a handle has not ended, unless the handle has another object now.
    pub(crate) fn come_back(&self, handle: u64) {
        let Some(_free) = self.free.lock_for_a_while() else {
            return;
        };
        if let Some((_, slot)) = self.find(handle | LEFT) {
            slot.key.store(handle, Release);
        }
    }

    /// The object of a handle after [`Self::leave`] has ended: its entry, the result of that call, is
    /// free for another one. Where it can be taken over, `entry` is not necessary.
    pub(crate) fn gone(&self, handle: u64, entry: Option<&'static E>) {
        let Some(mut free) = self.free.lock_for_a_while() else {
            return;
        };
        let mut node = entry.map(node_of);
        if let Some((at, slot)) = self.find(handle | LEFT) {
            let own = slot.node.load(Acquire);
            if node.is_none_or(|node| node == own) {
                self.leave_place(at);
                node = Some(own);
            }
        }
        if let Some(node) = node {
            put_back(&mut free, node);
        }
    }

    /// The object of an entry has ended, without its handle having left.
    pub(crate) fn remove(&self, handle: u64, entry: &'static E) {
        let Some(mut free) = self.free.lock_for_a_while() else {
            return;
        };
        let Some((at, slot)) = self.find(handle) else {
            return;
        };
        let node = slot.node.load(Acquire);
        if node == node_of(entry) {
            self.leave_place(at);
            put_back(&mut free, node);
        }
    }

    /// The place that has a key, for who has the lock.
    fn find(&self, key: u64) -> Option<(usize, &Slot<E>)> {
        for step in 0..PROBES {
            let at = place(key & !LEFT, step) & (N - 1);
            let slot = self.slots.get(at)?;
            match slot.key.load(Acquire) {
                found if found == key => return Some((at, slot)),
                0 => return None,
                _ => {}
            }
        }
        None
    }

    /// Clears a place. Without entries after it, searches end here again, and in the cleared places
    /// before it.
    fn clear_slot(&self, at: usize) {
        let key = |at: usize| self.slots.get(at & (N - 1)).map(|slot| &slot.key);
        if let Some(own) = key(at) {
            own.store(GONE, Release);
        }
        let is_last = |key: Option<&AtomicU64>| key.is_some_and(|key| key.load(Relaxed) == 0);
        if !is_last(key(at.wrapping_add(1))) {
            return;
        }
        for step in 0..PROBES {
            match key(at.wrapping_sub(step)) {
                Some(key) if key.load(Relaxed) == GONE => key.store(0, Release),
                _ => return,
            }
        }
    }

    /// Every entry there is, also those of objects that have ended.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static E> {
        let mut next = self.chunks.load(Acquire);
        let chunks = core::iter::from_fn(move || {
            // SAFETY: chunks are complete when they are linked, and live for ever.
            let chunk: &'static Chunk<E, C> = unsafe { next.as_ref() }?;
            next = chunk.next.load(Relaxed);
            Some(chunk)
        });
        chunks
            .flat_map(|chunk| &chunk.nodes)
            .map(|node| &node.entry)
    }

    /// Forgets who had the lock in the parent process.
    pub(crate) fn break_after_fork(&self) {
        self.free.break_after_fork();
    }
}

/// Puts an entry of no object into a place.
fn enter<E: Object>(slot: &Slot<E>, node: *mut Node<E>, handle: u64) -> Option<&'static E> {
    let entry = entry_of(node)?;
    entry.clear();
    entry.key().store(handle, Relaxed);
    slot.node.store(node, Release);
    slot.key.store(handle, Release);
    Some(entry)
}

/// An entry that is in no place is of no object any more.
fn put_back<E: Object>(free: &mut Free<E>, node: *mut Node<E>) {
    // SAFETY: nodes live for ever.
    if let Some(known) = unsafe { node.as_ref() } {
        known.entry.clear();
        known.free.store(free.0, Relaxed);
        free.0 = node;
    }
}

/// The node of an entry, which it begins with.
fn node_of<E: Object>(entry: &'static E) -> *mut Node<E> {
    core::ptr::from_ref(entry).cast_mut().cast()
}

fn entry_of<E: Object>(node: *mut Node<E>) -> Option<&'static E> {
    // SAFETY: nodes live for ever, and are complete before they are published.
    unsafe { node.as_ref() }.map(|node| &node.entry)
}

#[cfg(test)]
mod tests;

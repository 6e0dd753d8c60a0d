//! A reserved range of addresses from which one kind of memory is handed out.
//!
//! Each device and the pinned host memory have a separate arena, so that a range check gives the place
//! of any address. Usable pages stay usable: a task that runs after its memory was freed reads or
//! writes stale bytes, as it would on a device, and does not crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sync::{Mutex, lock};

const ALIGN: usize = 512;
/// Pages are made usable in steps of this size.
const STEP: usize = 32 << 20;
/// A freed block of at least this size gives its pages back to the system.
const GIVE_BACK: usize = 1 << 20;
const PAGE: usize = 64 << 10;

pub(crate) struct Arena {
    /// Zero until the first allocation.
    base: AtomicUsize,
    end: AtomicUsize,
    capacity: usize,
    /// Freed memory is overwritten and handed out again at once, so that a late use of it shows.
    is_hostile: bool,
    state: Mutex<ArenaState>,
}

#[derive(Default)]
struct ArenaState {
    /// First address that was never handed out.
    frontier: usize,
    /// End of the usable pages.
    usable: usize,
    /// Start to requested size and span of every allocation.
    live: BTreeMap<usize, Block>,
    free: BTreeMap<usize, usize>,
    free_by_size: BTreeSet<(usize, usize)>,
    used: usize,
    /// The last freed address, unless an allocation has followed.
    last_freed: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) size: usize,
    span: usize,
    pub(crate) policy: u32,
}

impl Arena {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            base: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            capacity: capacity as usize,
            is_hostile: false,
            state: Mutex::default(),
        }
    }

    pub(crate) fn hostile(self, is_hostile: bool) -> Self {
        Self { is_hostile, ..self }
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn used(&self) -> usize {
        lock(&self.state).used
    }

    /// Takes memory that has its addresses elsewhere; false when there is not as much left.
    pub(crate) fn take(&self, size: usize) -> bool {
        let mut state = lock(&self.state);
        let used = state.used.saturating_add(size);
        let fits = used <= self.capacity;
        if fits {
            state.used = used;
        }
        fits
    }

    /// Takes memory back that [`Self::take`] gave.
    pub(crate) fn give_up(&self, size: usize) {
        let mut state = lock(&self.state);
        state.used = state.used.saturating_sub(size);
    }

    /// Is the address in this arena, allocated or not?
    pub(crate) fn contains(&self, address: usize) -> bool {
        let base = self.base.load(Ordering::Acquire);
        base != 0 && address >= base && address < self.end.load(Ordering::Acquire)
    }

    /// The allocation that holds all of the range.
    pub(crate) fn block_of(&self, address: usize, len: usize) -> Option<Block> {
        let state = lock(&self.state);
        let (_, block) = state.live.range(..=address).next_back()?;
        let end = address.checked_add(len)?;
        (address < block.start + block.size && end <= block.start + block.size).then_some(*block)
    }

    pub(crate) fn allocate(&self, size: usize, policy: u32) -> Option<usize> {
        // The vendor's runtime adds 32 bytes, which its kernels may read past the end.
        let span = size.checked_add(32 + ALIGN - 1)? / ALIGN * ALIGN;
        let mut state = lock(&self.state);
        if state.used.checked_add(span)? > self.capacity {
            return None;
        }
        let again = state.last_freed.take().filter(|_| self.is_hostile);
        let again = again.filter(|&start| state.take_free_at(start, span));
        let start = match again.or_else(|| state.take_free(span)) {
            Some(start) => start,
            None => self.grow(&mut state, span)?,
        };
        state.used += span;
        state.live.insert(
            start,
            Block {
                start,
                size,
                span,
                policy,
            },
        );
        Some(start)
    }

    /// Frees the allocation that starts here; false without one.
    pub(crate) fn release(&self, start: usize) -> bool {
        let mut state = lock(&self.state);
        let Some(block) = state.live.remove(&start) else {
            return false;
        };
        state.used -= block.span;
        if self.is_hostile {
            poison(block.start, block.span);
            state.last_freed = Some(block.start);
        } else if block.span >= GIVE_BACK {
            // Before the block can be handed out again, which needs the lock.
            give_back(block.start, block.span);
        }
        state.put_free(block.start, block.span);
        true
    }

    fn grow(&self, state: &mut ArenaState, span: usize) -> Option<usize> {
        if self.base.load(Ordering::Acquire) == 0 {
            let (base, size) = reserve(self.capacity)?;
            state.frontier = base;
            state.usable = base;
            self.end.store(base + size, Ordering::Release);
            self.base.store(base, Ordering::Release);
        }
        let start = state.frontier;
        let end = start.checked_add(span)?;
        let limit = self.end.load(Ordering::Acquire);
        if end > limit {
            return None;
        }
        if end > state.usable {
            let usable = (end.div_ceil(STEP) * STEP).min(limit);
            make_usable(state.usable, usable - state.usable)?;
            state.usable = usable;
        }
        state.frontier = end;
        Some(start)
    }
}

impl ArenaState {
    fn take_free(&mut self, span: usize) -> Option<usize> {
        let (size, start) = *self.free_by_size.range((span, 0)..).next()?;
        self.remove_free(start, size);
        if size > span {
            self.add_free(start + span, size - span);
        }
        Some(start)
    }

    /// Takes free memory at this place; false when there is not as much.
    fn take_free_at(&mut self, start: usize, span: usize) -> bool {
        let Some((&begin, &size)) = self.free.range(..=start).next_back() else {
            return false;
        };
        let (end, free_end) = (start + span, begin + size);
        if end > free_end {
            return false;
        }
        self.remove_free(begin, size);
        for (from, to) in [(begin, start), (end, free_end)] {
            if to > from {
                self.add_free(from, to - from);
            }
        }
        true
    }

    fn put_free(&mut self, mut start: usize, mut size: usize) {
        if let Some((&before, &length)) = self.free.range(..start).next_back()
            && before + length == start
        {
            self.remove_free(before, length);
            start = before;
            size += length;
        }
        if let Some(&length) = self.free.get(&(start + size)) {
            self.remove_free(start + size, length);
            size += length;
        }
        self.add_free(start, size);
    }

    fn add_free(&mut self, start: usize, size: usize) {
        self.free.insert(start, size);
        self.free_by_size.insert((size, start));
    }

    fn remove_free(&mut self, start: usize, size: usize) {
        self.free.remove(&start);
        self.free_by_size.remove(&(size, start));
    }
}

/// Reserves addresses without memory, fewer when the process may not have as many as asked for.
fn reserve(wanted: usize) -> Option<(usize, usize)> {
    let mut size = wanted.div_ceil(STEP) * STEP;
    while size >= STEP {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
        if base != libc::MAP_FAILED {
            return Some((base as usize, size));
        }
        size = size / 2 / STEP * STEP;
    }
    None
}

fn make_usable(start: usize, size: usize) -> Option<()> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the range is in this arena's reservation.
    let result = unsafe { libc::mprotect(start as *mut libc::c_void, size, access) };
    (result == 0).then_some(())
}

/// Overwrites freed memory. As a number of any kind, the new content is unlikely.
fn poison(start: usize, size: usize) {
    const POISON: u8 = 0xd5;
    // SAFETY: the range is in this arena's reservation, is usable, and has no owner now. A task that
    // still uses it reads or writes meaningless bytes, as the module says.
    unsafe { std::ptr::write_bytes(start as *mut u8, POISON, size) };
}

fn give_back(start: usize, size: usize) {
    let first = start.div_ceil(PAGE) * PAGE;
    let last = (start + size) / PAGE * PAGE;
    if last > first {
        // SAFETY: the range is in this arena's reservation; its contents are dropped.
        unsafe {
            libc::madvise(
                first as *mut libc::c_void,
                last - first,
                libc::MADV_DONTNEED,
            )
        };
    }
}

#[cfg(test)]
mod tests {
    use super::Arena;

    #[test]
    fn freed_neighbours_join_and_are_used_again() {
        let arena = Arena::new(64 << 20);
        let blocks: Vec<usize> = (0..3).map(|_| arena.allocate(1000, 0).unwrap()).collect();
        let keep = arena.allocate(1000, 0).unwrap();
        for block in [blocks[0], blocks[2], blocks[1]] {
            assert!(arena.release(block));
        }
        assert_eq!(arena.allocate(3000, 0), Some(blocks[0]));
        assert!(arena.release(keep));
        assert!(!arena.release(keep));
    }

    #[test]
    fn a_hostile_arena_overwrites_freed_memory_and_hands_it_out_again() {
        let arena = Arena::new(64 << 20).hostile(true);
        let blocks: Vec<usize> = (0..4).map(|_| arena.allocate(1000, 0).unwrap()).collect();
        for place in [0, 2, 1] {
            // SAFETY: the block is allocated, and stays usable when it is freed.
            let first = unsafe { &mut *(blocks[place] as *mut u8) };
            *first = 1;
            assert!(arena.release(blocks[place]));
            assert_ne!(*first, 1);
        }
        assert_eq!(arena.allocate(1000, 0), Some(blocks[1]));
        assert_eq!(arena.allocate(1000, 0), Some(blocks[0]));
    }

    #[test]
    fn a_range_is_known_only_inside_one_allocation() {
        let arena = Arena::new(64 << 20);
        let start = arena.allocate(100, 0).unwrap();
        assert!(arena.block_of(start + 50, 50).is_some());
        assert!(arena.block_of(start + 50, 51).is_none());
        assert!(arena.block_of(start + 100, 0).is_none());
        assert!(arena.contains(start) && !arena.contains(start - 1));
    }

    #[test]
    fn the_capacity_is_a_limit_and_freeing_gives_it_back() {
        let arena = Arena::new(4 << 20);
        let big = arena.allocate(3 << 20, 0).unwrap();
        assert_eq!(arena.allocate(2 << 20, 0), None);
        assert!(arena.release(big));
        assert!(arena.allocate(2 << 20, 0).is_some());
    }
}

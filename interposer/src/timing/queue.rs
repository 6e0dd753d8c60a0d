//! A queue without locks between one producer and one consumer: neither waits while the other is preempted.
//!
//! Items are in linked segments: small ones, since thousands of queues may exist with an item each.
//! Emptied segments are kept for the side that puts in, so that a steady flow allocates nothing.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use crate::memory;

/// Items of a segment.
const SEGMENT_ITEMS: usize = 4;
/// Emptied segments that are kept at most.
const MOST_SPARE: u64 = 64;

struct Segment<T> {
    next: AtomicPtr<Segment<T>>,
    items: [UnsafeCell<MaybeUninit<T>>; SEGMENT_ITEMS],
}

/// A queue for one producer and one consumer.
pub(crate) struct SpscQueue<T: Copy> {
    /// Where the next item is taken out. Only the taking side uses it.
    first: AtomicPtr<Segment<T>>,
    /// Where the next item is put in. Only the putting side uses it.
    last: AtomicPtr<Segment<T>>,
    /// Emptied segments, linked to each other. Only the putting side takes one away, so one that it sees on top stays linked
    /// to the next one until then.
    spare: AtomicPtr<Segment<T>>,
    /// Segments that the putting side has allocated, without those that it has freed.
    made: AtomicU32,
    /// Segments that the taking side has freed.
    freed: AtomicU32,
    put: AtomicU64,
    taken: AtomicU64,
    /// Segments that the taking side has left behind. Only that side uses it.
    emptied: AtomicU64,
}

// SAFETY: an item is handed from one side to the other by `put` and `taken`; segments are reached
// only as the two sides' rules below allow.
unsafe impl<T: Copy + Send> Sync for SpscQueue<T> {}

impl<T: Copy> SpscQueue<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: AtomicPtr::new(core::ptr::null_mut()),
            last: AtomicPtr::new(core::ptr::null_mut()),
            spare: AtomicPtr::new(core::ptr::null_mut()),
            made: AtomicU32::new(0),
            freed: AtomicU32::new(0),
            put: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            emptied: AtomicU64::new(0),
        }
    }

    /// Items that have ever been put in, and taken out.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let taken = self.taken.load(Acquire);
        (self.put.load(Acquire), taken)
    }

    /// Items in the queue.
    pub(crate) fn len(&self) -> usize {
        let taken = self.taken.load(Acquire);
        self.put.load(Acquire).saturating_sub(taken) as usize
    }

    /// Sees to it that the next item has room. `false` where there is no memory.
    ///
    /// # Safety
    /// No other thread puts in at the same time.
    pub(crate) unsafe fn reserve(&self) -> bool {
        let is_full = (self.put.load(Relaxed) as usize).is_multiple_of(SEGMENT_ITEMS);
        if !is_full || !self.spare.load(Relaxed).is_null() {
            return true;
        }
        let Some(fresh) = Self::make_segment() else {
            return false;
        };
        self.made
            .store(self.made.load(Relaxed).wrapping_add(1), Relaxed);
        self.keep(fresh.as_ptr());
        true
    }

    /// Pushes an empty segment onto the spare list.
    fn keep(&self, segment: *mut Segment<T>) {
        let mut top = self.spare.load(Relaxed);
        loop {
            // SAFETY: the segment is live and belongs to the caller alone.
            unsafe { (*segment).next.store(top, Relaxed) };
            match self
                .spare
                .compare_exchange_weak(top, segment, AcqRel, Relaxed)
            {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Takes a spare segment; null without one. For the putting side.
    fn take_spare(&self) -> *mut Segment<T> {
        let mut top = self.spare.load(Acquire);
        while !top.is_null() {
            // SAFETY: spare segments are live, and only this side takes one away.
            let next = unsafe { (*top).next.load(Relaxed) };
            match self.spare.compare_exchange_weak(top, next, AcqRel, Acquire) {
                Ok(_) => {
                    // SAFETY: it belongs to this side alone now.
                    unsafe { (*top).next.store(core::ptr::null_mut(), Relaxed) };
                    return top;
                }
                Err(now) => top = now,
            }
        }
        top
    }

    /// Frees the spare segments.
    ///
    /// # Safety
    /// No other thread puts in at the same time.
    pub(crate) unsafe fn free_spare(&self) {
        loop {
            let segment = self.take_spare();
            if segment.is_null() {
                return;
            }
            self.made
                .store(self.made.load(Relaxed).wrapping_sub(1), Relaxed);
            Self::free(segment);
        }
    }

    /// Puts an item in.
    ///
    /// # Safety
    /// No other thread puts in at the same time, and [`Self::reserve`] has just found room.
    pub(crate) unsafe fn push(&self, item: T) {
        let count = self.put.load(Relaxed);
        let place = count as usize % SEGMENT_ITEMS;
        let mut segment = self.last.load(Relaxed);
        if place == 0 {
            let fresh = self.take_spare();
            if fresh.is_null() {
                return;
            }
            if segment.is_null() {
                self.first.store(fresh, Relaxed);
            } else {
                // SAFETY: the last segment is freed only after its successor has been linked.
                unsafe { (*segment).next.store(fresh, Relaxed) };
            }
            self.last.store(fresh, Relaxed);
            segment = fresh;
        }
        // SAFETY: the segment is live, and this place has no reader before `put` has grown.
        unsafe {
            if let Some(cell) = (*segment).items.get(place) {
                (*cell.get()).write(item);
            }
        }
        self.put.store(count.wrapping_add(1), Release);
    }

    /// The item that will be taken out next.
    ///
    /// # Safety
    /// No other thread looks or takes out at the same time.
    pub(crate) unsafe fn front(&self) -> Option<T> {
        let count = self.taken.load(Relaxed);
        if self.put.load(Acquire) == count {
            return None;
        }
        if self.emptied.load(Relaxed) < count / SEGMENT_ITEMS as u64 {
            // SAFETY: an item beyond the first segment means that its successor has been linked.
            unsafe { self.leave_segment() };
        }
        let segment = self.first.load(Relaxed);
        // SAFETY: the first segment is live, and the item was written before `put` grew beyond it.
        unsafe {
            let cell = (*segment).items.get(count as usize % SEGMENT_ITEMS)?;
            Some((*cell.get()).assume_init())
        }
    }

    /// Goes on to the segment after the first one.
    ///
    /// # Safety
    /// As for [`Self::front`]; and there is such a segment.
    unsafe fn leave_segment(&self) {
        let emptied = self.first.load(Relaxed);
        // SAFETY: both segments are live. The putting side uses the next one, so the emptied one
        // belongs to this side alone.
        unsafe {
            self.first.store((*emptied).next.load(Relaxed), Relaxed);
            (*emptied).next.store(core::ptr::null_mut(), Relaxed);
        }
        let left = self.emptied.load(Relaxed).wrapping_add(1);
        self.emptied.store(left, Relaxed);
        let in_use = (self.put.load(Relaxed) / SEGMENT_ITEMS as u64).saturating_sub(left);
        let freed = self.freed.load(Relaxed);
        let all = u64::from(self.made.load(Relaxed).wrapping_sub(freed));
        if all.saturating_sub(in_use) <= MOST_SPARE && !memory::is_scarce() {
            self.keep(emptied);
        } else {
            self.freed.store(freed.wrapping_add(1), Relaxed);
            Self::free(emptied);
        }
    }

    /// An empty segment.
    fn make_segment() -> Option<NonNull<Segment<T>>> {
        memory::make(Segment {
            next: AtomicPtr::new(core::ptr::null_mut()),
            items: [const { UnsafeCell::new(MaybeUninit::uninit()) }; SEGMENT_ITEMS],
        })
    }

    /// Frees a segment that no other thread can reach.
    fn free(segment: *mut Segment<T>) {
        if let Some(segment) = NonNull::new(segment) {
            // SAFETY: `make_segment` made it, and the caller owns it.
            unsafe { memory::free(segment) };
        }
    }

    /// Takes the front item out.
    ///
    /// # Safety
    /// As for [`Self::front`], which has returned an item.
    pub(crate) unsafe fn pop(&self) {
        let count = self.taken.load(Relaxed);
        self.taken.store(count.wrapping_add(1), Release);
    }

    /// Forgets everything after a fork. What another thread of the parent was doing is not known,
    /// so nothing is freed.
    pub(crate) fn forget(&self) {
        for pointer in [&self.first, &self.last, &self.spare] {
            pointer.store(core::ptr::null_mut(), Relaxed);
        }
        for count in [&self.put, &self.taken, &self.emptied] {
            count.store(0, Relaxed);
        }
        self.made.store(0, Relaxed);
        self.freed.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(queue: &SpscQueue<u64>) -> Option<u64> {
        // SAFETY: each test takes out in one thread only.
        unsafe {
            let item = queue.front()?;
            assert_eq!(queue.front(), Some(item), "looking takes nothing");
            queue.pop();
            Some(item)
        }
    }

    #[test]
    fn items_come_out_in_their_order_in_any_rhythm() {
        let queue = SpscQueue::new();
        let (mut next, mut expected) = (0, 0);
        for burst in [1, 63, 64, 65, 1, 200, 3] {
            for _ in 0..burst {
                // SAFETY: one thread.
                unsafe {
                    assert!(queue.reserve());
                    queue.push(next);
                }
                next += 1;
            }
            assert_eq!(queue.len(), burst);
            while let Some(item) = take(&queue) {
                assert_eq!(item, expected);
                expected += 1;
            }
            assert_eq!((expected, queue.len()), (next, 0));
        }
        queue.forget();
        assert_eq!(take(&queue), None);
    }

    #[test]
    fn a_steady_flow_uses_segments_again_and_a_burst_leaves_few() {
        let queue = SpscQueue::new();
        let flow = |count: u64| {
            for item in 0..count {
                // SAFETY: one thread.
                unsafe {
                    assert!(queue.reserve());
                    queue.push(item);
                }
            }
            while take(&queue).is_some() {}
        };
        let segments = || u64::from(queue.made.load(Relaxed) - queue.freed.load(Relaxed));
        flow(100);
        let made = queue.made.load(Relaxed);
        for _ in 0..50 {
            flow(100);
        }
        assert!(queue.made.load(Relaxed) <= made + 1, "{made}");
        flow(4 * (MOST_SPARE + 500));
        assert!(segments() <= MOST_SPARE + 2, "{}", segments());
        // SAFETY: one thread.
        unsafe { queue.free_spare() };
        assert!(segments() <= 1, "{}", segments());
        flow(9);
    }

    #[test]
    fn two_threads_lose_nothing() {
        const COUNT: u64 = 200_000;
        let queue = SpscQueue::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for item in 0..COUNT {
                    // SAFETY: this thread alone puts in.
                    unsafe {
                        // The other thread may be slow.
                        while !queue.reserve() {
                            std::thread::yield_now();
                        }
                        queue.push(item);
                    }
                }
            });
            let mut expected = 0;
            while expected < COUNT {
                match take(&queue) {
                    Some(item) => {
                        assert_eq!(item, expected);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
    }
}

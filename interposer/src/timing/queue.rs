//! A queue between one thread that puts in and one that takes out, without a lock: neither has to
//! wait when the other loses its processor.
//!
//! Items are in linked segments: small ones, since thousands of queues may exist with an item each. An
//! emptied segment is kept for the side that puts in, so that a steady flow allocates little.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use crate::memory;

/// Items of a segment.
const LENGTH: usize = 4;

struct Segment<T> {
    next: AtomicPtr<Segment<T>>,
    items: [UnsafeCell<MaybeUninit<T>>; LENGTH],
}

pub(crate) struct Queue<T: Copy> {
    /// Where the next item is taken out. Only the taking side uses it.
    first: AtomicPtr<Segment<T>>,
    /// Where the next item is put in. Only the putting side uses it.
    last: AtomicPtr<Segment<T>>,
    spare: AtomicPtr<Segment<T>>,
    put: AtomicU64,
    taken: AtomicU64,
    /// Segments that the taking side has left behind. Only that side uses it.
    left: AtomicU64,
}

// SAFETY: an item is handed from one side to the other by `put` and `taken`; segments are reached
// only as the two sides' rules below allow.
unsafe impl<T: Copy + Send> Sync for Queue<T> {}

impl<T: Copy> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: AtomicPtr::new(core::ptr::null_mut()),
            last: AtomicPtr::new(core::ptr::null_mut()),
            spare: AtomicPtr::new(core::ptr::null_mut()),
            put: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            left: AtomicU64::new(0),
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
        let is_full = (self.put.load(Relaxed) as usize).is_multiple_of(LENGTH);
        if !is_full || !self.spare.load(Relaxed).is_null() {
            // The other side puts one in the place of this one, but takes none away.
            return true;
        }
        let Some(fresh) = Self::make_segment() else {
            return false;
        };
        let surplus = self.spare.swap(fresh.as_ptr(), AcqRel);
        Self::free(surplus);
        true
    }

    /// Puts an item in.
    ///
    /// # Safety
    /// No other thread puts in at the same time, and [`Self::reserve`] has just found room.
    pub(crate) unsafe fn push(&self, item: T) {
        let count = self.put.load(Relaxed);
        let place = count as usize % LENGTH;
        let mut segment = self.last.load(Relaxed);
        if place == 0 {
            let fresh = self.spare.swap(core::ptr::null_mut(), AcqRel);
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
        if self.left.load(Relaxed) < count / LENGTH as u64 {
            // SAFETY: an item beyond the first segment means that its successor has been linked.
            unsafe { self.leave_segment() };
        }
        let segment = self.first.load(Relaxed);
        // SAFETY: the first segment is live, and the item was written before `put` grew beyond it.
        unsafe {
            let cell = (*segment).items.get(count as usize % LENGTH)?;
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
        self.left.fetch_add(1, Relaxed);
        Self::free(self.spare.swap(emptied, AcqRel));
    }

    /// An empty segment.
    fn make_segment() -> Option<NonNull<Segment<T>>> {
        memory::make(Segment {
            next: AtomicPtr::new(core::ptr::null_mut()),
            items: [const { UnsafeCell::new(MaybeUninit::uninit()) }; LENGTH],
        })
    }

    /// Frees a segment that was swapped out of its place, if there was one.
    fn free(surplus: *mut Segment<T>) {
        if let Some(surplus) = NonNull::new(surplus) {
            // SAFETY: `make_segment` made it, and the thread that swaps it out owns it.
            unsafe { memory::free(surplus) };
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
        for count in [&self.put, &self.taken, &self.left] {
            count.store(0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(queue: &Queue<u64>) -> Option<u64> {
        // SAFETY: each test takes out in one thread only.
        unsafe {
            let item = queue.front()?;
            assert_eq!(queue.front(), Some(item), "looking takes nothing");
            queue.pop();
            Some(item)
        }
    }

    #[test]
    fn items_come_out_in_their_order_whatever_the_rhythm() {
        let queue = Queue::new();
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
    fn two_threads_lose_nothing() {
        const COUNT: u64 = 200_000;
        let queue = Queue::new();
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

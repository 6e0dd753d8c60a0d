//! Readable words of a stack: those of the thread's stack, from the walk's place to its top. Of other
//! stacks (a signal handler's, a coroutine's) it is the page of the walk, and further pages that the
//! kernel reports as mapped.

use core::cell::Cell;

use crate::syscall_policy;
use crate::thread::ThreadState;

/// The smallest page there is.
const PAGE: usize = 4096;
/// Pages of a foreign stack that are asked about in one walk.
const MOST_PAGES: usize = 16;
const WORD: usize = size_of::<usize>();

/// The readable part of a stack.
pub(super) struct Stack {
    /// The thread's own: begin and top.
    own: (usize, usize),
    low: Cell<usize>,
    high: Cell<usize>,
    pages: Cell<usize>,
}

impl Stack {
    /// The stack at `here`, which is in use.
    pub(super) fn at(state: &ThreadState, here: usize) -> Self {
        let stack = Self {
            own: state.own_stack(),
            low: Cell::new(here),
            high: Cell::new(here),
            pages: Cell::new(MOST_PAGES),
        };
        stack.move_to(here);
        stack
    }

    fn is_own(&self, place: usize) -> bool {
        (self.own.0..self.own.1).contains(&place)
    }

    /// The walk goes on at a place that is in use.
    fn move_to(&self, place: usize) {
        self.low.set(place);
        self.high.set(match self.is_own(place) {
            true => self.own.1,
            // The used part begins in this page.
            false => page_end(place),
        });
    }

    /// A signal has interrupted the thread with its stack at `place`, as the kernel has noted: only the
    /// thread's own is certain to be still there. Returns whether the walk can go on.
    pub(super) fn leave_for(&self, place: usize) -> bool {
        let is_same = (self.low.get()..self.high.get()).contains(&place);
        if !is_same && self.is_own(place) {
            self.move_to(place);
        }
        is_same || self.is_own(place)
    }

    /// Whether a frame may begin at a place: further up the same stack.
    pub(super) fn holds_frame(&self, place: usize, after: usize) -> bool {
        place > after && place.is_multiple_of(WORD) && self.reaches(place)
    }

    /// The used part of the thread's stack, if the walk is on it.
    pub(super) fn own_in_use(&self) -> (usize, usize) {
        match self.is_own(self.low.get()) {
            true => (self.low.get(), self.own.1),
            false => (0, 0),
        }
    }

    /// The word at a place.
    #[inline]
    pub(super) fn word(&self, place: usize) -> Option<usize> {
        let end = place.checked_add(WORD)?;
        if place < self.low.get() || !place.is_multiple_of(WORD) || !self.reaches(end) {
            return None;
        }
        // SAFETY: an aligned word between a place of the stack that is in use and the stack's top, or in a
        // page that was found to be there. Nobody takes away the stack that this thread is on.
        Some(unsafe { core::ptr::read_volatile(place as *const usize) })
    }

    /// Whether everything below `end` is mapped.
    #[inline]
    fn reaches(&self, end: usize) -> bool {
        end <= self.high.get() || self.extend(end)
    }

    /// Asks about further pages of a foreign stack.
    #[cold]
    fn extend(&self, end: usize) -> bool {
        let high = self.high.get();
        if self.is_own(self.low.get()) || end - high > MOST_PAGES * PAGE {
            return false;
        }
        while self.high.get() < end {
            let page = self.high.get();
            let left = self.pages.get();
            if left == 0 || !syscall_policy::is_readable(page) {
                return false;
            }
            self.pages.set(left - 1);
            self.high.set(page + PAGE);
        }
        true
    }
}

fn page_end(place: usize) -> usize {
    (place | (PAGE - 1)).saturating_add(1)
}

impl ThreadState {
    /// The begin and the top of the thread's own stack; (0, 0) where they are not known.
    #[inline]
    fn own_stack(&self) -> (usize, usize) {
        match self.stack_bounds.get() {
            Some(bounds) => bounds,
            None => self.find_own_stack(),
        }
    }

    #[cold]
    fn find_own_stack(&self) -> (usize, usize) {
        let bounds = super::bounds::find().unwrap_or((0, 0));
        self.stack_bounds.set(Some(bounds));
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread;

    #[test]
    fn a_stack_is_read_from_here_to_its_top_and_no_further() {
        let word = 0x1234_usize;
        let place = core::ptr::from_ref(&word) as usize;
        thread::with(|state| {
            let (begin, top) = state.own_stack();
            assert!((begin..top).contains(&place), "{begin:x} {place:x} {top:x}");
            let stack = Stack::at(state, place);
            assert_eq!(stack.word(place), Some(0x1234));
            assert!(stack.word(top - WORD).is_some());
            for wrong in [
                place - WORD,
                place + 1,
                top,
                top - 4,
                0,
                usize::MAX - 7,
                usize::MAX,
            ] {
                assert_eq!(stack.word(wrong), None, "{wrong:x}");
            }
        });
    }

    #[test]
    fn a_foreign_stack_is_read_as_far_as_there_are_pages() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping with a last page that is made unreadable.
        let base = unsafe {
            let base = libc::mmap(core::ptr::null_mut(), 4 * PAGE, 3, flags, -1, 0);
            libc::mprotect(base.byte_add(3 * PAGE), PAGE, libc::PROT_NONE);
            base as usize
        };
        thread::with(|state| {
            let stack = Stack::at(state, base + 64);
            assert_eq!(stack.word(base + 64), Some(0));
            assert_eq!(stack.word(base), None, "below");
            if syscall_policy::is_readable(base) {
                assert_eq!(stack.word(base + 3 * PAGE - WORD), Some(0));
            }
            assert_eq!(stack.word(base + 3 * PAGE), None);
            assert!(!stack.holds_frame(base + 3 * PAGE + 8, base));
        });
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(base as *mut _, 4 * PAGE) };
    }
}

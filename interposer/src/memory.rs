//! The tracer's memory in the program has a limit, for any program. Objects without room are not
//! followed.

use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use crate::apart::CacheLinePadded;
use crate::syscall_policy;

/// Bytes for contexts, streams, events and tasks in one process.
pub(crate) const MOST: usize = 4 << 20;
/// Overhead of an allocation.
const OVERHEAD: usize = 16;

static USED: CacheLinePadded<AtomicUsize> = CacheLinePadded(AtomicUsize::new(0));

/// Reserves this number of bytes, unless that exceeds the limit.
pub(crate) fn take(bytes: usize) -> bool {
    let more = |used: usize| used.checked_add(bytes).filter(|all| *all <= MOST);
    USED.fetch_update(Relaxed, Relaxed, more).is_ok()
}

/// Whether half of it is reserved: then unused memory is searched.
pub(crate) fn is_scarce() -> bool {
    USED.load(Relaxed) > MOST / 2
}

/// Bytes that were reserved are free again.
pub(crate) fn give(bytes: usize) {
    let less = |used: usize| Some(used.saturating_sub(bytes));
    let _ = USED.fetch_update(Relaxed, Relaxed, less);
}

/// Room for one `T`, not filled yet; `None` when the limit is reached, when the program has no memory, and
/// when asking for memory might be a system call that it has given up.
pub(crate) fn allocate<T>() -> Option<NonNull<T>> {
    let layout = Layout::new::<T>();
    if !syscall_policy::is_allowed() || !take(layout.size().saturating_add(OVERHEAD)) {
        return None;
    }
    // SAFETY: nothing that is kept has no size.
    let room = NonNull::new(unsafe { std::alloc::alloc(layout) }.cast::<T>());
    if room.is_none() {
        give(layout.size().saturating_add(OVERHEAD));
    }
    room
}

/// One `T` in separate memory.
pub(crate) fn make<T>(value: T) -> Option<NonNull<T>> {
    let room = allocate::<T>()?;
    // SAFETY: the room is large enough for one, and has no other user.
    unsafe { room.write(value) };
    Some(room)
}

/// Frees what [`make`] or [`allocate`] has made.
///
/// # Safety
/// Nobody uses it any more, and it needs no destructor.
pub(crate) unsafe fn free<T>(made: NonNull<T>) {
    let layout = Layout::new::<T>();
    // SAFETY: it was allocated with this layout.
    unsafe { std::alloc::dealloc(made.as_ptr().cast(), layout) };
    give(layout.size().saturating_add(OVERHEAD));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_counted_and_freed_memory_is_given_back() {
        let made = make([7u64; 512]).unwrap();
        // SAFETY: it was just made.
        assert_eq!(unsafe { made.as_ref() }, &[7; 512]);
        // SAFETY: it has no other user.
        unsafe { free(made) };
        assert!(!take(MOST + 1));
        assert!(
            allocate::<[u8; MOST]>().is_none(),
            "its own size is counted, too"
        );
    }
}

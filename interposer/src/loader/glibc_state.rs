//! Two words of the GNU loader's own memory: how many objects it has ever added, and who holds the
//! lock of its list.
//!
//! `dl_iterate_phdr` reports the first, but takes the lock, which a plain `dlsym` does not, and which
//! stays locked for ever in the child of a process that forked while another thread had it. So the
//! words are searched once, inside of a call of `dl_iterate_phdr`: the lock is the one that this thread
//! has then, and the count equals the reported one, a few words after the lock. Where they are not
//! found, or no longer agree, every query uses the call.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use ascend_trace_ring::sys;

use super::link_map;

/// Where the words are; 0 until they are found.
static LOCK: AtomicUsize = AtomicUsize::new(0);
static ADDED: AtomicUsize = AtomicUsize::new(0);

/// The process that has found them.
static HOME: AtomicU32 = AtomicU32::new(0);

/// How often they may still be looked for.
static TRIES: AtomicU32 = AtomicU32::new(256);

/// A recursive mutex of the C library, as far as it is the same on all 64-bit machines.
#[repr(C)]
struct Mutex {
    lock: AtomicU32,
    count: AtomicU32,
    owner: AtomicU32,
    users: AtomicU32,
    kind: AtomicU32,
}

impl Mutex {
    /// Whether a thread holds this, if it is a mutex at all.
    fn is_held_by(&self, thread: u32) -> bool {
        const RECURSIVE: u32 = 1;
        self.lock.load(Relaxed) != 0
            && (1..1000).contains(&self.count.load(Relaxed))
            && self.owner.load(Relaxed) == thread
            && self.kind.load(Relaxed) & 3 == RECURSIVE
    }
}

/// How far behind the lock the count can be.
const REACH: usize = 256;

/// Number of objects that the loader has ever added. `None` where only the loader knows it.
pub(super) fn added() -> Option<u64> {
    let place = ADDED.load(Acquire);
    if place == 0 {
        return None;
    }
    // SAFETY: an aligned word of the loader's, which is never unmapped.
    Some(unsafe { (*(place as *const AtomicU64)).load(Acquire) })
}

/// Whether the list's lock belongs to a thread that this process does not have: it is a child that was
/// forked meanwhile. No object will be added or removed any more, and taking the lock would wait for
/// ever.
pub(super) fn is_lock_lost() -> bool {
    let place = LOCK.load(Acquire);
    if place == 0 {
        return false;
    }
    // SAFETY: as in `added`.
    let mutex = unsafe { &*(place as *const Mutex) };
    mutex.lock.load(Relaxed) != 0 && mutex.is_lost(HOME.load(Relaxed) != sys::process())
}

impl Mutex {
    /// A holder writes its id shortly after it has taken the lock, and clears it before it releases the
    /// lock: a fork may happen in between. In a child, such a state counts as lost.
    fn is_lost(&self, is_child: bool) -> bool {
        const PAUSE_NS: i64 = 100_000;
        const ROUNDS: u32 = 200;
        for _ in 0..ROUNDS {
            if self.lock.load(Relaxed) == 0 {
                return false;
            }
            match self.owner.load(Relaxed) {
                0 if !is_child => return false,
                0 => sys::pause(PAUSE_NS),
                owner => return sys::is_gone(owner),
            }
        }
        true
    }
}

/// Searches the words, or checks them. `dl_iterate_phdr` calls it with the lock taken, and with the
/// number of added objects.
pub(super) fn learn(reported: u64) {
    if let Some(known) = added() {
        if known != reported {
            // It is something else after all.
            ADDED.store(0, Release);
            TRIES.store(0, Relaxed);
        }
        return;
    }
    let left = TRIES.load(Relaxed);
    if left == 0 {
        return;
    }
    TRIES.store(left - 1, Relaxed);
    let thread = sys::thread();
    let mut found = None;
    let mut look =
        |start: usize, end: usize| found = look_in(start, end, thread, reported).or(found);
    if let Some(loader) = link_map::loader() {
        loader.each_writable(&mut look);
    }
    if let Some((lock, count)) = found {
        HOME.store(sys::process(), Relaxed);
        LOCK.store(lock, Release);
        ADDED.store(count, Release);
    }
}

/// The last mutex in a part of memory that the thread holds and that has the count behind it. There is
/// a second one before it while the thread has the whole loader locked.
fn look_in(start: usize, end: usize, thread: u32, reported: u64) -> Option<(usize, usize)> {
    let mut found = None;
    let mut place = start.next_multiple_of(align_of::<u64>());
    while place + size_of::<Mutex>() + REACH <= end {
        // SAFETY: within a part of the loader that is mapped and writable; all of it is atomic here.
        let mutex = unsafe { &*(place as *const Mutex) };
        if mutex.is_held_by(thread)
            && let Some(count) = count_behind(place, reported)
        {
            found = Some((place, count));
        }
        place += align_of::<u64>();
    }
    found
}

/// The only word behind a lock that is the count.
fn count_behind(lock: usize, reported: u64) -> Option<usize> {
    let mut found = None;
    let first = (lock + size_of::<Mutex>()).next_multiple_of(align_of::<u64>());
    for place in (first..lock + REACH).step_by(size_of::<u64>()) {
        // SAFETY: as above.
        if unsafe { (*(place as *const AtomicU64)).load(Relaxed) } == reported {
            if found.is_some() {
                return None;
            }
            found = Some(place);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::walk;

    #[test]
    fn the_count_is_found_and_the_lock_is_not_lost() {
        let reported = walk::changes().added;
        assert_eq!(added(), Some(reported), "on every C library that is known");
        assert!(!is_lock_lost());
    }

    #[test]
    fn a_lock_without_a_holders_name_is_lost_in_a_child_alone() {
        let [lock, count, owner, users, kind] = [1, 1, 0, 1, 1].map(AtomicU32::new);
        let mutex = Mutex {
            lock,
            count,
            owner,
            users,
            kind,
        };
        assert!(!mutex.is_lost(false));
        assert!(mutex.is_lost(true));
        mutex.owner.store(sys::thread(), Relaxed);
        assert!(!mutex.is_lost(true));
        let other = std::thread::scope(|scope| scope.spawn(sys::thread).join()).unwrap();
        mutex.owner.store(other, Relaxed);
        // A joined thread may still exist for a short time.
        let begin = std::time::Instant::now();
        while !mutex.is_lost(false) {
            assert!(begin.elapsed().as_secs() < 300, "it never goes");
            std::thread::yield_now();
        }
        mutex.lock.store(0, Relaxed);
        assert!(!mutex.is_lost(true));
    }

    #[repr(align(8))]
    struct Words([AtomicU32; 128]);

    #[test]
    fn only_a_lock_that_is_held_with_the_count_behind_it_is_taken() {
        let words = Words([const { AtomicU32::new(0) }; 128]);
        let start = words.0.as_ptr() as usize;
        let end = start + size_of_val(&words);
        let look = |thread| look_in(start, end, thread, 77);
        assert_eq!(look(9), None);
        for (word, value) in words.0[4..9].iter().zip([1, 1, 9, 1, 1]) {
            word.store(value, Relaxed);
        }
        assert_eq!(look(9), None, "no count");
        words.0[24].store(77, Relaxed);
        assert_eq!(look(9), Some((start + 16, start + 96)));
        assert_eq!(look(8), None, "somebody else's");
        words.0[30].store(77, Relaxed);
        assert_eq!(look(9), None, "two counts");
    }
}

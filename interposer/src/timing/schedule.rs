//! Processors and priority of a thread of the tool. The program's thread that submits first makes it,
//! and it would inherit that thread's choices: one processor, or real-time priority.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};

struct Mask(UnsafeCell<MaybeUninit<libc::cpu_set_t>>);

// SAFETY: written once while the library is loaded, and read only after `NOTED` says so.
unsafe impl Sync for Mask {}

/// The processors that the process had when it began.
static MASK: Mask = Mask(UnsafeCell::new(MaybeUninit::uninit()));
static NOTED: AtomicBool = AtomicBool::new(false);

/// The library has been loaded: notes the processors of the process.
pub(crate) fn note() {
    if NOTED.load(Acquire) {
        return;
    }
    // SAFETY: the place has the passed size; it has no reader yet.
    let answered = unsafe {
        let mask = (*MASK.0.get()).as_mut_ptr();
        mask.write(core::mem::zeroed());
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), mask)
    };
    NOTED.store(answered == 0, Release);
}

/// Gives the calling thread, which is ours, the processors of the process and ordinary priority, where
/// it has something else.
pub(crate) fn settle() {
    // SAFETY: every pointer is to a live local or to the mask, which is complete.
    unsafe {
        if libc::sched_getscheduler(0) > libc::SCHED_OTHER {
            let parameters: libc::sched_param = core::mem::zeroed();
            libc::sched_setscheduler(0, libc::SCHED_OTHER, &parameters);
        }
        if !NOTED.load(Acquire) {
            return;
        }
        let noted = (*MASK.0.get()).as_ptr();
        let mut now: libc::cpu_set_t = core::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        let differs =
            libc::sched_getaffinity(0, size, &mut now) == 0 && !libc::CPU_EQUAL(&now, &*noted);
        if differs {
            libc::sched_setaffinity(0, size, noted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processors() -> i32 {
        // SAFETY: a live local of the passed size.
        unsafe {
            let mut now: libc::cpu_set_t = core::mem::zeroed();
            libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut now);
            libc::CPU_COUNT(&now)
        }
    }

    #[test]
    fn a_thread_gets_the_processors_of_the_process_back() {
        note();
        let before = processors();
        let pinned = move || {
            // SAFETY: pins the calling thread to its first processor.
            unsafe {
                let mut now: libc::cpu_set_t = core::mem::zeroed();
                libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut now);
                let first = (0..1024).find(|cpu| libc::CPU_ISSET(*cpu, &now)).unwrap();
                libc::CPU_ZERO(&mut now);
                libc::CPU_SET(first, &mut now);
                libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &now);
            }
            assert_eq!(processors(), 1);
            settle();
            assert_eq!(processors(), before);
        };
        std::thread::scope(|scope| {
            scope.spawn(pinned);
        });
    }
}

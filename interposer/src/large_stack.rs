//! A stack with room, for work that is done once and needs more than the program may have left: it may
//! fetch a function for the first time in a thread or a signal handler with a stack of a few KiB.
//!
//! Signals are blocked during this: a handler would run on a foreign stack, and the kernel would start
//! again on a handler's stack that is in use below.
//!
//! Invariant: a memory checker knows each of these stacks while it can be used. Otherwise it takes the
//! jump from a thread's stack to one nearby for one large frame, and when that frame ends, all memory
//! between for inaccessible.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};

use crate::errno::Errno;
use crate::thread::ThreadState;
use crate::{syscall_policy, thread};

/// Bytes of a stack. Only touched pages take memory. Loading a large library takes some 20 KiB.
const BYTES: usize = 512 << 10;
/// Below each stack is memory that cannot be touched.
const GUARD: usize = 64 << 10;

/// Stacks that are kept for the next call. If all are in use, a new one is made.
static KEPT: [SpareStack; 4] = [const {
    SpareStack {
        base: AtomicUsize::new(0),
        is_used: AtomicBool::new(false),
    }
}; 4];

struct SpareStack {
    /// Its lowest address, 0 without a stack.
    base: AtomicUsize,
    is_used: AtomicBool,
}

/// Runs `action` on a stack with room, or right here without one, or if the thread may not make the
/// system calls that switching takes.
pub(crate) fn run<R>(action: impl FnOnce() -> R) -> R {
    if is_roomy(thread::stack())
        || !syscall_policy::is_allowed()
        || thread::with(ThreadState::is_blind)
    {
        return action();
    }
    let place = KEPT.iter().find(|kept| !kept.is_used.swap(true, Acquire));
    let stack = match place.map(|kept| kept.base.load(Relaxed)) {
        Some(base) if base != 0 => Some((base, None)),
        _ => make().map(|(base, known)| (base, Some(known))),
    };
    let Some((base, known)) = stack else {
        place.into_iter().for_each(SpareStack::release);
        return action();
    };
    if let Some(kept) = place {
        kept.base.store(base, Relaxed);
    }
    let result = on(base, action);
    match place {
        Some(kept) => kept.release(),
        None => {
            known.into_iter().for_each(crate::valgrind::forget);
            unmake(base);
        }
    }
    result
}

impl SpareStack {
    fn release(&self) {
        self.is_used.store(false, Release);
    }
}

/// Whether this is one of our stacks already. One that was made for a single time is not recognised:
/// another is made then.
fn is_roomy(here: usize) -> bool {
    KEPT.iter().any(|kept| {
        let base = kept.base.load(Relaxed);
        base != 0 && here.wrapping_sub(base) < BYTES
    })
}

/// The base of a new stack, and its id for a memory checker.
fn make() -> Option<(usize, crate::valgrind::Stack)> {
    let _errno = Errno::save();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    let both = GUARD + BYTES;
    // SAFETY: a fresh mapping at an address of the kernel's choice, which cannot be touched.
    let guard = unsafe { libc::mmap(core::ptr::null_mut(), both, libc::PROT_NONE, flags, -1, 0) };
    if guard == libc::MAP_FAILED {
        return None;
    }
    let base = guard.wrapping_byte_add(GUARD);
    // SAFETY: the upper part of the mapping just made.
    let made = unsafe { libc::mprotect(base, BYTES, libc::PROT_READ | libc::PROT_WRITE) };
    if made != 0 {
        unmake(base as usize);
        return None;
    }
    let base = base as usize;
    Some((base, crate::valgrind::tell(base, base + BYTES)))
}

fn unmake(base: usize) {
    let _errno = Errno::save();
    let guard = core::ptr::with_exposed_provenance_mut::<c_void>(base - GUARD);
    // SAFETY: an unused mapping of `make`.
    unsafe { libc::munmap(guard, GUARD + BYTES) };
}

/// The action, and then its result.
struct Work<F, R> {
    action: UnsafeCell<Option<F>>,
    result: UnsafeCell<MaybeUninit<R>>,
}

fn on<F: FnOnce() -> R, R>(base: usize, action: F) -> R {
    let work = Work {
        action: UnsafeCell::new(Some(action)),
        result: UnsafeCell::new(MaybeUninit::<R>::uninit()),
    };
    let before = block();
    // SAFETY: the stack is ours alone, and `perform` gets the work that it is made for.
    unsafe {
        switch(
            base + BYTES,
            perform::<F, R>,
            core::ptr::from_ref(&work).cast(),
        );
    }
    unblock(&before);
    // SAFETY: `perform` has written it: the action existed.
    unsafe { work.result.into_inner().assume_init() }
}

unsafe extern "C" fn perform<F: FnOnce() -> R, R>(work: *const c_void) {
    // SAFETY: the work of `on`, which waits for this to return.
    let work = unsafe { &*work.cast::<Work<F, R>>() };
    // SAFETY: no other access happens meanwhile.
    if let Some(action) = unsafe { (*work.action.get()).take() } {
        let result = action();
        // SAFETY: as above.
        unsafe { (*work.result.get()).write(result) };
    }
}

fn block() -> libc::sigset_t {
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut all = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the sets are valid places; all zeroes are a valid set.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        before.assume_init()
    }
}

fn unblock(before: &libc::sigset_t) {
    // SAFETY: restores the previous mask.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, core::ptr::null_mut()) };
}

/// Calls `function` with `data` on the stack that ends at `top`.
///
/// # Safety
/// The stack must be unused and aligned, `function` must not unwind.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn switch(
    top: usize,
    function: unsafe extern "C" fn(*const c_void),
    data: *const c_void,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdi",
        "mov rdi, rdx",
        "call rsi",
        "leave",
        ".cfi_def_cfa rsp, 8",
        ".cfi_restore rbp",
        "ret",
        ".cfi_endproc",
    )
}

/// As above.
///
/// # Safety
/// As above.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn switch(
    top: usize,
    function: unsafe extern "C" fn(*const c_void),
    data: *const c_void,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        ".cfi_def_cfa x29, 16",
        "mov sp, x0",
        "mov x0, x2",
        "blr x1",
        "mov sp, x29",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa sp, 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "ret",
        ".cfi_endproc",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a place is on another stack than `here`, which is near the top of a thread's of 2 MiB. The other one
    /// may lie right above.
    fn is_elsewhere(there: usize, here: usize) -> bool {
        !(here - 2 * BYTES..=here).contains(&there)
    }

    #[test]
    fn work_is_done_elsewhere_and_its_result_comes_back() {
        let here = thread::stack();
        let text = String::from("text");
        let (there, nested, answer) = run(|| {
            let there = thread::stack();
            (there, run(thread::stack), text + " back")
        });
        assert!(is_elsewhere(there, here), "{there:x} {here:x}");
        assert_eq!(answer, "text back");
        // Within one that is kept, no other is needed; another test may have had all of them.
        if is_roomy(there) {
            assert!(nested.abs_diff(there) < BYTES, "{nested:x} {there:x}");
        }
    }

    #[test]
    fn more_at_a_time_than_are_kept_get_room_as_well() {
        let barrier = std::sync::Barrier::new(12);
        let one = || {
            let here = thread::stack();
            let (there, value) = run(|| {
                barrier.wait();
                let room = [1u8; BYTES / 2];
                (thread::stack(), std::hint::black_box(room)[77])
            });
            (is_elsewhere(there, here), value)
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..12).map(|_| scope.spawn(one)).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), (true, 1));
            }
        });
    }
}

//! One pointer of thread-local memory that is reached without a call.
//!
//! A shared library's thread-local variables go through a function of the dynamic linker, because the
//! library might be loaded late. A preloaded library has its variables at a distance from the thread's own memory that is the
//! same in all threads. So the distance is measured once, and one load finds the pointer.
//!
//! Until then, and always in a process that has loaded this library late, the distance leads to a word of the C library that is
//! always 0: the pointer seems not to be set.

use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

thread_local! {
    static POINTER: Cell<*const c_void> = const { Cell::new(core::ptr::null()) };
}

/// Where the unused word `sysinfo` is in the C library's part of a thread's memory; on aarch64 `private`.
const EMPTY: usize = if cfg!(target_arch = "x86_64") { 32 } else { 8 };

/// How far the pointer is from the thread's own memory, in all threads.
static DISTANCE: AtomicUsize = AtomicUsize::new(EMPTY);

/// The variables of this library are in the memory that each thread gets at its start.
pub(crate) fn note_fixed() {
    let place = POINTER.with(core::ptr::from_ref) as usize;
    DISTANCE.store(place.wrapping_sub(thread_pointer()), Relaxed);
}

/// Whether [`get`] finds the pointer of a thread that has set it.
pub(crate) fn is_found() -> bool {
    DISTANCE.load(Relaxed) != EMPTY
}

/// The pointer that this thread has set, null at first.
#[inline(always)]
pub(crate) fn get() -> *const c_void {
    let pointer: *const c_void;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the calling thread's own pointer, or the empty word.
    unsafe {
        core::arch::asm!(
            "mov {pointer}, qword ptr [rip + {distance}]",
            "mov {pointer}, qword ptr fs:[{pointer}]",
            pointer = out(reg) pointer,
            distance = sym DISTANCE,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {base}, tpidr_el0",
            "adrp {pointer}, {distance}",
            "ldr {pointer}, [{pointer}, :lo12:{distance}]",
            "ldr {pointer}, [{base}, {pointer}]",
            base = out(reg) _,
            pointer = out(reg) pointer,
            distance = sym DISTANCE,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = POINTER.with(Cell::get);
    }
    pointer
}

/// Sets the calling thread's pointer.
#[cold]
pub(crate) fn set(pointer: *const c_void) {
    POINTER.with(|place| place.set(pointer));
}

/// Where the calling thread's own memory is: a number that no other thread of the process has
/// meanwhile, without a call of anybody.
pub(crate) fn thread_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the first word there is its own address, as the platform's rules say.
    unsafe {
        core::arch::asm!(
            "mov {pointer}, qword ptr fs:[0]",
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!(
            "mrs {pointer}, tpidr_el0",
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, nomem, pure),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = ascend_trace_ring::sys::thread() as usize;
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_own() {
        let mut local = 0u8;
        note_fixed();
        let mine: *const c_void = (&raw mut local).cast_const().cast();
        set(mine);
        let others = std::thread::scope(|scope| scope.spawn(|| get() as usize).join());
        assert_eq!(others.ok(), Some(0));
        let here = thread_pointer();
        let there = std::thread::scope(|scope| scope.spawn(thread_pointer).join()).unwrap();
        assert!(here == thread_pointer() && here != there);
        assert_eq!(get(), mine);
        set(core::ptr::null());
    }
}

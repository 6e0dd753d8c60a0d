//! One pointer of thread-local memory that is reached without a call.
//!
//! A shared library's thread-local variables go through a function of the dynamic linker, because the
//! library might be loaded late. This one is preloaded, so its place is fixed before the program
//! starts, and one load from the linker's table finds it (the "initial exec" model, which the compiler
//! cannot select in a stable way).

use core::ffi::c_void;

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".pushsection .tbss.ascend_trace_fast_tls, \"awT\", @nobits",
    ".balign 8",
    ".globl ascend_trace_fast_tls",
    ".hidden ascend_trace_fast_tls",
    ".type ascend_trace_fast_tls, @object",
    ".size ascend_trace_fast_tls, 8",
    "ascend_trace_fast_tls:",
    ".zero 8",
    ".popsection",
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".pushsection .tbss.ascend_trace_fast_tls, \"awT\", %nobits",
    ".balign 8",
    ".globl ascend_trace_fast_tls",
    ".hidden ascend_trace_fast_tls",
    ".type ascend_trace_fast_tls, %object",
    ".size ascend_trace_fast_tls, 8",
    "ascend_trace_fast_tls:",
    ".zero 8",
    ".popsection",
);

/// The pointer that this thread has set, null at first.
#[inline(always)]
pub(crate) fn get() -> *const c_void {
    let pointer: *const c_void;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the calling thread's own pointer; the linker fills the offset in.
    unsafe {
        core::arch::asm!(
            "mov {pointer}, qword ptr [rip + ascend_trace_fast_tls@GOTTPOFF]",
            "mov {pointer}, qword ptr fs:[{pointer}]",
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {base}, tpidr_el0",
            "adrp {pointer}, :gottprel:ascend_trace_fast_tls",
            "ldr {pointer}, [{pointer}, :gottprel_lo12:ascend_trace_fast_tls]",
            "ldr {pointer}, [{base}, {pointer}]",
            base = out(reg) _,
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = core::ptr::null();
    }
    pointer
}

/// Sets the calling thread's pointer.
#[cold]
pub(crate) fn set(pointer: *const c_void) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: writes the calling thread's own pointer.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + ascend_trace_fast_tls@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {pointer}",
            offset = out(reg) _,
            pointer = in(reg) pointer,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "mrs {base}, tpidr_el0",
            "adrp {offset}, :gottprel:ascend_trace_fast_tls",
            "ldr {offset}, [{offset}, :gottprel_lo12:ascend_trace_fast_tls]",
            "str {pointer}, [{base}, {offset}]",
            base = out(reg) _,
            offset = out(reg) _,
            pointer = in(reg) pointer,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = pointer;
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
        let mine: *const c_void = (&raw mut local).cast_const().cast();
        set(mine);
        let others = std::thread::scope(|scope| scope.spawn(|| get() as usize).join());
        assert_eq!(others.ok(), Some(0));
        let here = thread_pointer();
        let there = std::thread::scope(|scope| scope.spawn(thread_pointer).join()).unwrap();
        assert!(here == thread_pointer() && here != there);
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(get(), mine);
        }
        set(core::ptr::null());
    }
}

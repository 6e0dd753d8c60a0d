//! System calls by their numbers: without the C library's functions, at which threads can be cancelled, and
//! which set `errno`.

use core::ffi::c_long;

/// Makes a system call. Answers what the kernel does: an error as its number, negated.
///
/// # Safety
/// As the system call with this number and these arguments.
#[inline]
pub(crate) unsafe fn call(number: c_long, args: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = args;
    let answer: isize;
    // SAFETY: the caller vouches for the call; the kernel changes no more than is told here.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number as isize,
            inlateout("x0") a => answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    answer
}

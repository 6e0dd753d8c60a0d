//! The processor's own counter: the cheapest clock there is, read by both sides of a session.

/// Reads the counter: TSC on x86-64, CNTVCT on AArch64. Elsewhere it is the monotonic clock.
#[inline]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let value: u64;
        // SAFETY: Linux lets programs read the virtual counter; the instruction touches no memory.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) value, options(nomem, nostack));
        }
        value
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        monotonic()
    }
}

/// As [`counter`], but not read before everything that stands before it is done: a processor may
/// read its counter ahead of a value from memory that has yet to arrive.
#[inline]
pub fn counter_after_all() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction; it touches no memory.
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: every processor has the instruction; it touches no memory.
    unsafe {
        core::arch::asm!("isb", options(nostack, preserves_flags));
    }
    counter()
}

/// `CLOCK_MONOTONIC` in nanoseconds.
#[inline]
pub fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes the time into a live local.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_move_forward() {
        let (first, start) = (counter(), monotonic());
        while monotonic() == start {}
        let later = counter();
        assert!(later > first);
        assert!(counter_after_all() >= later);
    }
}

//! Pages of memory. Kernels for aarch64 have pages of 4, 16 or 64 KiB, as they were configured.

/// Bytes of a page, a power of two.
pub(crate) fn size() -> usize {
    // SAFETY: looks a value up that the kernel has given to the process.
    let reported = unsafe { libc::getauxval(libc::AT_PAGESZ) } as usize;
    if reported.is_power_of_two() {
        reported
    } else {
        4096
    }
}

/// The first address of the page that holds this one.
pub(crate) fn start(address: usize) -> usize {
    address & !(size() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_at_a_multiple_of_its_size() {
        assert!(size() >= 4096);
        assert_eq!(start(3 * size()), 3 * size());
        assert_eq!(start(4 * size() - 1), 3 * size());
    }
}

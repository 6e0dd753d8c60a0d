//! Protection of code.

use core::ffi::c_void;

const READ_ONLY: i32 = libc::PROT_READ | libc::PROT_EXEC;

fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

fn protect(address: usize, length: usize, protection: i32) -> bool {
    let page = page_size();
    let start = address & !(page - 1);
    let end = address.saturating_add(length).next_multiple_of(page);
    // SAFETY: pages of code that stay readable and executable.
    unsafe { libc::mprotect(start as *mut c_void, end - start, protection) == 0 }
}

/// A function of this crate. Writing to its page shows whether that is allowed.
#[inline(never)]
extern "C" fn page_to_try() -> i32 {
    std::hint::black_box(17)
}

/// Whether the system allows changes of code: hardened ones do not, and libraries that patch code then
/// end the process. The test makes the same changes to this crate's code.
pub(crate) fn can_be_changed() -> bool {
    let address = page_to_try as *const () as usize;
    if !protect(address, 1, READ_ONLY | libc::PROT_WRITE) {
        return false;
    }
    let byte = address as *mut u8;
    // SAFETY: writes the same value again, to a writable page.
    unsafe { byte.write_volatile(byte.read_volatile()) };
    protect(address, 1, READ_ONLY)
}

/// Takes back the permission to write, which libraries leave behind after patching.
///
/// Code on the pages of a patch is jumped to where no landing mark is: where the function began, and
/// behind the patch. So such pages are not guarded by marks any more (`PROT_BTI` on aarch64), and
/// neither may the next page be when the patch ends with its page: `length` must reach to where the
/// function goes on.
pub(crate) fn seal(address: usize, length: usize) {
    protect(address, length, READ_ONLY);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_works_on_after_the_trial() {
        assert!(can_be_changed());
        assert_eq!(page_to_try(), 17);
    }
}

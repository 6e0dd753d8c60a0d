//! Work that must not happen while another thread loads or unloads a library.
//!
//! The loader excludes others with a lock that it offers to no caller. But it takes the lock while it
//! looks a symbol up, and the address of a symbol may be the result of a function that the loader calls
//! (an "indirect function"). So this library offers such a symbol, and looks it up to run code under
//! the lock.

use core::ffi::{CStr, c_char, c_void};

use super::slots;
use crate::large_stack;

/// A function of the loader that looks a name up.
type Look = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

#[cfg(not(test))]
const NAME: &CStr = c"ascend_trace_with_loader_locked";
/// A test is no library: it has no such symbol.
#[cfg(test)]
const NAME: &CStr = c"";

/// Called by the loader for the address of the symbol.
///
/// # Safety
/// Called with the loader locked.
#[cfg(not(test))]
// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn ascend_trace_with_loader_locked() -> usize {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        ".type ascend_trace_with_loader_locked, @gnu_indirect_function",
        "jmp {work}",
        work = sym work,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        ".type ascend_trace_with_loader_locked, %gnu_indirect_function",
        "b {work}",
        work = sym work,
    );
}

extern "C" fn work() -> usize {
    slots::sweep();
    work as *const () as usize
}

/// Has [`slots::sweep`] called with the loader locked, by way of a `dlsym` at this address.
pub(super) fn sweep_slots(dlsym: usize) {
    // SAFETY: the address is that of `dlsym`.
    let look = unsafe { core::mem::transmute::<usize, Look>(dlsym) };
    // SAFETY: a lookup that the loader accepts for any name.
    large_stack::run(|| unsafe { look(libc::RTLD_DEFAULT, NAME.as_ptr()) });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::walk;

    #[test]
    fn a_look_at_all_objects_leaves_other_names_alone() {
        let before = libc::getpid as *const () as usize;
        assert_eq!(work(), work as *const () as usize);
        assert_eq!(libc::getpid as *const () as usize, before);
        assert!(!walk::is_own_address(before));
    }
}

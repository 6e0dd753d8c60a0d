//! The begin of this library in a process that was running: the recorder has the loader load it, and then calls this.

use core::ffi::{CStr, c_char, c_int};

use crate::loader::{slots, walk};
use crate::session::{self, armed};

/// Recorders find the process, and its calls come here.
const READY: c_int = 1;
/// The process has no page: a recorder cannot reach it.
const UNREACHABLE: c_int = 2;
/// The library was here from the start.
const EARLY: c_int = 3;

/// Makes the process one that waits for recorders, with its page in this folder. When it is called again, it looks again at where
/// calls go. Must not be called by a thread that is in a call of AscendCL through this library.
///
/// # Safety
/// `folder` is a C string, and no other thread makes this call.
// SAFETY: no other library has this name.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn ascend_trace_begin_late(folder: *const c_char) -> c_int {
    if !walk::is_late() {
        return EARLY;
    }
    if armed::is_possible() {
        slots::sweep_again();
        return READY;
    }
    // SAFETY: as the caller says.
    session::begin_late(unsafe { CStr::from_ptr(folder) });
    if !armed::is_possible() {
        return UNREACHABLE;
    }
    armed::list();
    if !armed::is_listed() {
        return UNREACHABLE;
    }
    slots::sweep_again();
    READY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_from_the_start_stays_as_it_is() {
        assert!(!walk::is_late_now());
        // SAFETY: a C string.
        let answer = unsafe { ascend_trace_begin_late(c"/nowhere".as_ptr()) };
        assert_eq!(answer, EARLY);
        assert!(!armed::is_possible());
    }
}

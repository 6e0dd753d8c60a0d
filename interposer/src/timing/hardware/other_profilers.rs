//! Profilers that begin without a call of the program's: `msprof`, which starts programs, and one that the file of
//! `aclInit` asks for. msPTI would take the runtime's reports away from them.

use core::ffi::{CStr, c_char};

use ascend_trace_ring::sys;

use crate::first_records;

/// The variable by which `msprof` starts its sampling.
const SAMPLING: &str = "PROFILER_SAMPLECONFIG";
/// `dynamic`, where `msprof` may come to the program later; `true`, where the graph engine profiles.
const MODE: &str = "PROFILING_MODE";
/// The part of a configuration that asks for a profiler.
const PART: &[u8] = b"\"profiler\"";

/// Whether `msprof` has started the program, or may come to it.
pub(super) fn are_there() -> bool {
    let is_sampled = first_records::variable_value(SAMPLING).is_some_and(|value| !value.is_empty());
    is_sampled
        || matches!(
            first_records::variable_value(MODE),
            Some(b"dynamic" | b"true")
        )
}

/// Whether a configuration asks for a profiler.
pub(super) fn are_in(path: *const c_char) -> bool {
    if path.is_null() {
        return false;
    }
    // SAFETY: the program is about to hand the runtime this path, which is a C string.
    let path = unsafe { CStr::from_ptr(path) };
    is_file(path) && find(path).unwrap_or(false)
}

/// Reading anything else may take it away from the runtime.
fn is_file(path: &CStr) -> bool {
    // SAFETY: an all-zero stat is a valid out-parameter.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: a C string and a live local.
    let answered = unsafe { libc::stat(path.as_ptr(), &mut stat) } == 0;
    answered && stat.st_mode & libc::S_IFMT == libc::S_IFREG
}

fn find(path: &CStr) -> Option<bool> {
    const KEPT: usize = PART.len() - 1;
    let file = sys::File::open(path, libc::O_RDONLY).ok()?;
    let mut text = [0; 4096 + KEPT];
    let mut kept = 0;
    loop {
        let read = file.read(text.get_mut(kept..)?).ok()?;
        let length = kept.checked_add(read)?;
        let now = text.get(..length)?;
        if now.windows(PART.len()).any(|window| window == PART) {
            return Some(true);
        }
        if read == 0 {
            return Some(false);
        }
        // A match that begins at the end may continue after it.
        kept = length.min(KEPT);
        text.copy_within(length - kept..length, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    #[test]
    fn a_configuration_is_searched_to_its_end() {
        let path = std::env::temp_dir().join(std::process::id().to_string() + "-acl.json");
        let written = CString::new(path.to_str().unwrap()).unwrap();
        let asks = |before: usize, part: &str| {
            std::fs::write(&path, " ".repeat(before) + part).unwrap();
            are_in(written.as_ptr())
        };
        for before in [0, 4090, 4096, 4099, 5000, 9000] {
            assert!(asks(before, "{\"profiler\": {\"switch\": \"on\"}}"));
            assert!(!asks(before, "{\"dump\": {}}"));
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!are_in(c"/nowhere/acl.json".as_ptr()));
        assert!(!are_in(c"/tmp".as_ptr()) && !are_in(core::ptr::null()));
    }
}

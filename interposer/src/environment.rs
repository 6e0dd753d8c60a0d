//! The program's environment, also before the C library has it.
//!
//! Code that runs before everything else (`.preinit_array`, a sanitizer's start) may look functions up
//! while the C library still has no environment. The kernel has kept it.

use core::ffi::{CStr, c_char};
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::Acquire;

use ascend_trace_ring::sys::File;

unsafe extern "C" {
    #[link_name = "environ"]
    static ENVIRONMENT: AtomicPtr<*const c_char>;
}

/// The environment, once the C library has it.
fn entries() -> Option<*const *const c_char> {
    // SAFETY: the C library's own pointer, which the program may set.
    let entries = unsafe { ENVIRONMENT.load(Acquire) };
    (!entries.is_null()).then_some(entries.cast_const())
}

/// Whether the C library has the environment.
pub(crate) fn is_ready() -> bool {
    entries().is_some()
}

/// Stores a variable's value as a C string. `Some(false)` without the variable, or when it is too long;
/// `None` when that is not known yet.
pub(crate) fn copy(name: &[u8], into: &mut [u8]) -> Option<bool> {
    let mut search = Search::new(name, into);
    match entries() {
        Some(entries) => Some(search.through(entries)),
        None => search.through_kernel(c"/proc/self/environ"),
    }
}

/// A search through `NAME=value` texts, byte by byte.
struct Search<'a> {
    name: &'a [u8],
    into: &'a mut [u8],
    /// Bytes of the present text that were looked at.
    seen: usize,
    /// Whether all of them are the name's, as far as that goes.
    is_it: bool,
}

impl<'a> Search<'a> {
    fn new(name: &'a [u8], into: &'a mut [u8]) -> Self {
        Self {
            name,
            into,
            seen: 0,
            is_it: true,
        }
    }

    fn through(&mut self, mut entries: *const *const c_char) -> bool {
        loop {
            // SAFETY: a list of C strings with a null pointer at the end, which is not changed while
            // the loader or the first call runs, as far as a library can know.
            let text = unsafe {
                let entry = *entries;
                if entry.is_null() {
                    return false;
                }
                entries = entries.add(1);
                CStr::from_ptr(entry)
            };
            for byte in text.to_bytes_with_nul() {
                if let Some(found) = self.next(*byte) {
                    return found;
                }
            }
        }
    }

    fn through_kernel(&mut self, path: &CStr) -> Option<bool> {
        let file = File::open(path, libc::O_RDONLY).ok()?;
        let mut bytes = [0; 256];
        loop {
            let count = file.read(&mut bytes).ok()?;
            if count == 0 {
                return None;
            }
            for byte in bytes.iter().take(count) {
                if let Some(found) = self.next(*byte) {
                    return Some(found);
                }
            }
        }
    }

    /// Takes one byte more; at the end of a matching variable, returns whether the value had room.
    fn next(&mut self, byte: u8) -> Option<bool> {
        let place = self.seen;
        self.seen += 1;
        let length = self.name.len();
        if self.is_it && place > length {
            return match self.into.get_mut(place - length - 1) {
                None => Some(false),
                Some(room) => {
                    *room = byte;
                    (byte == 0).then_some(true)
                }
            };
        }
        self.is_it &= byte == *self.name.get(place).unwrap_or(&b'=');
        if byte == 0 {
            self.seen = 0;
            self.is_it = true;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str) -> Option<String> {
        let mut buffer = [0; 4096];
        let found = copy(name.as_bytes(), &mut buffer).unwrap();
        let text = CStr::from_bytes_until_nul(&buffer).unwrap();
        found.then(|| text.to_str().unwrap().to_owned())
    }

    #[test]
    fn variables_are_found_by_their_whole_names() {
        assert!(is_ready());
        let path = std::env::vars().find(|(name, _)| name == "PATH");
        assert_eq!(value("PATH"), path.map(|(_, value)| value));
        assert_eq!(value("PAT"), None);
        assert_eq!(value("PATHS"), None);
        assert_eq!(copy(b"PATH", &mut [0; 2]), Some(false));
    }

    #[test]
    fn the_kernel_reports_the_same_as_the_c_library() {
        let folder = std::env::temp_dir().join(std::process::id().to_string());
        std::fs::write(&folder, b"A=1\0NAME2=x\0NAME=a value=b\0Z=").unwrap();
        let path = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        let look = |name: &[u8]| {
            let mut buffer = [0; 16];
            let found = Search::new(name, &mut buffer).through_kernel(&path);
            let text = CStr::from_bytes_until_nul(&buffer).unwrap().to_owned();
            (found, text.into_bytes())
        };
        assert_eq!(look(b"NAME"), (Some(true), b"a value=b".to_vec()));
        assert_eq!(look(b"A"), (Some(true), b"1".to_vec()));
        assert_eq!(look(b"B").0, None);
        std::fs::remove_file(folder).unwrap();
    }
}

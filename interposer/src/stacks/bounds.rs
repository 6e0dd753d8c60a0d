//! Where the calling thread's own stack is.
//!
//! `pthread_getattr_np` would return them, but it allocates with the program's allocator and takes a
//! lock. So the kernel's list of mappings is read: the main thread's stack has a name there, and any
//! other thread's ends below its control block, at which the thread's pointer points.

use ascend_trace_ring::sys;

use crate::syscall_policy;

/// The kernel keeps at least this much free below the main thread's stack.
const GAP: usize = 128 << 20;

/// Begin and top; `None` where system calls are not allowed, and in a child that a thread has forked.
pub(super) fn find() -> Option<(usize, usize)> {
    if !syscall_policy::is_allowed() {
        return None;
    }
    let is_main = syscall_policy::tid() == syscall_policy::pid();
    // SAFETY: only returns the thread's pointer.
    let block = unsafe { libc::pthread_self() } as usize;
    let file = sys::File::open(c"/proc/self/maps", libc::O_RDONLY).ok()?;
    let mut lines = Lines::default();
    let mut bytes = [0; 1024];
    loop {
        let count = file.read(&mut bytes).ok().filter(|count| *count > 0)?;
        for byte in bytes.iter().take(count) {
            let Some(mapping) = lines.next(*byte) else {
                continue;
            };
            if is_main && mapping.is_stack {
                return Some((mapping.end.saturating_sub(GAP), mapping.end));
            }
            if !is_main && (mapping.begin..mapping.end).contains(&block) {
                return Some((mapping.begin, block & !15));
            }
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mapping {
    begin: usize,
    end: usize,
    is_stack: bool,
}

/// Reads `BEGIN-END MODE OFFSET DEVICE INODE NAME`, byte by byte.
#[derive(Default)]
struct Lines {
    mapping: Mapping,
    /// Fields that are behind; 0 and 1 are the two addresses.
    field: u8,
    /// Bytes of the name that are as they should be.
    name: usize,
}

const NAME: &[u8] = b"[stack]";

impl Lines {
    fn next(&mut self, byte: u8) -> Option<Mapping> {
        if byte == b'\n' {
            let mut mapping = self.mapping;
            mapping.is_stack = self.name == NAME.len();
            *self = Self::default();
            return Some(mapping);
        }
        let address = match self.field {
            0 => &mut self.mapping.begin,
            1 => &mut self.mapping.end,
            _ => {
                self.name = match NAME.get(self.name) {
                    Some(expected) if *expected == byte => self.name + 1,
                    _ => 0,
                };
                return None;
            }
        };
        match (byte as char).to_digit(16) {
            Some(digit) => *address = *address << 4 | digit as usize,
            None => self.field += 1,
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mappings_are_read() {
        let text = "55-56 r-xp 00 fe:01 1 /bin/x\n7ffc0000-7ffd0000 rw-p 00 00:00 0     [stack]\n";
        let mut lines = Lines::default();
        let read: Vec<Mapping> = text.bytes().filter_map(|byte| lines.next(byte)).collect();
        assert_eq!(read.len(), 2, "{read:?}");
        let (program, stack) = (read[0], read[1]);
        assert_eq!(
            (program.begin, program.end, program.is_stack),
            (0x55, 0x56, false)
        );
        assert_eq!((stack.end, stack.is_stack), (0x7ffd_0000, true));
    }

    #[test]
    fn each_thread_has_a_separate_stack() {
        let bounds = || {
            let local = 0u8;
            let here = core::ptr::from_ref(&local) as usize;
            let (begin, top) = find().unwrap();
            assert!((begin..top).contains(&here), "{begin:x} {here:x} {top:x}");
            top
        };
        let other = std::thread::scope(|scope| scope.spawn(bounds).join().unwrap());
        assert_ne!(bounds(), other);
    }
}

//! Reading the memory of an interpreter.

use core::cell::Cell;

use crate::syscall_policy;

const WORD: usize = size_of::<usize>();
/// Addresses that a program can have.
const LOWEST: usize = 4096;
const END: usize = 1 << 48;

/// A way to read words at multiples of their size.
pub(super) trait WordReader {
    /// A word of an object that a frame keeps.
    fn object_word(&self, address: usize) -> Option<usize>;

    /// A word of the thread's state, or of a frame.
    #[inline(always)]
    fn thread_word(&self, address: usize) -> Option<usize> {
        self.object_word(address)
    }
}

/// Reads memory directly. The caller knows that it is mapped.
pub(super) struct DirectReader;

impl WordReader for DirectReader {
    #[inline(always)]
    fn object_word(&self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(WORD) || !(LOWEST..END).contains(&address) {
            return None;
        }
        // SAFETY: an aligned word of an object that the thread's frames keep, at a place that was found to be
        // right in this interpreter.
        Some(unsafe { core::ptr::read_volatile(address as *const usize) })
    }
}

/// Words of one read by the kernel.
const WORDS: usize = 256;
/// Bytes that such a read begins before the wanted word: frames lie above those that have called them.
const BEFORE: usize = 1536;
/// Reads that are kept.
const WINDOWS: usize = 2;
/// The smallest page there is.
const PAGE: usize = 4096;

/// Reads through a system call, which cannot fault. Keeps the last reads.
pub(super) struct KernelReader {
    windows: [Window; WINDOWS],
    /// The one that is replaced next.
    next: Cell<usize>,
}

/// Reads threads that the interpreter does not wait for at its end. It frees their state and frames, so the kernel reads
/// those. It keeps the objects that they refer to, so those are read directly once a read of the state has succeeded
/// before the interpreter ended.
pub(super) struct GuardedReader<F> {
    checked: KernelReader,
    /// The used part of the thread's stack.
    stack: (usize, usize),
    has_ended: F,
}

impl<F: Fn() -> bool> GuardedReader<F> {
    pub(super) fn new(stack: (usize, usize), ends: F) -> Self {
        Self {
            checked: KernelReader::new(),
            stack,
            has_ended: ends,
        }
    }
}

impl<F: Fn() -> bool> WordReader for GuardedReader<F> {
    #[inline(always)]
    fn object_word(&self, address: usize) -> Option<usize> {
        DirectReader.object_word(address)
    }

    #[inline]
    fn thread_word(&self, address: usize) -> Option<usize> {
        if (self.stack.0..self.stack.1).contains(&address) {
            return DirectReader.object_word(address);
        }
        match self.checked.known(address) {
            Some(word) => Some(word),
            None => self
                .checked
                .object_word(address)
                .filter(|_| !(self.has_ended)()),
        }
    }
}

struct Window {
    begin: Cell<usize>,
    /// Number of readable bytes.
    length: Cell<usize>,
    words: [Cell<u64>; WORDS],
}

impl KernelReader {
    pub(super) fn new() -> Self {
        Self {
            windows: [const {
                Window {
                    begin: Cell::new(0),
                    length: Cell::new(0),
                    words: [const { Cell::new(0) }; WORDS],
                }
            }; WINDOWS],
            next: Cell::new(0),
        }
    }

    #[inline]
    fn known(&self, address: usize) -> Option<usize> {
        let mut windows = self.windows.iter();
        windows.find_map(|window| window.word(address))
    }

    #[inline(never)]
    fn fetch(&self, address: usize) -> Option<usize> {
        let index = self.next.get();
        self.next.set((index + 1) % WINDOWS);
        let window = self.windows.get(index)?;
        let begin = address.saturating_sub(BEFORE).max(address & !(PAGE - 1));
        window.begin.set(begin);
        window
            .length
            .set(syscall_policy::words_at(begin, &window.words));
        window.word(address)
    }
}

impl Window {
    #[inline]
    fn word(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.begin.get());
        let is_there = offset < self.length.get() && offset + WORD <= self.length.get();
        let word = self.words.get(offset / WORD).filter(|_| is_there)?;
        Some(word.get() as usize)
    }
}

impl WordReader for KernelReader {
    #[inline]
    fn object_word(&self, address: usize) -> Option<usize> {
        if !address.is_multiple_of(WORD) || !(LOWEST..END).contains(&address) {
            return None;
        }
        self.known(address).or_else(|| self.fetch(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_where_there_are_some() {
        let words = [3usize, 4, 5];
        let place = words.as_ptr() as usize;
        let checked = KernelReader::new();
        if syscall_policy::is_readable(place) {
            assert_eq!(checked.object_word(place), Some(3));
            assert_eq!(checked.object_word(place + 16), Some(5));
        }
        assert_eq!(DirectReader.object_word(place + 8), Some(4));
        let guarded = GuardedReader::new((0, 0), || false);
        assert_eq!(guarded.object_word(place), Some(3));
        assert_eq!(guarded.thread_word(place), checked.object_word(place));
        assert_eq!(guarded.thread_word(4096), None);
        let ended = GuardedReader::new((place, place + 8), || true);
        assert_eq!(ended.thread_word(place), Some(3), "on the thread's stack");
        assert_eq!(ended.thread_word(place + 8), None);
        for wrong in [0, 8, place + 1, 1 << 60, usize::MAX - 7] {
            assert_eq!(DirectReader.object_word(wrong), None, "{wrong:x}");
            assert_eq!(checked.object_word(wrong), None, "{wrong:x}");
        }
        // The lowest possible first page of a program, and the end of its address space.
        for absent in [4096, (1 << 47) - 8] {
            assert_eq!(checked.object_word(absent), None, "{absent:x}");
        }
    }

    #[test]
    fn a_missing_page_ends_a_read() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping with a second page that is made unreadable.
        let base = unsafe {
            let base = libc::mmap(core::ptr::null_mut(), 8192, 3, flags, -1, 0);
            libc::mprotect(base.byte_add(4096), 4096, libc::PROT_NONE);
            base as usize
        };
        let checked = KernelReader::new();
        if syscall_policy::is_readable(base) {
            assert_eq!(checked.object_word(base + 4096 - 16), Some(0));
            assert_eq!(checked.object_word(base + 4096 - 8), Some(0));
        }
        assert_eq!(checked.object_word(base + 4096), None);
        // SAFETY: the mapping made above.
        unsafe { libc::munmap(base as *mut _, 8192) };
    }
}

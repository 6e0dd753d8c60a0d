//! The kernel's facts about this process. They come from direct system calls: the C library's functions
//! may be another preloaded library's.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int};
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Release};

use crate::errno::Errno;

/// Bytes of a command line that are kept.
pub(crate) const MOST: usize = 3360;

/// The words that this program was started with. Read when the process joins, since later the program
/// may have given up the right to open files.
struct CommandLine {
    /// One more than is kept: whether the line goes on.
    bytes: UnsafeCell<[u8; MOST + 1]>,
    length: AtomicUsize,
}

// SAFETY: the bytes are written before `length` is set, by the one thread that joins, and only read
// after that.
unsafe impl Sync for CommandLine {}

static LINE: CommandLine = CommandLine {
    bytes: UnsafeCell::new([0; MOST + 1]),
    length: AtomicUsize::new(0),
};

/// Reads the command line. A forked child has its parent's.
pub(crate) fn note_command_line() {
    let _errno = Errno::save();
    if LINE.length.load(Acquire) != 0 {
        return;
    }
    if let Some(reported) = KernelFile::open(c"/proc/self/cmdline") {
        // SAFETY: only the joining thread runs this, and other threads do not read while the length is
        // 0.
        let room = unsafe { &mut *LINE.bytes.get() };
        let length = reported.fill(room).len();
        LINE.length.store(length, Release);
    }
}

/// The words that this program was started with, each with a NUL after it, and whether there is more of
/// them.
pub(crate) fn command_line() -> (&'static [u8], bool) {
    let length = LINE.length.load(Acquire);
    let bytes: &[u8] = match length {
        0 => &[],
        // SAFETY: with a length the bytes are complete, and never written again.
        _ => unsafe { &*LINE.bytes.get() },
    };
    (bytes.get(..length.min(MOST)).unwrap_or(&[]), length > MOST)
}

/// The pid namespace of this process; 0 where that is not known.
pub(crate) fn pid_namespace() -> u64 {
    let _errno = Errno::save();
    // SAFETY: an all-zero stat is a valid out-parameter.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: the path is a C string and `stat` a live local, as the kernel lays it out.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_newfstatat,
            libc::AT_FDCWD,
            c"/proc/self/ns/pid".as_ptr(),
            &raw mut stat,
            0,
        )
    };
    if answer == 0 { stat.st_ino } else { 0 }
}

/// A file that the kernel makes up, open for reading.
struct KernelFile(c_int);

impl KernelFile {
    fn open(path: &CStr) -> Option<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: the path is a C string.
        let file =
            unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags, 0) };
        c_int::try_from(file)
            .ok()
            .filter(|file| *file >= 0)
            .map(Self)
    }

    /// Fills as much of `room` as there is to read.
    fn fill<'a>(&self, room: &'a mut [u8]) -> &'a [u8] {
        let mut used = 0;
        while let Some(rest) = room.get_mut(used..).filter(|rest| !rest.is_empty()) {
            // SAFETY: the range is `rest`, which is writable.
            let count =
                unsafe { libc::syscall(libc::SYS_read, self.0, rest.as_mut_ptr(), rest.len()) };
            match usize::try_from(count) {
                Ok(count @ 1..) => used += count,
                _ => break,
            }
        }
        room.get(..used).unwrap_or(&[])
    }
}

impl Drop for KernelFile {
    fn drop(&mut self) {
        // SAFETY: the descriptor was opened above and has no other user.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn the_namespace_is_the_one_that_the_kernel_names() {
        let expected = std::fs::metadata("/proc/self/ns/pid").unwrap().ino();
        assert_eq!(pid_namespace(), expected);
    }

    #[test]
    fn the_command_line_is_kept() {
        note_command_line();
        let expected = std::fs::read("/proc/self/cmdline").unwrap();
        let (found, goes_on) = command_line();
        assert_eq!(
            (found, goes_on),
            (&expected[..expected.len().min(MOST)], expected.len() > MOST)
        );
    }
}

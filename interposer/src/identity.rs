//! What the kernel knows of this process. It is asked by system calls of our own: the C library's
//! functions may be another preloaded library's by now.

use core::ffi::{CStr, c_int};

use crate::errno::Errno;

/// The pid namespace that this process is in; 0 where that cannot be told.
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
pub(crate) struct Told(c_int);

impl Told {
    /// The words that this program was started with.
    pub(crate) fn command_line() -> Option<Self> {
        Self::open(c"/proc/self/cmdline")
    }

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
    pub(crate) fn fill<'a>(&self, room: &'a mut [u8]) -> &'a [u8] {
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

impl Drop for Told {
    fn drop(&mut self) {
        // SAFETY: the descriptor was opened above and is used by nobody else.
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
    fn the_command_line_is_read_in_parts() {
        let expected = std::fs::read("/proc/self/cmdline").unwrap();
        let told = Told::command_line().unwrap();
        let mut found = Vec::new();
        let mut room = [0; 5];
        loop {
            let part = told.fill(&mut room);
            found.extend_from_slice(part);
            if part.len() < 5 {
                break;
            }
        }
        assert_eq!(found, expected);
    }
}

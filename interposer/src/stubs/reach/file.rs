//! Reading memory that may not be there, as a file: where the system call for that is forbidden.
//!
//! By direct system calls, since a thread that is being cancelled would end in libc's.

use core::ffi::c_void;

use super::{Refused, is_address};

/// The memory of this process. Open only while it is read, so that the program never finds a file that
/// it has not opened, and the tool never uses one of the program.
struct Memory(i32);

impl Memory {
    fn open() -> Option<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: opens a file by a C string.
        let file = unsafe {
            let path = c"/proc/self/mem".as_ptr();
            libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags)
        };
        i32::try_from(file).ok().filter(|file| *file >= 0).map(Self)
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut word = 0u64;
        let into = (&raw mut word).cast::<c_void>();
        let place = i64::try_from(address).ok()?;
        // SAFETY: asks the kernel to copy from our own memory, which it checks, to a live local.
        let bytes =
            unsafe { libc::syscall(libc::SYS_pread64, self.0, into, size_of::<u64>(), place) };
        (bytes == size_of::<u64>() as i64).then_some(word)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the file is ours.
        unsafe { libc::syscall(libc::SYS_close, self.0) };
    }
}

/// Reads the word at each address; `None` where nothing can be read.
#[cold]
pub(super) fn read(addresses: &[u64], values: &mut [Option<u64>]) -> Result<(), Refused> {
    let memory = Memory::open().ok_or(Refused)?;
    for (address, value) in addresses.iter().zip(values) {
        *value = Some(*address)
            .filter(|address| is_address(*address))
            .and_then(|address| memory.word(address));
    }
    Ok(())
}

//! System calls made directly, for code that may run before the C library, or another library that
//! replaces parts of it, is ready: sanitizers, allocators and other preloaded libraries wrap the C
//! library's functions, and look up the wrapped ones at the first call, which may happen during another
//! lookup.
//!
//! Nothing here touches `errno`: a result from -4095 to -1 is an error number, negated.

use core::ffi::{CStr, c_void};

/// Makes a system call.
///
/// # Safety
/// As the call itself.
#[cfg(target_arch = "x86_64")]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: the kernel's way of being called on this processor; it keeps all other registers.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes a system call.
///
/// # Safety
/// As the call itself.
#[cfg(target_arch = "aarch64")]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let result: isize;
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f,
            options(nostack),
        );
    }
    result
}

/// Makes a system call.
///
/// # Safety
/// As the call itself.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: as the caller says; errno of this thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = libc::syscall(number, a, b, c, d, e, f) as isize;
        let result = if result == -1 {
            -(*errno as isize)
        } else {
            result
        };
        *errno = before;
        result
    }
}

/// The result of a call, or its error number.
fn checked(answer: isize) -> Result<usize, i32> {
    if (-4095..0).contains(&answer) {
        Err(-answer as i32)
    } else {
        Ok(answer as usize)
    }
}

/// An open file, closed when it goes.
#[derive(Debug)]
pub struct File(usize);

impl File {
    /// Opens a file that exists.
    ///
    /// # Errors
    /// The operating system's error number.
    pub fn open(path: &CStr, flags: i32) -> Result<Self, i32> {
        let flags = (flags | libc::O_CLOEXEC) as usize;
        let here = libc::AT_FDCWD as usize;
        let arguments = [here, path.as_ptr() as usize, flags, 0, 0, 0];
        // SAFETY: `path` is a C string.
        checked(unsafe { call(libc::SYS_openat, arguments) }).map(Self)
    }

    /// Opens a file in a folder, and makes it if it does not exist, for this user alone.
    ///
    /// # Errors
    /// The operating system's error number.
    pub(crate) fn create_in(folder: &Self, name: &CStr) -> Result<Self, i32> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let name = name.as_ptr() as usize;
        let arguments = [folder.0, name, flags as usize, 0o600, 0, 0];
        // SAFETY: `name` is a C string.
        checked(unsafe { call(libc::SYS_openat, arguments) }).map(Self)
    }

    /// Opens a file in a folder, if it exists.
    ///
    /// # Errors
    /// The operating system's error number.
    pub(crate) fn open_in(folder: &Self, name: &CStr) -> Result<Self, i32> {
        let flags = (libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_CLOEXEC) as usize;
        let arguments = [folder.0, name.as_ptr() as usize, flags, 0, 0, 0];
        // SAFETY: `name` is a C string.
        checked(unsafe { call(libc::SYS_openat, arguments) }).map(Self)
    }

    /// Removes a file from a folder.
    pub(crate) fn remove_in(folder: &Self, name: &CStr) {
        let arguments = [folder.0, name.as_ptr() as usize, 0, 0, 0, 0];
        // SAFETY: `name` is a C string.
        unsafe { call(libc::SYS_unlinkat, arguments) };
    }

    /// Sets the length of the file.
    ///
    /// # Errors
    /// The operating system's error number.
    pub(crate) fn set_length(&self, bytes: usize) -> Result<(), i32> {
        // SAFETY: plain system call on an open file.
        checked(unsafe { call(libc::SYS_ftruncate, [self.0, bytes, 0, 0, 0, 0]) }).map(drop)
    }

    /// Whether the file belongs to the user of this process, and only this user may use it.
    pub(crate) fn is_private(&self) -> bool {
        // SAFETY: an all-zero stat is a valid out-parameter.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        let arguments = [self.0, &raw mut stat as usize, 0, 0, 0, 0];
        // SAFETY: writes into a live local, in the layout of the kernel.
        let known = checked(unsafe { call(libc::SYS_fstat, arguments) }).is_ok();
        // SAFETY: always succeeds.
        let user = unsafe { call(libc::SYS_geteuid, [0; 6]) } as u32;
        known && stat.st_uid == user && stat.st_mode & 0o077 == 0
    }

    /// Whether no other process has a lock of this file that excludes others (`flock`).
    pub(crate) fn is_unlocked(&self) -> bool {
        let wish = (libc::LOCK_SH | libc::LOCK_NB) as usize;
        // SAFETY: plain system call on an open file, which is closed soon.
        checked(unsafe { call(libc::SYS_flock, [self.0, wish, 0, 0, 0, 0]) }).is_ok()
    }

    pub(crate) fn descriptor(&self) -> i32 {
        self.0 as i32
    }

    /// Bytes of the file. Moves the place that is read next.
    ///
    /// # Errors
    /// The operating system's error number.
    pub fn length(&self) -> Result<usize, i32> {
        let end = libc::SEEK_END as usize;
        // SAFETY: only moves a place in an open file.
        checked(unsafe { call(libc::SYS_lseek, [self.0, 0, end, 0, 0, 0]) })
    }

    /// Reads the next bytes; returns their number, 0 at the end.
    ///
    /// # Errors
    /// The operating system's error number.
    pub fn read(&self, into: &mut [u8]) -> Result<usize, i32> {
        let arguments = [self.0, into.as_mut_ptr() as usize, into.len(), 0, 0, 0];
        // SAFETY: the buffer has the passed length.
        checked(unsafe { call(libc::SYS_read, arguments) })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is this value's own.
        unsafe { call(libc::SYS_close, [self.0, 0, 0, 0, 0, 0]) };
    }
}

/// Maps memory at an address of the kernel's choice, of a file or anonymous (`MAP_ANONYMOUS`, -1).
///
/// # Errors
/// The operating system's error number.
pub fn map(bytes: usize, flags: i32, file: i32) -> Result<*mut c_void, i32> {
    let access = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let arguments = [0, bytes, access, flags as usize, file as isize as usize, 0];
    // SAFETY: a fresh mapping, which replaces nothing.
    checked(unsafe { call(libc::SYS_mmap, arguments) }).map(|address| address as *mut c_void)
}

/// Makes a folder for this user alone. It may exist.
pub(crate) fn make_folder(path: &CStr) {
    let here = libc::AT_FDCWD as usize;
    let arguments = [here, path.as_ptr() as usize, 0o700, 0, 0, 0];
    // SAFETY: `path` is a C string.
    unsafe { call(libc::SYS_mkdirat, arguments) };
}

/// Puts anonymous memory, all zeros, in the place of other memory, in one step.
///
/// # Errors
/// The operating system's error number: the memory is as before.
///
/// # Safety
/// The range must be mapped, and its content must not be needed any more.
pub(crate) unsafe fn map_over(start: *mut c_void, bytes: usize, access: i32) -> Result<(), i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
    let none = -1_isize as usize;
    let arguments = [
        start as usize,
        bytes,
        access as usize,
        flags as usize,
        none,
        0,
    ];
    // SAFETY: as the caller says.
    checked(unsafe { call(libc::SYS_mmap, arguments) }).map(drop)
}

/// Moves a mapping over other memory, in one step.
///
/// # Errors
/// The operating system's error number: both are as before.
///
/// # Safety
/// The range at `to` must be mapped, and nothing may refer to the memory at `from`.
pub(crate) unsafe fn move_over(
    from: *mut c_void,
    bytes: usize,
    to: *mut c_void,
) -> Result<(), i32> {
    let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as usize;
    let arguments = [from as usize, bytes, bytes, flags, to as usize, 0];
    // SAFETY: as the caller says.
    checked(unsafe { call(libc::SYS_mremap, arguments) }).map(drop)
}

/// Unmaps memory.
///
/// # Safety
/// Nothing may refer to it afterwards.
pub unsafe fn unmap(start: *mut c_void, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe { call(libc::SYS_munmap, [start as usize, bytes, 0, 0, 0, 0]) };
}

/// Changes the protection of pages; returns whether that worked.
///
/// # Safety
/// The memory must be used accordingly afterwards.
pub unsafe fn protect(start: *mut c_void, bytes: usize, access: i32) -> bool {
    let arguments = [start as usize, bytes, access as usize, 0, 0, 0];
    // SAFETY: as the caller says.
    checked(unsafe { call(libc::SYS_mprotect, arguments) }).is_ok()
}

/// Advises the kernel on memory that is mapped.
///
/// # Errors
/// The operating system's error number.
///
/// # Safety
/// The advice must suit the content of the memory.
pub unsafe fn advise(start: *mut c_void, bytes: usize, advice: i32) -> Result<(), i32> {
    let arguments = [start as usize, bytes, advice as usize, 0, 0, 0];
    // SAFETY: as the caller says.
    checked(unsafe { call(libc::SYS_madvise, arguments) }).map(drop)
}

/// Makes the kernel write the time into a page, and so provide the page. Without free memory, an access by the
/// program itself would raise SIGBUS. The kernel returns an error instead, and this `false`.
///
/// # Safety
/// The memory must be 16 mapped bytes that nothing uses.
pub unsafe fn could_write(place: *mut c_void) -> bool {
    let clock = libc::CLOCK_MONOTONIC as usize;
    let arguments = [clock, place as usize, 0, 0, 0, 0];
    // SAFETY: as the caller says.
    checked(unsafe { call(libc::SYS_clock_gettime, arguments) }).is_ok()
}

/// The calling process.
pub fn process() -> u32 {
    // SAFETY: always succeeds.
    unsafe { call(libc::SYS_getpid, [0; 6]) as u32 }
}

/// The calling thread.
pub fn thread() -> u32 {
    // SAFETY: always succeeds.
    unsafe { call(libc::SYS_gettid, [0; 6]) as u32 }
}

/// Whether this process certainly has no such thread.
pub fn is_gone(thread: u32) -> bool {
    let arguments = [process() as usize, thread as usize, 0, 0, 0, 0];
    // SAFETY: signal 0 has no effect: the call only checks.
    checked(unsafe { call(libc::SYS_tgkill, arguments) }) == Err(libc::ESRCH)
}

/// `CLOCK_MONOTONIC` in nanoseconds, at the price of a system call.
pub fn monotonic() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let clock = libc::CLOCK_MONOTONIC as usize;
    // SAFETY: writes the time into a live local.
    unsafe {
        call(
            libc::SYS_clock_gettime,
            [clock, &raw mut now as usize, 0, 0, 0, 0],
        )
    };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Leaves the processor for this time, or until a signal.
pub fn pause(nanoseconds: i64) {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: nanoseconds,
    };
    // SAFETY: the time is a live local.
    unsafe {
        call(
            libc::SYS_nanosleep,
            [&raw const time as usize, 0, 0, 0, 0, 0],
        )
    };
}

/// Whether there is memory in the page that begins at an address.
pub fn is_mapped(page: usize) -> bool {
    let mut resident = 0u8;
    // SAFETY: writes a byte, since that is what there is of one page, into a live local.
    let answer = unsafe {
        call(
            libc::SYS_mincore,
            [page, 1, &raw mut resident as usize, 0, 0, 0],
        )
    };
    checked(answer).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_to_its_end() {
        let file = File::open(c"/proc/self/cmdline", libc::O_RDONLY).unwrap();
        let mut bytes = [0; 8];
        assert!(file.read(&mut bytes).unwrap() > 0);
        assert!(!bytes.starts_with(&[0]));
        let missing = File::open(c"/no/such/file", libc::O_RDONLY);
        assert_eq!(missing.unwrap_err(), libc::ENOENT);
        let length = std::fs::metadata("Cargo.toml").unwrap().len() as usize;
        let file = File::open(c"Cargo.toml", libc::O_RDONLY).unwrap();
        assert_eq!(file.length(), Ok(length));
    }

    #[test]
    fn memory_is_mapped_and_unmapped() {
        let bytes = 1 << 16;
        let memory = map(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1).unwrap();
        // SAFETY: mapped above, for reading and writing.
        unsafe { memory.cast::<u64>().write(7) };
        assert!(is_mapped(memory as usize));
        // SAFETY: nothing refers to it any more.
        unsafe { unmap(memory, bytes) };
        assert!(!is_mapped(0));
    }

    #[test]
    fn living_threads_have_not_ended() {
        assert_eq!(process(), std::process::id());
        assert!(!is_gone(thread()));
        let other = std::thread::spawn(thread).join().unwrap();
        assert_ne!(other, thread());
        // A thread of another process.
        assert!(is_gone(1) || process() == 1);
    }
}

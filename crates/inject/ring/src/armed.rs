//! The page by which a recorder finds a process that it can attach to, and both ends of it.
//!
//! The process makes the page with its first call of AscendCL. A recorder may be quicker, and make it for the process. A
//! recorder holds the lock of the file (`flock`) for as long as it is attached. So a process has one recorder at a time, and a
//! killed one is known to have ended.

use std::ffi::{CStr, OsStr};
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use ascend_trace_format::armed::{JoinOutcome, LONGEST_PATH, PAGE_BYTES, PAGE_MAGIC, PAGE_PREFIX};
use ascend_trace_format::version::SESSION_VERSION;

use crate::home::CAREFULLY;
use crate::sys;

/// How often a recorder tries to take the lock of a page, and the pause between.
const TRIES: u32 = 20;
const PAUSE_NS: i64 = 5_000_000;

/// The page of a process.
#[repr(C)]
pub struct ArmedPage {
    magic: AtomicU64,
    version: AtomicU32,
    /// The number of the session that a recorder wants the process in; 0 for none. Each call of the process looks at it.
    request: AtomicU32,
    table_hash: AtomicU64,
    /// The request that was carried out last, and its outcome above it.
    reply: AtomicU64,
    /// The number of the last request.
    last: AtomicU32,
    /// Not 0: the process is in a session.
    is_recorded: AtomicU32,
    path: [AtomicU8; LONGEST_PATH],
}

const _: () = assert!(size_of::<ArmedPage>() <= PAGE_BYTES);

/// The name of a page: with a NUL at its end, and zeros after that.
pub fn page_name(namespace: u64, pid: u32) -> [u8; 64] {
    let mut name = [0; 64];
    let mut rest = name.iter_mut();
    let mut put = |bytes: &[u8]| rest.by_ref().zip(bytes).for_each(|(to, from)| *to = *from);
    put(PAGE_PREFIX.as_bytes());
    put(&decimal(namespace)[..]);
    put(b"-");
    put(&decimal(pid.into())[..]);
    name
}

/// A number as text, without an allocation.
fn decimal(number: u64) -> DecimalText {
    let mut text = DecimalText {
        digits: [0; 20],
        begin: 20,
    };
    let mut left = number;
    loop {
        text.begin = text.begin.saturating_sub(1);
        if let Some(digit) = text.digits.get_mut(text.begin) {
            *digit = b'0' + (left % 10) as u8;
        }
        left /= 10;
        if left == 0 {
            return text;
        }
    }
}

struct DecimalText {
    digits: [u8; 20],
    begin: usize,
}

impl std::ops::Deref for DecimalText {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.digits.get(self.begin..).unwrap_or(&[])
    }
}

/// A request that a process has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinRequest(u32);

impl ArmedPage {
    /// Makes the page of this process in a folder, or maps the one that a recorder has made. `None` if that is not possible:
    /// then no recorder can attach to the process.
    pub fn enlist(folder: &CStr, name: &CStr, table_hash: u64) -> Option<&'static Self> {
        sys::make_folder(folder);
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let folder = sys::File::open(folder, flags).ok()?;
        if !folder.is_private() {
            return None;
        }
        let file = sys::File::create_in(&folder, name).ok()?;
        if !file.is_private() {
            return None;
        }
        file.set_length(PAGE_BYTES).ok()?;
        let base = sys::map(PAGE_BYTES, libc::MAP_SHARED, file.descriptor()).ok()?;
        // The kernel provides the memory here, or says that it has none. Later, an access would end the program.
        // SAFETY: the last bytes of the page, which nothing uses.
        if !unsafe { sys::could_write(base.cast::<u8>().add(PAGE_BYTES - 16).cast()) } {
            // SAFETY: mapped above, without another user.
            unsafe { sys::unmap(base, PAGE_BYTES) };
            return None;
        }
        // SAFETY: the page is mapped until the process ends, is large enough, and consists of atomics.
        let page = unsafe { &*base.cast::<Self>() };
        page.table_hash.store(table_hash, Relaxed);
        page.version.store(SESSION_VERSION, Relaxed);
        page.is_recorded.store(0, Relaxed);
        page.magic.store(PAGE_MAGIC, Release);
        Some(page)
    }

    /// Removes the page's file. The page stays mapped.
    pub fn remove(folder: &CStr, name: &CStr) {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        if let Ok(folder) = sys::File::open(folder, flags) {
            sys::File::remove_in(&folder, name);
        }
    }

    /// Whether no recorder has the lock of the page with this name: the one that the process had has ended.
    pub fn is_abandoned(folder: &CStr, name: &CStr) -> bool {
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let folder = sys::File::open(folder, flags);
        let file = folder.and_then(|folder| sys::File::open_in(&folder, name));
        file.is_ok_and(|file| file.is_unlocked())
    }

    /// The word that is not 0 while a recorder wants the process.
    pub fn request(&self) -> &AtomicU32 {
        &self.request
    }

    /// The process itself wants to join the session in this file.
    pub fn request_own(&self, session: &CStr) {
        self.ask(session.to_bytes());
    }

    /// Writes a request. The path is shorter than [`LONGEST_PATH`].
    fn ask(&self, session: &[u8]) -> u32 {
        self.request.store(0, Relaxed);
        let ends = session.iter().copied().chain(std::iter::repeat(0));
        for (to, from) in self.path.iter().zip(ends) {
            to.store(from, Relaxed);
        }
        let number = self.last.load(Relaxed).wrapping_add(1).max(1);
        self.last.store(number, Relaxed);
        self.request.store(number, Release);
        number
    }

    /// Takes the request, and copies the path of the session as a C string. `None` if it was withdrawn.
    pub fn take(&self, path: &mut [u8; LONGEST_PATH]) -> Option<JoinRequest> {
        for (to, from) in path.iter_mut().zip(&self.path) {
            *to = from.load(Relaxed);
        }
        let number = self.request.swap(0, AcqRel);
        (number != 0).then_some(JoinRequest(number))
    }

    /// The request was carried out, or not.
    pub fn reply(&self, request: JoinRequest, outcome: JoinOutcome) {
        let is_recorded = outcome == JoinOutcome::Joined;
        self.is_recorded.store(is_recorded.into(), Relaxed);
        let word = u64::from(outcome.code()) << 32 | u64::from(request.0);
        self.reply.store(word, Release);
    }

    /// The process has left its session.
    pub fn note_left(&self) {
        self.is_recorded.store(0, Release);
    }
}

/// Why a recorder cannot attach to a process.
#[derive(Debug)]
pub enum ArmedError {
    /// Another recorder is attached.
    Taken,
    /// The process has a library of another version of the command.
    OtherVersion,
    System(io::Error),
}

impl fmt::Display for ArmedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken => f.write_str("another recorder is attached to it"),
            Self::OtherVersion => f.write_str("it was started by another version of ascend-trace"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ArmedError {}

impl From<io::Error> for ArmedError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// The page of a process as its recorder has it: with the lock. Dropping it withdraws the request and gives the lock back.
#[derive(Debug)]
pub struct ArmedProcess {
    base: *const ArmedPage,
    path: PathBuf,
    file: File,
    number: u32,
}

// SAFETY: the page consists of atomics, and stays mapped until this is dropped.
unsafe impl Send for ArmedProcess {}

/// The session that the recorder of a process has asked for, by the page of the process. `None` without a recorder.
pub fn requested_session(page: &Path) -> Option<PathBuf> {
    let file = open_page(page)?;
    if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    path_in(&file)
}

/// The session that a process has asked for last, itself or by a recorder.
pub fn last_session(page: &Path) -> Option<PathBuf> {
    path_in(&open_page(page)?)
}

fn open_page(page: &Path) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(CAREFULLY).open(page).ok()
}

fn path_in(file: &File) -> Option<PathBuf> {
    let mut bytes = [0; LONGEST_PATH];
    let offset = std::mem::offset_of!(ArmedPage, path) as u64;
    file.read_exact_at(&mut bytes, offset).ok()?;
    let path = CStr::from_bytes_until_nul(&bytes).ok()?;
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    path.is_absolute().then(|| path.to_owned())
}

impl ArmedProcess {
    /// Opens the page of a process, or makes it for a process that has not called AscendCL yet.
    ///
    /// # Errors
    /// Another recorder is attached, the process has another version, or the file cannot be used.
    pub fn open(path: &Path, table_hash: u64) -> Result<Self, ArmedError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.mode(0o600).custom_flags(CAREFULLY).open(path)?;
        lock(&file)?;
        let is_named = std::fs::symlink_metadata(path)
            .is_ok_and(|it| file.metadata().is_ok_and(|own| own.ino() == it.ino()));
        if !is_named {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        file.set_len(PAGE_BYTES as u64)?;
        crate::arena::allocate(&file, 0, PAGE_BYTES)?;
        let base = sys::map(PAGE_BYTES, libc::MAP_SHARED, file.as_raw_fd())
            .map_err(io::Error::from_raw_os_error)?;
        let process = Self {
            base: base.cast_const().cast(),
            path: path.to_owned(),
            file,
            number: 0,
        };
        let page = process.page();
        let is_made = page.magic.load(Acquire) == PAGE_MAGIC;
        let is_same = page.version.load(Relaxed) == SESSION_VERSION
            && page.table_hash.load(Relaxed) == table_hash;
        match is_made && !is_same {
            true => Err(ArmedError::OtherVersion),
            false => Ok(process),
        }
    }

    fn page(&self) -> &ArmedPage {
        // SAFETY: mapped until this is dropped; all of it is atomics.
        unsafe { &*self.base }
    }

    /// Whether the process has called AscendCL.
    pub fn is_listed(&self) -> bool {
        self.page().magic.load(Acquire) == PAGE_MAGIC
    }

    /// Asks the process to join the session in this file.
    ///
    /// # Errors
    /// The path is too long.
    pub fn request(&mut self, session: &Path) -> Result<(), ArmedError> {
        let bytes = session.as_os_str().as_bytes();
        if bytes.len() >= LONGEST_PATH {
            return Err(io::Error::from(io::ErrorKind::InvalidFilename).into());
        }
        self.number = self.page().ask(bytes);
        Ok(())
    }

    /// The outcome of the request, once the process has taken it.
    pub fn outcome(&self) -> Option<JoinOutcome> {
        let word = self.page().reply.load(Acquire);
        if word as u32 != self.number || self.number == 0 {
            return None;
        }
        JoinOutcome::from_code((word >> 32) as u32)
    }

    /// Whether a request waits for the process.
    pub fn is_asked(&self) -> bool {
        self.page().request.load(Acquire) != 0
    }

    /// Whether the process has left the session that it had joined.
    pub fn has_left(&self) -> bool {
        self.page().is_recorded.load(Acquire) == 0
    }

    /// Takes the request back. Returns whether the process had not taken it.
    pub fn withdraw(&self) -> bool {
        self.page().request.swap(0, AcqRel) != 0
    }

    /// Removes the file of a process that has ended.
    pub fn remove(&self) {
        // It may have removed the file itself.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the lock of a page. The process itself may have it for the time of a look.
fn lock(file: &File) -> Result<(), ArmedError> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => sys::pause(PAUSE_NS),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
    Err(ArmedError::Taken)
}

impl Drop for ArmedProcess {
    fn drop(&mut self) {
        self.withdraw();
        let _ = self.file.unlock();
        // SAFETY: nothing refers to the mapping any more.
        unsafe { sys::unmap(self.base.cast_mut().cast(), PAGE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    const HASH: u64 = 77;

    /// A folder that only this user may enter.
    fn private() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        permit(folder.path(), 0o700);
        folder
    }

    fn permit(folder: &Path, mode: u32) {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(folder, mode).unwrap();
    }

    fn text(name: &[u8; 64]) -> &str {
        let name = CStr::from_bytes_until_nul(name).unwrap();
        name.to_str().unwrap()
    }

    /// The two ends of one page.
    fn ends(folder: &Path) -> (&'static ArmedPage, ArmedProcess) {
        let name = page_name(5, 6);
        let place = CString::new(folder.as_os_str().as_bytes()).unwrap();
        let process =
            ArmedPage::enlist(&place, CStr::from_bytes_until_nul(&name).unwrap(), HASH).unwrap();
        let recorder = ArmedProcess::open(&folder.join(text(&name)), HASH).unwrap();
        (process, recorder)
    }

    #[test]
    fn a_page_is_named_by_namespace_and_pid() {
        assert_eq!(text(&page_name(4_026_531_836, 17)), "armed-4026531836-17");
        assert_eq!(text(&page_name(0, 0)), "armed-0-0");
        let longest = page_name(u64::MAX, u32::MAX);
        assert!(text(&longest).ends_with("-4294967295"));
    }

    #[test]
    fn a_request_is_taken_once_and_has_an_outcome() {
        let folder = private();
        let (process, mut recorder) = ends(folder.path());
        let mut path = [0; LONGEST_PATH];
        assert_eq!(process.take(&mut path), None);
        recorder.request(Path::new("/x/session")).unwrap();
        assert!(recorder.outcome().is_none());
        let request = process.take(&mut path).unwrap();
        assert!(path.starts_with(b"/x/session\0"));
        assert_eq!(process.take(&mut path), None);
        process.reply(request, JoinOutcome::Joined);
        assert_eq!(recorder.outcome(), Some(JoinOutcome::Joined));
        assert!(!recorder.has_left() && !recorder.withdraw());
        process.note_left();
        assert!(recorder.has_left());
        recorder.request(Path::new("/y")).unwrap();
        assert!(recorder.outcome().is_none(), "that of the request before");
        assert!(recorder.withdraw());
        assert_eq!(process.take(&mut path), None);
    }

    #[test]
    fn a_process_has_one_recorder_at_a_time() {
        let folder = private();
        let (_, recorder) = ends(folder.path());
        let name = page_name(5, 6);
        let path = folder.path().join(text(&name));
        let second = ArmedProcess::open(&path, HASH);
        assert!(matches!(second, Err(ArmedError::Taken)), "{second:?}");
        let place = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        let name = CStr::from_bytes_until_nul(&name).unwrap();
        assert!(!ArmedPage::is_abandoned(&place, name));
        drop(recorder);
        assert!(ArmedPage::is_abandoned(&place, name));
        let other = ArmedProcess::open(&path, HASH + 1);
        assert!(matches!(other, Err(ArmedError::OtherVersion)), "{other:?}");
        drop(ArmedProcess::open(&path, HASH).unwrap());
    }

    #[test]
    fn a_recorder_may_ask_before_the_first_call() {
        let folder = private();
        let name = page_name(5, 6);
        let path = folder.path().join(text(&name));
        let mut recorder = ArmedProcess::open(&path, HASH).unwrap();
        assert!(!recorder.is_listed());
        recorder.request(Path::new("/x/session")).unwrap();
        let place = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        let process =
            ArmedPage::enlist(&place, CStr::from_bytes_until_nul(&name).unwrap(), HASH).unwrap();
        assert!(recorder.is_listed());
        assert!(process.take(&mut [0; LONGEST_PATH]).is_some());
    }

    #[test]
    fn a_process_asks_for_a_session_itself() {
        let folder = private();
        let (process, recorder) = ends(folder.path());
        let page = folder.path().join(text(&page_name(5, 6)));
        assert_eq!(last_session(&page), None);
        process.request_own(c"/x/server-node");
        assert!(recorder.is_asked() && recorder.has_left());
        assert_eq!(last_session(&page), Some("/x/server-node".into()));
        let mut path = [0; LONGEST_PATH];
        let request = process.take(&mut path).unwrap();
        assert!(path.starts_with(b"/x/server-node\0"));
        process.reply(request, JoinOutcome::Joined);
        assert!(!recorder.is_asked() && !recorder.has_left());
    }

    #[test]
    fn a_folder_that_others_may_enter_gets_no_page() {
        let folder = tempfile::tempdir().unwrap();
        permit(folder.path(), 0o755);
        let place = CString::new(folder.path().as_os_str().as_bytes()).unwrap();
        assert!(ArmedPage::enlist(&place, c"armed-1-1", HASH).is_none());
    }
}

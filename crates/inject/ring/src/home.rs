//! Folders of session files, and their owners.
//!
//! They are in a folder of the user, which other users cannot enter. Their maker holds their lock
//! (`flock`) until it ends, so that a file with a free lock has a dead owner: independent of its pid
//! namespace, and of the present use of its pid.
//!
//! **Invariant: only session files with dead owners are removed.** That is a file in such a folder,
//! with a name and a content as made here, and with a lock that could be taken.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ascend_trace_format::version::SESSION_MAGIC;

use crate::arena::ArenaError;
use crate::nested;

/// Folders of users are called this, a dash and the user's number.
const FOLDER: &str = "ascend-trace-";
/// Session files are called this, the maker's pid, a dash and a number.
const PREFIX: &str = "session-";
/// Number of folders that are tried when another user has taken the name, as in a folder that several
/// user namespaces share.
const FOLDERS: u32 = 8;
/// Names that are tried in one.
const TRIES: u32 = 1000;

/// Flags for files that others may have put there: no link is followed, and no pipe is waited for.
pub(crate) const CAREFULLY: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK;

/// A session file and its owner's lock. Dropping it removes the file.
pub(crate) struct SessionFile {
    pub(crate) path: PathBuf,
    pub(crate) file: File,
}

impl SessionFile {
    /// Makes a file in the user's folder in `base`, and removes those with dead owners there.
    pub(crate) fn create(base: &Path) -> Result<Self, ArenaError> {
        let mut failure = None;
        for number in 0..FOLDERS {
            let folder = base.join(folder_name(number));
            match create_in(&folder) {
                Ok(home) => return Ok(home),
                Err(source) => {
                    failure.get_or_insert(ArenaError::Create {
                        path: folder,
                        source,
                    });
                }
            }
        }
        Err(failure.unwrap_or_else(|| ArenaError::Create {
            path: base.to_owned(),
            source: io::ErrorKind::AlreadyExists.into(),
        }))
    }
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        // The files may be missing, and the folder may be in use. Neither matters.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(nested::announcement_path(&self.path));
        if let Some(folder) = self.path.parent() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The process that made a session file, by the file's path.
pub fn maker(path: &Path) -> Option<u32> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let name = path.file_name().filter(|it| is_session_name(it))?;
    let (pid, _) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    folder.starts_with(FOLDER).then(|| pid.parse().ok())?
}

/// A private folder of this user in `base`, which is made if it does not exist.
///
/// # Errors
/// The folder cannot be made, or other users have taken all of its names.
pub fn private_folder(base: &Path) -> io::Result<PathBuf> {
    let mut failure = None;
    for number in 0..FOLDERS {
        let folder = base.join(folder_name(number));
        match make_private(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Err(failure.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
}

fn user() -> u32 {
    // SAFETY: this cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether this is a session file in a private folder of this user, and its owner lives.
pub(crate) fn is_owned(path: &Path) -> io::Result<bool> {
    let Some(folder) = path.parent().filter(|_| maker(path).is_some()) else {
        return Ok(false);
    };
    let folder = open_folder(folder)?.metadata()?;
    if folder.uid() != user() || folder.mode() & 0o777 != 0o700 {
        return Ok(false);
    }
    // To open a pipe or a device can have effects.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut options = OpenOptions::new();
    let mut file = options.read(true).custom_flags(CAREFULLY).open(path)?;
    let is_own = file.metadata()?.uid() == user() && is_session(&mut file)?;
    // Where there are no locks, nothing is known to be dead.
    Ok(is_own && file.try_lock_shared().is_err())
}

fn folder_name(number: u32) -> String {
    let user = user();
    match number {
        0 => format!("{FOLDER}{user}"),
        _ => format!("{FOLDER}{user}-{number}"),
    }
}

fn create_in(folder: &Path) -> io::Result<SessionFile> {
    let pid = std::process::id();
    let mut number = 0;
    loop {
        make_private(folder)?;
        remove_stale(folder);
        let path = folder.join(format!("{PREFIX}{pid}-{number}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        number += 1;
        match options.open(&path) {
            Ok(file) if is_locked(&file) && is_named(&file, &path) => {
                // Of an earlier process with this pid.
                let _ = fs::remove_file(nested::announcement_path(&path));
                return Ok(SessionFile { path, file });
            }
            // Another process that removes old sessions was quicker than the lock.
            Ok(_) if number < TRIES => {}
            Ok(_) => return Err(io::ErrorKind::WouldBlock.into()),
            // The folder went with another session.
            Err(error) if error.kind() == io::ErrorKind::NotFound && number < TRIES => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

/// Makes a folder that only this user can enter, or checks that it is one.
fn make_private(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let opened = match open_folder(folder) {
        // It went with another session, and will be made again.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let found = opened.metadata()?;
    if found.uid() != user() {
        let text = "it belongs to another user";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    if found.mode() & 0o777 != 0o700 {
        opened.set_permissions(Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn open_folder(folder: &Path) -> io::Result<File> {
    // Another user could have put a link here, which is not followed.
    let mut options = OpenOptions::new();
    let options = options.read(true);
    options
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(folder)
}

/// Removes session files of owners that were killed, and their announcements.
fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut announcements = Vec::new();
    for name in entries.flatten().map(|entry| entry.file_name()) {
        if is_session_name(&name) {
            let _ = remove_if_stale(&folder.join(name));
        } else {
            announcements.push(name);
        }
    }
    for name in announcements {
        let session = name.to_str().and_then(|it| it.strip_suffix(nested::SUFFIX));
        if let Some(session) = session.filter(|it| is_session_name(it.as_ref())) {
            let _ = nested::remove_if_stale(&folder.join(&name), &folder.join(session));
        }
    }
}

fn remove_if_stale(path: &Path) -> io::Result<()> {
    // Only regular files may be opened: opening others can have effects.
    if !fs::symlink_metadata(path)?.file_type().is_file() {
        return Ok(());
    }
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(CAREFULLY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if !kind.is_file() || !is_session(&mut file)? {
        return Ok(());
    }
    // Where there are no locks, nothing is known to be dead.
    if file.try_lock().is_ok() && is_named(&file, path) {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn is_session_name(name: &OsStr) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let numbers = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    let numbers = numbers.and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(pid, number)| is_number(pid) && is_number(number))
}

/// Whether the content is a session's: one that is complete, or that had only been begun.
fn is_session(file: &mut File) -> io::Result<bool> {
    let mut first = [0; 8];
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(true);
    }
    if length < first.len() as u64 {
        return Ok(false);
    }
    file.read_exact(&mut first)?;
    let magic = u64::from_ne_bytes(first);
    Ok(magic == SESSION_MAGIC || magic == 0)
}

/// Takes the owner's lock; where there are no locks, none is needed.
fn is_locked(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

fn is_named(file: &File, path: &Path) -> bool {
    let id = |it: fs::Metadata| (it.dev(), it.ino());
    let (own, found) = (file.metadata(), fs::symlink_metadata(path));
    own.is_ok_and(|own| found.is_ok_and(|found| id(own) == id(found)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder(base: &Path) -> PathBuf {
        let folder = base.join(folder_name(0));
        make_private(&folder).unwrap();
        folder
    }

    #[test]
    fn a_session_file_names_its_maker() {
        let base = tempfile::tempdir().unwrap();
        let home = SessionFile::create(base.path()).unwrap();
        assert_eq!(maker(&home.path), Some(std::process::id()));
        for other in ["/dev/shm/session-7-0", "/x/ascend-trace-0/notes", "/"] {
            assert_eq!(maker(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn living_and_foreign_session_files_stay() {
        let base = tempfile::tempdir().unwrap();
        let folder = folder(base.path());
        let path = |name: &str| folder.join(name);
        // Next to the folder: names as earlier versions had, and users' files.
        let beside = base.path().join("ascend-trace-999999-0");
        fs::write(&beside, "a user's").unwrap();
        for name in ["session-1-a", "session-1", "notes", "session-1-0"] {
            fs::write(path(name), "a user's notes").unwrap();
        }
        fs::create_dir(path("session-2-0")).unwrap();
        symlink(path("notes"), path("session-3-0")).unwrap();
        let stale = [path("session-4-0"), path("session-5-0")];
        fs::write(&stale[0], SESSION_MAGIC.to_ne_bytes()).unwrap();
        fs::write(&stale[1], "").unwrap();
        let living = path("session-6-0");
        fs::write(&living, SESSION_MAGIC.to_ne_bytes()).unwrap();
        let owner = File::open(&living).unwrap();
        owner.try_lock().unwrap();
        let home = SessionFile::create(base.path()).unwrap();
        assert!(home.path.starts_with(&folder));
        let own = home.path.clone();
        drop(home);
        assert!(!own.exists() && !stale[0].exists() && !stale[1].exists());
        for name in ["session-1-a", "session-1", "session-1-0", "session-2-0"] {
            assert!(path(name).exists(), "{name}");
        }
        assert!(beside.exists() && living.exists() && path("session-3-0").is_symlink());
        drop(owner);
        drop(SessionFile::create(base.path()).unwrap());
        assert!(!living.exists(), "its owner has ended");
    }

    #[test]
    fn the_folder_is_private_and_removed_with_the_last_session() {
        let base = tempfile::tempdir().unwrap();
        let (first, second) = (
            SessionFile::create(base.path()).unwrap(),
            SessionFile::create(base.path()).unwrap(),
        );
        let folder = first.path.parent().unwrap().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        drop(first);
        assert!(second.path.exists());
        drop(second);
        assert!(!folder.exists());
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_passed_over() {
        let base = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), base.path().join(folder_name(0))).unwrap();
        let home = SessionFile::create(base.path()).unwrap();
        assert_eq!(
            home.path.parent().unwrap(),
            base.path().join(folder_name(1))
        );
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}

//! Recordings inside a recording. The inner recorder takes the processes that it starts, and the outer one gets none of
//! their calls. So the inner one leaves a line in a file next to the outer session file: its pid and its trace.
//!
//! Nothing depends on this file. It is made only where a session file of the same user has a living owner, and goes
//! with it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::home;

/// Suffix that the announcement file adds to the session file's name.
pub(crate) const SUFFIX: &str = ".inner";
/// Prefix of each line.
const LINE_PREFIX: &[u8] = b"inner ";
/// A trace without a name, which goes to standard output.
const UNNAMED: &[u8] = b"-";
/// At most this number of bytes is read. Only a program that starts thousands of recorders exceeds it.
const MAX_BYTES: u64 = 1 << 20;

/// A recorder that has started a program inside a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedRecorder {
    pub pid: u32,
    /// An absolute path; `None` for standard output.
    pub trace: Option<PathBuf>,
}

impl NestedRecorder {
    /// The recorder that calls this.
    pub fn own(trace: Option<PathBuf>) -> Self {
        let pid = std::process::id();
        Self { pid, trace }
    }

    /// Writes this recorder's line for the owner of a session file.
    ///
    /// # Errors
    /// The file is no session file of this user, its owner has ended, or there is no room.
    pub fn announce(&self, session: &Path) -> io::Result<()> {
        if !home::is_owned(session)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        let path = announcement_path(session);
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let mut file = options.custom_flags(home::CAREFULLY).open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // One write: other recorders append as well.
        file.write_all(&self.line())?;
        if matches!(fs::symlink_metadata(session), Err(error) if error.kind() == io::ErrorKind::NotFound)
        {
            // The owner has removed its files meanwhile, and did not see this one.
            let _ = fs::remove_file(path);
        }
        Ok(())
    }

    fn line(&self) -> Vec<u8> {
        let trace = self.trace.as_ref();
        let trace = trace.map_or_else(|| UNNAMED.to_owned(), |it| escaped(it));
        [
            LINE_PREFIX,
            self.pid.to_string().as_bytes(),
            b" ",
            &trace,
            b"\n",
        ]
        .concat()
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(LINE_PREFIX)?;
        let space = line.iter().position(|byte| *byte == b' ')?;
        let (pid, trace) = line.split_at(space);
        let trace = match trace.get(1..)? {
            UNNAMED => None,
            name if name.first() == Some(&b'/') => Some(unescaped(name)),
            _ => return None,
        };
        let pid = std::str::from_utf8(pid).ok()?.parse().ok()?;
        Some(Self { pid, trace })
    }
}

/// The file of announcements that belongs to a session file.
pub(crate) fn announcement_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// The recorders that have announced themselves to the owner of this session file, in this order.
pub(crate) fn announced(session: &Path) -> Vec<NestedRecorder> {
    let content = content(&announcement_path(session)).unwrap_or_default();
    let lines = content.split(|byte| *byte == b'\n');
    lines.filter_map(NestedRecorder::of_line).collect()
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.take(MAX_BYTES).read_to_end(&mut content)?;
    Ok(content)
}

/// Removes the announcements for a session file that is not there any more.
pub(crate) fn remove_if_stale(path: &Path, session: &Path) -> io::Result<()> {
    match fs::symlink_metadata(session) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        _ => return Ok(()),
    }
    let mut first = [0; LINE_PREFIX.len()];
    let length = open(path)?.read(&mut first)?;
    if LINE_PREFIX.starts_with(first.get(..length).unwrap_or_default()) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Opens a regular file.
fn open(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(home::CAREFULLY).open(path)
}

/// The path with its line ends escaped.
fn escaped(path: &Path) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\n' => escaped.extend(b"\\n"),
            b'\\' => escaped.extend(b"\\\\"),
            byte => escaped.push(*byte),
        }
    }
    escaped
}

fn unescaped(name: &[u8]) -> PathBuf {
    let mut bytes = name.iter().copied();
    let mut path = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            path.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'n') => path.push(b'\n'),
            other => path.extend(other),
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::home::SessionFile;

    fn nested(trace: &[u8]) -> NestedRecorder {
        NestedRecorder::own(Some(OsString::from_vec(trace.to_owned()).into()))
    }

    #[test]
    fn every_name_comes_back_in_the_order_of_the_announcements() {
        let base = tempfile::tempdir().unwrap();
        let home = SessionFile::create(base.path()).unwrap();
        let mut all: Vec<_> = [&b"/x/inner.atrace"[..], b"/a\nb\\n", b"/\\\\\n", b"/\xff '"]
            .into_iter()
            .map(nested)
            .collect();
        all.push(NestedRecorder::own(None));
        for one in &all {
            one.announce(&home.path).unwrap();
        }
        let path = announcement_path(&home.path);
        let found = fs::metadata(&path).unwrap();
        assert_eq!(found.mode() & 0o777, 0o600);
        assert_eq!(announced(&home.path), all);
        drop(home);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }

    #[test]
    fn lines_of_others_are_skipped() {
        for line in [
            &b""[..],
            b"inner",
            b"inner 7",
            b"inner x /a",
            b"inner 7 a",
            b"outer 7 /a",
        ] {
            assert_eq!(NestedRecorder::of_line(line), None);
        }
    }

    #[test]
    fn only_a_session_with_a_living_owner_in_a_private_folder_gets_an_announcement() {
        let base = tempfile::tempdir().unwrap();
        let home = SessionFile::create(base.path()).unwrap();
        let folder = home.path.parent().unwrap();
        // No session file, one without an owner, and one by a link.
        let missing = folder.join("session-1-0");
        let dead = folder.join("session-2-0");
        fs::write(&dead, "").unwrap();
        let link = folder.join("session-3-0");
        symlink(&home.path, &link).unwrap();
        let elsewhere = base.path().join("session-4-0");
        fs::copy(&home.path, &elsewhere).unwrap();
        for session in [&missing, &dead, &link, &elsewhere, &folder.join("notes")] {
            assert!(nested(b"/a").announce(session).is_err(), "{session:?}");
            assert!(!announcement_path(session).exists(), "{session:?}");
        }
        // A folder that others can enter.
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(nested(b"/a").announce(&home.path).is_err());
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        // A name that leads elsewhere.
        let victim = base.path().join("victim");
        symlink(&victim, announcement_path(&home.path)).unwrap();
        assert!(nested(b"/a").announce(&home.path).is_err());
        assert!(!victim.exists() && announced(&home.path).is_empty());
    }

    #[test]
    fn announcements_for_dead_sessions_are_removed() {
        let base = tempfile::tempdir().unwrap();
        let living = SessionFile::create(base.path()).unwrap();
        let folder = living.path.parent().unwrap().to_owned();
        nested(b"/a").announce(&living.path).unwrap();
        let dead = folder.join("session-1-0");
        fs::write(&dead, "").unwrap();
        let stale = [
            &dead,
            &folder.join("session-2-0"),
            &folder.join("session-3-0"),
        ]
        .map(|it| announcement_path(it));
        fs::write(&stale[0], "inner 7 /a\n").unwrap();
        fs::write(&stale[1], "").unwrap();
        fs::write(&stale[2], "inn").unwrap();
        let users =
            ["session-4-0.inner", "session-4.inner", "notes.inner"].map(|it| folder.join(it));
        for path in &users {
            fs::write(path, "a user's notes").unwrap();
        }
        drop(SessionFile::create(base.path()).unwrap());
        assert!(stale.iter().all(|path| !path.exists()));
        assert!(users.iter().all(|path| path.exists()));
        assert_eq!(announced(&living.path), [nested(b"/a")]);
    }
}

//! Sockets of recordings: each is next to its session file, in the user's private folder.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ascend_trace_collector::session::candidates;
use ascend_trace_ring::maker;

/// The socket has the name of the session file, and this.
const ENDING: &str = ".ctl";

/// Where the recorder of a session takes requests.
pub(super) fn socket_of(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

/// The session of a socket.
fn session_of(socket: &Path) -> Option<PathBuf> {
    let session = socket.to_str()?.strip_suffix(ENDING)?;
    let session = PathBuf::from(session);
    maker(&session).is_some().then_some(session)
}

/// Sessions of this user that have a socket and a session file. A recorder may have been killed.
pub(super) fn sessions() -> Vec<PathBuf> {
    let bases = candidates();
    let folders = bases.iter().flat_map(|base| entries(base));
    let own = folders.filter(|folder| is_own(folder));
    let sockets = own.flat_map(|folder| entries(&folder));
    let mut found: Vec<PathBuf> = sockets.filter_map(|it| session_of(&it)).collect();
    found.retain(|session| fs::symlink_metadata(session).is_ok_and(|it| it.is_file()));
    found.sort();
    found.dedup();
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether this is a folder of sessions that belongs to this user.
fn is_own(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    let is_ours = name.is_some_and(|name| name.starts_with("ascend-trace-"));
    let user = rustix::process::geteuid().as_raw();
    is_ours && fs::symlink_metadata(folder).is_ok_and(|it| it.is_dir() && it.uid() == user)
}

/// Removes sockets in the folder of this session that no session file belongs to: their recorders were killed.
pub(super) fn remove_stale(session: &Path) {
    let sockets = session.parent().map(entries).unwrap_or_default();
    for socket in sockets {
        let is_socket = fs::symlink_metadata(&socket).is_ok_and(|it| it.file_type().is_socket());
        let gone = |session: PathBuf| match fs::symlink_metadata(session) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(_) => false,
        };
        if is_socket && session_of(&socket).is_some_and(gone) {
            // Another recorder may have been quicker.
            let _ = fs::remove_file(socket);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn sockets_without_a_session_are_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("ascend-trace-0");
        fs::create_dir(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        for name in ["session-4-0.ctl", "session-5-0.ctl", "other.ctl"] {
            drop(UnixListener::bind(path(name)).unwrap());
        }
        fs::write(path("session-6-0.ctl"), "a user's notes").unwrap();
        fs::write(path("session-5-0"), "").unwrap();
        remove_stale(&path("session-5-0"));
        assert!(!path("session-4-0.ctl").exists());
        for name in ["session-5-0.ctl", "other.ctl", "session-6-0.ctl"] {
            assert!(path(name).exists(), "{name}");
        }
        assert_eq!(socket_of(&path("session-5-0")), path("session-5-0.ctl"));
    }
}

//! Whether a trace file still has a writer.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file without a lock that has not grown for this time does not grow any more. If it grows later, it
/// is followed again.
const QUIET: Duration = Duration::from_secs(2);
/// The same where the file system knows no locks.
const STALE: Duration = Duration::from_secs(60);

/// Whether a recorder has the file's lock, where that is known: it keeps the lock while it writes.
pub(super) fn is_held(path: &Path) -> Option<bool> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        // The lock is released at the end of this.
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

/// Whether a recorder still writes a file that has no end.
pub(crate) fn is_writing(path: &Path) -> bool {
    is_held(path).unwrap_or_else(|| age(path).is_some_and(|age| age < STALE))
}

fn age(path: &Path) -> Option<Duration> {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    SystemTime::now().duration_since(modified.ok()?).ok()
}

/// Whether a file without an end is no longer written.
pub(super) fn is_gone(path: &Path) -> bool {
    let age = age(path);
    let is_older = |least| age.is_some_and(|age| age > least);
    // Of a file that has just grown the lock is not looked at.
    is_older(QUIET)
        && match is_held(path) {
            Some(held) => !held,
            None => is_older(STALE),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(path: &Path, age: Duration) {
        let file = File::options().write(true).open(path).expect("it is there");
        let then = SystemTime::now() - age;
        file.set_modified(then).expect("times can be set");
    }

    #[test]
    fn a_file_is_written_as_long_as_its_recorder_holds_it() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("t.atrace");
        let recorder = File::create(&path).expect("a file");
        recorder.try_lock().expect("no other process has it");
        aged(&path, STALE * 2);
        assert!(!is_gone(&path));
        drop(recorder);
        assert!(is_gone(&path));
        // A copy of a file that is being written has been made just now.
        aged(&path, Duration::ZERO);
        assert!(!is_gone(&path));
    }
}

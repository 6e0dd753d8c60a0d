//! What `/proc` says of other processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that `/proc` has of a process.
pub(crate) fn place(pid: u32, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

/// Mappings of a process, as the lines of `/proc/PID/maps`. Empty for one that has ended and was not
/// waited for.
///
/// # Errors
/// There is no such process, or it may not be looked at.
pub(crate) fn maps(pid: u32) -> io::Result<String> {
    // By threads: the first one may have ended before the others.
    let mut maps = Ok(String::new());
    for task in fs::read_dir(place(pid, "task"))?.flatten() {
        maps = fs::read_to_string(task.path().join("maps"));
        if maps.as_ref().is_ok_and(|it| !it.is_empty()) {
            break;
        }
    }
    maps
}

/// The value of a line of `/proc/PID/status`.
pub(crate) fn status(pid: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(place(pid, "status")).ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Some(line?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_described() {
        let own = std::process::id();
        assert!(maps(own).unwrap().lines().count() > 3);
        assert_eq!(status(own, "Tgid"), Some(own.to_string()));
        assert_eq!(status(own, "Tgi"), None);
        assert!(maps(0).is_err());
    }
}

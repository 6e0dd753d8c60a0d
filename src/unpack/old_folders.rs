//! Removes what older builds have unpacked. A folder goes only when it was not used for a long time, no run of
//! the tool holds it, and no process has a file of it mapped.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Shells may have the software runtime in their environment (`ascend-trace soft --env`), which no look
/// at processes shows.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The file in each folder with the time of its last use, and with a lock while it is in use.
const USED: &str = ".used";
/// Folders are named by a hash of their content.
const NAME_LENGTH: usize = 16;

/// Notes that the folder is used from now on for as long as this process lives.
pub(super) fn hold(folder: &Path) {
    let mut options = OpenOptions::new();
    let Ok(file) = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(USED))
    else {
        // A folder that cannot be written to is not removed by anybody like us either.
        return;
    };
    let _ = file.set_modified(SystemTime::now());
    if file.try_lock_shared().is_ok() {
        // Until the process ends.
        std::mem::forget(file);
    }
}

/// Removes the other, unused folders of `base`.
pub(super) fn remove(base: &Path, own: &str) {
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name != own
            && is_content(&name)
            && is_ours(&path)
            && is_unused(&path)
            && !is_mapped(&path)
        {
            // What cannot be removed is tried again by the next build.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn is_content(name: &str) -> bool {
    name.len() == NAME_LENGTH && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A folder, and no link to one.
fn is_ours(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir() && found.uid() == user)
}

fn is_unused(path: &Path) -> bool {
    let used = path.join(USED);
    // Builds without that file change the folder with every run.
    let time = fs::metadata(&used).or_else(|_| fs::metadata(path));
    let age = time.and_then(|found| found.modified()).ok();
    let is_old = age.is_some_and(|time| time.elapsed().is_ok_and(|age| age > UNUSED));
    is_old && File::open(&used).map_or(true, |file| file.try_lock().is_ok())
}

/// Whether a process of this user has a file of the folder mapped: a library, or its own program.
fn is_mapped(folder: &Path) -> bool {
    let folder = folder.to_string_lossy();
    let Ok(entries) = fs::read_dir("/proc") else {
        return true;
    };
    entries.flatten().any(|entry| {
        let maps = fs::read(entry.path().join("maps")).unwrap_or_default();
        String::from_utf8_lossy(&maps).contains(folder.as_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_unused_folders_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let long_ago = SystemTime::now() - UNUSED - Duration::from_secs(60);
        let folder = |name: &str, time: SystemTime| {
            let path = base.join(name);
            fs::create_dir(&path).unwrap();
            fs::copy("/bin/sleep", path.join("sleep")).unwrap();
            let used = File::create(path.join(USED)).unwrap();
            used.set_modified(time).unwrap();
            path
        };
        let own = folder("000000000000000a", long_ago);
        let old = folder("000000000000000b", long_ago);
        let recent = folder("000000000000000c", SystemTime::now());
        let mapped = folder("000000000000000d", long_ago);
        let held = folder("000000000000000e", long_ago);
        let foreign = folder("somebody-else-s", long_ago);
        let mut child = Command::new(mapped.join("sleep"))
            .arg("600")
            .spawn()
            .unwrap();
        while !is_mapped(&mapped) {
            std::thread::yield_now();
        }
        let lock = File::open(held.join(USED)).unwrap();
        lock.lock_shared().unwrap();
        remove(&base, "000000000000000a");
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = [&own, &recent, &mapped, &held, &foreign].map(|path| path.exists());
        assert_eq!(kept, [true; 5]);
        assert!(!old.exists());
        drop(lock);
        // A child that another test has forked holds the lock as well, until it becomes its program.
        while mapped.exists() || held.exists() {
            remove(&base, "000000000000000a");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

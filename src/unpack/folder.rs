//! Files in a private folder, written whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Names that are tried before a folder counts as one that cannot be written to.
const PROBES: u32 = 100;

/// Makes a folder that only this user can enter, or checks that it is one.
pub(crate) fn make_private(path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("cannot make {shown}"));
        }
        _ => {}
    }
    // Links are not followed: in /tmp another user could have put one here.
    let metadata = fs::symlink_metadata(path).with_context(|| format!("cannot look at {shown}"))?;
    if !metadata.is_dir() {
        bail!("{shown} is not a folder");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        bail!("{shown} belongs to another user");
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))
            .with_context(|| format!("cannot make {shown} private"))?;
    }
    Ok(())
}

/// Fails when the folder is not writable. In a folder of many users, another user may have created any
/// predictable name: the file is made new, and no link is followed.
pub(crate) fn probe(folder: &Path) -> io::Result<()> {
    let process = std::process::id();
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    for number in 0..PROBES {
        let probe = folder.join(format!(".ascend-trace-{process}-{number}.probe"));
        match options.open(&probe) {
            // A probe that remains does no harm.
            Ok(_) => return fs::remove_file(&probe).or(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes sure that the file has exactly this content. The existing content is compared byte by byte, so
/// a truncated or changed file is replaced.
pub(crate) fn put(path: &Path, content: &[u8], mode: u32) -> anyhow::Result<()> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    if is_file && fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    let temporary = temporary(path);
    make_parent(path)
        .and_then(|()| write(&temporary, content, mode))
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot unpack {}", path.display()))
}

/// Makes sure that the link points to `target`.
pub(crate) fn link(path: &Path, target: &Path) -> anyhow::Result<()> {
    if fs::read_link(path).is_ok_and(|found| found == target) {
        return Ok(());
    }
    let temporary = temporary(path);
    make_parent(path)
        .and_then(|()| symlink(target, &temporary))
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("cannot link {}", path.display()))
}

fn make_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent),
        None => Ok(()),
    }
}

fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(content)?;
    // The mode above has passed through the umask.
    file.set_permissions(Permissions::from_mode(mode))
}

/// A name next to `path` that no other run uses.
fn temporary(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{number}.new", std::process::id()));
    let path = path.with_file_name(name);
    // One may be left from a killed run that had this pid.
    let _ = fs::remove_file(&path);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once_and_repaired_when_it_differs() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("deep/lib.so");
        put(&path, b"content", 0o755).unwrap();
        let first = fs::metadata(&path).unwrap();
        assert_eq!(first.mode() & 0o777, 0o755);
        put(&path, b"content", 0o755).unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().ino(),
            first.ino(),
            "left alone"
        );
        fs::write(&path, b"contenT").unwrap();
        put(&path, b"content", 0o755).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"content");
        let files = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 1, "nothing temporary stays");
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_replaced_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (path, victim) = (root.path().join("lib.so"), root.path().join("victim"));
        fs::write(&victim, b"content").unwrap();
        symlink(&victim, &path).unwrap();
        put(&path, b"content", 0o644).unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }

    #[test]
    fn a_probe_leaves_existing_files_alone() {
        let root = tempfile::tempdir().unwrap();
        let victim = root.path().join("victim");
        fs::write(&victim, "content").unwrap();
        let process = std::process::id();
        for number in 0..3 {
            let name = format!(".ascend-trace-{process}-{number}.probe");
            symlink(&victim, root.path().join(name)).unwrap();
        }
        probe(root.path()).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"content");
        assert_eq!(
            fs::read_dir(root.path()).unwrap().count(),
            4,
            "and it is complete"
        );
        assert!(probe(&root.path().join("nowhere")).is_err());
    }

    #[test]
    fn links_are_corrected() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("libacl_rt.so");
        link(&path, Path::new("elsewhere.so")).unwrap();
        link(&path, Path::new("libascendcl.so")).unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("libascendcl.so"));
    }

    #[test]
    fn a_private_folder_is_not_reached_through_a_link_and_is_closed_to_others() {
        let root = tempfile::tempdir().unwrap();
        let (open, linked) = (root.path().join("open"), root.path().join("linked"));
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        make_private(&open).unwrap();
        assert_eq!(fs::metadata(&open).unwrap().mode() & 0o777, 0o700);
        symlink(&open, &linked).unwrap();
        assert!(make_private(&linked).is_err());
    }
}

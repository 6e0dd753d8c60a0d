//! Finds the program the way `execvp` does, so that its faults can be reported in advance.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::{Failure, NOT_EXECUTABLE, NOT_FOUND};
use crate::quote::quoted;

/// Where programs are looked for when `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// The file of `name`.
pub(crate) fn find(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    if name.as_bytes().contains(&b'/') {
        return check(Path::new(name)).map(|()| name.into());
    }
    if name.is_empty() {
        let text = "the name of the program is empty";
        return Err(Failure::new(NOT_FOUND, text.to_owned()));
    }
    let mut refused = None;
    for directory in std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH))) {
        let candidate = directory.join(name);
        match check(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(failure) if failure.status == NOT_EXECUTABLE => {
                refused.get_or_insert(failure);
            }
            Err(_) => {}
        }
    }
    Err(refused.unwrap_or_else(|| not_in_path(name)))
}

fn not_in_path(name: &OsStr) -> Failure {
    let local = Path::new("./").join(name);
    let advice = match local.exists() {
        true => format!("; did you mean {}?", quoted(local)),
        false => String::new(),
    };
    let name = name.display();
    let text = format!("{name}: no such program in the folders of PATH{advice}");
    Failure::new(NOT_FOUND, text)
}

fn check(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            let text = format!("{shown}: a folder on the way to it may not be entered");
            return Err(Failure::new(NOT_EXECUTABLE, text));
        }
        Err(_) => return Err(Failure::new(NOT_FOUND, format!("{shown}: no such file"))),
    };
    if metadata.is_dir() {
        let text = format!("{shown}: is a folder, not a program");
        return Err(Failure::new(NOT_EXECUTABLE, text));
    }
    if access(path, Access::EXEC_OK).is_err() {
        let text = format!("{shown}: is not executable; chmod +x makes it so");
        return Err(Failure::new(NOT_EXECUTABLE, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn file(directory: &Path, name: &str, mode: u32) {
        fs::create_dir_all(directory).unwrap();
        let path = directory.join(name);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn status(found: Result<PathBuf, Failure>) -> u8 {
        found.unwrap_err().status
    }

    #[test]
    fn the_first_executable_in_path_wins() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("a"), root.path().join("b"));
        file(&first, "tool", 0o644);
        file(&second, "tool", 0o755);
        let path = std::env::join_paths([&first, &second]).unwrap();
        assert_eq!(
            find(OsStr::new("tool"), Some(&path)).unwrap(),
            second.join("tool")
        );
    }

    #[test]
    fn each_obstacle_has_its_status() {
        let root = tempfile::tempdir().unwrap();
        file(root.path(), "plain", 0o644);
        let path = Some(root.path().as_os_str());
        assert_eq!(status(find(OsStr::new("plain"), path)), NOT_EXECUTABLE);
        assert_eq!(status(find(OsStr::new("absent"), path)), NOT_FOUND);
        assert_eq!(
            status(find(root.path().join("absent").as_os_str(), None)),
            NOT_FOUND
        );
        let failure = find(root.path().as_os_str(), None).unwrap_err();
        assert_eq!(failure.status, NOT_EXECUTABLE);
        assert!(failure.to_string().contains("is a folder"), "{failure}");
    }

    #[test]
    fn an_empty_name_is_no_folder_of_path() {
        let root = tempfile::tempdir().unwrap();
        let path = Some(root.path().as_os_str());
        let failure = find(OsStr::new(""), path).unwrap_err();
        assert_eq!(failure.status, NOT_FOUND);
        assert!(failure.to_string().contains("is empty"), "{failure}");
    }
}

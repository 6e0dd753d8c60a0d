//! The file with the user's settings for every view.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ascend_trace_viewer::Config;

use crate::output::{ConfigArg, verbosity};

/// A longer file was not written by hand.
const MOST_BYTES: u64 = 1 << 20;

/// The file, if one is used.
pub(super) fn path() -> Option<PathBuf> {
    match verbosity().config {
        ConfigArg::None => None,
        ConfigArg::File(path) => Some(path),
        ConfigArg::Usual => usual(|name| std::env::var_os(name).map(PathBuf::from)),
    }
}

/// Where the file is by the conventions of XDG, which want absolute paths.
fn usual(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("ascend-trace").join("config.toml"))
}

/// The content of the file; and why it is not used, if it has a fault.
pub(super) fn read() -> (Config, Option<String>) {
    let Some(path) = path() else {
        return (Config::default(), None);
    };
    let is_wanted = matches!(verbosity().config, ConfigArg::File(_));
    match read_from(&path, is_wanted) {
        Ok(config) => (config, None),
        Err(wrong) => (Config::default(), Some(wrong)),
    }
}

fn read_from(path: &Path, is_wanted: bool) -> Result<Config, String> {
    let shown = shown(path);
    let text = match text_of(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_wanted => {
            return Ok(Config::default());
        }
        Err(error) => return Err(format!("{shown}: {error}; the view goes on without it")),
    };
    Config::parse(&text).map_err(|error| format!("{shown}:{error}; the view goes on without it"))
}

fn text_of(path: &Path) -> io::Result<String> {
    // Reading a special file might never end, or never begin.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_string(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other("it is longer than 1 MiB")),
        false => Ok(text),
    }
}

/// A short form of a path: the screen has little room.
fn shown(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.filter(|home| home.is_absolute());
    let below = home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned()));
    match below {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

/// Appends a text to the file, which is created if missing. Returns its path.
pub(super) fn add(text: &str) -> io::Result<String> {
    let path = path().ok_or_else(|| io::Error::other("this view has no configuration file"))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A table continues until the next one begins: the appended text is valid after any end.
    let mut file = File::options().append(true).create(true).open(&path)?;
    file.write_all(text.as_bytes())?;
    Ok(shown(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_xdg_or_below_home() {
        let of = |xdg: Option<&str>, home: Option<&str>| {
            usual(|name| match name {
                "XDG_CONFIG_HOME" => xdg.map(PathBuf::from),
                _ => home.map(PathBuf::from),
            })
        };
        let path = |text: &str| Some(PathBuf::from(text));
        let below_home = path("/h/.config/ascend-trace/config.toml");
        assert_eq!(
            of(Some("/x"), Some("/h")),
            path("/x/ascend-trace/config.toml")
        );
        assert_eq!(of(None, Some("/h")), below_home);
        assert_eq!(of(Some("relative"), Some("/h")), below_home);
        assert_eq!(of(Some(""), Some("/h")), below_home);
        assert_eq!(of(None, None), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_wrong_only_if_it_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        assert!(read_from(&path, false).is_ok());
        let wrong = read_from(&path, true).unwrap_err();
        assert!(wrong.contains("config.toml: No such file"), "{wrong}");
    }

    #[test]
    fn a_mistake_is_reported_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "ascii = true\nthem = 1\n").unwrap();
        let wrong = read_from(&path, false).unwrap_err();
        assert!(
            wrong.contains("config.toml:2: unknown field `them`"),
            "{wrong}"
        );
        assert!(wrong.ends_with("; the view goes on without it"), "{wrong}");
    }

    #[test]
    fn a_binary_file_or_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            read_from(folder.path(), false)
                .unwrap_err()
                .contains("not a file")
        );
        let path = folder.path().join("config.toml");
        fs::write(&path, [0xff, 0xfe, 0]).unwrap();
        assert!(read_from(&path, false).is_err());
        fs::write(&path, " ".repeat((MOST_BYTES + 1) as usize)).unwrap();
        assert!(read_from(&path, false).unwrap_err().contains("1 MiB"));
    }
}

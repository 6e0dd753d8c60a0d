//! The folder of which recordings are served, and no other file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};

/// How deep folders are searched.
const DEEPEST: usize = 3;
/// The most recordings that are listed.
pub(crate) const MOST: usize = 200;

/// A folder, without links in its path.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// A file of the folder.
#[derive(Debug)]
pub(crate) struct TraceEntry {
    /// Relative to the folder.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) changed: SystemTime,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let path = fs::canonicalize(path).with_context(|| format!("cannot serve {shown}"))?;
        if !path.is_dir() {
            bail!("cannot serve {shown}: it is no folder; give the folder of the recordings");
        }
        Ok(Self { path })
    }

    /// The path of a file that a client names. Links must not lead out of the folder.
    pub(crate) fn file(&self, name: &str) -> Result<PathBuf, String> {
        let path = fs::canonicalize(self.path.join(name)).map_err(|error| {
            format!("there is no file {name} in the folder ({error}): `recordings` lists the files")
        })?;
        match path.starts_with(&self.path) {
            true => Ok(path),
            false => Err(format!(
                "{name} is outside of the folder that is served: `recordings` lists the files"
            )),
        }
    }

    /// The recordings, the newest first, and whether there are more.
    pub(crate) fn recordings(&self) -> (Vec<TraceEntry>, bool) {
        let mut found = Vec::new();
        self.search(&self.path, DEEPEST, &mut found);
        found.sort_by(|a, b| (b.changed, &b.name).cmp(&(a.changed, &a.name)));
        let is_more = found.len() > MOST;
        found.truncate(MOST);
        (found, is_more)
    }

    fn search(&self, folder: &Path, depth: usize, found: &mut Vec<TraceEntry>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Links are not followed: they could lead out, or in a circle.
            let Ok(data) = entry.metadata() else { continue };
            let path = entry.path();
            if data.is_dir() && depth > 0 {
                self.search(&path, depth - 1, found);
            } else if data.is_file() && path.extension().is_some_and(|it| it == "atrace") {
                let name = path.strip_prefix(&self.path).unwrap_or(&path);
                found.push(TraceEntry {
                    name: name.display().to_string(),
                    bytes: data.len(),
                    changed: data.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_are_refused_and_links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("runs");
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(root.path().join("secret.atrace"), "").unwrap();
        fs::write(folder.join("one.atrace"), "").unwrap();
        fs::write(folder.join("inner/two.atrace"), "").unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
        std::os::unix::fs::symlink("../secret.atrace", folder.join("link.atrace")).unwrap();
        let served = Folder::open(&folder).unwrap();
        let mut names: Vec<String> = served
            .recordings()
            .0
            .into_iter()
            .map(|it| it.name)
            .collect();
        names.sort();
        assert_eq!(names, ["inner/two.atrace", "one.atrace"]);
        assert!(served.file("inner/two.atrace").is_ok());
        for wrong in [
            "../secret.atrace",
            "link.atrace",
            "/etc/passwd",
            "three.atrace",
        ] {
            assert!(served.file(wrong).is_err(), "{wrong}");
        }
        assert!(Folder::open(&folder.join("one.atrace")).is_err());
        assert!(Folder::open(&folder.join("nothing")).is_err());
    }
}

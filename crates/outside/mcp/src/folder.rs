//! The folder of which recordings are served, and no other file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use ascend_trace_recording::file::place_in_set;
use ascend_trace_recording::rows::SessionRow;

/// How deep folders are searched.
const DEEPEST: usize = 3;
/// The most recordings that are listed.
pub(crate) const MOST: usize = 200;

/// A folder, without links in its path.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// A recording of the folder.
#[derive(Debug)]
pub(crate) struct TraceEntry {
    /// Relative to the folder: a file, or a pattern for the files of `record --roll`.
    pub(crate) name: String,
    pub(crate) files: usize,
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
        if name.contains('*') {
            return self.pattern(name);
        }
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

    /// The pattern of several files, all of which are in the folder.
    fn pattern(&self, name: &str) -> Result<PathBuf, String> {
        let none = || format!("no file in the folder matches {name}: `recordings` lists the files");
        let folder = glob::Pattern::escape(self.path.to_str().ok_or_else(none)?);
        let pattern = format!("{folder}/{name}");
        let found = glob::glob(&pattern).map_err(|error| format!("{name}: {error}"))?;
        let mut is_any = false;
        for path in found.flatten() {
            // A link could lead out.
            if fs::canonicalize(&path).ok().as_ref() != Some(&path) {
                return Err(format!(
                    "{name} matches a link or a file outside of the folder: `recordings` lists the files"
                ));
            }
            is_any = true;
        }
        match is_any {
            true => Ok(pattern.into()),
            false => Err(none()),
        }
    }

    /// The recordings, the newest first, and whether there are more.
    pub(crate) fn recordings(&self) -> (Vec<TraceEntry>, bool) {
        let mut found = Vec::new();
        self.search(&self.path, DEEPEST, &mut found);
        let mut found = together(found);
        found.sort_by(|a, b| (b.changed, &b.name).cmp(&(a.changed, &a.name)));
        let is_more = found.len() > MOST;
        found.truncate(MOST);
        (found, is_more)
    }

    fn search(
        &self,
        folder: &Path,
        depth: usize,
        found: &mut Vec<(TraceEntry, Option<SessionRow>)>,
    ) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            // Links are not followed: they could lead out, or in a circle.
            let Ok(data) = entry.metadata() else { continue };
            let path = entry.path();
            if data.is_dir() && depth > 0 {
                self.search(&path, depth - 1, found);
            } else if data.is_file() && path.extension().is_some_and(|it| it == "atrace") {
                let name = path.strip_prefix(&self.path).unwrap_or(&path);
                let entry = TraceEntry {
                    name: name.display().to_string(),
                    files: 1,
                    bytes: data.len(),
                    changed: data.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                };
                found.push((entry, session_of_set(&path)));
            }
        }
    }
}

/// Files of one recording (`record --roll`) as one entry.
fn together(files: Vec<(TraceEntry, Option<SessionRow>)>) -> Vec<TraceEntry> {
    let mut found: Vec<(TraceEntry, Option<SessionRow>)> = Vec::new();
    for (file, session) in files {
        let same = |it: &&mut (TraceEntry, _)| session.is_some() && it.1 == session;
        match found.iter_mut().find(same) {
            Some((set, _)) => {
                set.name = common_pattern(&set.name, &file.name);
                set.files += 1;
                set.bytes += file.bytes;
                set.changed = set.changed.max(file.changed);
            }
            None => found.push((file, session)),
        }
    }
    found.into_iter().map(|(entry, _)| entry).collect()
}

/// `run-*.atrace` for `run-0001.atrace` and `run-0002.atrace`, or for the first of them and this pattern.
fn common_pattern(one: &str, other: &str) -> String {
    let base = |name: &str| name.rsplit_once('-').map(|(base, _)| base.to_owned());
    match base(one) {
        Some(base_of_one) if Some(&base_of_one) == base(other).as_ref() => {
            format!("{base_of_one}-*.atrace")
        }
        // Somebody has given the files other names.
        _ => one.to_owned(),
    }
}

/// The session of a file of `record --roll`.
fn session_of_set(path: &Path) -> Option<SessionRow> {
    let place = place_in_set(File::open(path).ok()?).ok()?;
    place.map(|it| it.session)
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
        let pattern = served.file("inner/t*.atrace").unwrap();
        assert_eq!(
            pattern,
            fs::canonicalize(&folder).unwrap().join("inner/t*.atrace")
        );
        for wrong in ["*.atrace", "../*.atrace", "/etc/*", "x*.atrace"] {
            assert!(served.file(wrong).is_err(), "{wrong}");
        }
        assert!(Folder::open(&folder.join("one.atrace")).is_err());
        assert!(Folder::open(&folder.join("nothing")).is_err());
    }

    #[test]
    fn files_of_a_set_have_a_common_pattern() {
        let pattern = common_pattern("a/run-7-0001.atrace", "a/run-7-0002.atrace");
        assert_eq!(pattern, "a/run-7-*.atrace");
        assert_eq!(common_pattern(&pattern, "a/run-7-0003.atrace"), pattern);
        assert_eq!(
            common_pattern("first.atrace", "run-0002.atrace"),
            "first.atrace"
        );
    }
}

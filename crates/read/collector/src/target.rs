//! Destination of a recording: the trace file's name, and the files that it may replace.
//!
//! **Invariant: a file belongs to one recorder.** The recorder creates it and never opens an existing
//! one, unless that is no regular file; it holds its lock until the recording is complete; and it
//! replaces another file by a rename, under that file's lock, once the program has been started.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};

use super::name_pattern::{NameContext, NamePattern, ProcessContext};
use crate::Notify;

/// Where the recording goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceTarget {
    /// A file that the user named; an existing one is replaced only with `force`. The name may have
    /// patterns, as `pattern` describes.
    Named { path: PathBuf, force: bool },
    /// `NAME-PID.atrace` in the working directory, with the rank where there is one, and with a
    /// number when that exists.
    Default { name: String },
    /// The tool's standard output, which the program then does not get.
    Standard,
}

/// Message when the trace cannot be begun.
pub(super) const ADVICE: &str = "cannot write the trace; name another file with --output";

/// Traces hold command lines and addresses: they are their maker's.
const MODE: u32 = 0o600;
/// Names that are tried when one is taken.
const TRIES: u32 = 10_000;
/// Bytes of a program's name that a default name takes over.
const LONGEST: usize = 180;

/// An open file, and the remaining work on its name.
#[derive(Debug)]
pub(super) struct OpenedTarget {
    pub(super) file: File,
    /// None for standard output.
    pub(super) path: Option<PathBuf>,
    /// This recording has made the file.
    pub(super) is_own: bool,
    wanted: FinalName,
}

/// The name that a file gets when the program has been started.
#[derive(Debug)]
enum FinalName {
    /// It has it.
    This,
    /// The name of another file. Its lock is held until the rename.
    Replace { path: PathBuf, old: File },
    /// A name that depends on the program's pid, or one next to it.
    Late { name: NamePattern },
}

impl TraceTarget {
    /// The first file of a recording that goes on in further ones (`run-0001.atrace`).
    #[must_use]
    pub fn first_part(self) -> Self {
        match self {
            Self::Named { path, force } => Self::Named {
                path: numbered_part(&path, 1),
                force,
            },
            Self::Default { name } => Self::Named {
                path: numbered_part(&default_pattern(&name, &ProcessContext), 1),
                force: false,
            },
            Self::Standard => Self::Standard,
        }
    }

    /// The file of recorder `number` of a program (`run-2.atrace`; `run-2-0001.atrace` if it goes on in further files).
    #[must_use]
    pub fn of_recorder(self, number: u32, has_parts: bool) -> Self {
        let further = |path: &Path| match has_parts {
            // It has the number of the first part already.
            true => numbered_part(&numbered(&without_part(path), number), 1),
            false => numbered(path, number),
        };
        match self {
            _ if number == 1 => self,
            Self::Named { path, force } => Self::Named {
                path: further(&path),
                force,
            },
            Self::Default { name } => Self::Named {
                path: further(&default_pattern(&name, &ProcessContext)),
                force: false,
            },
            Self::Standard => self,
        }
    }

    /// Opens the file for writing. Until [`OpenedTarget::settle`] it may have a provisional name, and no
    /// existing file is touched.
    pub(super) fn open(&self) -> anyhow::Result<OpenedTarget> {
        match self {
            Self::Named { path, force } => named(path, *force),
            Self::Default { name } => {
                let pattern = default_pattern(name, &ProcessContext);
                late(NamePattern::expand(&pattern, &ProcessContext)?)
            }
            Self::Standard => Ok(OpenedTarget {
                file: standard_output()?,
                path: None,
                is_own: false,
                wanted: FinalName::This,
            }),
        }
    }
}

impl OpenedTarget {
    /// Gives the file its final name, now that the program runs and its pid is known.
    pub(super) fn settle(&mut self, pid: u32, say: Notify) {
        let Some(path) = &mut self.path else { return };
        let mut is_reported = false;
        let wanted = match std::mem::replace(&mut self.wanted, FinalName::This) {
            FinalName::This => return,
            FinalName::Replace { path: wanted, old } => {
                // Under the lock of the replaced file, so that no other recorder replaces it now.
                if is_named(&old, &wanted) && fs::rename(&path, &wanted).is_ok() {
                    *path = wanted;
                    return;
                }
                is_reported = true;
                wanted
            }
            FinalName::Late { name } => name.with_pid(pid),
        };
        // The recording is not worth losing over its name.
        if let Ok(name) = take_free_name(path, &wanted) {
            *path = name;
        }
        if is_reported && *path != wanted {
            let (wanted, path) = (wanted.display(), path.display());
            say(&format!(
                "{wanted} could not be replaced; the trace is {path}"
            ));
        }
    }

    /// Removes the new file only: the program could not be launched.
    pub(super) fn discard(self) {
        if let Some(path) = &self.path
            && self.is_own
            && is_named(&self.file, path)
        {
            let _ = fs::remove_file(path);
        }
    }
}

/// `./NAME-PID.atrace`, or `./NAME-rankRANK-PID.atrace`.
fn default_pattern(program: &str, open_locked: &impl NameContext) -> PathBuf {
    let mut name = program.to_owned();
    name.truncate(name.floor_char_boundary(LONGEST));
    let name = name.replace('%', "%%");
    let rank = open_locked
        .rank()
        .map_or_else(String::new, |it| format!("-rank{it}"));
    PathBuf::from(format!("./{name}{rank}-%p.atrace"))
}

fn named(pattern: &Path, force: bool) -> anyhow::Result<OpenedTarget> {
    let name = NamePattern::expand(pattern, &ProcessContext)?;
    let Some(path) = name.fixed() else {
        return late(name);
    };
    match create(&path) {
        Ok(file) => open_locked(file, path, FinalName::This),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing(path, force),
        Err(error) => Err(error).with_context(|| cannot(&path)),
    }
}

/// A file with a name that is known later.
fn late(name: NamePattern) -> anyhow::Result<OpenedTarget> {
    let (file, path) = provisional(&name.without_pid())?;
    open_locked(file, path, FinalName::Late { name })
}

/// An existing file.
fn existing(path: PathBuf, force: bool) -> anyhow::Result<OpenedTarget> {
    let shown = path.display();
    let found = fs::metadata(&path).with_context(|| cannot(&path))?;
    if found.is_dir() {
        bail!("{shown} is a folder: name a file for the trace");
    }
    if !found.is_file() {
        // A pipe or a device: nothing that could be replaced.
        let file = OpenOptions::new().write(true).open(&path);
        return Ok(OpenedTarget {
            file: file.with_context(|| cannot(&path))?,
            path: Some(path),
            is_own: false,
            wanted: FinalName::This,
        });
    }
    if !force {
        bail!("{shown} exists: --force replaces it{}", several());
    }
    if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        bail!("{shown} is a symbolic link, which --force does not follow: name the file itself");
    }
    let old = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(&path)
        .with_context(|| cannot(&path))?;
    if !lock(&old) || !is_named(&old, &path) {
        bail!(busy(&path));
    }
    let (file, new) = provisional(&path)?;
    open_locked(file, new, FinalName::Replace { path, old })
}

fn open_locked(file: File, path: PathBuf, wanted: FinalName) -> anyhow::Result<OpenedTarget> {
    if !lock(&file) {
        // Between creation and lock, another recorder has begun to replace it.
        bail!(busy(&path));
    }
    Ok(OpenedTarget {
        file,
        path: Some(path),
        is_own: true,
        wanted,
    })
}

/// Makes a file that was not there; a link is not followed.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create_new(true);
    options.mode(MODE).open(path)
}

/// A file in the folder of `path`, from where it can be renamed.
pub(super) fn provisional(path: &Path) -> anyhow::Result<(File, PathBuf)> {
    let pid = std::process::id();
    for number in 0..TRIES {
        let name = format!(".ascend-trace-{pid}-{number}.new");
        // A path that begins with "./" keeps that.
        let new = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.join(name),
            _ => PathBuf::from(name),
        };
        match create(&new) {
            Ok(file) => return Ok((file, new)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| cannot(path)),
        }
    }
    bail!("{}: the folder is full of unfinished traces", cannot(path))
}

/// Takes the lock that the owner of a trace holds; `false` when another process has it. Where the file
/// system knows no locks, only the creation of the file keeps two owners apart.
pub(super) fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Whether the name is still that of this file.
pub(super) fn is_named(file: &File, path: &Path) -> bool {
    let id = |it: Metadata| (it.dev(), it.ino());
    let (open_locked, found) = (file.metadata(), fs::symlink_metadata(path));
    open_locked.is_ok_and(|open_locked| found.is_ok_and(|found| id(open_locked) == id(found)))
}

fn cannot(path: &Path) -> String {
    format!("{ADVICE}: {}", path.display())
}

fn busy(path: &Path) -> String {
    let shown = path.display();
    format!(
        "{shown} belongs to another recording that is under way{}",
        several()
    )
}

/// Advice for several equal recordings that need different files.
fn several() -> &'static str {
    match ProcessContext.rank() {
        Some(_) => "; put %r (the rank) in the name to give each its own file",
        None => "; put %p (the program's pid) in the name to give each run its own file",
    }
}

fn standard_output() -> anyhow::Result<File> {
    if io::stdout().is_terminal() {
        bail!("--output -: standard output is a terminal; name a file, or send it on with > or |");
    }
    let open_locked = io::stdout().as_fd().try_clone_to_owned();
    Ok(open_locked
        .context("--output -: no standard output")?
        .into())
}

/// The name of the file with this number, of a recording with several: `first` is that of the first one, or has no number yet.
pub(super) fn numbered_part(first: &Path, number: u32) -> PathBuf {
    let plain = without_part(first);
    with_suffix(&plain, &format!("-{number:04}"))
}

/// The name without the number of a first part.
fn without_part(first: &Path) -> PathBuf {
    let stem = first.file_stem().and_then(|it| it.to_str());
    let Some(plain) = stem.and_then(|it| it.strip_suffix("-0001")) else {
        return first.to_owned();
    };
    let mut name = OsString::from(plain);
    if let Some(extension) = first.extension() {
        name.push(".");
        name.push(extension);
    }
    first.with_file_name(name)
}

/// The name with a number before its extension, from the second one on.
fn numbered(path: &Path, number: u32) -> PathBuf {
    match number {
        1 => path.to_owned(),
        _ => with_suffix(path, &format!("-{number}")),
    }
}

/// The name with this before its extension.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(suffix);
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// Gives a file a name, with a number if it is taken. Returns the name.
pub(super) fn take_free_name(from: &Path, wanted: &Path) -> io::Result<PathBuf> {
    take_free_number(from, wanted, 1)
}

/// The same, with this number or a larger one. The number 1 is not in the name.
pub(super) fn take_free_number(from: &Path, wanted: &Path, first: u32) -> io::Result<PathBuf> {
    let numbers = first..first.saturating_add(TRIES);
    for candidate in numbers.map(|number| numbered(wanted, number)) {
        match rename_without_replacing(from, &candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Gives a file the rights of another one.
pub(super) fn copy_rights(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::EXIST) => Err(io::ErrorKind::AlreadyExists.into()),
        // Some network file systems know no such rename. A link does not replace anything either.
        Err(_) => match fs::hard_link(from, to) {
            Ok(()) => fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if fs::symlink_metadata(to).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            // Nor has every file system links.
            Err(_) => fs::rename(from, to),
        },
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn open(path: &Path, force: bool) -> anyhow::Result<OpenedTarget> {
        let path = path.to_owned();
        TraceTarget::Named { path, force }.open()
    }

    fn refusal(path: &Path, force: bool) -> String {
        format!("{:#}", open(path, force).unwrap_err())
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("a"), root.path().join("b"));
        fs::write(&from, "new").unwrap();
        fs::write(&to, "old").unwrap();
        let error = rename_without_replacing(&from, &to).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&to).unwrap(), "old");
        fs::remove_file(&to).unwrap();
        rename_without_replacing(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "new");
    }

    #[test]
    fn a_file_to_replace_stays_until_the_program_runs() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("t.atrace");
        fs::write(&path, "old").unwrap();
        open(&path, true).unwrap().discard();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let mut opened = open(&path, true).unwrap();
        opened.settle(7, |_| {});
        assert_eq!(opened.path.as_deref(), Some(path.as_path()));
        assert_eq!(fs::metadata(&path).unwrap().len(), 0);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, MODE);
        assert_eq!(names(root.path()), ["t.atrace"]);
    }

    #[test]
    fn a_trace_under_recording_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("t.atrace");
        let first = open(&path, false).unwrap();
        assert!(refusal(&path, true).contains("under way"));
        assert!(refusal(&path, false).contains("exists"));
        drop(first);
        // Nor while another one is about to.
        let _second = open(&path, true).unwrap();
        assert!(refusal(&path, true).contains("under way"));
    }

    #[test]
    fn links_are_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let (link, victim) = (root.path().join("link"), root.path().join("victim"));
        symlink(&victim, &link).unwrap();
        assert!(open(&link, false).is_err(), "it leads nowhere");
        assert!(!victim.exists());
        fs::write(&victim, "precious").unwrap();
        assert!(refusal(&link, true).contains("symbolic link"));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn a_file_that_appeared_meanwhile_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("t.atrace");
        fs::write(&path, "old").unwrap();
        let mut opened = open(&path, true).unwrap();
        fs::rename(&path, root.path().join("moved")).unwrap();
        fs::write(&path, "another").unwrap();
        opened.settle(7, |_| {});
        assert_eq!(fs::read_to_string(&path).unwrap(), "another");
        assert_eq!(names(root.path()), ["moved", "t-2.atrace", "t.atrace"]);
    }

    #[test]
    fn the_pid_comes_when_it_is_known() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("x-7.atrace"), "old").unwrap();
        let mut opened = open(&root.path().join("x-%p.atrace"), true).unwrap();
        opened.settle(7, |_| {});
        assert_eq!(names(root.path()), ["x-7-2.atrace", "x-7.atrace"]);
    }

    #[test]
    fn a_default_name_has_the_rank_and_is_short_enough() {
        struct RankContext(Option<&'static str>);
        impl NameContext for RankContext {
            fn variable(&self, name: &std::ffi::OsStr) -> Option<std::ffi::OsString> {
                self.0.filter(|_| name == "RANK").map(Into::into)
            }
            fn host(&self) -> String {
                String::new()
            }
        }
        let pattern = |name: &str, rank| default_pattern(name, &RankContext(rank));
        assert_eq!(pattern("app", None), Path::new("./app-%p.atrace"));
        assert_eq!(
            pattern("a%p", Some("3")),
            Path::new("./a%%p-rank3-%p.atrace")
        );
        assert!(pattern(&"ä".repeat(200), None).as_os_str().len() < 200);
    }
}

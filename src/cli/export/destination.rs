//! The file or the folder that an export is written to.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_export::{ExportSink, Exporter, OutputLayout, SingleFile, is_rank_file};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cli::output_file;
use crate::output::print_status;

/// Stands for standard output.
pub(super) const STDOUT: &str = "-";

/// Beside the trace: `app-1.atrace` becomes `app-1.json` or the folder `app-1-csv`.
pub(super) fn default_output(trace: &Path, exporter: &dyn Exporter) -> PathBuf {
    match exporter.layout() {
        OutputLayout::File { extension } => trace.with_extension(extension),
        OutputLayout::Directory { .. }
        | OutputLayout::Ranks { .. }
        | OutputLayout::Folders { .. } => {
            let stem = trace
                .file_stem()
                .unwrap_or(trace.as_os_str())
                .to_string_lossy();
            trace.with_file_name(format!("{stem}-{}", exporter.name()))
        }
    }
}

/// Never overwrites the input file, by any of its names.
pub(super) fn refuse_input(
    input: &Path,
    output: &Path,
    exporter: &dyn Exporter,
) -> anyhow::Result<()> {
    let is_input = |path: &Path| output_file::is_same(input, path);
    let shown = match exporter.layout() {
        OutputLayout::File { .. } => Some(output.to_owned()).filter(|path| is_input(path)),
        layout => {
            let names = present(output, layout).into_iter();
            let mut paths = names.map(|name| output.join(name));
            paths.find(|path| is_input(path))
        }
    };
    match shown {
        Some(path) => bail!("{} is the trace itself: name another file", path.display()),
        None => Ok(()),
    }
}

/// The files of an export that are in a folder already.
fn present(folder: &Path, layout: OutputLayout) -> Vec<String> {
    match layout {
        OutputLayout::File { .. } => Vec::new(),
        OutputLayout::Directory { files } => {
            let files = files.iter().filter(|name| folder.join(name).exists());
            files.map(|name| (*name).to_owned()).collect()
        }
        OutputLayout::Ranks { ending } => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
            names.filter(|name| is_rank_file(name, ending)).collect()
        }
        OutputLayout::Folders { ending } => {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.path().is_dir());
            let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
            names.filter(|name| name.ends_with(ending)).collect()
        }
    }
}

/// Refuses a folder with files of an earlier export, without `force`.
pub(super) fn check_folder(path: &Path, layout: OutputLayout, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    if path == Path::new(STDOUT) || (path.exists() && !path.is_dir()) {
        bail!("{shown} is not a folder: this format writes several files into one");
    }
    match present(path, layout).first() {
        Some(name) if !force => bail!("{shown}/{name} exists: --force replaces it"),
        _ => Ok(()),
    }
}

/// Writes content to a file, compressed if its name ends in `.gz`.
pub(super) fn to_file(
    path: &Path,
    content: impl FnOnce(&mut dyn ExportSink<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    output_file::write(path, |file| {
        packed(file, is_packed, |out| content(&mut SingleFile::new(out)))
    })
}

/// Lets the content be written to a file, compressed if that is wanted.
pub(super) fn packed(
    mut file: File,
    is_packed: bool,
    content: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if !is_packed {
        // Exporters write in large pieces.
        return content(&mut file);
    }
    let writer = BufWriter::with_capacity(1 << 18, file);
    let mut packer = GzEncoder::new(writer, Compression::fast());
    content(&mut packer)?;
    packer.finish()?.flush()?;
    Ok(())
}

/// Writes into a temporary folder first, so that a failed export does not change existing files.
pub(super) fn to_folder(
    path: &Path,
    layout: OutputLayout,
    content: impl FnOnce(&mut dyn ExportSink<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let shown = path.display();
    let name = match path.file_name() {
        Some(_) => path.to_owned(),
        // Such as `.` or `/`, which cannot have a neighbour with a similar name.
        None => path.join("export"),
    };
    let place = output_file::temporary(&name);
    fs::create_dir_all(&place).with_context(|| format!("cannot make {}", place.display()))?;
    let written = content(&mut FolderSink(&place)).and_then(|()| {
        let moved = move_all(&place, path, &present(path, layout));
        moved.with_context(|| format!("cannot write {shown}"))
    });
    // The rest of the attempt is of no use.
    let _ = fs::remove_dir_all(&place);
    written?;
    print_status(format!("wrote {shown}/"));
    Ok(())
}

/// Moves the files of one folder to another, and removes the rest of an earlier export there: readers
/// take all files of a folder for one recording.
fn move_all(from: &Path, to: &Path, before: &[String]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut old: HashSet<OsString> = before.iter().map(OsString::from).collect();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        // No folder takes the place of one with files.
        if old.remove(&entry.file_name()) && place.is_dir() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(entry.path(), place)?;
    }
    for path in old.into_iter().map(|name| to.join(name)) {
        match path.is_dir() {
            true => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    Ok(())
}

/// Files in a folder, and in folders inside it.
struct FolderSink<'a>(&'a Path);

impl<'w> ExportSink<'w> for FolderSink<'_> {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Box::new(File::create(path)?))
    }
}

#[cfg(test)]
mod tests {
    use ascend_trace_export::format;

    use super::*;

    #[test]
    fn exports_are_named_after_the_trace() {
        let name = |name| {
            let exporter = format(name).unwrap();
            default_output(Path::new("runs/app-1.atrace"), exporter)
        };
        assert_eq!(name("chrome"), Path::new("runs/app-1.json"));
        assert_eq!(name("perfetto"), Path::new("runs/app-1.pftrace"));
        assert_eq!(name("csv"), Path::new("runs/app-1-csv"));
        assert_eq!(name("kineto"), Path::new("runs/app-1-kineto"));
    }

    #[test]
    fn ranks_of_an_export_before_are_replaced_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let (from, to) = (root.path().join("new"), root.path().join("to"));
        fs::create_dir_all(&from).unwrap();
        fs::create_dir_all(&to).unwrap();
        for name in ["rank-0.json", "rank-1.json", "rank-x.json", "notes"] {
            fs::write(to.join(name), "old").unwrap();
        }
        fs::write(from.join("rank-0.json"), "new").unwrap();
        let layout = OutputLayout::Ranks { ending: ".json" };
        let mut before = present(&to, layout);
        before.sort();
        assert_eq!(before, ["rank-0.json", "rank-1.json"]);
        assert!(check_folder(&to, layout, false).is_err());
        move_all(&from, &to, &before).unwrap();
        assert_eq!(fs::read_to_string(to.join("rank-0.json")).unwrap(), "new");
        assert!(!to.join("rank-1.json").exists());
        assert!(to.join("rank-x.json").exists() && to.join("notes").exists());
    }

    #[test]
    fn an_existing_file_is_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("tasks.csv");
        fs::write(&path, "old").unwrap();
        assert!(output_file::check(&path, false).is_err());
        assert!(output_file::check(&path, true).is_ok());
        let files = OutputLayout::Directory {
            files: &["calls.csv", "tasks.csv"],
        };
        assert!(check_folder(root.path(), files, false).is_err());
        assert!(check_folder(root.path(), files, true).is_ok());
        assert!(
            check_folder(&path, files, true).is_err(),
            "a file is not a folder"
        );
    }
}

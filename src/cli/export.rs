//! `export`: write a trace in another format.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_export::{Exporter, Layout, Single, Sink, Source, format};

use super::args::{ExportArgs, FormatWord};
use super::trace;
use crate::output::say;

/// Stands for standard output.
const STDOUT: &str = "-";

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let exporter = exporter(args.format)?;
    let output = match &args.output {
        Some(path) => path.clone(),
        None => default_output(&args.file, exporter),
    };
    // Before the work, not after it.
    match exporter.layout() {
        Layout::File { .. } if output == Path::new(STDOUT) => {}
        Layout::File { .. } => check_file(&output, args.force)?,
        Layout::Directory { files } => check_folder(&output, files, args.force)?,
    }
    let trace = trace::open(&args.file)?;
    let source = Source::new(&trace);
    match exporter.layout() {
        Layout::File { .. } if output == Path::new(STDOUT) => {
            let mut stdout = io::stdout().lock();
            export(exporter, &source, &mut Single(&mut stdout))?;
        }
        Layout::File { .. } => to_file(exporter, &source, &output)?,
        Layout::Directory { .. } => {
            fs::create_dir_all(&output)
                .with_context(|| format!("cannot make {}", output.display()))?;
            export(exporter, &source, &mut Folder(&output))?;
            say(format!("wrote {}/", output.display()));
        }
    }
    Ok(())
}

fn exporter(word: FormatWord) -> anyhow::Result<&'static dyn Exporter> {
    let name = match word {
        FormatWord::Chrome => "chrome",
        FormatWord::Csv => "csv",
        FormatWord::Perfetto => "perfetto",
        FormatWord::Parquet => bail!("--format parquet is not in this version; --format csv is"),
    };
    format(name).with_context(|| format!("--format {name} is not in this build"))
}

/// Beside the trace: `app-1.atrace` becomes `app-1.json` or the folder `app-1-csv`.
fn default_output(trace: &Path, exporter: &dyn Exporter) -> PathBuf {
    match exporter.layout() {
        Layout::File { extension } => trace.with_extension(extension),
        Layout::Directory { .. } => {
            let stem = trace
                .file_stem()
                .unwrap_or(trace.as_os_str())
                .to_string_lossy();
            trace.with_file_name(format!("{stem}-{}", exporter.name()))
        }
    }
}

fn check_file(path: &Path, force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => bail!("{shown} is a folder: name a file"),
        Ok(metadata) if metadata.is_file() && !force => {
            bail!("{shown} exists: --force replaces it")
        }
        _ => Ok(()),
    }
}

fn check_folder(path: &Path, files: &[&str], force: bool) -> anyhow::Result<()> {
    let shown = path.display();
    if path == Path::new(STDOUT) || (path.exists() && !path.is_dir()) {
        bail!("{shown} is no folder: this format writes several files into one");
    }
    match files.iter().find(|name| path.join(name).exists()) {
        Some(name) if !force => bail!("{shown}/{name} exists: --force replaces it"),
        _ => Ok(()),
    }
}

/// Writes beside the file first, so that a failed export leaves what was there.
fn to_file(exporter: &dyn Exporter, source: &Source<'_>, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    let place = if is_special {
        path.to_owned()
    } else {
        temporary(path)
    };
    let file = File::create(&place).with_context(|| format!("cannot write {shown}"))?;
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    let written = export(exporter, source, &mut Single(&mut writer)).and_then(|()| {
        writer
            .flush()
            .with_context(|| format!("cannot write {shown}"))
    });
    drop(writer);
    if is_special {
        return written;
    }
    let renamed = written
        .and_then(|()| fs::rename(&place, path).with_context(|| format!("cannot write {shown}")));
    match &renamed {
        Ok(()) => say(format!("wrote {shown}")),
        // What is left of the attempt is of no use.
        Err(_) => drop(fs::remove_file(&place)),
    }
    renamed
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

fn export(exporter: &dyn Exporter, source: &Source<'_>, sink: &mut dyn Sink) -> anyhow::Result<()> {
    exporter
        .export(source, sink)
        .with_context(|| format!("the {} export failed", exporter.name()))
}

/// Files in a folder.
struct Folder<'a>(&'a Path);

impl Sink for Folder<'_> {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + '_>> {
        let file = File::create(self.0.join(name))?;
        Ok(Box::new(BufWriter::with_capacity(1 << 20, file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exports_are_named_after_the_trace() {
        let name = |format| {
            let exporter = exporter(format).unwrap();
            default_output(Path::new("runs/app-1.atrace"), exporter)
        };
        assert_eq!(name(FormatWord::Chrome), Path::new("runs/app-1.json"));
        assert_eq!(name(FormatWord::Perfetto), Path::new("runs/app-1.pftrace"));
        assert_eq!(name(FormatWord::Csv), Path::new("runs/app-1-csv"));
    }

    #[test]
    fn formats_of_later_versions_say_so() {
        let message = exporter(FormatWord::Parquet).err().unwrap().to_string();
        assert!(message.contains("not in this version"), "{message}");
    }

    #[test]
    fn what_exists_is_replaced_only_by_force() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("tasks.csv");
        fs::write(&path, "old").unwrap();
        assert!(check_file(&path, false).is_err() && check_file(&path, true).is_ok());
        let files = ["calls.csv", "tasks.csv"];
        assert!(check_folder(root.path(), &files, false).is_err());
        assert!(check_folder(root.path(), &files, true).is_ok());
        assert!(
            check_folder(&path, &files, true).is_err(),
            "a file is no folder"
        );
    }
}

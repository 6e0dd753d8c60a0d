//! `export`: write a trace in another format.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_export::{
    ExportError, Exporter, Layout, Only, Single, Sink, Source, Wanted, format,
};
use ascend_trace_model::Trace;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::args::{ExportArgs, FormatWord};
use super::trace;
use crate::output::say;

/// Stands for standard output.
const STDOUT: &str = "-";

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let exporter = exporter(args.format)?;
    let only = only(&args.only)?;
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
    let range = args.range.and_then(|range| range.of(trace.span()));
    let source = Source::of(&trace, &Wanted { range, only });
    match exporter.layout() {
        Layout::File { .. } if output == Path::new(STDOUT) => {
            let mut stdout = io::stdout().lock();
            match export(exporter, &source, &mut Single(&mut stdout)) {
                // A reader that has seen enough, such as `head`, is no error.
                Err(error) if is_broken_pipe(&error) => {}
                written => written?,
            }
        }
        Layout::File { .. } => to_file(exporter, &source, &output)?,
        Layout::Directory { .. } => {
            fs::create_dir_all(&output)
                .with_context(|| format!("cannot make {}", output.display()))?;
            export(exporter, &source, &mut Folder(&output))?;
            say(format!("wrote {}/", output.display()));
        }
    }
    say_what_is_missing(&trace);
    Ok(())
}

/// The conditions of all `--only`.
fn only(conditions: &[String]) -> anyhow::Result<Only> {
    let mut only = Only::default();
    for condition in conditions {
        only.add(condition)
            .with_context(|| format!("--only {condition}"))?;
    }
    Ok(only)
}

/// Says what nobody may take for the whole. Damage, and that the recording goes on or was cut off,
/// was said when the trace was opened.
fn say_what_is_missing(trace: &Trace) {
    let losses = trace.losses();
    if losses.calls + losses.others > 0 {
        say(format!(
            "{} calls and {} other records were lost while recording",
            losses.calls, losses.others
        ));
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = match error.downcast_ref::<ExportError>() {
        Some(ExportError::Write(error) | ExportError::Open { error, .. }) => error,
        None => return false,
    };
    cause.kind() == io::ErrorKind::BrokenPipe
}

fn exporter(word: FormatWord) -> anyhow::Result<&'static dyn Exporter> {
    let name = match word {
        FormatWord::Chrome => "chrome",
        FormatWord::Csv => "csv",
        FormatWord::Perfetto => "perfetto",
        FormatWord::Parquet => "parquet",
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
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let written = into_file(exporter, source, file, is_packed)
        .with_context(|| format!("cannot write {shown}"));
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

fn into_file(
    exporter: &dyn Exporter,
    source: &Source<'_>,
    file: File,
    is_packed: bool,
) -> anyhow::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 20, file);
    if is_packed {
        let mut packer = GzEncoder::new(&mut writer, Compression::fast());
        export(exporter, source, &mut Single(&mut packer))?;
        packer.finish()?;
    } else {
        export(exporter, source, &mut Single(&mut writer))?;
    }
    writer.flush()?;
    Ok(())
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
    fn a_condition_that_means_nothing_is_refused() {
        let refused = |condition: &str| format!("{:#}", only(&[condition.to_owned()]).unwrap_err());
        assert!(refused("strm=1").contains("device, stream, kind"));
        assert!(refused("stream=one").contains("`one` is no number"));
        assert!(refused("kind=kernal").contains("kernel, "));
        assert!(only(&["stream=1,2".to_owned(), "name=*MatMul*".to_owned()]).is_ok());
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

//! What to say, and what to do, when a trace cannot be opened.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Error, anyhow};

use ascend_trace_recording::OpenError;

use super::meant_command::EXTENSION;

/// The error with the file's name and what to do.
pub(crate) fn explained(path: &Path, error: OpenError) -> Error {
    let context = format!("cannot open {}", path.display());
    let OpenError::Io(error) = error else {
        return Error::new(error).context(context);
    };
    match error.kind() {
        ErrorKind::NotFound => anyhow!("{context}: {}", missing(path)),
        ErrorKind::IsADirectory => anyhow!("{context}: it is a folder. {}", inside(path)),
        ErrorKind::PermissionDenied => anyhow!(
            "{context}: you may not read it. Only the user who records a trace can read it: use `chmod` as that user"
        ),
        _ => Error::new(error).context(context),
    }
}

fn missing(path: &Path) -> String {
    let mut longer = path.as_os_str().to_owned();
    longer.push(".");
    longer.push(EXTENSION);
    match Path::new(&longer).is_file() {
        true => format!("there is no such file. Name {}", longer.display()),
        false => "there is no such file. Check the name and its folder: a trace is called APP-PID.atrace unless \
                  `-o` names it"
            .to_owned(),
    }
}

/// Which trace of a folder to name.
fn inside(folder: &Path) -> String {
    let traces = traces(folder);
    match traces.as_slice() {
        [] => "Name a trace file; this folder has no trace file".to_owned(),
        [one] => format!("Name the trace in it: {}", one.display()),
        [one, ..] => format!(
            "Name one of its {} traces, such as {}",
            traces.len(),
            one.display()
        ),
    }
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut traces: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == EXTENSION))
        .collect();
    traces.sort();
    traces
}

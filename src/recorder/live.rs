//! A recording that is watched while it is made.

use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::Context;

use ascend_trace_viewer::ViewOptions;

use super::report_output::{beside, create_private};
use super::{EndedRecording, RunningProgram};
use crate::control::ControlledRecording;
use crate::launch::program_terminal::ProgramTerminal;
use crate::log::LogBook;
use crate::output::{MessageHold, print_message, print_status};
use crate::view_source::{self, FileSource};

/// Shows the trace while the program runs, and after that until the user has seen enough. The
/// recording does not depend on the view: it goes on when the view is closed or cannot be shown.
pub(crate) fn follow(
    running: RunningProgram,
    screen: ProgramTerminal,
    title: String,
) -> anyhow::Result<EndedRecording> {
    let path = running
        .recording
        .path
        .clone()
        .context("a trace on standard output cannot be watched")?;
    let log = LogBook::default();
    let (kept_in, file) = log_file(&path).unzip();
    let keeper = screen
        .keep_log(log.clone(), file)
        .context("cannot keep the program's output")?;
    let sized = screen.handle();
    let program = running.child.pid();
    running.recording.relay.address_session(
        program,
        running.child.session_leader().unwrap_or(program),
        Box::new(move || sized.follow_size()),
    );
    let controlled = running.recording.controlled.clone();
    let waiter = std::thread::Builder::new()
        .name("waiter".into())
        .spawn(move || running.wait())
        .context("cannot wait for the program")?;
    let shown = without_ending_the_recording(|| show(&path, &log, controlled, title));
    if let Err(error) = &shown {
        print_message(format!("no live view: {error:#}"));
    }
    if !waiter.is_finished() {
        log.pass_through();
        print_status("the view is closed; the program runs on and is recorded, Ctrl-C ends it");
    }
    let ended = join(waiter);
    keeper.finish();
    screen.leave(kept_in.as_deref());
    let log = kept_in.filter(|path| has_content(path));
    Ok(EndedRecording { log, ..ended? })
}

/// Shows the view so that a fault in it cannot end the recording. By then the terminal has been
/// restored, and the fault reported.
fn without_ending_the_recording<T>(show: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let shown = std::panic::catch_unwind(AssertUnwindSafe(show));
    shown.unwrap_or_else(|_| Err(anyhow::anyhow!("it failed; please report the lines above")))
}

/// Whether the program wrote anything; the file of one that did not is removed.
fn has_content(path: &Path) -> bool {
    let is_empty = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0);
    if is_empty {
        // An empty file that stays is only untidy.
        let _ = std::fs::remove_file(path);
    }
    !is_empty
}

fn show(
    path: &Path,
    log: &LogBook,
    controlled: ControlledRecording,
    title: String,
) -> anyhow::Result<Option<i32>> {
    let gauge = Arc::clone(&controlled.gauge);
    let source = FileSource::recording(path, log.clone(), gauge)?;
    let mut source = source.controlled(controlled);
    // A message would spoil the screen; it is printed when the screen is restored.
    let _hold = MessageHold::new();
    view_source::show(
        &mut source,
        ViewOptions {
            title,
            live: true,
            ..ViewOptions::default()
        },
    )
}

fn join(waiter: JoinHandle<anyhow::Result<EndedRecording>>) -> anyhow::Result<EndedRecording> {
    match waiter.join() {
        Ok(ended) => ended,
        Err(_) => anyhow::bail!("the thread that waits for the program has failed"),
    }
}

/// `FILE.log`, unless there is one: then the output is only shown.
fn log_file(trace: &Path) -> Option<(PathBuf, File)> {
    let path = beside(trace, ".log");
    match create_private(&path) {
        Ok(file) => Some((path, file)),
        Err(error) => {
            print_message(format!(
                "the program's output is not kept in {}: {error}",
                path.display()
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_private_and_no_link_is_followed() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let root = tempfile::tempdir().unwrap();
        let (path, file) = log_file(&root.path().join("t.atrace")).unwrap();
        assert!(path.ends_with("t.atrace.log"));
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        let victim = root.path().join("victim");
        symlink(&victim, root.path().join("u.atrace.log")).unwrap();
        assert!(log_file(&root.path().join("u.atrace")).is_none());
        assert!(!victim.exists());
    }

    #[test]
    fn a_view_that_panics_is_an_error_and_nothing_more() {
        assert_eq!(without_ending_the_recording(|| Ok(7)).unwrap(), 7);
        let error =
            without_ending_the_recording(|| -> anyhow::Result<()> { panic!("as a mistake would") });
        assert!(error.unwrap_err().to_string().contains("report"));
    }
}

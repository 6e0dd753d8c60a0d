//! Two trace files in one view.

use anyhow::bail;
use ascend_trace_viewer::{ViewOptions, ViewOutcome};

use super::comparing::RunningComparison;
use super::whole_check::WholeCheck;
use super::{FileSource, file_first, view_options, writer_lock};
use crate::cli::open_trace::Completeness;
use crate::cli::trace_files::TraceFiles;
use crate::output::print_message;

/// Shows two files until the user has seen enough; `by` picks out the ranges that are steps. Returns the signal that ended
/// the view, if any, and how complete each file is.
pub(crate) fn view_two(
    files: &[TraceFiles; 2],
    by: Option<String>,
    strict: bool,
) -> anyhow::Result<(Option<i32>, [Completeness; 2])> {
    let [a, b] = files;
    let paths = files.each_ref().map(TraceFiles::last);
    let mut sources = [FileSource::open(a)?, FileSource::open(b)?];
    for path in paths {
        if writer_lock::is_held(path) == Some(true) {
            bail!(
                "{} is still being recorded: two recordings in one view must have ended",
                path.display()
            );
        }
    }
    file_first(&paths)?;
    ascend_trace_viewer::check_terminal_for_two()?;
    let checks = match strict {
        true => Some([WholeCheck::start(a)?, WholeCheck::start(b)?]),
        false => None,
    };
    let mut comparer = RunningComparison::start(files, by)?;
    let (wanted, wrong) = view_options();
    wrong.iter().for_each(print_message);
    let options = files.each_ref().map(|it| ViewOptions {
        title: it.name().display().to_string(),
        ..wanted.clone()
    });
    let [one, other] = &mut sources;
    let signal = match ascend_trace_viewer::run_pair([one, other], &mut comparer, options)? {
        ViewOutcome::Quit => None,
        ViewOutcome::Signal(number) => Some(number),
    };
    let [one, other] = sources;
    let conditions = match checks.filter(|_| signal.is_none()) {
        Some([a, b]) => [a.finish()?, b.finish()?],
        None => [one.condition(), other.condition()],
    };
    Ok((signal, conditions))
}

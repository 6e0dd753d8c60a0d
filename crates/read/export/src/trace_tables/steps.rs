//! `steps`: one row per step of a training loop: the parts of its time, and its bounds.

use std::io;

use ascend_trace_analysis::stats::StepStats;
use ascend_trace_recording::{Thread, ThreadId};

use super::{TableColumn, TableWriter, declared, write_table};
use crate::ExportSource;
use crate::trace_facts::ExportTotals;

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, &'s StepStats>> {
    declared(|row: &&StepStats| *row)
}

pub(super) fn write(
    source: &ExportSource<'_>,
    facts: &ExportTotals,
    writer: &mut impl TableWriter,
) -> io::Result<()> {
    if let Some(found) = &source.steps {
        let steps = found.iter().filter(|it| is_wanted(source, it));
        return write_table(writer, &columns(), steps);
    }
    let trace = source.trace;
    let ranges = trace.ranges().iter();
    let steps = ranges
        .filter(|it| source.selection.thread(it.thread))
        .filter(|it| source.selection.span(it.begin, it.end))
        .filter_map(|it| facts.steps().of_range(trace, it));
    let mut steps: Vec<&StepStats> = steps.collect();
    steps.sort_by_key(|row| (row.begin_ns, row.process));
    write_table(writer, &columns(), steps.into_iter())
}

/// Whether a step that was found is one of the selection.
fn is_wanted(source: &ExportSource<'_>, step: &StepStats) -> bool {
    let trace = source.trace;
    let is_its = |thread: &Thread| {
        let process = trace.process(thread.process).serial;
        (process, thread.tid) == (step.process, step.tid)
    };
    let mut threads = (0..).map(ThreadId).zip(trace.threads());
    let thread = threads.find(|it| is_its(it.1)).map(|it| it.0);
    source
        .selection
        .span(step.begin_ns, step.begin_ns + step.length_ns)
        && thread.is_some_and(|it| source.selection.thread(it))
}

//! `steps`: one row per step of a training loop: the parts of its time, and its bounds.

use std::io;

use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_recording::{Thread, ThreadId};

use super::{TableColumn, TableWriter, write_table};
use crate::ExportSource;
use crate::trace_facts::TraceFacts;

pub(super) fn columns<'s>() -> Vec<TableColumn<'s, &'s StepStats>> {
    vec![
        // Number of the process: several processes may have the same pid.
        TableColumn::number("process", |row, cell| cell.put(row.process)),
        TableColumn::number("pid", |row, cell| cell.put(row.pid)),
        TableColumn::unsigned("rank", |row, cell| cell.maybe(row.rank)),
        TableColumn::number("tid", |row, cell| cell.put(row.tid)),
        TableColumn::word("name", |row, cell| cell.put(row.name.as_str())),
        TableColumn::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        TableColumn::number("length_ns", |row, cell| cell.put(row.length_ns)),
        // These four make up the length.
        TableColumn::number("compute_ns", |row, cell| cell.put(row.compute_ns)),
        TableColumn::number("exposed_communication_ns", |row, cell| {
            cell.put(row.exposed_communication_ns);
        }),
        TableColumn::number("exposed_copy_ns", |row, cell| cell.put(row.exposed_copy_ns)),
        TableColumn::number("idle_ns", |row, cell| cell.put(row.idle_ns)),
        // These five make up the idle time.
        TableColumn::number("loading_ns", |row, cell| cell.put(row.loading_ns)),
        TableColumn::number("python_ns", |row, cell| cell.put(row.python_ns)),
        TableColumn::number("planning_ns", |row, cell| cell.put(row.planning_ns)),
        TableColumn::number("queue_ns", |row, cell| cell.put(row.queue_ns)),
        TableColumn::number("launch_ns", |row, cell| cell.put(row.launch_ns)),
        // Including the time that is hidden behind other work.
        TableColumn::number("communication_ns", |row, cell| {
            cell.put(row.communication_ns)
        }),
        TableColumn::number("copy_ns", |row, cell| cell.put(row.copy_ns)),
        TableColumn::number("tasks", |row, cell| cell.put(row.tasks as usize)),
        TableColumn::number("untimed", |row, cell| cell.put(row.untimed as usize)),
        TableColumn::word("verdict", |row, cell| {
            cell.maybe(row.verdict.map(Verdict::name));
        }),
        // By how much the times of devices may be off.
        TableColumn::number("error_ns", |row, cell| cell.put(row.error_ns)),
    ]
}

pub(super) fn write(
    source: &ExportSource<'_>,
    facts: &TraceFacts,
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

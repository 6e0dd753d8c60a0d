//! `steps`: one row per step of a training loop: the parts of its time, and its bounds.

use std::io;

use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_recording::{Thread, ThreadId};

use super::{Column, TableWriter, write_table};
use crate::Source;
use crate::facts::Facts;

pub(super) fn columns<'s>() -> Vec<Column<'s, &'s StepStats>> {
    vec![
        // Number of the process: several processes may have the same pid.
        Column::number("process", |row, cell| cell.put(row.process)),
        Column::number("pid", |row, cell| cell.put(row.pid)),
        Column::unsigned("rank", |row, cell| cell.maybe(row.rank)),
        Column::number("tid", |row, cell| cell.put(row.tid)),
        Column::word("name", |row, cell| cell.put(row.name.as_str())),
        Column::number("begin_ns", |row, cell| cell.put(row.begin_ns)),
        Column::number("length_ns", |row, cell| cell.put(row.length_ns)),
        // These four make up the length.
        Column::number("compute_ns", |row, cell| cell.put(row.compute_ns)),
        Column::number("exposed_communication_ns", |row, cell| {
            cell.put(row.exposed_communication_ns);
        }),
        Column::number("exposed_copy_ns", |row, cell| cell.put(row.exposed_copy_ns)),
        Column::number("idle_ns", |row, cell| cell.put(row.idle_ns)),
        // These five make up the idle time.
        Column::number("loading_ns", |row, cell| cell.put(row.loading_ns)),
        Column::number("python_ns", |row, cell| cell.put(row.python_ns)),
        Column::number("planning_ns", |row, cell| cell.put(row.planning_ns)),
        Column::number("queue_ns", |row, cell| cell.put(row.queue_ns)),
        Column::number("launch_ns", |row, cell| cell.put(row.launch_ns)),
        // Including the time that is hidden behind other work.
        Column::number("communication_ns", |row, cell| {
            cell.put(row.communication_ns)
        }),
        Column::number("copy_ns", |row, cell| cell.put(row.copy_ns)),
        Column::number("tasks", |row, cell| cell.put(row.tasks as usize)),
        Column::number("untimed", |row, cell| cell.put(row.untimed as usize)),
        Column::word("verdict", |row, cell| {
            cell.maybe(row.verdict.map(Verdict::name));
        }),
        // By how much the times of devices may be off.
        Column::number("error_ns", |row, cell| cell.put(row.error_ns)),
    ]
}

pub(super) fn write(
    source: &Source<'_>,
    facts: &Facts,
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
fn is_wanted(source: &Source<'_>, step: &StepStats) -> bool {
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

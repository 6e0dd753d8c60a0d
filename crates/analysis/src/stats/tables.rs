//! The rows of the tables.

use std::borrow::Cow;
use std::collections::HashMap;

use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_model::{Call, Function, Task, Trace};

use super::{ApiStats, Durations, OperationStats};

pub(super) type Range = Option<(i64, i64)>;

/// Whether an interval has a part in the range.
pub(super) fn overlaps(range: Range, begin: i64, end: i64) -> bool {
    range.is_some_and(|range| begin <= range.1 && end >= range.0)
}

/// When a task kept anyone busy: its own time, or that of its call when it has none.
pub(super) fn extent(trace: &Trace, task: &Task) -> (i64, i64) {
    let call = trace.call(task.call);
    task.time
        .map_or((call.begin, call.end), |time| (time.begin, time.end))
}

fn tasks_in(trace: &Trace, range: Range) -> impl Iterator<Item = &Task> {
    trace.tasks().iter().filter(move |task| {
        let (begin, end) = extent(trace, task);
        overlaps(range, begin, end)
    })
}

/// Waits and records occupy a stream but are not work.
fn is_work(kind: TaskKind) -> bool {
    !matches!(kind, TaskKind::Wait | TaskKind::Record)
}

/// What an operation is told by: its name, or the graph that it replays; and its kind.
pub(super) type Operation<'t> = (&'t str, Option<u32>, TaskKind);

/// All replays of a graph are one operation, whatever their calls are named.
pub(super) fn replayed(trace: &Trace, task: &Task) -> Option<u32> {
    let graph = trace.call(task.call).graph?;
    (graph.index > 0 && trace.runs(task)).then_some(graph.serial)
}

pub(super) fn operations(trace: &Trace, range: Range) -> Vec<OperationStats> {
    let mut told: HashMap<Operation<'_>, (u64, Vec<i64>)> = HashMap::new();
    for task in tasks_in(trace, range) {
        let graph = replayed(trace, task);
        let name = graph.map_or_else(|| trace.task_name(task), |_| "");
        let group = told.entry((name, graph, task.kind)).or_default();
        group.0 += 1;
        group.1.extend(task.time.map(|time| time.end - time.begin));
    }
    let groups = told
        .into_iter()
        .map(|((name, graph, kind), (count, mut values))| {
            let time = Durations::of(&mut values);
            ((name, graph, kind), (count, time))
        });
    operation_rows(groups)
}

/// The rows of operations that are summed up.
pub(super) fn operation_rows<'t>(
    groups: impl Iterator<Item = (Operation<'t>, (u64, Durations))>,
) -> Vec<OperationStats> {
    let mut work = 0;
    let mut rows = Vec::new();
    for ((name, graph, kind), (count, time)) in groups {
        let name: Cow<'_, str> = graph.map_or(name.into(), |graph| format!("graph {graph}").into());
        if is_work(kind) {
            work += time.total_ns;
        }
        rows.push((kind, name, count, time));
    }
    rows.sort_by(
        |(kind, name, _, time), (other_kind, other_name, _, other)| {
            (-time.total_ns, name, kind).cmp(&(-other.total_ns, other_name, other_kind))
        },
    );
    let row =
        |(kind, name, count, time): (TaskKind, Cow<'_, str>, u64, Durations)| OperationStats {
            name: name.into_owned(),
            kind: kind.name(),
            count,
            time,
            share: (is_work(kind) && work > 0).then(|| time.total_ns as f64 / work as f64),
        };
    rows.into_iter().map(row).collect()
}

pub(super) fn apis(trace: &Trace, range: Range) -> Vec<ApiStats> {
    let mut values: Vec<Vec<i64>> = vec![Vec::new(); trace.functions().len()];
    let mut errors = vec![0; values.len()];
    let mut nested = vec![0; values.len()];
    let inside = |call: &&Call| overlaps(range, call.begin, call.end);
    for call in trace.calls().iter().filter(inside) {
        let function = call.function.index();
        let failed = trace.functions()[function].ret == RetKind::Error && call.ret != 0;
        values[function].push(call.end - call.begin);
        errors[function] += u64::from(failed);
        nested[function] += u64::from(call.depth > 0);
    }
    let sums = values.into_iter().zip(errors).zip(nested);
    let sums = sums.map(|((mut values, errors), nested)| {
        let time = Durations::of(&mut values);
        (time, errors, nested)
    });
    api_rows(trace.functions(), sums)
}

/// The rows of functions, of which durations, errors and nested calls are summed up.
pub(super) fn api_rows(
    functions: &[Function],
    sums: impl Iterator<Item = (Durations, u64, u64)>,
) -> Vec<ApiStats> {
    let called = functions.iter().zip(sums);
    let called = called.filter(|(_, (time, ..))| time.count > 0);
    let rows = called.map(|(function, (time, errors, nested))| ApiStats {
        name: function.name.clone(),
        category: function.category.clone(),
        count: time.count,
        errors,
        nested,
        time,
    });
    let mut rows: Vec<ApiStats> = rows.collect();
    rows.sort_by(|a, b| (-a.time.total_ns, &a.name).cmp(&(-b.time.total_ns, &b.name)));
    rows
}

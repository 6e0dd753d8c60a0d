//! Tables of training loops: steps by verdict, and the longest ones.

use std::collections::BTreeMap;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::columns::{ColumnKind, TableRow, Value};
use ascend_trace_analysis::stats::{HOST, StepStats, Verdict};
use ascend_trace_recording::units::duration;

use crate::text_table::{TableRows, TextTable, count, declared};

/// Steps of a table, of which the longest are listed.
const LONGEST: usize = 10;

/// The table with the word of the processes for the time of the program.
pub(in crate::cli) fn with_host_word<'s>(
    table: TextTable,
    mut steps: impl Iterator<Item = &'s StepStats>,
) -> TextTable {
    match steps.next().map(|it| it.host_word) {
        Some(word) if steps.all(|it| it.host_word == word) => table.retitled(HOST, word),
        _ => table,
    }
}

/// Mean times of the steps of each process by verdict.
pub(super) fn verdicts(stats: &Stats) -> TextTable {
    let mut groups: BTreeMap<(u32, Option<Verdict>), Vec<&StepStats>> = BTreeMap::new();
    for step in &stats.steps {
        groups
            .entry((step.process, step.verdict))
            .or_default()
            .push(step);
    }
    let mut rows = TableRows::of(groups)
        .right("process", |it| it.0.0)
        .left("verdict", |it| {
            it.0.1.map_or("too few times", Verdict::name)
        })
        .right("steps", |it| count(it.1.len() as u64))
        .right("by %", |((_, verdict), steps)| match verdict {
            Some(_) => percent(
                sum(steps, StepStats::share_ns),
                sum(steps, |it| it.length_ns),
            ),
            None => "–".to_owned(),
        });
    let times = StepStats::columns().filter(|it| it.is_in_text && it.kind == ColumnKind::Duration);
    for column in times.filter(|it| it.key != "error_ns") {
        let time = |step: &StepStats| match (column.value)(step) {
            Value::Whole(time) => time,
            _ => 0,
        };
        let title = if column.key == "length_ns" {
            "mean"
        } else {
            column.title
        };
        rows = rows.right(title, |it| {
            duration(sum(&it.1, time) / it.1.len().max(1) as i64)
        });
    }
    with_host_word(rows.table(), stats.steps.iter())
}

fn sum(steps: &[&StepStats], part: impl Fn(&StepStats) -> i64) -> i64 {
    steps.iter().map(|it| part(it)).sum()
}

fn percent(part: i64, whole: i64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1}", part as f64 / whole as f64 * 100.0),
    }
}

/// The longest steps.
pub(super) fn longest(stats: &Stats, begin: i64) -> TextTable {
    let mut steps: Vec<&StepStats> = stats.steps.iter().collect();
    steps.sort_by_key(|step| (-step.length_ns, step.begin_ns, step.process));
    steps.truncate(LONGEST);
    let table = declared(steps.iter().copied(), begin);
    with_host_word(table, stats.steps.iter())
}

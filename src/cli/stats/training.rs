//! Tables of training loops: steps with a verdict, ranges, operations by module.

use std::collections::BTreeMap;

use ascend_trace_analysis::stats::{StepStats, Verdict};
use ascend_trace_analysis::{Late, Stats};
use ascend_trace_recording::units::duration;

use super::{ROWS, durations, or_dash, percent};
use crate::cli::steps::verdict;
use crate::text_table::{TableRows, TextTable, count};

/// Steps of a table, of which the longest are listed.
const LONGEST: usize = 10;

/// The name of a time, and where it is.
type StepTime = (&'static str, fn(&StepStats) -> i64);

/// What steps spent their time on: the columns, and what fills them.
const SPENT: [StepTime; 9] = [
    ("compute", |it| it.compute_ns),
    ("communication", |it| it.communication_ns),
    ("exposed", |it| it.exposed_communication_ns),
    ("copies exposed", |it| it.exposed_copy_ns),
    ("loading", |it| it.loading_ns),
    ("python", |it| it.python_ns),
    ("planning", |it| it.planning_ns),
    ("queue", |it| it.queue_ns),
    ("launch", |it| it.launch_ns),
];

/// Several steps of one verdict in a process.
#[derive(Default)]
struct VerdictSum {
    steps: u64,
    length: i64,
    spent: [i64; 9],
    /// How much of the time speaks for the verdict.
    share: i64,
}

impl VerdictSum {
    fn mean(&self, total: i64) -> String {
        duration(total / self.steps.max(1) as i64)
    }
}

/// Mean times of the steps of each process by verdict.
pub(super) fn verdicts(stats: &Stats) -> TextTable {
    let mut sums: BTreeMap<(u32, Option<Verdict>), VerdictSum> = BTreeMap::new();
    for step in &stats.steps {
        let sum = sums.entry((step.process, step.verdict)).or_default();
        sum.steps += 1;
        sum.length += step.length_ns;
        sum.share += step.share_ns();
        let parts = sum.spent.iter_mut().zip(SPENT);
        parts.for_each(|(sum, (_, part))| *sum += part(step));
    }
    let mut rows = TableRows::of(sums)
        .right("process", |it| it.0.0)
        .left("verdict", |it| word(it.0.1))
        .right("steps", |it| count(it.1.steps))
        .right("by %", |((_, verdict), sum)| {
            or_dash(verdict.map(|_| percent(sum.share, sum.length)))
        })
        .right("mean", |it| it.1.mean(it.1.length));
    for (place, (title, _)) in SPENT.into_iter().enumerate() {
        rows = rows.right(title, |it| it.1.mean(it.1.spent[place]));
    }
    rows.table()
}

/// The longest steps.
pub(super) fn longest(stats: &Stats) -> TextTable {
    let mut steps: Vec<&StepStats> = stats.steps.iter().collect();
    steps.sort_by_key(|step| (-step.length_ns, step.begin_ns, step.process));
    let mut rows = TableRows::of(steps.into_iter().take(LONGEST))
        .right("process", |it| it.process)
        .left("step", |it| it.name.clone())
        .left("verdict", |it| verdict(it))
        .right("by %", |it| {
            or_dash(it.verdict.map(|_| percent(it.share_ns(), it.length_ns)))
        })
        .right("duration", |it| duration(it.length_ns));
    for (title, part) in SPENT {
        rows = rows.right(title, |it| duration(part(it)));
    }
    rows.table()
}

fn word(verdict: Option<Verdict>) -> String {
    verdict.map_or("too few times", Verdict::name).to_owned()
}

pub(super) fn ranges(stats: &Stats) -> TextTable {
    let rows = TableRows::of(stats.ranges.iter().take(ROWS))
        .left("range", |it| it.name.clone())
        .left("kind", |it| it.kind.clone())
        .right("count", |it| count(it.time.count));
    durations(rows, |it| &it.time)
        .right("self", |it| duration(it.self_ns))
        .right("tasks", |it| count(it.tasks))
        .right("device time", |it| duration(it.device_ns))
        .table()
}

pub(super) fn modules(stats: &Stats) -> TextTable {
    let rows = TableRows::of(stats.module_operations.iter().take(ROWS))
        .left("phase", |it| or_dash(it.phase.as_ref()))
        .left("module", |it| or_dash(it.module.as_ref()))
        .left("operation", |it| it.operation.clone())
        .right("count", |it| count(it.count));
    durations(rows, |it| &it.time).table()
}

/// What held up the threads that plan and submit: `main thread in range dataloader 30.1 ms; python …`.
pub(super) fn late(late: &Late) -> String {
    let thread = match late.is_main {
        true => "main thread".to_owned(),
        false => format!("thread {} {}", late.tid, late.thread),
    };
    let range = late.range.as_ref().map_or_else(String::new, |range| {
        format!(" in range {range} {}", duration(late.range_ns))
    });
    let parts = [
        ("python", late.python_ns),
        ("planning", late.planning_ns),
        ("queue", late.queue_ns),
        ("launch", late.launch_ns),
    ];
    let parts = parts.map(|(word, time)| format!("{word} {}", duration(time)));
    format!("{thread}{range} ({})", parts.join(", "))
}

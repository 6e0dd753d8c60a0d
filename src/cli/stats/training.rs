//! Tables of training loops: steps with a verdict, ranges, operations by module.

use std::collections::BTreeMap;

use ascend_trace_analysis::stats::{ModuleStats, RangeStats, StepStats, Verdict};
use ascend_trace_analysis::{Late, Stats};
use ascend_trace_recording::units::duration;

use super::{DURATIONS, ROWS, durations, percent};
use crate::table::{Align, Table, count};

/// Steps of a table, of which the longest are listed.
const LONGEST: usize = 10;

/// The columns that say what steps spent their time on.
const SPENT: [(&str, Align); 9] = [
    ("compute", Align::Right),
    ("communication", Align::Right),
    ("exposed", Align::Right),
    ("copies exposed", Align::Right),
    ("loading", Align::Right),
    ("python", Align::Right),
    ("planning", Align::Right),
    ("queue", Align::Right),
    ("launch", Align::Right),
];

fn spent(step: &StepStats) -> [i64; 9] {
    [
        step.compute_ns,
        step.communication_ns,
        step.exposed_communication_ns,
        step.exposed_copy_ns,
        step.loading_ns,
        step.python_ns,
        step.planning_ns,
        step.queue_ns,
        step.launch_ns,
    ]
}

/// Several steps of one verdict in a process.
#[derive(Default)]
struct Sum {
    steps: u64,
    length: i64,
    spent: [i64; 9],
    /// How much of the time speaks for the verdict.
    share: i64,
}

/// Mean times of the steps of each process by verdict.
pub(super) fn verdicts(stats: &Stats) -> Table {
    let head = [
        ("process", Align::Right),
        ("verdict", Align::Left),
        ("steps", Align::Right),
        ("by %", Align::Right),
        ("mean", Align::Right),
    ];
    let mut sums: BTreeMap<(u32, Option<Verdict>), Sum> = BTreeMap::new();
    for step in &stats.steps {
        let sum = sums.entry((step.process, step.verdict)).or_default();
        sum.steps += 1;
        sum.length += step.length_ns;
        sum.share += step.share_ns();
        let parts = sum.spent.iter_mut().zip(spent(step));
        parts.for_each(|(sum, part)| *sum += part);
    }
    let mut table = Table::new(head.into_iter().chain(SPENT));
    for ((process, verdict), sum) in sums {
        let mean = |total: i64| duration(total / sum.steps.max(1) as i64);
        let cells = [
            process.to_string(),
            word(verdict),
            count(sum.steps),
            verdict.map_or_else(|| "-".to_owned(), |_| percent(sum.share, sum.length)),
            mean(sum.length),
        ];
        table.row(cells.into_iter().chain(sum.spent.map(mean)));
    }
    table
}

/// The longest steps.
pub(super) fn longest(stats: &Stats) -> Table {
    let head = [
        ("process", Align::Right),
        ("step", Align::Left),
        ("verdict", Align::Left),
        ("by %", Align::Right),
        ("duration", Align::Right),
    ];
    let mut steps: Vec<&StepStats> = stats.steps.iter().collect();
    steps.sort_by_key(|step| (-step.length_ns, step.begin_ns, step.process));
    let mut table = Table::new(head.into_iter().chain(SPENT));
    for step in steps.into_iter().take(LONGEST) {
        let cells = [
            step.process.to_string(),
            step.name.clone(),
            word(step.verdict),
            match step.verdict {
                Some(_) => percent(step.share_ns(), step.length_ns),
                None => "-".to_owned(),
            },
            duration(step.length_ns),
        ];
        table.row(cells.into_iter().chain(spent(step).map(duration)));
    }
    table
}

fn word(verdict: Option<Verdict>) -> String {
    verdict.map_or("too few times", Verdict::name).to_owned()
}

pub(super) fn ranges(stats: &Stats) -> Table {
    let head = [
        ("range", Align::Left),
        ("kind", Align::Left),
        ("count", Align::Right),
    ];
    let tail = [
        ("self", Align::Right),
        ("tasks", Align::Right),
        ("device time", Align::Right),
    ];
    let mut table = Table::new(head.into_iter().chain(DURATIONS).chain(tail));
    for range in stats.ranges.iter().take(ROWS) {
        let RangeStats {
            kind, name, time, ..
        } = range;
        let head = [name.clone(), kind.clone(), count(time.count)];
        let tail = [
            duration(range.self_ns),
            count(range.tasks),
            duration(range.device_ns),
        ];
        table.row(head.into_iter().chain(durations(time)).chain(tail));
    }
    table
}

pub(super) fn modules(stats: &Stats) -> Table {
    let head = [
        ("phase", Align::Left),
        ("module", Align::Left),
        ("operation", Align::Left),
        ("count", Align::Right),
    ];
    let mut table = Table::new(head.into_iter().chain(DURATIONS));
    for row in stats.module_operations.iter().take(ROWS) {
        let ModuleStats {
            phase,
            module,
            operation,
            ..
        } = row;
        let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let head = [
            known(phase),
            known(module),
            operation.clone(),
            count(row.count),
        ];
        table.row(head.into_iter().chain(durations(&row.time)));
    }
    table
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

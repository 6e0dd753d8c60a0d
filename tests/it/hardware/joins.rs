//! Entries are joined to their tasks and nodes, or to none, for any defect of the log.
//!
//! The software runtime's clock has no drift here, so all times of the log are as far from the true ones: an entry that is
//! joined to another task is off.

use std::collections::BTreeMap;

use ascend_trace_format::record::Counter;

use super::{contents, counter, submitted};
use crate::support::tables::parse;
use crate::support::{CsvRow, Recording, Run, Tables, program, truth};

/// Two ticks.
const OPEN_NS: i64 = 40;

/// What became of the entries of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Joined {
    tasks: usize,
    nodes: usize,
    /// Nodes of which it is not known which they are, or of which replay.
    vague: usize,
    loose: usize,
}

/// By stream and sequence: tasks that there were. Numbers of streams are used again.
type Tasks = BTreeMap<(i64, i64), Vec<truth::TruthLogTask>>;

struct Judge {
    tasks: Tasks,
    nodes: Vec<truth::TruthLogTask>,
    /// The log's clock − the host's.
    offset: i64,
    /// Kernels of a call may be lost, and others be there.
    is_lossy: bool,
}

impl Judge {
    fn of(recording: &Recording, tables: &Tables, soft: &str) -> Self {
        let own = submitted(tables);
        let mut tasks = Tasks::new();
        for (task, entry) in truth::matched(&own, &recording.truth()) {
            let key = (task.number("stream_id"), task.number("seq"));
            tasks.entry(key).or_default().push(entry);
        }
        let nodes = truth::nodes(&recording.truth());
        let clocks = truth::log_clocks(&recording.truth());
        let offset = clocks.first().map_or(0, |clock| clock.count - clock.at);
        Self {
            tasks,
            nodes,
            offset,
            is_lossy: soft.contains("drop") && soft.contains("kernels"),
        }
    }

    fn is_at(&self, row: &CsvRow, begin: i64) -> bool {
        let logged = row.maybe("log_begin_ns");
        logged.is_none_or(|logged| (logged - self.offset - begin).abs() <= OPEN_NS)
    }

    /// An entry that is joined to a task is inside it, and the first one begins with it, unless that
    /// one is lost.
    #[track_caller]
    fn task(&self, row: &CsvRow) {
        let tasks = &self.tasks[&key(row).unwrap()];
        let is_it = |task: &truth::TruthLogTask| match row.number("part") {
            0 if !self.is_lossy => self.is_at(row, task.begin),
            _ => self.lies_in(row, task),
        };
        assert!(tasks.iter().any(is_it), "{row:?} {tasks:?}");
    }

    fn lies_in(&self, row: &CsvRow, task: &truth::TruthLogTask) -> bool {
        let logged = (row.maybe("log_begin_ns"), row.maybe("log_end_ns"));
        let (Some(begin), Some(end)) = logged else {
            return true;
        };
        let (begin, end) = (begin - self.offset, end - self.offset);
        begin >= task.begin - OPEN_NS && end <= task.end + OPEN_NS
    }

    /// An entry that is joined to a node in a replay is in that replay, at the time of that node.
    #[track_caller]
    fn node(&self, row: &CsvRow) {
        let Some(key) = key(row) else { return };
        let replays = &self.tasks[&key];
        let inside = replays.iter().any(|replay| self.lies_in(row, replay));
        assert!(inside, "{row:?} {replays:?}");
        let is_it = |node: &truth::TruthLogTask| {
            let number = row.number("node");
            let is_number = number == 0 || node.seq + 1 == number;
            let is_there = match row.number("part") {
                0 if !self.is_lossy => self.is_at(row, node.begin),
                _ => self.lies_in(row, node),
            };
            node.stream_id == row.number("stream_id") && is_number && is_there
        };
        assert!(self.nodes.iter().any(is_it), "{row:?}");
    }
}

fn key(row: &CsvRow) -> Option<(i64, i64)> {
    Some((row.maybe("task_stream_id")?, row.maybe("sequence")?))
}

/// Runs random programs, and holds each entry against what ran.
#[track_caller]
fn check(timing: &str, soft: &str, (programs, seed): (usize, usize)) -> (Joined, Recording) {
    let work = Run::new(&program("random_work"));
    let work = work.words(&[&programs.to_string(), &seed.to_string()]);
    let recording = work.soft(soft).options(&["--timing", timing]).compared();
    let tables = Tables::of(&recording);
    let file = recording.beside("csv").join("activities.csv");
    let entries = parse(&std::fs::read_to_string(file).unwrap());
    let judge = Judge::of(&recording, &tables, soft);
    let mut joined = Joined::default();
    for row in &entries {
        match (row.maybe("node"), key(row)) {
            (None, None) => joined.loose += 1,
            (None, Some(_)) => {
                judge.task(row);
                joined.tasks += 1;
            }
            (Some(node), task) => {
                judge.node(row);
                joined.nodes += 1;
                joined.vague += usize::from(node == 0 || task.is_none());
            }
        }
    }
    (joined, recording)
}

/// A correct log, and possible defects.
const DEFECTS: [&str; 7] = [
    "mspti_kernels=2",
    "mspti_late_ms=7",
    "mspti_shuffle",
    "mspti_drop=37",
    "mspti_zero=29",
    "mspti_own_numbers,mspti_kernels=2",
    "mspti_drop=61,mspti_zero=53,mspti_late_ms=3,mspti_shuffle,mspti_kernels=3",
];

#[test]
fn entries_are_never_joined_to_other_tasks() {
    for (seed, soft) in (1..).zip(DEFECTS) {
        let (joined, recording) = check("both", soft, (20, seed));
        println!("{soft}: {joined:?}");
        assert!(joined.tasks > 0 || soft.contains("own_numbers"), "{soft}");
        let contents = contents(&recording);
        let mismatches = counter(&contents, Counter::LogMismatches);
        if soft == "mspti_drop=37" || soft.contains("own_numbers") {
            assert!(mismatches > 0, "{soft}: differences are counted");
        } else if !soft.contains("drop") {
            // Numbers of streams are used again here sooner than entries come.
            assert!(joined.tasks > joined.loose, "{soft}: {joined:?}");
        }
        let timeless = counter(&contents, Counter::TimelessEntries);
        assert_eq!(timeless > 0, soft.contains("zero"), "{soft}");
    }
}

#[test]
#[ignore = "a soak: 10,000 random programs"]
fn entries_of_many_programs_are_never_joined_to_other_tasks() {
    const EACH: usize = 50;
    let mut all = Joined::default();
    // One alone, to look into it.
    let only = std::env::var("ASCEND_TRACE_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seeds = only.map_or(0..200, |seed: usize| seed - 1_000..seed - 999);
    for seed in seeds {
        let soft = DEFECTS[seed % DEFECTS.len()];
        let timing = if seed % 4 == 3 { "hardware" } else { "both" };
        println!("{timing} {soft} {}", 1_000 + seed);
        let (joined, _) = check(timing, soft, (EACH, 1_000 + seed));
        all.tasks += joined.tasks;
        all.nodes += joined.nodes;
        all.vague += joined.vague;
        all.loose += joined.loose;
        if seed % 20 == 19 {
            println!("{} programs: {all:?}", (seed + 1) * EACH);
        }
    }
}

//! The excess of a slow step over a usual one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::align::align;
use super::process_steps::LoopId;
use crate::stats::StepStats;
use crate::stats::training::lane::{Use, UseInterval};

/// Work of a step.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    row: StepStats,
    /// By begin.
    done: Vec<StepOperation>,
    /// How long nothing ran after the last of them.
    rest: i64,
}

/// One operation of a step.
#[derive(Clone, Copy, Debug)]
struct StepOperation {
    what: (Use, u32),
    /// How long it took in the step.
    time: i64,
    /// How long nothing ran before it.
    pause: i64,
}

impl Detail {
    pub(crate) fn of<'p>(row: &StepStats, pieces: impl Iterator<Item = &'p UseInterval>) -> Self {
        let (begin, end) = (row.begin_ns, row.begin_ns + row.length_ns);
        let mut pieces: Vec<&UseInterval> = pieces.collect();
        pieces.sort_by_key(|it| (it.begin, it.used, it.name, it.end));
        let mut reached = begin;
        let done = pieces.into_iter().map(|it| {
            let pause = (it.begin - reached).max(0);
            reached = reached.max(it.end);
            StepOperation {
                what: (it.used, it.name),
                time: it.end.min(end) - it.begin.max(begin),
                pause,
            }
        });
        let done = done.collect();
        Self {
            row: row.clone(),
            done,
            rest: (end - reached).max(0),
        }
    }

    pub(super) fn is_of(&self, id: LoopId, begin: i64) -> bool {
        self.row.loop_id() == id && self.row.begin_ns == begin
    }
}

/// A part that a slow step had more of, or less.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepDifference {
    /// `computing`, `communication`, `copy`, or `free` for time in which nothing of that was done.
    pub kind: &'static str,
    /// The operation; for free time, the wait: `loading`, `python` or `program`, `planning`, `queue`, `launch`.
    pub name: String,
    pub slow_count: u64,
    pub median_count: u64,
    pub slow_ns: i64,
    pub median_ns: i64,
    /// Where the difference is largest: which operation of the slow step that is, from 1; of free time, the one after.
    /// `None` for free time after the last operation.
    pub place: Option<u64>,
    /// Its name.
    pub at: Option<String>,
    /// The difference there; of free time 0 if it is in many places.
    pub there_ns: i64,
}

impl StepDifference {
    pub fn difference_ns(&self) -> i64 {
        self.slow_ns - self.median_ns
    }
}

/// The slowest step of a process compared with the median one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Number of the process in the recording.
    pub process: u32,
    /// Number of the loop in the process, from 0.
    pub loop_number: u32,
    #[serde(serialize_with = "crate::columns::row")]
    pub slow: StepStats,
    #[serde(serialize_with = "crate::columns::row")]
    pub median: StepStats,
    /// Operations that are in both, at the same place of the sequence.
    pub aligned: u64,
    /// The largest differences first.
    pub more: Vec<StepDifference>,
}

/// The sums of an operation in both steps.
#[derive(Default)]
struct Sums {
    count: [u64; 2],
    time: [i64; 2],
    /// The largest difference, and where in the slow step.
    worst: (i64, Option<usize>),
}

impl Comparison {
    pub(super) fn of(slow: &Detail, median: &Detail, names: &[String]) -> Self {
        let row = |detail: &Detail| detail.done.iter().map(|it| it.what).collect::<Vec<_>>();
        let pairs = align(&row(slow), &row(median));
        let mut sums: BTreeMap<(Use, u32), Sums> = BTreeMap::new();
        for (side, detail) in [slow, median].into_iter().enumerate() {
            for done in &detail.done {
                let sum = sums.entry(done.what).or_default();
                sum.count[side] += 1;
                sum.time[side] += done.time;
            }
        }
        let counterpart = counterparts(&pairs, slow.done.len());
        // Of pauses, the excess over the pause before the same operation of the other step, or after the last one.
        let mut pause = ((slow.rest - median.rest).max(0), None);
        for (place, done) in slow.done.iter().enumerate() {
            let other = counterpart[place].map(|it| median.done[it]);
            let more = done.time - other.map_or(0, |it| it.time);
            let longer = done.pause - other.map_or(0, |it| it.pause);
            if let Some(sum) = sums.get_mut(&done.what).filter(|sum| more > sum.worst.0) {
                sum.worst = (more, Some(place));
            }
            if longer > pause.0 {
                pause = (longer, Some(place));
            }
        }
        let name = |what: (Use, u32)| names.get(what.1 as usize).cloned().unwrap_or_default();
        let at = |place: Option<usize>| place.map(|place| name(slow.done[place].what));
        let number = |place: Option<usize>| place.map(|place| place as u64 + 1);
        let operations = sums.into_iter().map(|(what, sum)| StepDifference {
            kind: word(what.0),
            name: name(what),
            slow_count: sum.count[0],
            median_count: sum.count[1],
            slow_ns: sum.time[0],
            median_ns: sum.time[1],
            place: number(sum.worst.1),
            at: at(sum.worst.1),
            there_ns: sum.worst.0,
        });
        let free = free(&slow.row).into_iter().zip(free(&median.row));
        let free = free.map(|((name, slow_ns), (_, median_ns))| {
            // The longest of them is named where it and the difference are mostly the same.
            let difference = slow_ns - median_ns;
            let (there_ns, place) = match difference >= pause.0 / 2 && pause.0 >= difference / 2 {
                true => pause,
                false => (0, None),
            };
            StepDifference {
                kind: "free",
                name: name.to_owned(),
                slow_count: 0,
                median_count: 0,
                slow_ns,
                median_ns,
                place: number(place),
                at: at(place),
                there_ns,
            }
        });
        let mut more: Vec<StepDifference> = operations
            .chain(free)
            .filter(|it| it.slow_ns != it.median_ns || it.slow_count != it.median_count)
            .collect();
        more.sort_by_cached_key(|it| (-it.difference_ns(), it.kind, it.name.clone()));
        Self {
            process: slow.row.process,
            loop_number: slow.row.loop_number,
            slow: slow.row.clone(),
            median: median.row.clone(),
            aligned: pairs.len() as u64,
            more,
        }
    }
}

fn counterparts(pairs: &[(usize, usize)], length: usize) -> Vec<Option<usize>> {
    let mut found = vec![None; length];
    for (place, other) in pairs {
        found[*place] = Some(*other);
    }
    found
}

fn free(row: &StepStats) -> [(&'static str, i64); 5] {
    [
        ("loading", row.loading_ns),
        (row.host_word, row.python_ns),
        ("planning", row.planning_ns),
        ("queue", row.queue_ns),
        ("launch", row.launch_ns),
    ]
}

fn word(used: Use) -> &'static str {
    match used {
        Use::Compute => "computing",
        Use::Communication => "communication",
        Use::Copy => "copy",
    }
}

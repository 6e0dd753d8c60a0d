//! Stalls summed up by cause.

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::duration;

use super::Durations;
use super::histogram::Histogram;
use crate::columns::declare::*;
use crate::{Cause, Lane, Stall};

table_row! {
/// All stalls of one cause, of streams or of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseStats {
    pub cause: &'static str => column("cause", Word, |it: &Self| it.cause.into(), "a word of [STALLS.md](STALLS.md)").shown("cause", 0);
    pub lane: &'static str => column("lane", Word, |it: &Self| it.lane.into(), "`stream` or `thread`");
    => column("", Word, |it: &Self| format!("{}s", it.lane).into(), "the same").shown("of", 60);
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "how many stalls").shown("count", 0);
    pub total_ns: i64 => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "their sum over the lanes; the stalls of one lane never overlap").shown("total", 0);
    pub mean_ns: i64 => column("mean_ns", Duration, |it: &Self| it.mean_ns.into(), "the mean, rounded down").shown("mean", 60);
    pub p50_ns: i64 => column("p50_ns", Duration, |it: &Self| it.p50_ns.into(), "half of them are no longer").shown("p50", 100);
    pub p90_ns: i64 => column("p90_ns", Duration, |it: &Self| it.p90_ns.into(), "90 % of them are no longer").text("p90");
    pub p99_ns: i64 => column("p99_ns", Duration, |it: &Self| it.p99_ns.into(), "99 % of them are no longer").shown("p99", 70);
    pub max_ns: i64 => column("max_ns", Duration, |it: &Self| it.max_ns.into(), "the longest").shown("max", 0);
    pub share: f64 => column("share", Share, |it: &Self| it.share.into(), "share of the stalls of all streams or all threads, 0 to 1").shown("share %", 0);
}
}

table_row! {
/// Time that was spent for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseTime {
    pub cause: &'static str => column("cause", Word, |it: &Self| it.cause.into(), "a word of [STALLS.md](STALLS.md)");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "how many stalls");
    pub total_ns: i64 => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "their sum");
}
}

/// The causes in [`main_causes`].
const MAIN: usize = 2;

/// The main causes of idle time, without `untimed`, which is work.
pub(super) fn main_causes(causes: &[CauseTime]) -> String {
    let is_idle = |it: &&CauseTime| it.cause != Cause::Untimed.name();
    let causes = causes.iter().filter(is_idle).take(MAIN);
    let words = causes.map(|it| format!("{} {}", it.cause, duration(it.total_ns)));
    words.collect::<Vec<_>>().join(", ")
}

const LANES: [&str; 2] = ["stream", "thread"];

/// Position in [`LANES`].
fn sort_of(lane: Lane) -> usize {
    usize::from(matches!(lane, Lane::Thread(_)))
}

/// Lengths of stalls by lane and cause, in bounded memory.
#[derive(Clone, Debug, Default)]
pub(super) struct CauseTable {
    lengths: [[Histogram; Cause::ALL.len()]; LANES.len()],
}

impl CauseTable {
    pub(super) fn add(&mut self, stall: &Stall) {
        self.lengths[sort_of(stall.lane)][stall.cause as usize].add(stall.length());
    }

    pub(super) fn rows(self) -> Vec<CauseStats> {
        let lanes = LANES.into_iter().zip(self.lengths);
        let rows = lanes.flat_map(|(lane, lengths)| {
            cause_rows(
                lane,
                lengths.into_iter().map(Histogram::durations).collect(),
            )
        });
        let mut rows: Vec<CauseStats> = rows.collect();
        rows.sort_by_key(|row| -row.total_ns);
        rows
    }
}

fn cause_rows(lane: &'static str, times: Vec<Durations>) -> Vec<CauseStats> {
    let all: i64 = times.iter().map(|time| time.total_ns).sum();
    let occurring = Cause::ALL.into_iter().zip(times);
    let occurring = occurring.filter(|(_, time)| time.count > 0);
    let row = |(cause, time): (Cause, Durations)| CauseStats {
        cause: cause.name(),
        lane,
        count: time.count,
        total_ns: time.total_ns,
        mean_ns: time.mean_ns,
        p50_ns: time.p50_ns,
        p90_ns: time.p90_ns,
        p99_ns: time.p99_ns,
        max_ns: time.max_ns,
        share: time.total_ns as f64 / all as f64,
    };
    occurring.map(row).collect()
}

/// Time by cause, of some stalls, inside a range.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    sums: [(u64, i64); Cause::ALL.len()],
}

impl Sums {
    /// Counts the part of a stall inside the range.
    pub(super) fn add(&mut self, stall: &Stall, range: TimeRange) {
        let part = stall.range().intersection(range).duration();
        if part > 0 {
            let sum = &mut self.sums[stall.cause as usize];
            sum.0 += 1;
            sum.1 += part;
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            sum.0 += more.0;
            sum.1 += more.1;
        }
    }

    /// The time of all the causes that are `wanted`.
    pub(super) fn total(&self, wanted: impl Fn(Cause) -> bool) -> i64 {
        let causes = Cause::ALL.into_iter().zip(&self.sums);
        causes
            .filter(|(cause, _)| wanted(*cause))
            .map(|(_, sum)| sum.1)
            .sum()
    }

    /// The causes that occur, longest first.
    pub(super) fn rows(&self) -> Vec<CauseTime> {
        let causes = Cause::ALL.into_iter().zip(&self.sums);
        let found = causes.filter(|(_, sum)| sum.0 > 0);
        let mut rows: Vec<CauseTime> = found
            .map(|(cause, (count, total_ns))| CauseTime {
                cause: cause.name(),
                count: *count,
                total_ns: *total_ns,
            })
            .collect();
        rows.sort_by_key(|row| -row.total_ns);
        rows
    }
}

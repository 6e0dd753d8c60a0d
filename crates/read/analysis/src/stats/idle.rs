//! Stalls summed up by cause.

use ascend_trace_recording::TimeRange;
use serde::Serialize;

use super::Durations;
use super::histogram::Histogram;
use crate::{Cause, Lane, Stall};

/// All stalls of one cause, of streams or of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseStats {
    pub cause: &'static str,
    /// `stream` or `thread`.
    pub lane: &'static str,
    pub count: u64,
    /// Summed over the lanes; the stalls of one lane never overlap.
    pub total_ns: i64,
    pub mean_ns: i64,
    pub p50_ns: i64,
    pub p90_ns: i64,
    pub p99_ns: i64,
    pub max_ns: i64,
    /// Part of the stalls of all streams, or of all threads, 0 to 1.
    pub share: f64,
}

/// Time that was spent for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spent {
    pub cause: &'static str,
    pub count: u64,
    pub total_ns: i64,
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
    pub(super) fn rows(&self) -> Vec<Spent> {
        let causes = Cause::ALL.into_iter().zip(&self.sums);
        let found = causes.filter(|(_, sum)| sum.0 > 0);
        let mut rows: Vec<Spent> = found
            .map(|(cause, (count, total_ns))| Spent {
                cause: cause.name(),
                count: *count,
                total_ns: *total_ns,
            })
            .collect();
        rows.sort_by_key(|row| -row.total_ns);
        rows
    }
}

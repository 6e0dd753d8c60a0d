//! Facts of the merged file about its recording.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Duration, SecondsFormat};

use ascend_trace_analysis::align::{Alignment, Recorded};
use ascend_trace_recording::rows::{HostRow, KeptRow, SessionRow};

use super::inputs::MergedRecording;
use crate::cli::clocks;

/// Number of host names that are listed; the others are only counted.
const MOST_NAMES: usize = 8;

/// The session of the reference, from when the first recording began. A single recording keeps its own.
pub(super) fn of(
    (inputs, recorded, alignment): (&[MergedRecording], &[Recorded], &Alignment),
    notes: &[(usize, String)],
    processes: &[BTreeMap<u32, u32>],
) -> SessionRow {
    let reference = &alignment.hosts[0];
    let first = reference.recordings.first().copied().unwrap_or(0);
    let own = inputs[first].session.clone();
    if inputs.len() == 1 {
        return own;
    }
    let starts = recorded.iter().enumerate();
    let starts = starts.map(|(number, it)| alignment.mapping(number).map(it.start_ns).ns);
    let start_ns = starts.min().unwrap_or(own.start_ns);
    let later = start_ns.saturating_sub(own.start_ns);
    let timings = inputs.iter().map(|it| &*it.session.timing);
    let runtimes = inputs.iter().map(|it| &*it.session.runtime);
    let budgets: BTreeSet<_> = inputs.iter().map(|it| it.session.budget).collect();
    let depths: BTreeSet<_> = inputs.iter().map(|it| it.session.queue_depth).collect();
    SessionRow {
        host: names(alignment),
        timing: joined_names(timings),
        runtime: joined_names(runtimes),
        budget: own.budget.filter(|_| budgets.len() == 1),
        queue_depth: own.queue_depth.filter(|_| depths.len() == 1),
        start_time: shifted_time(&own.start_time, later),
        start_ns,
        start_realtime_ns: own.start_realtime_ns.saturating_add(later),
        start_boottime_ns: match own.start_boottime_ns {
            0 => 0,
            at => at.saturating_add(later),
        },
        kept: kept(inputs, alignment),
        outer: None,
        hosts: hosts(alignment, notes, processes),
        ..own
    }
}

/// The part that all rings together have, on the merged clock. A recording of everything has it from its begin on.
fn kept(inputs: &[MergedRecording], alignment: &Alignment) -> Option<KeptRow> {
    let parts = inputs.iter().enumerate().map(|(number, it)| {
        let mut kept = it.session.kept.clone()?;
        let mapping = alignment.mapping(number);
        kept.since_ns = mapping.map(kept.since_ns).ns;
        let snapshot = kept.snapshot.as_mut();
        if let Some(snapshot) = snapshot {
            snapshot.at_ns = mapping.map(snapshot.at_ns).ns;
        }
        Some(kept)
    });
    let parts: Vec<KeptRow> = parts.collect::<Option<_>>()?;
    let snapshots = parts.iter().filter_map(|it| it.snapshot.clone());
    Some(KeptRow {
        since_ns: parts.iter().map(|it| it.since_ns).min()?,
        snapshot: snapshots.min_by_key(|it| it.at_ns),
    })
}

fn hosts(
    alignment: &Alignment,
    notes: &[(usize, String)],
    processes: &[BTreeMap<u32, u32>],
) -> Vec<HostRow> {
    let all = (0..).zip(&alignment.hosts).map(|(number, placed)| {
        let own = placed.recordings.iter();
        let own = own.flat_map(|it| processes[*it].values().copied());
        let mut processes: Vec<u32> = own.collect();
        processes.sort_unstable();
        let notes = notes.iter().filter(|(host, _)| *host == number);
        HostRow {
            processes,
            notes: notes.map(|(_, note)| note.clone()).collect(),
            ..clocks::row(placed, alignment)
        }
    });
    all.collect()
}

/// The names of the hosts, or of the first ones.
fn names(alignment: &Alignment) -> String {
    let mut names: Vec<&str> = Vec::new();
    for placed in &alignment.hosts {
        if !names.contains(&&*placed.host) {
            names.push(&placed.host);
        }
    }
    let more = names.len().saturating_sub(MOST_NAMES);
    let mut text = names[..names.len() - more].join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

fn joined_names<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: BTreeSet<&str> = words.collect();
    words.into_iter().collect::<Vec<_>>().join(", ")
}

/// A time of day, `later` nanoseconds later.
fn shifted_time(text: &str, later: i64) -> String {
    match DateTime::parse_from_rfc3339(text) {
        Ok(time) if later != 0 => {
            let time = time + Duration::nanoseconds(later);
            time.to_rfc3339_opts(SecondsFormat::Micros, false)
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_moved_in_their_own_zone() {
        let begin = "2026-11-25T23:59:59.500000+01:00";
        assert_eq!(shifted_time(begin, 0), begin);
        let later = shifted_time(begin, 500_000_000);
        assert_eq!(later, "2026-11-26T00:00:00.000000+01:00");
        assert_eq!(shifted_time("", 7), "");
    }
}

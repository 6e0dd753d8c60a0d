//! Ranges of one name and kind, and the work in them.

use ascend_trace_recording::{Range, Task, TimeRange, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Durations;
use super::super::columns::times;
use super::super::histogram::Histogram;
use super::super::tables::{self, overlaps};
use crate::columns::declare::*;
use crate::duplicate_ranges::Repeated;
use crate::nesting::counted;
use crate::{Intervals, TaskRole};

table_row! {
/// The ranges of one name and kind, of all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeStats {
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the ranges, with `#` for a number that only counts").text("range");
    pub kind: String => column("kind", Word, |it: &Self| (&it.kind).into(), "`step`, `phase`, `module`, `loader`, `function`, `fetch`, `backward`, the domain's name, or `mstx` without a domain").text("kind");
    => column("", Count, |it: &Self| it.time.count.into(), "how many there are").text("count");
    ..times!();
    pub self_ns: i64 => column("self_ns", Duration, |it: &Self| it.self_ns.into(), "time in no inner range").text("self");
    pub tasks: u64 => column("tasks", Count, |it: &Self| it.tasks.into(), "tasks that were planned in them, and in ranges inside").text("tasks");
    pub device_ns: i64 => column("device_ns", Duration, |it: &Self| it.device_ns.into(), "time for which these ran; tasks that ran at the same time count each").text("device time");
    pub time: Durations;
}
}

#[derive(Debug, Default)]
struct RangeSums {
    time: Histogram,
    own: i64,
    tasks: u64,
    device: i64,
}

/// What ranges are summed up by: their domain's name and their own.
type Key = (String, String);

#[derive(Debug, Default)]
pub(super) struct RangeTotals {
    sums: FxHashMap<Key, RangeSums>,
}

impl RangeTotals {
    /// Adds a task to the ranges around it, given from the inside out.
    pub(super) fn task(&mut self, trace: &Trace, task: &Task, place: &[&Range]) {
        let mut seen = FxHashSet::default();
        for range in place {
            let key = key(trace, range);
            // A module can be called in another of the same name.
            if !seen.insert(key.clone()) {
                continue;
            }
            let sums = self.sums.entry(key).or_default();
            sums.tasks += 1;
            if let Some(time) = task
                .time
                .filter(|_| TaskRole::of(trace, task) == TaskRole::Work)
            {
                sums.device += time.end - time.begin;
            }
        }
    }

    /// Adds the durations of the ranges, once all are known.
    pub(super) fn close(&mut self, trace: &Trace, within: tables::Range) {
        let repeated = Repeated::of(trace);
        let own = own_times(trace, &repeated);
        for (range, own) in trace.ranges().iter().zip(own) {
            if repeated.has(trace, range) {
                continue;
            }
            if !range.time().is_empty() && overlaps(within, range.time()) {
                let sums = self.sums.entry(key(trace, range)).or_default();
                sums.time.add(range.end - range.begin);
                sums.own += own;
            }
        }
    }

    /// Longest first.
    pub(super) fn rows(self) -> Vec<RangeStats> {
        let rows = self
            .sums
            .into_iter()
            .map(|((kind, name), sums)| RangeStats {
                kind,
                name,
                time: sums.time.durations(),
                self_ns: sums.own,
                tasks: sums.tasks,
                device_ns: sums.device,
            });
        let mut rows: Vec<_> = rows.filter(|row| row.time.count > 0).collect();
        rows.sort_by(|a, b| {
            let order = b.time.total_ns.cmp(&a.time.total_ns);
            order.then_with(|| (&a.kind, &a.name).cmp(&(&b.kind, &b.name)))
        });
        rows
    }
}

fn key(trace: &Trace, range: &Range) -> Key {
    let domain = trace.domain(range).filter(|name| !name.is_empty());
    let kind = domain.unwrap_or("mstx").to_owned();
    (kind, counted(&range.name).into_owned())
}

/// How long each range lasted without those that began inside it.
fn own_times(trace: &Trace, repeated: &Repeated) -> Vec<i64> {
    let ranges = trace.ranges();
    let mut own: Vec<i64> = ranges.iter().map(|it| it.end - it.begin).collect();
    let order = (0..ranges.len()).filter(|it| !repeated.has(trace, &ranges[*it]));
    let mut order: Vec<usize> = order.collect();
    order.sort_by_key(|it| {
        let range = &ranges[*it];
        (range.thread, range.begin, -range.end, *it)
    });
    let mut open: Vec<usize> = Vec::new();
    // For the open ranges, the covered time inside of each.
    let mut inside: FxHashMap<usize, Vec<TimeRange>> = FxHashMap::default();
    for place in order {
        let range = &ranges[place];
        open.retain(|it| ranges[*it].thread == range.thread && ranges[*it].end > range.begin);
        if let Some(outer) = open.last() {
            let end = range.end.min(ranges[*outer].end);
            inside
                .entry(*outer)
                .or_default()
                .push(TimeRange::new(range.begin, end));
        }
        open.push(place);
    }
    for (place, parts) in inside {
        own[place] -= Intervals::union_of(parts).total();
    }
    own
}

//! Memory in use over time, as a bounded number of columns.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_analysis::memory::{
    LiveSizes, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryPlace,
};
use ascend_trace_analysis::{AnalysisNeeds, Fold, Window};
use ascend_trace_recording::{ProcessId, TimeRange, Trace};
use serde::Serialize;

/// Columns of a curve.
const COLUMNS: usize = 600;
/// Curves in a page: those with the highest peaks.
const MOST_CURVES: usize = 16;
/// Allocations that are followed at a time; with more, nothing is known.
const MOST_ALLOCATIONS: usize = 1 << 20;

/// Memory that a process had allocated and not freed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryCurve {
    /// Number of the process in the recording.
    pub process: u32,
    /// The device, the host, or an allocator of a device.
    pub place: String,
    pub peak_bytes: i64,
    pub peak_at_ns: i64,
    pub end_bytes: i64,
    /// The most that was in use in each part of the recording; the parts are equally long.
    pub columns: Vec<i64>,
}

/// The curves of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryCurves {
    pub curves: Vec<MemoryCurve>,
    pub curves_left_out: usize,
    /// Allocations without a known size or device.
    pub unknown: u64,
    /// False if there were too many allocations to follow.
    pub is_known: bool,
}

#[derive(Clone, Debug, Default)]
struct Curve {
    now: i64,
    peak: i64,
    peak_at: i64,
    columns: Vec<i64>,
}

/// Follows the memory of a recording.
#[derive(Debug)]
pub struct MemoryFold {
    range: TimeRange,
    serials: HashMap<ProcessId, u32>,
    curves: BTreeMap<(ProcessId, MemoryPlace), Curve>,
    live: LiveSizes,
    changes: MemoryChanges,
    unknown: u64,
    gave_up: bool,
}

impl MemoryFold {
    pub fn of_range(range: TimeRange) -> Self {
        Self {
            range,
            serials: HashMap::new(),
            curves: BTreeMap::new(),
            live: LiveSizes::default(),
            changes: MemoryChanges::default(),
            unknown: 0,
            gave_up: false,
        }
    }

    fn apply(&mut self, trace: &Trace, change: &MemoryChange) {
        let process = change.site.process;
        let serial = trace.process(process).serial;
        self.serials.entry(process).or_insert(serial);
        if let MemoryChangeKind::Allocated { place, size } = change.kind
            && place.zip(size).is_none()
        {
            self.unknown += 1;
        }
        for (place, by) in self.live.apply(change).into_iter().flatten() {
            self.step(process, place, change.at, by);
        }
    }

    fn step(&mut self, process: ProcessId, place: MemoryPlace, at: i64, by: i64) {
        let width = width(self.range);
        let column = ((at - self.range.begin).max(0) / width) as usize;
        let curve = self.curves.entry((process, place)).or_default();
        curve.reach(column.min(COLUMNS - 1));
        curve.now = curve.now.saturating_add(by).max(0);
        if curve.now > curve.peak {
            (curve.peak, curve.peak_at) = (curve.now, at);
        }
        if let Some(last) = curve.columns.last_mut() {
            *last = (*last).max(curve.now);
        }
    }
}

fn width(range: TimeRange) -> i64 {
    (range.duration().max(1) as u64).div_ceil(COLUMNS as u64) as i64
}

impl Curve {
    /// The memory stayed as it was until this column.
    fn reach(&mut self, column: usize) {
        if self.columns.len() <= column {
            self.columns.resize(column + 1, self.now);
        }
    }
}

impl Fold for MemoryFold {
    type Answer = MemoryCurves;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Calls;

    fn take(&mut self, window: &Window<'_>) {
        for change in self.changes.of_window(window) {
            self.apply(window.trace, &change);
        }
        if self.live.len() > MOST_ALLOCATIONS {
            self.gave_up = true;
            self.live = LiveSizes::default();
        }
    }

    fn finish(self) -> MemoryCurves {
        if self.gave_up {
            return MemoryCurves::default();
        }
        let serials = self.serials;
        let mut curves: Vec<_> = self.curves.into_iter().collect();
        curves.sort_by_key(|((process, place), it)| (std::cmp::Reverse(it.peak), *process, *place));
        let curves_left_out = curves.len().saturating_sub(MOST_CURVES);
        curves.truncate(MOST_CURVES);
        let curves = curves.into_iter().map(|((process, place), mut it)| {
            it.reach(COLUMNS - 1);
            MemoryCurve {
                process: serials.get(&process).copied().unwrap_or(process.0),
                place: place.to_string(),
                peak_bytes: it.peak,
                peak_at_ns: it.peak_at,
                end_bytes: it.now,
                columns: it.columns,
            }
        });
        MemoryCurves {
            curves: curves.collect(),
            curves_left_out,
            unknown: self.unknown,
            is_known: true,
        }
    }
}

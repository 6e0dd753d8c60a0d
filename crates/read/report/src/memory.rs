//! Memory in use over time, as a bounded number of columns.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_analysis::{Fold, Needs, Window};
use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::{Call, ProcessId, TimeRange, Trace};
use serde::Serialize;

/// Columns of a curve.
const COLUMNS: usize = 600;
/// Curves in a page: those with the highest peaks.
const MOST_CURVES: usize = 16;
/// Allocations that are followed at a time; with more, nothing is known.
const MOST_ALLOCATIONS: usize = 1 << 20;

/// Where memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum MemoryPlace {
    Host,
    Device(u8),
}

/// Memory that a process had allocated and not freed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryCurve {
    /// Number of the process in the recording.
    pub process: u32,
    /// `None` for the host.
    pub device: Option<u8>,
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

#[derive(Clone, Copy, Debug)]
struct Change {
    at: i64,
    address: (ProcessId, u64),
    /// `None`: it is freed.
    made: Option<(MemoryPlace, i64)>,
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
    live: HashMap<(ProcessId, u64), (MemoryPlace, i64)>,
    ahead: Vec<Change>,
    unknown: u64,
    gave_up: bool,
}

impl MemoryFold {
    pub fn of_range(range: TimeRange) -> Self {
        Self {
            range,
            serials: HashMap::new(),
            curves: BTreeMap::new(),
            live: HashMap::new(),
            ahead: Vec::new(),
            unknown: 0,
            gave_up: false,
        }
    }

    fn change(&mut self, trace: &Trace, call: &Call) -> Option<Change> {
        let function = trace.function(call.function);
        let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
        let of_host = word(ArgPart::HostAllocated).or_else(|| word(ArgPart::HostFreed));
        let allocated = word(ArgPart::Allocated).or_else(|| word(ArgPart::HostAllocated));
        let freed = word(ArgPart::Freed).or_else(|| word(ArgPart::HostFreed));
        let address = allocated.or(freed).filter(|it| *it != 0)?;
        if call.result() != Some(0) {
            return None;
        }
        let process = trace.thread(call.thread).process;
        let serial = trace.process(process).serial;
        self.serials.entry(process).or_insert(serial);
        let address = (process, address);
        if allocated.is_none() {
            // Another thread may get the memory before the call that frees it returns.
            return Some(Change {
                at: call.begin,
                address,
                made: None,
            });
        }
        let place = match (of_host, call.device) {
            (Some(_), _) => Some(MemoryPlace::Host),
            (None, device) => device.map(MemoryPlace::Device),
        };
        let size = word(ArgPart::Size).map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        let made = place.zip(size);
        self.unknown += u64::from(made.is_none());
        Some(Change {
            at: call.end,
            address,
            made: Some(made?),
        })
    }

    fn apply(&mut self, change: Change) {
        let old = match change.made {
            // A call inside an allocation reports it as well.
            Some(new) => self.live.insert(change.address, new),
            None => self.live.remove(&change.address),
        };
        let process = change.address.0;
        if let Some((place, size)) = old {
            self.step(process, place, change.at, -size);
        }
        if let Some((place, size)) = change.made {
            self.step(process, place, change.at, size);
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

    const NEEDS: Needs = Needs::Calls;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for id in window.calls() {
            let change = self.change(trace, trace.call(id));
            self.ahead.extend(change);
        }
        self.ahead
            .sort_by_key(|it| (it.at, it.made.is_some(), it.address));
        let due = match window.part.is_last {
            true => self.ahead.len(),
            false => self.ahead.partition_point(|it| it.at < window.part.until),
        };
        let due: Vec<Change> = self.ahead.drain(..due).collect();
        for change in due {
            self.apply(change);
        }
        if self.live.len() > MOST_ALLOCATIONS {
            self.gave_up = true;
            self.live.clear();
        }
    }

    fn finish(self) -> MemoryCurves {
        if self.gave_up {
            return MemoryCurves::default();
        }
        let serials = self.serials;
        let curves = self.curves.into_iter().map(|((process, place), mut it)| {
            it.reach(COLUMNS - 1);
            MemoryCurve {
                process: serials.get(&process).copied().unwrap_or(process.0),
                device: match place {
                    MemoryPlace::Host => None,
                    MemoryPlace::Device(device) => Some(device),
                },
                peak_bytes: it.peak,
                peak_at_ns: it.peak_at,
                end_bytes: it.now,
                columns: it.columns,
            }
        });
        let mut curves: Vec<MemoryCurve> = curves.collect();
        curves.sort_by_key(|it| (std::cmp::Reverse(it.peak_bytes), it.process, it.device));
        let curves_left_out = curves.len().saturating_sub(MOST_CURVES);
        curves.truncate(MOST_CURVES);
        MemoryCurves {
            curves,
            curves_left_out,
            unknown: self.unknown,
            is_known: true,
        }
    }
}

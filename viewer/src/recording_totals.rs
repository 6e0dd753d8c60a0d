//! Totals of a whole recording, for the first screen.

use std::sync::Arc;

use ascend_trace_analysis::{Cause, Stall, Stats, Window};

use crate::blamed_stalls::BlamedStalls;
use crate::longest_stalls::LongestStalls;

/// Sums over all that has been recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RecordingTotals {
    pub(crate) devices: Vec<DeviceTotals>,
    /// Causes of idle and waiting time of streams, as parts of it, the largest first. Stretches that no
    /// change of the program could shorten are left out.
    pub(crate) causes: Vec<(Cause, f64)>,
    pub(crate) longest: Option<Stall>,
    /// What took most of the devices' time.
    pub(crate) operation: Option<OperationTotals>,
    /// Tasks that have no time.
    pub(crate) untimed: u64,
}

/// Parts, from 0 to 1, of the time in which a device had streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeviceTotals {
    pub(crate) number: u32,
    pub(crate) busy: f64,
    pub(crate) compute: f64,
    pub(crate) copy: f64,
    /// Copies and other work at the same time.
    pub(crate) both: f64,
}

/// Tasks of one name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OperationTotals {
    pub(crate) name: String,
    pub(crate) count: u64,
    /// Part of all work.
    pub(crate) share: f64,
    /// Nanoseconds of the slowest one.
    pub(crate) slowest: i64,
}

impl RecordingTotals {
    pub(crate) fn of(stats: &Stats, longest: Option<Stall>) -> Self {
        let part = |part: i64, whole: i64| match whole {
            ..=0 => 0.0,
            whole => part as f64 / whole as f64,
        };
        let devices = stats.devices.iter().map(|row| {
            let of = |time| part(time, row.end_ns - row.begin_ns);
            DeviceTotals {
                number: row.device,
                busy: of(row.estimated_busy_ns),
                compute: of(row.estimated_compute_ns),
                copy: of(row.estimated_copy_ns),
                both: of(row.copy_compute_ns),
            }
        });
        let of_streams = stats.stall_causes.iter().filter(|row| row.lane == "stream");
        let notable = of_streams.filter_map(|row| {
            let cause = Cause::ALL.into_iter().find(|it| it.name() == row.cause)?;
            cause.is_notable().then_some((cause, row.total_ns))
        });
        let notable: Vec<_> = notable.collect();
        let all = notable.iter().map(|(_, total)| total).sum();
        let causes = notable
            .into_iter()
            .map(|(cause, it)| (cause, part(it, all)));
        let work = stats.operations.iter().find(|row| row.share.is_some());
        Self {
            devices: devices.collect(),
            causes: causes.collect(),
            longest,
            operation: work.map(|row| OperationTotals {
                name: row.name.clone(),
                count: row.count,
                share: row.share.unwrap_or(0.0),
                slowest: row.time.max_ns.unwrap_or(0),
            }),
            untimed: stats.streams.iter().map(|row| row.untimed).sum(),
        }
    }
}

/// Sums over the loaded part of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartTotals {
    /// Of all of it, if that is loaded.
    pub(crate) overall: Option<RecordingTotals>,
    pub(crate) worst: LongestStalls,
    pub(crate) blamed: Arc<BlamedStalls>,
}

impl PartTotals {
    pub(crate) fn of(window: &Window<'_>, is_whole: bool) -> Self {
        let worst = LongestStalls::of(&window.stalls);
        let overall = is_whole.then(|| {
            let stats = Stats::within(window, window.trace.span());
            RecordingTotals::of(&stats, worst.longest().copied())
        });
        Self {
            overall,
            worst,
            blamed: BlamedStalls::of(window.trace, &window.dependencies, &window.stalls),
        }
    }
}

//! What a whole recording comes to: the first screen's answer to "how did it go".

use std::time::Duration;

use ascend_trace_analysis::{Cause, Stall, Stats};

use crate::app::{App, World};

/// While a recording grows, this passes between two sums.
const PAUSE: Duration = Duration::from_secs(1);
/// More calls and tasks than this are not summed up while they grow.
const MOST_GROWING: u64 = 100_000;

/// Sums over all that has been recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Overall {
    pub(crate) devices: Vec<Device>,
    /// Why streams did nothing: the part of their idle and waiting time, the largest first. Stretches that
    /// nobody could shorten are left out.
    pub(crate) causes: Vec<(Cause, f64)>,
    pub(crate) longest: Option<Stall>,
    /// What took most of the devices' time.
    pub(crate) operation: Option<Operation>,
    /// Tasks that have no time.
    pub(crate) untimed: u64,
}

/// Parts, from 0 to 1, of the time in which a device had streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Device {
    pub(crate) number: u32,
    pub(crate) busy: f64,
    pub(crate) compute: f64,
    pub(crate) copy: f64,
    /// Copies and other work at the same time.
    pub(crate) both: f64,
}

/// Tasks of one name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) count: u64,
    /// Part of all work.
    pub(crate) share: f64,
    /// Nanoseconds of the slowest one.
    pub(crate) slowest: i64,
}

impl Overall {
    pub(crate) fn of(stats: &Stats, longest: Option<Stall>) -> Self {
        let part = |part: i64, whole: i64| match whole {
            ..=0 => 0.0,
            whole => part as f64 / whole as f64,
        };
        let devices = stats.devices.iter().map(|row| {
            let of = |time| part(time, row.end_ns - row.begin_ns);
            Device {
                number: row.device,
                busy: of(row.busy_ns),
                compute: of(row.compute_ns),
                copy: of(row.copy_ns),
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
            operation: work.map(|row| Operation {
                name: row.name.clone(),
                count: row.count,
                share: row.share.unwrap_or(0.0),
                slowest: row.time.max_ns,
            }),
            untimed: stats.streams.iter().map(|row| row.untimed).sum(),
        }
    }
}

/// What the sums were made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    counts: (u64, u64),
    at: Duration,
    was_running: bool,
    pub(crate) overall: Overall,
}

/// Keeps the sums that the first screen shows. A recording that is read part by part is not read through
/// for them: there they are known once the user has asked for the statistics of all of it.
pub(crate) fn refresh(app: &mut App, world: World<'_>) {
    if app.selected.is_some() || app.paused || !is_due(app) {
        return;
    }
    let span = app.span;
    let overall = match world.overview {
        None => {
            let stats = Stats::within(world.trace, &app.dependencies, &app.stalls, span);
            let longest = app.stalls.worst_where(1, |stall| {
                stall.is_notable() && !app.stalls.continues(stall)
            });
            Some(Overall::of(&stats, longest.first().copied().copied()))
        }
        Some(_) => {
            let summed = app.summed.as_ref();
            let summed = summed.filter(|it| is_all(it.range, span) && it.counts == app.counts);
            summed.map(|it| Overall::of(&it.stats, None))
        }
    };
    app.overall = overall.map(|overall| Known {
        counts: app.counts,
        at: app.clock,
        was_running: app.is_running(),
        overall,
    });
}

fn is_all(range: (i64, i64), span: Option<(i64, i64)>) -> bool {
    span.is_some_and(|(begin, end)| range.0 <= begin && end <= range.1)
}

fn is_due(app: &App) -> bool {
    let running = app.is_running();
    let Some(known) = &app.overall else {
        return true;
    };
    if (known.counts, known.was_running) == (app.counts, running) {
        return false;
    }
    let rows = app.counts.0.saturating_add(app.counts.1);
    let waited = app.clock.saturating_sub(known.at) >= PAUSE;
    !running || (rows <= MOST_GROWING && waited)
}

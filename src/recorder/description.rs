//! Facts of a trace about its recording: its first chunk.

use chrono::{Local, SecondsFormat, TimeZone};

use ascend_trace_format::session::Timing;
use ascend_trace_recording::rows::{PartRow, SessionRow};
use rustix::time::{ClockId, clock_gettime};

use super::{RecordOptions, nested, timing};

/// How and where this recording is made.
pub(crate) fn session(plan: &RecordOptions) -> SessionRow {
    let start = ClockReading::now();
    let wall = Local.timestamp_nanos(start.realtime);
    let words = plan
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    let mut session = SessionRow {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: words.collect(),
        host: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        timing: timing::text_of(plan.timing),
        budget: (plan.timing == Timing::Auto && plan.budget > 0).then_some(plan.budget),
        runtime: match plan.soft {
            Some(_) => "softacl".to_owned(),
            None => "installed".to_owned(),
        },
        queue_depth: plan.soft.as_deref().and_then(queue_depth),
        start_time: wall.to_rfc3339_opts(SecondsFormat::Micros, false),
        start_ns: start.monotonic,
        start_realtime_ns: start.realtime,
        start_boottime_ns: start.boottime,
        boot_id: boot_id(),
        filters: plan.filters.rules().map(|it| it.to_string()).collect(),
        attached: plan.continues.as_ref().map(|it| it.program),
        injected: false,
        kept: None,
        part: plan.roll.map(|_| PartRow { number: 1 }),
        continues: plan.continues.as_ref().map(|it| it.earlier.clone()),
        outer: None,
        hosts: Vec::new(),
    };
    nested::note_outer(&mut session);
    session
}

/// The kernel's id of the time since the host was started: recordings with the same id have one clock.
fn boot_id() -> String {
    let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    boot_id.map(|it| it.trim().to_owned()).unwrap_or_default()
}

/// The depth of the software runtime's queues. That of an installed one is not known.
#[cfg(feature = "softacl")]
fn queue_depth(options: &str) -> Option<u32> {
    let options = crate::launch::soft_options(options);
    let options = softacl_options::Options::parse(&options.to_string_lossy());
    options.ok().map(|options| options.queue)
}

#[cfg(not(feature = "softacl"))]
fn queue_depth(_options: &str) -> Option<u32> {
    None
}

/// Readings of the host's clocks at one time, as close as possible.
#[derive(Clone, Copy, Debug)]
struct ClockReading {
    monotonic: i64,
    realtime: i64,
    boottime: i64,
    /// For how long they were read.
    length: i64,
}

/// Readings, of which the quickest is taken: a thread can lose its processor in one.
const READINGS: usize = 5;

impl ClockReading {
    fn now() -> Self {
        let readings = (0..READINGS).map(|_| Self::read());
        let first = Self::read();
        readings.fold(first, |best, it| match it.length < best.length {
            true => it,
            false => best,
        })
    }

    fn read() -> Self {
        let before = time(ClockId::Monotonic);
        let boottime = time(ClockId::Boottime);
        let realtime = time(ClockId::Realtime);
        let after = time(ClockId::Monotonic);
        Self {
            monotonic: before + (after - before) / 2,
            realtime,
            boottime,
            length: after - before,
        }
    }
}

fn time(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clocks_are_read_at_the_same_time() {
        let before = [
            time(ClockId::Monotonic),
            time(ClockId::Realtime),
            time(ClockId::Boottime),
        ];
        let now = ClockReading::now();
        let after = [
            time(ClockId::Monotonic),
            time(ClockId::Realtime),
            time(ClockId::Boottime),
        ];
        let read = [now.monotonic, now.realtime, now.boottime];
        for ((before, now), after) in before.into_iter().zip(read).zip(after) {
            assert!(before <= now && now <= after, "{before} {now} {after}");
        }
    }
}

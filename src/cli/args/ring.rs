//! The words of a ring: how much of the past a recording keeps, and when a snapshot of it is taken.

use std::time::Duration;

use clap::Args;
use signal_hook::consts::{SIGUSR1, SIGUSR2};

use ascend_trace_collector::ring::{Retention, RingOptions, TriggerRules};
use ascend_trace_recording::units::parse_duration;

use crate::recorder::ring::RingPlan;

/// Options of a recording that keeps its last part.
#[derive(Clone, Debug, Args)]
pub(crate) struct RingArgs {
    /// Keep only the last part of the recording in the trace file: at least this time, such as 30s, or no more than this
    /// size, such as 512M
    #[arg(long, value_name = "DURATION|SIZE", value_parser = retention)]
    ring: Option<Retention>,

    /// With --ring: take a snapshot, a trace file that stays, when this happens. EVENT is `call-error`, `stall>100ms`
    /// (a long wait), `step>1.5x` (a slow step), `signal=USR2` (sent to the tool), `exit!=0`, `watchdog 60s` or `http`
    /// (a request, see --metrics-token). May be given several times
    #[arg(long, value_name = "EVENT", value_parser = event, requires = "ring")]
    on: Vec<Event>,

    /// With --on: record for this time after the event, before the snapshot is taken [default: 1s]
    #[arg(long, value_name = "DURATION", value_parser = time, requires = "ring")]
    after: Option<Duration>,

    /// With --ring: the number of snapshots that stay [default: 10]. With --roll: the number of files that stay [default: all]. A
    /// further one replaces the oldest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    keep: Option<u32>,

    /// With --ring: recordings of this user with the same NAME take snapshots together, such as the ranks of a job on this
    /// node
    #[arg(long, value_name = "NAME", requires = "ring")]
    together: Option<String>,
}

/// An event of which a snapshot is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    CallError,
    Stall(Duration),
    SlowStep(f64),
    Signal(i32),
    FailedExit,
    Watchdog(Duration),
    /// A request by HTTP.
    Http,
}

/// Snapshots that stay.
const SNAPSHOTS: usize = 10;
/// From an event to its snapshot.
const AFTER: Duration = Duration::from_secs(1);

impl RingArgs {
    /// The number of files or snapshots that stay.
    pub(crate) fn keep(&self) -> Option<usize> {
        self.keep.map(|it| it as usize)
    }

    /// Whether there are options of a ring without a ring. The parser accepts them with `--roll`, which forbids a ring.
    pub(crate) fn lacks_ring(&self) -> bool {
        let has_options = !self.on.is_empty() || self.after.is_some() || self.together.is_some();
        has_options && self.ring.is_none()
    }

    /// Whether the user expects requests by HTTP.
    pub(crate) fn needs_http(&self) -> bool {
        self.on.contains(&Event::Http)
    }

    /// Whether there is a ring.
    pub(crate) fn is_wanted(&self) -> bool {
        self.ring.is_some()
    }

    /// The ring that is wanted, if one is.
    pub(crate) fn wanted(self) -> Option<RingPlan> {
        let retention = self.ring?;
        let (mut rules, mut signals, mut watchdog) = (TriggerRules::default(), Vec::new(), None);
        for event in self.on {
            match event {
                Event::CallError => rules.call_error = true,
                Event::Stall(time) => rules.stall = Some(time),
                Event::SlowStep(factor) => rules.slow_step = Some(factor),
                Event::FailedExit => rules.failed_exit = true,
                Event::Signal(signal) => signals.push(signal),
                Event::Watchdog(time) => watchdog = Some(time),
                // Requests take snapshots in any case.
                Event::Http => {}
            }
        }
        Some(RingPlan {
            options: RingOptions {
                retention,
                keep: self.keep.map_or(SNAPSHOTS, |it| it as usize),
                after: self.after.unwrap_or(AFTER),
                rules,
            },
            signals,
            watchdog,
            group: self.together,
        })
    }
}

/// The shortest time of a ring, and its smallest size.
pub(super) const SHORTEST: Duration = Duration::from_secs(1);
pub(super) const SMALLEST: u64 = 1 << 20;

/// The value of `--ring`.
fn retention(text: &str) -> Result<Retention, String> {
    if let Some(bytes) = size(text) {
        return match bytes >= SMALLEST {
            true => Ok(Retention::Bytes(bytes)),
            false => Err("a ring has a size of 1M or more".to_owned()),
        };
    }
    match time(text) {
        Ok(time) if time >= SHORTEST => Ok(Retention::Time(time)),
        Ok(_) => Err("a ring has a time of 1s or more".to_owned()),
        Err(_) => Err(format!(
            "`{text}` is neither a time, such as 30s, nor a size, such as 512M"
        )),
    }
}

/// A number with one of the units K, M, G and T, which are powers of 1024. `m` is minutes.
pub(super) fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit = text.find(|it: char| !it.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let factor = match unit {
        "K" | "KB" | "KiB" => 1 << 10,
        "M" | "MB" | "MiB" => 1 << 20,
        "G" | "GB" | "GiB" => 1 << 30,
        "T" | "TB" | "TiB" => 1_u64 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let ns = parse_duration(text.trim()).map_err(|why| format!("`{text}` {why}"))?;
    match u64::try_from(ns) {
        Ok(ns) => Ok(Duration::from_nanos(ns)),
        Err(_) => Err(format!("`{text}` is a negative time")),
    }
}

/// The value of `--on`.
fn event(text: &str) -> Result<Event, String> {
    let text = text.trim();
    let after = |word: &str| text.strip_prefix(word).map(str::trim);
    if let Some(limit) = after("stall>") {
        return time(limit).map(Event::Stall);
    }
    if let Some(limit) = after("step>") {
        let factor = limit.strip_suffix("median").unwrap_or(limit).trim();
        let factor = factor.strip_suffix('x').and_then(|it| it.parse().ok());
        let factor = factor.filter(|it: &f64| *it > 1.0 && it.is_finite());
        let factor = factor.ok_or("step> needs a factor above 1, such as step>1.5x");
        return Ok(Event::SlowStep(factor?));
    }
    if let Some(limit) = after("watchdog ") {
        return match time(limit)? {
            limit if limit >= SHORTEST => Ok(Event::Watchdog(limit)),
            _ => Err("a watchdog waits for a second or longer, such as 30s".to_owned()),
        };
    }
    match text {
        "call-error" => Ok(Event::CallError),
        "exit!=0" => Ok(Event::FailedExit),
        "http" => Ok(Event::Http),
        "signal=USR1" | "signal=SIGUSR1" => Ok(Event::Signal(SIGUSR1)),
        "signal=USR2" | "signal=SIGUSR2" => Ok(Event::Signal(SIGUSR2)),
        _ => Err(
            "it is call-error, stall>TIME, step>FACTORx, signal=USR2, exit!=0, watchdog TIME or http"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_a_time_or_a_size() {
        for (text, expected) in [
            ("30s", Retention::Time(Duration::from_secs(30))),
            ("2m", Retention::Time(Duration::from_secs(120))),
            ("1500ms", Retention::Time(Duration::from_millis(1500))),
            ("512M", Retention::Bytes(512 << 20)),
            ("2GiB", Retention::Bytes(2 << 30)),
            ("1T", Retention::Bytes(1 << 40)),
        ] {
            assert_eq!(retention(text), Ok(expected), "{text}");
        }
        for wrong in [
            "",
            "30",
            "0s",
            "10ms",
            "1K",
            "-5s",
            "5 apples",
            "99999999999T",
        ] {
            assert!(retention(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn events_have_their_limits() {
        let ms = Duration::from_millis;
        for (text, expected) in [
            ("call-error", Event::CallError),
            ("stall>100ms", Event::Stall(ms(100))),
            ("stall> 2s", Event::Stall(ms(2000))),
            ("step>1.5x", Event::SlowStep(1.5)),
            ("step>1.5x median", Event::SlowStep(1.5)),
            ("signal=USR2", Event::Signal(SIGUSR2)),
            ("exit!=0", Event::FailedExit),
            ("http", Event::Http),
            ("watchdog 60s", Event::Watchdog(ms(60_000))),
        ] {
            assert_eq!(event(text), Ok(expected), "{text}");
        }
        for wrong in [
            "",
            "stall",
            "stall>fast",
            "step>x",
            "step>0.5x",
            "step>nanx",
            "signal=KILL",
            "watchdog 1ms",
        ] {
            assert!(event(wrong).is_err(), "{wrong}");
        }
    }
}

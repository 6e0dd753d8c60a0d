//! From the ticks in records to nanoseconds of `CLOCK_MONOTONIC`.
//!
//! The mapping is a chain of straight pieces that only grows at its end: a tick that was converted
//! always gives the same time, and later ticks never give earlier times. Each piece is aimed so that it
//! meets the last reading of both clocks.
//!
//! Pieces of more than an hour ago become fewer, so the memory for weeks has a limit. The time of a tick from then
//! changes by a microsecond at most, where the clocks are steady.

use std::collections::VecDeque;

use ascend_trace_format::session::TickSource;
use ascend_trace_format::time::{DeviceNs, HostNs, Ticks};
use ascend_trace_ring::ticks;

/// Tries to read both clocks at once; the closest pair of reads counts.
const TRIES: u32 = 8;
/// A pair that took longer than this was interrupted.
const WIDE_NS: i64 = 2_000;
/// Readings that the rate is taken from: about a second's worth.
const WINDOW: usize = 10;
/// A difference that no drift explains: the machine was suspended or moved.
const JUMP_NS: i64 = 1_000_000;
/// Time between readings at first, while the rate is still rough, and later.
const EARLY_NS: i64 = 20_000_000;
const LATE_NS: i64 = 100_000_000;

/// Both clocks at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockReading {
    ticks: Ticks,
    host: HostNs,
    /// How far the two reads may lie apart.
    width_ns: i64,
}

/// From these ticks on, the time is `host` and grows by `rate` nanoseconds per tick.
#[derive(Clone, Copy, Debug)]
struct ClockPiece {
    ticks: Ticks,
    host: HostNs,
    rate: f64,
}

/// Pieces at most. A recording has ten a second.
const MOST_PIECES: usize = 65_536;
/// Those of the last hour stay.
const RECENT_PIECES: usize = 36_000;
/// By how much the time of an older tick may change, and that where even this leaves too many pieces.
const TOLERANCE_NS: f64 = 1_000.0;
const LARGEST_TOLERANCE_NS: f64 = 1e18;

/// The mapping, with the counter it is for.
pub struct TickClock {
    source: TickSource,
    pieces: Vec<ClockPiece>,
    window: VecDeque<ClockReading>,
}

impl TickClock {
    /// Starts a clock on the best counter of this machine. The caller lets some milliseconds pass
    /// before the first [`TickClock::refresh`].
    pub fn start() -> Self {
        let source = if counter_is_steady() {
            TickSource::Counter
        } else {
            TickSource::Monotonic
        };
        Self::starting_with(source, read_both())
    }

    fn starting_with(source: TickSource, first: ClockReading) -> Self {
        Self {
            source,
            pieces: vec![ClockPiece {
                ticks: first.ticks,
                host: first.host,
                rate: 1.0,
            }],
            window: VecDeque::from([first]),
        }
    }

    /// A clock for records that hold `CLOCK_MONOTONIC` already.
    pub fn monotonic() -> Self {
        Self::starting_with(TickSource::Monotonic, read_both())
    }

    pub fn source(&self) -> TickSource {
        self.source
    }

    /// Reads both clocks again when it is time to. Everything converted afterwards must have been
    /// recorded before the next refresh, which holds when each pass over the channels begins here.
    pub fn refresh(&mut self) {
        if self.source == TickSource::Monotonic {
            return;
        }
        let due = if self.pieces.len() <= WINDOW {
            EARLY_NS
        } else {
            LATE_NS
        };
        let age = self
            .window
            .back()
            .map_or(i64::MAX, |last| now() - last.host.ns());
        if age < due && self.pieces.len() > 1 {
            return;
        }
        let reading = read_both();
        if reading.width_ns <= WIDE_NS || age > 10 * due {
            self.observe(reading);
        }
    }

    /// Duration of `ticks` ticks.
    pub fn length(&self, ticks: u64) -> u64 {
        match (self.source, self.pieces.last()) {
            (TickSource::Counter, Some(piece)) => (ticks as f64 * piece.rate) as u64,
            _ => ticks,
        }
    }

    /// The time at which the counter showed `ticks`, in nanoseconds: from the number of a record to that of a row.
    #[inline]
    pub fn ns(&self, ticks: u64) -> i64 {
        self.at(Ticks::new(ticks)).ns()
    }

    /// The time at which the counter showed `ticks`.
    #[inline]
    pub fn at(&self, ticks: Ticks) -> HostNs {
        if self.source == TickSource::Monotonic {
            return HostNs::new(i64::try_from(ticks.count()).unwrap_or(i64::MAX));
        }
        // Nearly everything asked for is recent, but older than the last reading.
        match self.pieces.as_slice() {
            [.., last] if last.ticks <= ticks => last.at(ticks),
            [.., before, _] if before.ticks <= ticks => before.at(ticks),
            _ => self.earlier(ticks),
        }
    }

    #[cold]
    fn earlier(&self, ticks: Ticks) -> HostNs {
        let after = self.pieces.partition_point(|piece| piece.ticks <= ticks);
        let piece = self.pieces.get(after.saturating_sub(1));
        piece.map_or(HostNs::default(), |piece| piece.at(ticks))
    }

    fn observe(&mut self, reading: ClockReading) {
        let Some(&last) = self.window.back() else {
            return;
        };
        let interval = reading.ticks.since(last.ticks) as f64;
        if interval <= 0.0 {
            return;
        }
        let mapped = self.at(reading.ticks);
        let behind = reading.host.since(mapped);
        // The first piece has no measured rate yet, so it says nothing about jumps.
        let jumped = self.pieces.len() > 1 && behind.abs() > JUMP_NS;
        if jumped {
            self.window.clear();
        }
        let rate = self.rate_up_to(reading, last);
        let piece = if self.pieces.len() == 1 {
            self.first_rate(rate);
            ClockPiece {
                ticks: reading.ticks,
                host: self.at(reading.ticks),
                rate,
            }
        } else if jumped && behind > 0 {
            ClockPiece {
                ticks: reading.ticks,
                host: reading.host,
                rate,
            }
        } else {
            // Never backwards: a clock that is ahead is slowed until the truth has caught up.
            let aimed = rate + behind as f64 / interval;
            ClockPiece {
                ticks: reading.ticks,
                host: mapped,
                rate: aimed.max(rate * 0.01),
            }
        };
        self.pieces.push(piece);
        if self.pieces.len() >= MOST_PIECES {
            self.thin_out();
        }
        self.window.push_back(reading);
        while self.window.len() > WINDOW {
            self.window.pop_front();
        }
    }

    /// Joins old pieces.
    fn thin_out(&mut self) {
        let old = self.pieces.len().saturating_sub(RECENT_PIECES);
        let mut tolerance = TOLERANCE_NS;
        loop {
            let joined = self.pieces.get(..=old).map(|it| joined(it, tolerance));
            let joined = joined.unwrap_or_default();
            if joined.len() <= (MOST_PIECES - RECENT_PIECES) / 2 || tolerance > LARGEST_TOLERANCE_NS
            {
                self.pieces.splice(..old, joined);
                return;
            }
            tolerance *= 8.0;
        }
    }

    fn first_rate(&mut self, rate: f64) {
        if let Some(first) = self.pieces.first_mut() {
            first.rate = rate;
        }
    }

    /// Nanoseconds per tick over the window that ends with `reading`; after a jump, which empties
    /// the window, the rate that held before it.
    fn rate_up_to(&self, reading: ClockReading, last: ClockReading) -> f64 {
        let from = self.window.front().copied().unwrap_or(last);
        let measured =
            reading.host.since(from.host) as f64 / reading.ticks.since(from.ticks).max(1) as f64;
        match self.pieces.last() {
            Some(piece) if self.window.is_empty() => piece.rate,
            _ => measured,
        }
    }
}

/// All pieces but the last one, where several that lie nearly on one line are one. A time changes by no more than `tolerance_ns`.
fn joined(pieces: &[ClockPiece], tolerance_ns: f64) -> Vec<ClockPiece> {
    const ALL_RATES: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
    let mut found: Vec<ClockPiece> = Vec::new();
    // Rates with which the last piece passes near the ends of all pieces that it replaces.
    let mut rates = ALL_RATES;
    let mut is_first = true;
    for (piece, next) in pieces.iter().zip(pieces.iter().skip(1)) {
        let end = piece.at(next.ticks);
        let jumps = next.host.since(end).abs() as f64 > tolerance_ns;
        let begin = found.last_mut().filter(|_| !is_first);
        let extended = begin.and_then(|begin| {
            let ticks = next.ticks.since(begin.ticks).max(1) as f64;
            let passed = end.since(begin.host) as f64;
            let rate = passed / ticks;
            let is_near = (rates[0]..=rates[1]).contains(&rate);
            is_near.then(|| {
                begin.rate = rate;
                rates = [
                    rates[0].max((passed - tolerance_ns) / ticks),
                    rates[1].min((passed + tolerance_ns) / ticks),
                ];
            })
        });
        if extended.is_none() {
            let ticks = next.ticks.since(piece.ticks).max(1) as f64;
            let passed = end.since(piece.host) as f64;
            rates = [
                (passed - tolerance_ns) / ticks,
                (passed + tolerance_ns) / ticks,
            ];
            found.push(*piece);
        }
        is_first = jumps;
    }
    found
}

impl ClockPiece {
    #[inline]
    fn at(&self, ticks: Ticks) -> HostNs {
        // A counter does not get 2^63 ticks away from where a piece begins.
        let after = ticks.count().wrapping_sub(self.ticks.count());
        let after = after.cast_signed() as f64;
        let ns = after * self.rate;
        // To the nearest, without the library call that `round` is on most processors.
        self.host.plus((ns + 0.5f64.copysign(ns)) as i64)
    }
}

/// Offset of the wall clock from the host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallClock {
    /// Nanoseconds by which it is behind [`now`]; negative, as a rule.
    pub behind_ns: i64,
    /// Its reading. The hardware log takes its times from it.
    pub now: DeviceNs,
}

/// Compares the wall clock with [`now`]: the narrowest of a few comparisons.
pub fn comparison() -> WallClock {
    let wall = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        })
    };
    let tries = (0..8).map(|_| {
        let (before, wall_ns, after) = (now(), wall(), now());
        let wall = WallClock {
            behind_ns: before + (after - before) / 2 - wall_ns,
            now: DeviceNs::new(wall_ns),
        };
        (after - before, wall)
    });
    let best = tries.min_by_key(|(width, _)| *width);
    best.map_or_else(WallClock::default, |(_, wall)| wall)
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn now() -> i64 {
    i64::try_from(ticks::monotonic()).unwrap_or(i64::MAX)
}

fn read_both() -> ClockReading {
    let mut best = read_once();
    for _ in 1..TRIES {
        let reading = read_once();
        if reading.width_ns < best.width_ns {
            best = reading;
        }
    }
    best
}

fn read_once() -> ClockReading {
    let before = now();
    let ticks = Ticks::new(ticks::counter());
    let after = now();
    ClockReading {
        ticks,
        host: HostNs::new(before + (after - before) / 2),
        width_ns: after - before,
    }
}

/// Whether the processor's counter runs evenly, in all power states and on all cores. On aarch64 the
/// architecture promises it, and the kernel steps in where a processor does not keep that.
fn counter_is_steady() -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let is_promised =
        cfg!(target_arch = "aarch64") || flags_promise_steadiness(&read("/proc/cpuinfo"));
    is_promised
        && cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))
        && kernel_trusts_counter(&read(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        ))
}

fn flags_promise_steadiness(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|line| {
        let has = |name| line.split_whitespace().any(|flag| flag == name);
        has("constant_tsc") && has("nonstop_tsc")
    })
}

/// The kernel leaves the counter for a slow clock only when it has seen it misbehave.
fn kernel_trusts_counter(clocksource: &str) -> bool {
    !matches!(
        clocksource.trim(),
        "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const BASE: u64 = 1_000_000_000;

    /// A counter of `ghz` that starts at `BASE` when the monotonic clock shows 5 s.
    fn reading(at_ns: i64, ghz: f64) -> ClockReading {
        ClockReading {
            ticks: Ticks::new(BASE + (at_ns as f64 * ghz) as u64),
            host: HostNs::new(5_000 * MS + at_ns),
            width_ns: 30,
        }
    }

    fn clock_at(times: impl Iterator<Item = i64>, ghz: f64) -> TickClock {
        let mut clock = TickClock::starting_with(TickSource::Counter, reading(0, ghz));
        times.for_each(|at| clock.observe(reading(at, ghz)));
        clock
    }

    #[test]
    fn a_steady_counter_is_mapped_to_the_nanosecond_past_and_future() {
        let clock = clock_at((1..20).map(|n| n * 100 * MS), 2.5);
        for at in [-7 * MS, 0, 50 * MS, 999_999_999, 1_900 * MS, 1_950 * MS] {
            let ticks = (BASE as f64 + at as f64 * 2.5) as u64;
            let expected = 5_000 * MS + at;
            assert!((clock.ns(ticks) - expected).abs() <= 1, "at {at}");
        }
    }

    #[test]
    fn converted_ticks_keep_their_time_when_the_clock_is_refreshed() {
        let mut clock = clock_at([10 * MS, 30 * MS].into_iter(), 3.0);
        let ticks: Vec<u64> = (0..60).map(|n| BASE + n * 1_500_000).collect();
        let before: Vec<i64> = ticks.iter().map(|tick| clock.ns(*tick)).collect();
        // The kernel begins to steer: the counter seems to run 100 ppm slower from here on.
        clock.observe(ClockReading {
            host: reading(60 * MS, 3.0).host.plus(3_000),
            ..reading(60 * MS, 3.0)
        });
        let after: Vec<i64> = ticks.iter().map(|tick| clock.ns(*tick)).collect();
        assert_eq!(before, after);
    }

    #[test]
    fn a_change_of_rate_is_followed_without_going_backwards() {
        let mut clock = clock_at((1..=10).map(|n| n * 100 * MS), 2.0);
        let truth = |ticks: u64| {
            let turn = BASE + 2_000 * MS as u64;
            let after = ticks.saturating_sub(turn) as f64;
            let before = (ticks.min(turn) - BASE) as f64;
            5_000 * MS + ((before + after * 1.0005) / 2.0) as i64
        };
        let mut last = i64::MIN;
        for step in 0..4_000u64 {
            let ticks = BASE + 2_000 * MS as u64 + step * 2 * MS as u64;
            if step % 100 == 0 && step > 0 {
                clock.observe(ClockReading {
                    ticks: Ticks::new(ticks),
                    host: HostNs::new(truth(ticks)),
                    width_ns: 30,
                });
            }
            let mapped = clock.ns(ticks);
            assert!(mapped > last, "step {step}");
            last = mapped;
        }
        let ticks = BASE + 2_000 * MS as u64 + 4_000 * 2 * MS as u64;
        assert!((clock.ns(ticks) - truth(ticks)).abs() < 1_000);
    }

    #[test]
    fn a_suspended_machine_makes_one_jump_forward() {
        let mut clock = clock_at((1..=10).map(|n| n * 100 * MS), 2.0);
        let woken = ClockReading {
            host: reading(1_100 * MS, 2.0).host.plus(60_000 * MS),
            ..reading(1_100 * MS, 2.0)
        };
        clock.observe(woken);
        assert_eq!(clock.at(woken.ticks), woken.host);
        let later = Ticks::new(woken.ticks.count() + 2_000);
        assert!((clock.at(later).since(woken.host) - 1_000).abs() <= 1);
    }

    /// Three weeks in which the rate of the counter wanders as a crystal does, with a suspended hour after each day.
    #[test]
    fn a_clock_of_weeks_has_few_pieces_and_true_times() {
        const DAY: i64 = 24 * 3600 * 1_000 * MS;
        const STEP: i64 = 1_000 * MS;
        let truth = |at: i64| {
            let seconds = at as f64 / 1e9;
            let wander = 20_000.0 * (seconds / 3000.0).sin() + 500.0 * (seconds / 40.0).sin();
            let asleep = at / DAY * 3600 * 1_000 * MS;
            5_000 * MS + at + wander as i64 + asleep
        };
        let ticks = |at: i64| Ticks::new(BASE + (at as u64).wrapping_mul(3));
        let reading = |at: i64| ClockReading {
            ticks: ticks(at),
            host: HostNs::new(truth(at)),
            width_ns: 30,
        };
        let mut clock = TickClock::starting_with(TickSource::Counter, reading(0));
        let mut most = 0;
        for at in (STEP..=21 * DAY).step_by(STEP as usize) {
            clock.observe(reading(at));
            most = most.max(clock.pieces.len());
        }
        assert!(most <= MOST_PIECES, "{most} pieces");
        let mut last = HostNs::new(i64::MIN);
        for at in (0..=21 * DAY).step_by(7_777 * MS as usize) {
            let mapped = clock.at(ticks(at));
            assert!(mapped >= last, "at {at}");
            last = mapped;
            // A suspended machine is seen with the next reading.
            let is_awake = at % DAY > STEP && at % DAY < DAY - STEP;
            let off = (mapped.ns() - truth(at)).abs();
            assert!(!is_awake || off < 5_000, "{off} ns off at {at}");
        }
    }

    #[test]
    fn this_machines_counter_agrees_with_its_clock() {
        let mut clock = TickClock::start();
        for _ in 0..3 {
            let start = now();
            while now() - start < 5 * MS {}
            clock.observe(read_both());
        }
        if clock.source() == TickSource::Monotonic {
            return;
        }
        let errors = (0..50).map(|_| {
            let reading = read_both();
            let off = clock.at(reading.ticks).since(reading.host).abs();
            (off - reading.width_ns).max(0)
        });
        assert!(errors.min().is_some_and(|error| error < 50_000));
    }

    #[test]
    fn only_a_counter_that_both_cpu_and_kernel_vouch_for_is_used() {
        let good = "processor: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n";
        assert!(flags_promise_steadiness(good));
        assert!(!flags_promise_steadiness("flags\t: fpu tsc constant_tsc\n"));
        assert!(kernel_trusts_counter("kvm-clock\n") && kernel_trusts_counter("tsc"));
        assert!(!kernel_trusts_counter("hpet\n"));
    }
}

//! Clocks that were compared in all kinds of ways, checked against their true readings.

use ascend_trace_format::time::{DeviceNs, HostNs};

use super::{ClockBound, DeviceClockMap, LaunchTimes, PairReading, place};

/// From a submission to an idle stream to its execution.
const LATENCY: i64 = 3_000;
const SECOND: i64 = 1_000_000_000;
/// The error of a single reading.
const TICK: i64 = 20;

/// Numbers below a limit that repeat with the seed.
fn numbers(seed: u64) -> impl FnMut(i64) -> i64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |limit| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.unsigned_abs()).cast_signed()
    }
}

/// A clock that drifts, and how often it was compared well, badly, or hardly at all, second by second.
struct ComparedClock {
    drift: i64,
    events: Vec<ClockBound>,
    driver: Vec<ClockBound>,
}

impl ComparedClock {
    fn host(&self, device: i64) -> i64 {
        device + device * self.drift / 1_000_000
    }

    fn random(seed: u64) -> Self {
        let mut below = numbers(seed);
        let mut compared = Self {
            drift: below(200) - 100,
            events: Vec::new(),
            driver: Vec::new(),
        };
        for second in 0..4 {
            let (least, usual) = (below(3_000), 1 + below(100_000));
            let count = 3 + below(100);
            for part in 0..count {
                let device = second * SECOND + part * SECOND / count + below(1_000_000);
                let (host, lost) = (compared.host(device), least + below(usual));
                compared.events.push(ClockBound {
                    device: DeviceNs::new(device),
                    earliest: HostNs::new(host - LATENCY - lost),
                    latest: HostNs::new(host + 200 + below(usual)),
                });
            }
            for part in (0..count / 10).filter(|_| seed.is_multiple_of(2)) {
                let device = second * SECOND + part * SECOND / 10;
                let host = compared.host(device);
                compared.driver.push(ClockBound {
                    device: DeviceNs::new(device),
                    earliest: HostNs::new(host - 100 - below(2_000)),
                    latest: HostNs::new(host + 100 + below(2_000)),
                });
            }
        }
        compared.events.sort_by_key(|bound| bound.device);
        compared
    }
}

/// Submissions that lose more time in some seconds than in others do not make a latency too short: a
/// task on an idle stream would look as if it had waited there.
#[test]
fn no_latency_is_learnt_too_short() {
    for seed in 1..=5_000 {
        let compared = ComparedClock::random(seed);
        let mut clock = DeviceClockMap::new(TICK);
        clock.extend(&compared.events, &compared.driver);
        clock.draw();
        for looks_back in [false, true] {
            if looks_back {
                clock.look_back();
            }
            for step in 0..400 {
                let device = step * SECOND / 100;
                let mapped = clock.map(DeviceNs::new(device)).unwrap();
                let latency = mapped.host.ns() - compared.host(device) + LATENCY;
                // The slack of a reading is subtracted from the learnt latency.
                let known = mapped.latency + mapped.vague + 2 * TICK;
                assert!(
                    latency <= known,
                    "seed {seed} at {device}, {looks_back}: {latency} {mapped:?}"
                );
            }
        }
    }
}

/// A task that was submitted to an idle stream, with an event before it and one after it.
struct IdleTask {
    reading: PairReading,
    launch: LaunchTimes,
    begin: i64,
    end: i64,
}

impl IdleTask {
    fn random(compared: &ComparedClock, below: &mut impl FnMut(i64) -> i64) -> Self {
        let submitted = SECOND / 10 + below(3 * SECOND);
        let most = if below(3) == 0 { 100_000 } else { 2_000 };
        let before = submitted - 100 - below(most);
        let returned = submitted + below(500);
        let closed = returned + below(3_000);
        let begin = submitted + LATENCY;
        let end = begin + below(50_000);
        let device = |host: i64| {
            let device = i128::from(host) * 1_000_000 / i128::from(1_000_000 + compared.drift);
            DeviceNs::new(i64::try_from(device).unwrap())
        };
        Self {
            reading: PairReading::of_kernel(
                device(before + LATENCY),
                device(end.max(closed + LATENCY)),
            ),
            launch: LaunchTimes {
                begin: HostNs::new(submitted - below(300)),
                end: HostNs::new(returned),
                closed: Some(HostNs::new(closed)),
            },
            begin,
            end,
        }
    }
}

/// With and without the driver's readings: they move the mapping, and with it the latency learnt from
/// events.
#[test]
fn tasks_on_idle_streams_are_within_their_bars() {
    for seed in 1..=5_000 {
        let compared = ComparedClock::random(seed);
        for driver in [&[], &compared.driver[..]] {
            let mut clock = DeviceClockMap::new(TICK);
            clock.extend(&compared.events, driver);
            clock.draw();
            clock.look_back();
            let mut below = numbers(seed + 7_000);
            for _ in 0..40 {
                let task = IdleTask::random(&compared, &mut below);
                let time = place(&clock, &mut 0, task.reading, task.launch).unwrap();
                let off = [time.begin - task.begin, time.end - task.end];
                let apart = (off[0] - off[1]).abs();
                let far = off[0].abs().max(off[1].abs());
                let is_in = far <= time.error + TICK && apart <= 2 * time.local_error + TICK;
                let readings = driver.len();
                assert!(is_in, "seed {seed}, {readings} readings: {off:?} {time:?}");
            }
        }
    }
}

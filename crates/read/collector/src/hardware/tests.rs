//! Random streams with a known log and all possible defects: every join is right.

use ascend_trace_format::time::{DeviceNs, HostNs};
use ascend_trace_recording::rows::TaskTimeRow;

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::{ActivityKind, kinds};

use super::clock_offset::LogClockOffset;
use super::entry::{LogEntry, LoggedSpan};
use super::lane::{ExpectationPhase, ExpectedWork, LaneWork, LogLane, OwnerKey, SyncCall};
use super::*;
use crate::clock::WallClock;

/// Numbers that are the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

/// Possible defects of a log.
#[derive(Clone, Copy, Default)]
struct LogDefects {
    /// One entry in this number is lost, or has no times; 0 is never.
    drop: u64,
    zero: u64,
    /// Number of synchronisations by which entries are late.
    late: usize,
    /// The log's clock is off by this at first.
    anchor: i64,
    /// Entries of a task, at most.
    parts: u64,
    /// All bursts are one kernel, and begin at this distance; 0 is random ones.
    period: i64,
    /// Additional time of the first synchronisation.
    slow: i64,
}

const KERNELS: [ActivityKind; 2] = [ActivityKind::Kernel, ActivityKind::Communication];
/// The host's clock − the log's when the log begins.
const OFFSET: i64 = -1_000_000_000_000;

fn work(sequence: u32) -> LaneWork {
    LaneWork {
        task: Some((1, sequence)),
        node: None,
    }
}

/// A made-up stream: what joins were right, and what tasks there were.
struct JoinOutcome {
    tasks: usize,
    joined: usize,
    given_up: usize,
    entries: usize,
    from_log: usize,
}

/// Plays a program of some bursts, each with a synchronisation, and checks every join.
/// A join: the task, if it has one, and its entries.
type Join = (Option<(u32, u32)>, Vec<LogEntry>);

fn play(seed: u64, defects: LogDefects, drift_ppm: i64) -> JoinOutcome {
    let mut random = Random(seed | 1);
    let mut lane = LogLane::default();
    let start = 5_000_000_000_i64;
    let to_log =
        |host: i64| host - OFFSET - defects.anchor + (host - start) / 1_000_000 * drift_ppm;
    let mut axis = LogClockOffset::near(WallClock {
        behind_ns: OFFSET,
        now: DeviceNs::new(start - OFFSET),
    });
    let (mut now, mut free, mut sequence, mut number) = (start, start, 0, 0);
    // What each entry truly is of: by its correlation.
    let mut truth: BTreeMap<u64, u32> = BTreeMap::new();
    let mut held: Vec<Vec<LogEntry>> = Vec::new();
    let mut outcome = JoinOutcome {
        tasks: 0,
        joined: 0,
        given_up: 0,
        entries: 0,
        from_log: 0,
    };
    let mut joins: Vec<Join> = Vec::new();
    let bursts = 3 + random.below(20);
    for burst in 0..=bursts {
        let is_last = burst == bursts;
        let mut batch = Vec::new();
        let count = match defects.period {
            0 => random.below(12),
            _ => 1,
        };
        let burst_begin = now;
        for _ in 0..count {
            let begin = now;
            now += 300 + random.below(3_000) as i64;
            let is_regular = defects.period != 0;
            let kind = KERNELS[if is_regular {
                0
            } else {
                random.below(2) as usize
            }];
            let is_logged = is_regular || random.below(5) != 0;
            let task = ExpectedWork {
                work: work(sequence),
                begin,
                end: now,
                kind,
                function: Some(1),
                done: None,
            };
            let order = sequence;
            sequence += 1;
            if !is_logged {
                continue;
            }
            lane.expect(OwnerKey::Stream(1), order, task);
            outcome.tasks += 1;
            number += 1;
            truth.insert(number, order);
            for _ in 0..1 + random.below(defects.parts.max(1)) {
                let from = free.max(now + 2_000);
                free = from + 500 + random.below(9_000) as i64;
                // With the first one lost, and a comparison that is off by a round, nothing
                // distinguishes rounds.
                let is_kept = defects.period != 0 && burst == 0;
                if !is_kept && defects.drop != 0 && random.below(defects.drop) == 0 {
                    continue;
                }
                let is_zero = defects.zero != 0 && random.below(defects.zero) == 0;
                let times = if is_zero {
                    (0, 0)
                } else {
                    (to_log(from), to_log(free))
                };
                outcome.entries += 1;
                batch.push(LogEntry {
                    activity: kinds::Activity {
                        kind,
                        device: 0,
                        stream: 1,
                        correlation: number,
                        begin_ns: times.0,
                        end_ns: times.1,
                        name: 0,
                        seen: 0,
                    },
                    seen: HostNs::MAX,
                });
            }
        }
        held.push(batch);
        let begin = now;
        now = now.max(free) + 1_000 + random.below(20_000) as i64;
        now += if burst == 0 { defects.slow } else { 0 };
        lane.sync(SyncCall { begin, end: now });
        now = match defects.period {
            0 => now + random.below(400_000) as i64,
            period => now.max(burst_begin + period),
        };
        while held.len() > defects.late || is_last && !held.is_empty() {
            for entry in held.remove(0) {
                lane.take(LogEntry {
                    seen: HostNs::new(now),
                    ..entry
                });
            }
        }
        let last = if is_last {
            ExpectationPhase::Last
        } else {
            ExpectationPhase::Growing
        };
        for phase in [ExpectationPhase::Growing, last] {
            lane.settle(&mut axis, phase, &mut |joined| {
                joins.push((
                    joined.work.and_then(|work| work.task),
                    joined.entries.to_vec(),
                ));
            });
        }
    }
    for (task, entries) in joins {
        outcome.from_log += entries.len();
        match task {
            Some(_) if entries.is_empty() => outcome.given_up += 1,
            Some((_, sequence)) => {
                outcome.joined += 1;
                for entry in entries {
                    assert_eq!(truth[&entry.activity.correlation], sequence, "seed {seed}");
                }
            }
            None => {}
        }
    }
    outcome
}

/// Every task is reported once, and every entry.
fn is_complete(outcome: &JoinOutcome) {
    assert_eq!(outcome.joined + outcome.given_up, outcome.tasks);
    assert_eq!(outcome.from_log, outcome.entries);
}

#[test]
fn a_log_without_defects_is_joined_whole() {
    for seed in 1..2_000 {
        for (parts, late) in [(1, 0), (4, 0), (3, 5)] {
            let defects = LogDefects {
                parts,
                late,
                ..LogDefects::default()
            };
            let outcome = play(seed, defects, 90);
            is_complete(&outcome);
            assert_eq!(outcome.given_up, 0, "seed {seed}");
        }
    }
}

#[test]
fn losses_make_stretches_unknown_and_nothing_wrong() {
    let (mut joined, mut given_up) = (0, 0);
    for seed in 1..4_000 {
        let defects = LogDefects {
            drop: 2 + seed % 40,
            zero: seed % 7,
            late: (seed % 3) as usize,
            anchor: 0,
            parts: 1 + seed % 3,
            ..LogDefects::default()
        };
        let outcome = play(seed, defects, (seed % 200) as i64 - 100);
        is_complete(&outcome);
        joined += outcome.joined;
        given_up += outcome.given_up;
    }
    println!("{joined} joined, {given_up} unknown");
    assert!(joined > 0 && given_up > 0);
}

#[test]
fn a_clock_that_is_far_off_is_not_believed() {
    for seed in 1..500 {
        for anchor in [-10_000_000, 10_000_000] {
            let defects = LogDefects {
                anchor,
                ..LogDefects::default()
            };
            is_complete(&play(seed, defects, 0));
        }
    }
}

#[test]
fn a_loop_is_not_joined_to_another_round_of_it() {
    for seed in 1..400 {
        for period in [60_000, 100_000, 300_000] {
            for anchor in [-3, -2, -1, 1, 2, 3] {
                let defects = LogDefects {
                    anchor: anchor * period,
                    drop: [0, 9][(seed % 2) as usize],
                    period,
                    ..LogDefects::default()
                };
                is_complete(&play(seed, defects, 0));
            }
        }
    }
}

/// The first entries agree with a comparison that is far off, because the program waited long for their tasks.
#[test]
fn a_slow_synchronisation_does_not_prove_the_comparison() {
    for seed in 1..400 {
        for rounds in [-3, -2, -1, 1, 2, 3] {
            let period = 100_000;
            let defects = LogDefects {
                anchor: rounds * period,
                drop: [0, 9][(seed % 2) as usize],
                period,
                slow: period * 4,
                ..LogDefects::default()
            };
            is_complete(&play(seed, defects, 0));
        }
    }
}

#[test]
fn a_task_has_the_times_of_all_its_parts_or_none() {
    let entry = |begin_ns, end_ns| LogEntry {
        activity: kinds::Activity {
            kind: ActivityKind::Kernel,
            device: 0,
            stream: 1,
            correlation: 1,
            begin_ns,
            end_ns,
            name: 0,
            seen: 0,
        },
        seen: HostNs::new(9_000),
    };
    let whole = entry::time(3, (1, 5), LoggedSpan::of(&[entry(10, 20), entry(25, 40)]));
    let expected = TaskTimeRow {
        untimed: Untimed::Timed.code(),
        begin_device_ns: 10,
        end_device_ns: 40,
        seen_ns: 9_000,
        arming_ns: 1,
        ..entry::time(3, (1, 5), None)
    };
    assert_eq!(whole, expected);
    let torn = entry::time(3, (1, 5), LoggedSpan::of(&[entry(10, 20), entry(0, 0)]));
    assert_eq!(torn.untimed, Untimed::NotLogged.code());
}

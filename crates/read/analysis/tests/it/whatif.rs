//! How long programs would have taken: predictions against the same programs, played with the change.

use std::collections::BTreeSet;

use ascend_trace_analysis::whatif::{Change, Narrow, Report, Verdicts, WhatIf};
use ascend_trace_analysis::{Window, WindowSize};
use ascend_trace_recording::rows::{CostRow, OtherThreadRow, Row};
use ascend_trace_recording::{Recording, Trace};
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{Workload, leading, run};
use ascend_trace_testkit::{Timeline, timeline};

use super::programs::everything;
use super::random::Dice;
use super::two_threads;

fn predicted(trace: &Trace, change: Change) -> Report {
    WhatIf::of(&Window::whole(trace)).predict(&[change], Vec::new())
}

/// By how much shorter the change makes a timeline.
fn saved(text: &str, change: Change) -> i64 {
    predicted(&timeline(text), change).predictions[0].saved_ns
}

fn operation(name: &str, factor: f64) -> Change {
    let names = BTreeSet::from([name.to_owned()]);
    Change::Operation { names, factor }
}

fn sync(function: &str, narrow: Narrow) -> Change {
    let functions = BTreeSet::from([function.to_owned()]);
    Change::Sync { functions, narrow }
}

fn no_waits(stream_id: i64) -> Change {
    let device = None;
    Change::NoWaits { device, stream_id }
}

/// Two streams; the second one waits for the first. Launches take 2 µs, and the sync 5 µs to return.
const TWO_STREAMS: &str = "\
    s1: A[2us..40us] by t1[0us..1us]
    s1: rec(E)[40us..40us] by t1[1us..2us]
    s2: B[4us..14us] by t1[2us..3us]
    s2: wait(E)[14us..40us] by t1[3us..4us]
    s2: C[40us..60us] by t1[4us..5us]
    t1: sync()[5us..65us]
    s1: D[68us..78us] by t1[66us..67us]
    t1: sync(s1)[67us..80us]";

#[test]
fn faster_operations_end_sooner_as_far_as_others_waited_for_them() {
    // A 19 µs sooner, so C, the sync and D are.
    assert_eq!(saved(TWO_STREAMS, operation("A", 0.5)), 19_000);
    // B then lasts longer than A: C begins at 14 µs.
    assert_eq!(saved(TWO_STREAMS, operation("A", 0.0)), 26_000);
    assert_eq!(saved(TWO_STREAMS, operation("B", 0.0)), 0);
    assert_eq!(saved(TWO_STREAMS, operation("D", 2.0)), -10_000);
    assert_eq!(saved(TWO_STREAMS, operation("nothing", 0.0)), 0);
}

#[test]
fn without_a_wait_a_stream_goes_on_at_once() {
    // C runs from 14 µs to 34 µs, and A ends the sync at 40 µs.
    assert_eq!(saved(TWO_STREAMS, no_waits(2)), 20_000);
    assert_eq!(saved(TWO_STREAMS, no_waits(1)), 0);
}

#[test]
fn a_narrower_sync_lets_the_host_go_on() {
    let device = "aclrtSynchronizeDevice";
    // The call returns at 10 µs, and D follows A.
    assert_eq!(saved(TWO_STREAMS, sync(device, Narrow::None)), {
        // D from 40 µs to 50 µs, but C goes on to 60 µs.
        80_000 - 60_000
    });
    // The last event record is done at 40 µs: the call returns at 45 µs, and D runs from 48 µs to 58 µs.
    assert_eq!(saved(TWO_STREAMS, sync(device, Narrow::Event)), 20_000);
    // The thread used stream 2 last, which is done at 60 µs.
    assert_eq!(saved(TWO_STREAMS, sync(device, Narrow::Stream)), 0);
    let stream = "aclrtSynchronizeStream";
    assert_eq!(saved(TWO_STREAMS, sync(stream, Narrow::None)), 2_000);
}

#[test]
fn launches_and_copies_take_less() {
    let text = "s1: A[3us..5us] by t1[0us..2us] | s1: A[13us..15us] by t1[10us..12us]
                s1: memcpy(64)[15us..25us] by t1[12us..14us]
                s1: memcpy(64)[host-copy] by t1[14us..31us] | t1: aclrtFree[32us..33us]";
    // Each call takes 2 µs, two of three are before the copy; then the copy on the device decides.
    assert_eq!(saved(text, Change::Launch { factor: 0.0 }), {
        // A from 8 µs to 10 µs, the copy to 20 µs, the call that copies by itself 6 µs later.
        5_000
    });
    // Both copies are removed, and the last call waits for its submission at 14 µs and A at 15 µs.
    assert_eq!(saved(text, Change::Copy { factor: 0.0 }), 16_000);
}

/// How a played program differs from the one that is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Played {
    fast: bool,
    no_waits: bool,
    no_syncs: bool,
    free_launches: bool,
    free_copies: bool,
}

/// A thread that drives three streams, as a text; with the same dice, the same program.
fn program(dice: &mut Dice, operations: usize, played: Played) -> String {
    let mut text = String::new();
    let (mut now, mut ready) = (0, [0_i64; 3]);
    let mut records: Vec<i64> = Vec::new();
    let launch = if played.free_launches { 0 } else { 1_000 };
    // At the end, a stream waits for what another one does.
    let tail = [(0, 7), (0, 0), (1, 1), (1, 7)];
    for at in 0..operations + tail.len() {
        let stream = dice.roll(3) as usize;
        let (kind, late) = (dice.roll(10), [10, 300, 9_000][dice.roll(3) as usize]);
        let (length, event) = ([500, 4_000, 40_000][dice.roll(3) as usize], dice.roll(64));
        let end = at.checked_sub(operations).map(|it| tail[it]);
        let (stream, kind) = end.unwrap_or((stream, kind));
        let (length, event) = end.map_or((length, event), |_| (40_000, 0));
        let (called, returned) = (now, now + launch);
        let begin = ready[stream].max(returned);
        let by = format!("by t1[{called}..{returned}]");
        let on = format!("s{}:", stream + 1);
        let copy = if played.free_copies { 0 } else { late };
        let wait = |until: i64| {
            if played.no_syncs {
                called
            } else {
                called.max(until)
            }
        };
        now = returned;
        match kind {
            0 => {
                records.push(begin);
                ready[stream] = begin;
                text += &format!("{on} rec(E{})[{begin}..{begin}] {by}\n", records.len() - 1);
            }
            1 | 8 if !records.is_empty() => {
                // One of the last three.
                let event = records.len() - 1 - event as usize % records.len().min(3);
                let held = if played.no_waits {
                    begin
                } else {
                    begin.max(records[event])
                };
                ready[stream] = held;
                text += &format!("{on} wait(E{event})[{begin}..{held}] {by}\n");
            }
            2 if !records.is_empty() => {
                let event = event as usize % records.len();
                now = called.max(records[event]) + late;
                text += &format!("t1: sync(E{event})[{called}..{now}]\n");
            }
            3 => {
                now = called.max(ready[stream]) + late;
                text += &format!("t1: sync(s{})[{called}..{now}]\n", stream + 1);
            }
            4 => {
                now = wait(ready.into_iter().max().unwrap_or(0)) + late;
                text += &format!("t1: sync()[{called}..{now}]\n");
            }
            5 => {
                now = called.max(ready[stream]) + copy;
                text += &format!("{on} memcpy(64)[host-copy] by t1[{called}..{now}]\n");
            }
            6 => now = called + 5 * late,
            _ => {
                let length = if played.fast { length / 2 } else { length };
                ready[stream] = begin + length;
                text += &format!("{on} K[{begin}..{}] {by}\n", ready[stream]);
            }
        }
        // The program itself does something.
        now += 100;
    }
    text
}

fn makespan(text: &str) -> i64 {
    let report = predicted(&timeline(text), Change::Launch { factor: 1.0 });
    report.makespan_ns
}

#[test]
fn predictions_agree_with_the_changed_program() {
    let fast = Played {
        fast: true,
        ..Played::default()
    };
    let no_waits_played = Played {
        no_waits: true,
        ..Played::default()
    };
    let no_syncs = Played {
        no_syncs: true,
        ..Played::default()
    };
    let launches = Played {
        free_launches: true,
        ..Played::default()
    };
    let copies = Played {
        free_copies: true,
        ..Played::default()
    };
    let all_waits = [1, 2, 3].map(no_waits);
    let device = sync("aclrtSynchronizeDevice", Narrow::None);
    let cases: [(Played, Vec<Change>); 5] = [
        (fast, vec![operation("K", 0.5)]),
        (no_waits_played, all_waits.to_vec()),
        (no_syncs, vec![device]),
        (launches, vec![Change::Launch { factor: 0.0 }]),
        (copies, vec![Change::Copy { factor: 0.0 }]),
    ];
    let mut gains = [0_usize; 5];
    for seed in 0..60 {
        let recorded = program(&mut Dice(seed), 60, Played::default());
        let whatif = WhatIf::of(&Window::whole(&timeline(&recorded)));
        for ((played, changes), gains) in cases.iter().zip(&mut gains) {
            let report = whatif.predict(changes, Vec::new());
            assert_eq!(report.unchanged_error_ns, 0, "seed {seed}\n{recorded}");
            let changed = makespan(&program(&mut Dice(seed), 60, *played));
            let found = &report.predictions[0];
            let away = (found.makespan_ns - changed).abs();
            assert!(
                found.error_ns.is_some_and(|it| away <= it),
                "seed {seed}, {played:?}: {} ± {:?} predicted, {changed} played\n{recorded}",
                found.makespan_ns,
                found.error_ns
            );
            // Nothing takes longer because something else does not.
            assert!(found.saved_ns >= 0, "seed {seed}, {played:?}");
            *gains += usize::from(found.saved_ns > 0 && away == 0);
        }
    }
    assert!(gains.iter().all(|it| *it > 10), "{gains:?}");
}

/// The tracer overhead of a thread until then.
fn cost(thread: u32, at_ns: i64, recording_ns: u64) -> Row {
    Row::Cost(CostRow {
        thread,
        at_ns,
        calls: 8,
        recording_ns,
        tasks: 3,
        events: 6,
        timing_ns: 500,
        reading_ns: 100,
    })
}

#[test]
fn the_error_holds_what_recording_has_cost() {
    let plain = Timeline::of(TWO_STREAMS);
    let with = |costs: &[Row]| {
        let rows = plain.rows.iter().cloned().chain(costs.iter().cloned());
        let trace = from_rows(plain.session.clone(), plain.tables.clone(), rows);
        predicted(&trace, operation("A", 0.5))
    };
    let thread = plain.rows.iter().find_map(|row| match row {
        Row::Thread(row) => Some(row.thread),
        _ => None,
    });
    let thread = thread.expect("there is a thread");
    let free = with(&[]);
    // Sums: only the last one counts.
    let costly = with(&[cost(thread, 10_000, 1_000), cost(thread, 20_000, 2_400)]);
    assert_eq!((free.overhead_ns, costly.overhead_ns), (0, 3_000));
    let error = |report: &Report| report.predictions[0].error_ns.expect("it is known");
    // Six calls submit, each with 483 ns of overhead: A and D begin earlier by this time. The rest is in the pauses of the thread, of
    // which the only one takes 1 µs.
    assert_eq!(error(&costly) - error(&free), 2 * 483 + 1_000);
    assert_eq!(costly.predictions[0].saved_ns, free.predictions[0].saved_ns);
    // It cannot be more than all of the time.
    let all = with(&[cost(thread, 10_000, 1 << 50)]);
    assert_eq!(all.overhead_ns, all.makespan_ns);
}

/// A program that needs the results of a thread without recorded calls takes as long as that works.
#[test]
fn the_error_has_the_work_of_threads_without_recorded_calls() {
    let plain = Timeline::of(TWO_STREAMS);
    let alone = predicted(&plain.trace(), operation("A", 0.5));
    let (lasts, saved) = (alone.makespan_ns, alone.predictions[0].saved_ns);
    assert!(saved > 0 && alone.other_threads.is_empty());
    let with = |cpu_ns: i64| {
        let seen = Row::OtherThread(OtherThreadRow {
            process: 0,
            pid: 77,
            tid: 78,
            name: "loader".to_owned(),
            first_ns: 0,
            at_ns: lasts,
            cpu_ns: u64::try_from(cpu_ns).unwrap_or(0),
            runs: 1,
        });
        let rows = plain.rows.iter().cloned().chain([seen]);
        let trace = from_rows(plain.session.clone(), plain.tables.clone(), rows);
        predicted(&trace, operation("A", 0.5))
    };
    let error = |report: &Report| report.predictions[0].error_ns.expect("it is known");
    // It works for no longer than the changed program takes.
    let idle = with(lasts - saved);
    assert_eq!(error(&idle), error(&alone));
    let busy = with(lasts - saved / 2);
    let contained = error(&busy) - error(&alone);
    assert!(
        (saved / 2 - 9..=saved / 2 + 9).contains(&contained),
        "{contained}"
    );
    assert_eq!(busy.other_threads[0].tid, 78);
    assert_eq!(busy.predictions[0].saved_ns, saved);
    // No pause waits for it.
    assert!(!busy.awaits_others);
}

/// Everything that recordings have: graphs, collectives, callbacks, threads that plan for others.
#[test]
fn the_unchanged_simulation_is_the_recording() {
    for seed in 0..6 {
        let (session, tables) = leading();
        let mut rows = Vec::new();
        let workload = Workload {
            steps: 30,
            seed,
            everything: seed % 2 == 0,
            ..Workload::default()
        };
        run(workload, |row| rows.push(row));
        let trace = from_rows(session, tables, rows);
        let report = predicted(&trace, Change::Copy { factor: 1.0 });
        assert!(report.makespan_ns > 1_000_000);
        let bar = trace
            .tasks()
            .iter()
            .filter_map(|it| it.time)
            .map(|it| it.error)
            .max();
        let off = report.unchanged_error_ns;
        assert!(
            off <= bar.unwrap_or(0),
            "seed {seed}: {off} of {}",
            report.makespan_ns
        );
        assert_eq!(report.predictions[0].saved_ns, 0);
    }
}

/// Callbacks that are served before they were requested, and the like: a simulation still ends.
#[test]
fn waits_that_contradict_each_other_are_left_out() {
    let mut programs = 0;
    for seed in 0..200 {
        let trace = timeline(&everything(&mut Dice(seed), 60));
        let report = predicted(&trace, Change::Copy { factor: 1.0 });
        assert!(report.unchanged_ns > 0, "seed {seed}");
        assert!(
            report.unchanged_error_ns < report.makespan_ns,
            "seed {seed}"
        );
        programs += u32::from(report.left_out > 0);
    }
    assert!(programs > 0);
}

#[test]
fn suggestions_are_ranked_and_hold() {
    for seed in 0..10 {
        let text = program(&mut Dice(seed), 80, Played::default());
        let whatif = WhatIf::of(&Window::whole(&timeline(&text)));
        let report = whatif.suggest(&Verdicts::default());
        let saved: Vec<i64> = report.predictions.iter().map(|it| it.saved_ns).collect();
        assert!(
            saved.len() > 3 && saved.is_sorted_by(|a, b| a >= b),
            "{saved:?}"
        );
        assert!(saved.iter().all(|it| *it > 0));
        let half = report
            .predictions
            .iter()
            .find(|it| it.changes == ["op=K x0.5"]);
        let mut own = whatif.predict(&[operation("K", 0.5)], vec!["op=K x0.5".to_owned()]);
        own.predictions[0].holds = Some("K can take half of its time".to_owned());
        assert_eq!(half, Some(&own.predictions[0]));
        assert!(half.is_some_and(|it| it.changed > 5));
        let busy = half.map(|it| it.streams.iter().map(|it| it.predicted).sum::<f64>());
        assert!(busy.is_some_and(|it| it > 0.0 && it < 3.0));
    }
}

#[test]
fn a_prediction_does_not_depend_on_where_a_recording_is_cut() {
    for seed in 0..6 {
        let mut dice = Dice(seed);
        let timeline = Timeline::of(&program(&mut dice, 120, Played::default()));
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file).expect("it reads back");
        let mut reported = |step: WindowSize| {
            let whatif = WhatIf::of_recording(&mut recording, step);
            whatif.expect("it reads back").suggest(&Verdicts::default())
        };
        let whole = reported(WindowSize::WHOLE);
        assert!(whole.predictions.len() > 3);
        for _ in 0..3 {
            let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
            assert!(
                reported(WindowSize { rows, margin }) == whole,
                "seed {seed}"
            );
        }
    }
}

#[test]
fn blocking_calls_are_split_into_needed_and_unneeded_parts() {
    // The last sync is followed by the end of the stream, and the copy on the host is no sync.
    let text = "\
        s1: A[2us..40us] by t1[0us..1us] | t1: sync()[5us..45us]
        s1: A[50us..60us] by t1[47us..48us] | t1: sync(s1)[49us..61us] sync()[63us..64us]
        s1: B[70us..80us] by t1[66us..67us] | t1: sync(s1)[68us..83us] destroy(s1)[84us..85us]";
    let report = WhatIf::of(&Window::whole(&timeline(text))).syncs(&Verdicts::default());
    let rows = report.syncs.iter().map(|it| {
        let times = [
            it.blocked_ns,
            it.needed_ns,
            it.not_needed_ns,
            it.returning_ns,
        ];
        let times = times.map(|it| it / 1_000);
        (
            it.function.as_str(),
            it.after.as_deref(),
            it.count,
            times,
            it.narrower,
        )
    });
    let rows: Vec<_> = rows.collect();
    let (device, stream) = ("aclrtSynchronizeDevice", "aclrtSynchronizeStream");
    assert_eq!(
        rows,
        [
            (device, Some("A"), 2, [41, 0, 35, 6], Some(Narrow::None)),
            (stream, Some("B"), 1, [15, 12, 0, 3], None),
            (stream, Some("A"), 1, [12, 0, 11, 1], Some(Narrow::None)),
        ]
    );
    // A runs from 40 µs on; without the sync the host is 35 µs ahead.
    assert!(report.syncs[0].saved_ns > 0 && report.syncs[1].saved_ns == 0);
    for seed in 0..20 {
        let text = program(&mut Dice(seed), 80, Played::default());
        let report = WhatIf::of(&Window::whole(&timeline(&text))).syncs(&Verdicts::default());
        assert!(report.predictions.is_empty() && report.syncs.len() > 2);
        for row in &report.syncs {
            let parts = row.needed_ns + row.not_needed_ns + row.returning_ns;
            assert_eq!(parts, row.blocked_ns, "{row:?}");
            assert!(row.saved_ns >= 0 && (row.narrower.is_some() || row.saved_ns == 0));
        }
    }
}

/// The rows of waits of a thread, while another thread works. `begins` gives the begin of its work, for a round and the end of the wait.
fn of_two_threads(begins: impl Fn(u64, u64) -> u64) -> Vec<(Option<Narrow>, Option<String>)> {
    let trace = timeline(&two_threads::rounds(begins));
    let report = WhatIf::of(&Window::whole(&trace)).syncs(&Verdicts::default());
    let own = report
        .syncs
        .into_iter()
        .filter(|it| it.tid == 1001 && it.count > 1);
    own.map(|it| (it.narrower, it.holds)).collect()
}

#[test]
fn a_wait_after_which_another_thread_goes_on_is_needed() {
    let needed = "needed: another thread seems to go on after it, and may rely on it";
    assert_eq!(
        of_two_threads(|_, end| end + 5),
        [(None, Some(needed.to_owned()))]
    );
    // The other thread has rounds of another length.
    let rows = of_two_threads(|round, _| 20 + round * 370);
    let [(narrower, Some(holds))] = rows.as_slice() else {
        panic!("one row: {rows:?}");
    };
    assert_eq!(*narrower, Some(Narrow::None));
    assert!(holds.starts_with("the host uses no memory"), "{holds}");
}

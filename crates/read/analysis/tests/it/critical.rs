//! The critical path, against all paths of a program's graph.

use std::collections::BTreeSet;

use ascend_trace_analysis::critical::{Critical, SegmentKind};
use ascend_trace_analysis::{Window, WindowSize};
use ascend_trace_recording::{Recording, TimeRange};
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::{Timeline, timeline};

use super::random::Dice;
use super::two_threads;

/// A program in which everything begins as soon as possible: a text, and the order of its items.
#[derive(Default)]
struct Program {
    text: String,
    /// The duration of each item, and its predecessors.
    nodes: Vec<(i64, Vec<usize>)>,
    /// When each begins and ends.
    times: Vec<(i64, i64)>,
}

impl Program {
    fn add(&mut self, length: i64, after: Vec<usize>) -> usize {
        let begin = after.iter().map(|it| self.times[*it].1).max();
        let begin = begin.unwrap_or(0);
        self.nodes.push((length, after));
        self.times.push((begin, begin + length));
        self.nodes.len() - 1
    }

    /// All longest paths, found by following every path there is, without the things that take no time.
    fn longest(&self) -> (i64, BTreeSet<Vec<(i64, i64)>>) {
        let mut best = (0, BTreeSet::new());
        let mut open: Vec<(i64, Vec<usize>)> = (0..self.nodes.len())
            .map(|it| (self.nodes[it].0, vec![it]))
            .collect();
        while let Some((length, path)) = open.pop() {
            let first = path[path.len() - 1];
            for before in &self.nodes[first].1 {
                let mut longer = path.clone();
                longer.push(*before);
                open.push((length + self.nodes[*before].0, longer));
            }
            if length < best.0 {
                continue;
            }
            if length > best.0 {
                best = (length, BTreeSet::new());
            }
            let steps = path.iter().rev().filter(|it| self.nodes[**it].0 > 0);
            best.1.insert(steps.map(|it| self.times[*it]).collect());
        }
        best
    }
}

/// Two threads submit to three streams, record, wait, sync, and think; in the end the first waits for the device.
fn program(dice: &mut Dice) -> Program {
    let mut program = Program::default();
    let mut streams: [Option<usize>; 3] = [None; 3];
    let mut threads: [Option<usize>; 2] = [None; 2];
    // Records of events, with their calls.
    let mut records: Vec<(i64, usize)> = Vec::new();
    // The last call that waited for each stream: other work comes after it.
    let mut synced = [-1_i64; 3];
    let after = |nodes: &[Option<usize>]| nodes.iter().flatten().copied().collect::<Vec<_>>();
    // When the tasks of each stream were submitted.
    let mut submitted: [Vec<(i64, usize)>; 3] = Default::default();
    // A call waits for the submissions before its begin.
    let before = |submitted: &[(i64, usize)], at: i64| {
        let there = submitted.iter().rev().find(|it| it.0 < at);
        there.map(|it| it.1)
    };
    for _ in 0..4 + dice.roll(9) {
        let thread = dice.roll(2) as usize;
        let stream = dice.roll(3) as usize;
        let name = format!("t{}", thread + 1);
        // The program thinks, and then makes a call.
        let think = 1 + dice.roll(20);
        let thought = program.add(think, after(&threads[thread..=thread]));
        let kind = dice.roll(6);
        if kind == 4 || kind == 5 && records.is_empty() {
            let there = before(&submitted[stream], program.times[thought].1);
            let waits = after(&[Some(thought), there]);
            let sync = program.add(0, waits);
            let (from, until) = (program.times[thought].1, program.times[sync].1);
            synced[stream] = synced[stream].max(from);
            program.text += &format!("{name}: sync(s{})[{from}..{until}]\n", stream + 1);
            threads[thread] = Some(sync);
            continue;
        }
        let call = program.add(1, vec![thought]);
        let (called, returned) = program.times[call];
        threads[thread] = Some(call);
        // Streams are served in the order of the calls.
        let known: Vec<usize> = (0..records.len())
            .filter(|it| records[*it].0 < called)
            .collect();
        let is_late = submitted[stream].last().is_some_and(|it| called <= it.0);
        if is_late || called <= synced[stream] || kind == 5 && known.is_empty() {
            program.text += &format!("{name}: aclrtMalloc(64)[{called}..{returned}]\n");
            continue;
        }
        let by = format!("by {name}[{called}..{returned}]");
        let on = format!("s{}", stream + 1);
        let ready = after(&[Some(call), streams[stream]]);
        let task = match kind {
            0..=2 => {
                let task = program.add(1 + dice.roll(30), ready);
                let (begin, end) = program.times[task];
                program.text += &format!("{on}: MatMul[{begin}..{end}] {by}\n");
                task
            }
            3 => {
                let task = program.add(0, ready);
                let at = program.times[task].0;
                program.text += &format!("{on}: rec(E{})[{at}..{at}] {by}\n", records.len());
                records.push((called, task));
                task
            }
            _ => {
                let event = known[dice.roll(known.len() as u64) as usize];
                // It begins when it is reached, and ends when the event is done.
                let reached = program.add(0, ready);
                let task = program.add(0, vec![reached, records[event].1]);
                let (begin, end) = (program.times[reached].0, program.times[task].1);
                program.text += &format!("{on}: wait(E{event})[{begin}..{end}] {by}\n");
                task
            }
        };
        streams[stream] = Some(task);
        submitted[stream].push((called, task));
    }
    // It comes after all that was submitted.
    let last = submitted.iter().flatten().map(|it| it.0).max();
    let now = threads[0].map_or(0, |it| program.times[it].1);
    let think = 2 + last.map_or(0, |last| (last - now).max(0));
    let thought = program.add(think, after(&threads[..1]));
    let sync = program.add(
        0,
        after(&[Some(thought), streams[0], streams[1], streams[2]]),
    );
    let (from, until) = (program.times[thought].1, program.times[sync].1);
    program.text += &format!("t1: sync()[{from}..{until}]\n");
    program
}

fn check(seeds: std::ops::Range<u64>) {
    let (mut alone, mut tied) = (0, 0);
    for seed in seeds {
        let program = program(&mut Dice(seed));
        let (length, longest) = program.longest();
        let Ok(timeline) = Timeline::parse(&program.text) else {
            panic!("seed {seed}\n{}", program.text);
        };
        let trace = timeline.trace();
        let found = Critical::of(&Window::whole(&trace), (0, length));
        let mut reported: Vec<(i64, i64)> = Vec::new();
        for segment in found.segments.iter() {
            // Time before a thread's first call belongs to the program, too.
            assert!(
                !matches!(
                    segment.kind,
                    SegmentKind::Launch
                        | SegmentKind::Switch
                        | SegmentKind::Return
                        | SegmentKind::Release
                ),
                "seed {seed}: {segment:?}\n{}",
                program.text
            );
            reported.push((segment.begin_ns, segment.end_ns));
        }
        assert_eq!(reported.first().map(|it| it.0), Some(0), "seed {seed}");
        assert_eq!(reported.last().map(|it| it.1), Some(length), "seed {seed}");
        assert!(reported.windows(2).all(|pair| pair[0].1 == pair[1].0));
        assert!(
            longest.contains(&reported),
            "seed {seed}: {reported:?} of {longest:?}\n{:?}\n{}",
            found.segments,
            program.text
        );
        match longest.len() {
            1 => alone += u32::from(found.ties == 0),
            _ => {
                assert!(found.ties > 0, "seed {seed}: {longest:?}\n{}", program.text);
                tied += 1;
            }
        }
    }
    assert!(alone > 0 && tied > 0, "{alone} alone, {tied} tied");
}

#[test]
fn a_critical_path_is_a_longest_path_and_ties_are_reported() {
    check(0..10_000);
}

/// The same pieces, as kind, begin and end in microseconds.
fn reported(text: &str, range: (i64, i64)) -> Vec<(SegmentKind, i64, i64)> {
    let trace = timeline(text);
    let range = (range.0 * 1_000, range.1 * 1_000);
    let found = Critical::of(&Window::whole(&trace), range);
    let pieces = found.segments.iter();
    pieces
        .map(|it| (it.kind, it.begin_ns / 1_000, it.end_ns / 1_000))
        .collect()
}

#[test]
fn what_ran_on_no_side_is_named() {
    let text = "s1: MatMul[10us..30us] by t1[2us..4us] rec(E)[30us..30us] by t1[4us..5us]
                s2: wait(E)[8us..33us] by t1[5us..6us] memcpy(64)[35us..40us] by t1[6us..7us]
                t1: sync(s2)[9us..46us] aclrtMalloc(64)[50us..51us]";
    let expected = [
        (SegmentKind::Edge, 0, 2),
        (SegmentKind::Call, 2, 4),
        (SegmentKind::Launch, 4, 10),
        (SegmentKind::Computing, 10, 30),
        (SegmentKind::Release, 30, 33),
        (SegmentKind::Switch, 33, 35),
        (SegmentKind::Copy, 35, 40),
        (SegmentKind::Return, 40, 46),
        (SegmentKind::Program, 46, 50),
        (SegmentKind::Call, 50, 51),
    ];
    assert_eq!(reported(text, (0, 51)), expected);
    let expected = [
        (SegmentKind::Computing, 20, 30),
        (SegmentKind::Release, 30, 33),
        (SegmentKind::Edge, 33, 34),
    ];
    assert_eq!(reported(text, (20, 34)), expected);
}

#[test]
fn a_call_that_runs_a_graph_to_its_end_returns_after_the_replay() {
    let capture = "t1: capture(s1)[0us..1us] of g1 end(s1)[4us..5us] of g1
                   s1: A[captured] by t1[2us..3us] of g1";
    let text = format!("{capture} aclmdlRIExecute[10us..20us] by t1[7us..22us] of g1");
    let expected = [
        (SegmentKind::Program, 5, 7),
        (SegmentKind::Call, 7, 10),
        (SegmentKind::Computing, 10, 20),
        (SegmentKind::Return, 20, 22),
    ];
    assert_eq!(reported(&text, (5, 22)), expected);
}

#[test]
fn a_range_in_which_nothing_ends_has_a_path_as_well() {
    let text = "s1: MatMul[10us..30us] by t1[2us..4us]
                t1: sync(s1)[5us..46us] aclrtMalloc(64)[50us..51us]";
    // The call or task that goes on and began last.
    assert_eq!(reported(text, (2, 3)), [(SegmentKind::Call, 2, 3)]);
    assert_eq!(reported(text, (12, 20)), [(SegmentKind::Computing, 12, 20)]);
    let launched = [
        (SegmentKind::Launch, 8, 10),
        (SegmentKind::Computing, 10, 20),
    ];
    assert_eq!(reported(text, (8, 20)), launched);
    // Nothing goes on.
    assert_eq!(reported(text, (47, 49)), [(SegmentKind::Edge, 47, 49)]);
}

#[test]
fn a_callback_and_another_thread_are_followed() {
    let text = "t1: aclnnAddGetWorkspaceSize(7)[0..5us]
                s1: aclnnAdd(7)[20us..25us] by t2[10us..12us]";
    let expected = [
        (SegmentKind::Call, 0, 5),
        (SegmentKind::Queue, 5, 10),
        (SegmentKind::Call, 10, 12),
        (SegmentKind::Launch, 12, 20),
        (SegmentKind::Computing, 20, 25),
    ];
    assert_eq!(reported(text, (0, 25)), expected);
}

#[test]
fn a_path_does_not_depend_on_where_a_recording_is_cut() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let text = super::programs::everything(&mut dice, 60);
        let timeline = Timeline::of(&text);
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file).expect("it reads back");
        let TimeRange { begin, end } = recording.span().expect("it has calls");
        let length = (end - begin) as u64;
        let (one, other) = (begin + dice.roll(length), begin + dice.roll(length));
        // The whole, a part of it, and a range in which hardly anything ends.
        let part = (one.min(other), one.max(other) + 1);
        for range in [(begin, end), part, (one, one + 1)] {
            let mut path = |step: WindowSize| {
                let found = Critical::of_recording(&mut recording, step, range);
                found.expect("it reads back")
            };
            let whole = path(WindowSize::WHOLE);
            let total: i64 = whole.segments.iter().map(|it| it.length()).sum();
            assert_eq!(total, range.1 - range.0, "seed {seed}, {range:?}\n{text}");
            for _ in 0..3 {
                let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
                let found = path(WindowSize { rows, margin });
                assert_eq!(found.segments, whole.segments, "seed {seed}\n{text}");
            }
        }
    }
}

#[test]
fn the_path_follows_a_handover_between_threads_and_names_a_pause_without_one() {
    let text = two_threads::rounds(|_, end| end + 5);
    let expected = [
        (SegmentKind::Return, 4_100, 4_103),
        // The first thread: nothing shows why it goes on, and when.
        (SegmentKind::Outside, 4_103, 4_400),
        (SegmentKind::Call, 4_400, 4_401),
        (SegmentKind::Launch, 4_401, 4_402),
        (SegmentKind::Computing, 4_402, 4_520),
        (SegmentKind::Return, 4_520, 4_523),
        (SegmentKind::Handover, 4_523, 4_525),
        (SegmentKind::Call, 4_525, 4_526),
        (SegmentKind::Launch, 4_526, 4_527),
        (SegmentKind::Computing, 4_527, 4_555),
        (SegmentKind::Return, 4_555, 4_558),
    ];
    let found = reported(&text, (0, 4_558));
    assert_eq!(found[found.len() - expected.len()..], expected);
    let trace = timeline(&text);
    let found = Critical::of(&Window::whole(&trace), (0, 4_558_000));
    let [handover] = found.handovers.as_slice() else {
        panic!("one handover: {:?}", found.handovers);
    };
    // Only the last one is on the path: before it, the first thread needs nothing of the other one.
    let words = (handover.tid, handover.by, handover.after.as_str());
    assert_eq!(words, (1002, Some(1001), "aclrtSynchronizeStream"));
    assert_eq!(handover.count, 1);
    let pieces = found.segments.iter();
    let kinds: i64 = pieces.map(|it| it.length()).sum();
    assert_eq!(kinds, 4_558_000);
}

#[test]
fn threads_that_only_run_at_the_same_time_wait_for_nothing() {
    let text = two_threads::rounds(|round, _| 20 + round * 370);
    let trace = timeline(&text);
    let found = Critical::of(&Window::whole(&trace), (0, 4_523_000));
    assert!(found.handovers.is_empty(), "{:?}", found.handovers);
    let has = |kind| found.segments.iter().any(|it| it.kind == kind);
    assert!(!has(SegmentKind::Handover));
    // Alone, a thread has nothing to wait for.
    let own: Vec<&str> = text.split('|').map(str::trim).collect();
    let own: Vec<String> = own
        .iter()
        .flat_map(|it| it.lines().map(str::trim))
        .filter(|it| it.contains("t1"))
        .map(str::to_owned)
        .collect();
    let trace = timeline(&own.join(" | "));
    let found = Critical::of(&Window::whole(&trace), (0, 4_523_000));
    let kinds: BTreeSet<SegmentKind> = found.segments.iter().map(|it| it.kind).collect();
    assert!(kinds.contains(&SegmentKind::Program) && !kinds.contains(&SegmentKind::Outside));
}

#[test]
fn the_path_follows_a_handover_of_a_function_on_the_host() {
    let round = |round: u64| {
        let begin = round * 500;
        let end = begin + 100 + round * 7 % 5 * 30;
        format!(
            "s1: A[{}us..{}us] by t1[{begin}us..{}us] hostfunc[{}us..{end}us] by t1[{}us..{}us] | t1: sync(s1)[{}us..{}us]
             s2: B[{}us..{}us] by t2[{}us..{}us] | t2: sync(s2)[{}us..{}us]",
            begin + 3,
            end - 20,
            begin + 1,
            end - 20,
            begin + 1,
            begin + 2,
            begin + 2,
            end + 40,
            end + 6,
            end + 70,
            end + 4,
            end + 5,
            end + 5,
            end + 72,
        )
    };
    let rounds: Vec<String> = (0..12).map(round).collect();
    let trace = timeline(&rounds.join(" | "));
    let last = (5_500 + 100 + 11 * 7 % 5 * 30 + 72) * 1_000;
    let found = Critical::of(&Window::whole(&trace), (0, last));
    let pieces: Vec<_> = found.segments.iter().collect();
    let place = pieces
        .iter()
        .rposition(|it| it.kind == SegmentKind::Handover);
    let place = place.unwrap_or_else(|| panic!("{pieces:?}"));
    assert_eq!(pieces[place].length(), 4_000);
    assert_eq!(pieces[place].tid, Some(1002));
    assert_eq!(pieces[place - 1].kind, SegmentKind::Callback);
    assert!(
        found.handovers[0]
            .after
            .starts_with("a host function on stream")
    );
}

//! Steps: those that are found are those that the program marked.

use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::steps::{Finder, LoopSteps, Origin, Report, StepClock, StepDefinition};
use ascend_trace_analysis::{Fold, Window, WindowSize, steps_and_path};
use ascend_trace_recording::{Recording, Trace};
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;

use super::random::Dice;

const OPERATORS: [&str; 8] = [
    "MatMul", "Add", "Gelu", "Norm", "Softmax", "Mul", "Cast", "Drop",
];

/// A training-like program: its text, and its steps on the host in microseconds.
struct Program {
    text: String,
    now: i64,
    busy: i64,
    marks: Vec<(i64, i64)>,
}

impl Program {
    /// Asks for an operation. It runs when the ones before have.
    fn ask(&mut self, dice: &mut Dice, name: &str, length: i64) {
        let (called, returned) = (self.now, self.now + 3 + dice.roll(3));
        let begin = self.busy.max(returned + 2);
        self.busy = begin + length + dice.roll(1 + length as u64 / 10);
        self.now = returned + dice.roll(3);
        let end = self.busy;
        self.text += &format!("s1: {name}[{begin}us..{end}us] by t1[{called}us..{returned}us]\n");
    }

    fn sync(&mut self) {
        let (begin, end) = (self.now, self.now.max(self.busy) + 5);
        self.text += &format!("t1: sync(s1)[{begin}us..{end}us]\n");
        self.now = end + 1;
    }
}

/// Layers, a loss and an optimizer in every step; jitter in all times; before the steps the weights are copied, the first
/// does more than others, one is slow, and an evaluation may follow.
fn training(dice: &mut Dice) -> Program {
    let mut program = Program {
        text: String::new(),
        now: 10,
        busy: 0,
        marks: Vec::new(),
    };
    for _ in 0..dice.roll(20) {
        program.ask(dice, "Init", 5);
    }
    let layers = 1 + dice.roll(6);
    let layer: Vec<_> = (0..2 + dice.roll(8)).map(|_| dice.roll(8)).collect();
    // Most optimizers update as many weights as layers have.
    let updates = 4 + layers * (2 + dice.roll(4));
    let steps = 6 + dice.roll(20);
    let slow = 2 + dice.roll(steps as u64 - 3);
    let (loads, syncs, logs) = (dice.roll(2) == 0, dice.roll(2) == 0, dice.roll(3) == 0);
    for step in 0..steps {
        let begin = program.now;
        if loads {
            program.now += 150 + dice.roll(50);
        }
        program.ask(dice, "aclrtMemcpyAsync", 10);
        if step == 0 {
            for _ in 0..3 + dice.roll(9) {
                program.ask(dice, "Compile", 30);
            }
        }
        for number in 0..layers {
            for operator in &layer {
                let is_slow = step == slow && number == layers / 2;
                let length = if is_slow { 90 } else { 12 };
                program.ask(dice, OPERATORS[*operator as usize], length);
            }
        }
        program.ask(dice, "Loss", 8);
        for _ in 0..updates {
            program.ask(dice, "Adam", 4);
        }
        if logs && step % 5 == 4 {
            program.ask(dice, "Log", 4);
        }
        if syncs {
            program.sync();
        }
        program.marks.push((begin, program.now));
        program.now += 2;
    }
    for _ in 0..dice.roll(3) * 4 {
        program.ask(dice, "Evaluate", 9);
    }
    program
}

fn found(trace: &Trace, wanted: StepDefinition<'_>) -> Option<LoopSteps> {
    let plan = Finder::new(wanted).of(&Window::whole(trace));
    plan.laps.into_values().next()
}

/// The operations that were asked for in each step, by the begin of their calls.
fn asked(trace: &Trace, lap: &LoopSteps) -> Vec<Vec<i64>> {
    let begins = || trace.tasks().iter().map(|it| trace.call(it.call).begin);
    let inside = |begin: i64, end: i64| begins().filter(move |it| (begin..end).contains(it));
    let cuts = lap.cuts.iter();
    cuts.map(|cut| inside(cut.asked.begin, cut.asked.end).collect())
        .collect()
}

fn named(marks: &[(i64, i64)]) -> Vec<String> {
    (0..marks.len()).map(|it| format!("step {it}")).collect()
}

fn marked(program: &Program) -> Timeline {
    let names = named(&program.marks);
    let marks = program.marks.iter().zip(&names);
    let ranges = marks.map(|((begin, end), name)| (0, *begin, *end, name.as_str()));
    let begins = program.marks.iter();
    let begins = begins.map(|(begin, _)| (0, *begin, *begin, "begin"));
    let ranges: Vec<_> = ranges.chain(begins).collect();
    let timeline = Timeline::of(&program.text);
    timeline.with_ranges(&ranges)
}

#[test]
fn found_steps_are_the_marked_ones_in_training_loops() {
    for seed in 0..50 {
        let program = training(&mut Dice(seed));
        let trace = marked(&program).trace();
        let marks = found(&trace, StepDefinition::Any).expect("they are marked");
        assert_eq!(marks.origin, Origin::Named);
        assert_eq!(marks.cuts.len(), program.marks.len());
        let steps = found(&trace, StepDefinition::Repeated);
        let steps = steps.unwrap_or_else(|| panic!("seed {seed}: none\n{}", program.text));
        assert_eq!(steps.origin, Origin::Sequence);
        let (steps, marks) = (asked(&trace, &steps), asked(&trace, &marks));
        assert_eq!(steps, marks, "seed {seed}\n{}", program.text);
    }
}

#[test]
fn programs_without_a_loop_have_no_steps() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut program = training(&mut Dice(0));
        program.text.clear();
        for _ in 0..60 {
            let name = OPERATORS[dice.roll(8) as usize];
            program.ask(&mut dice, name, 10);
        }
        let trace = Timeline::of(&program.text).trace();
        assert_eq!(found(&trace, StepDefinition::Any), None, "seed {seed}");
    }
}

/// A copy to the device, and one to the host.
const LOAD: &str = "aclrtMemcpy2dAsync(64,1000,64,5000,64,1,1)";
const RESULT: &str = "aclrtMemcpy2dAsync(64,9000,64,2000,64,1,2)";

fn empty() -> Program {
    Program {
        text: String::new(),
        now: 10,
        busy: 0,
        marks: Vec::new(),
    }
}

fn count(program: &Program) -> usize {
    let timeline = Timeline::of(&program.text);
    let steps = found(&timeline.trace(), StepDefinition::Any);
    steps.expect("it repeats").cuts.len()
}

/// A loop that copies the data of a later step to the device, so the last steps have no copy.
#[test]
fn the_last_steps_of_a_loop_that_loads_ahead_are_found() {
    for (ahead, waits_every) in [(1, 1), (1, 3), (2, 1), (3, 4)] {
        let mut dice = Dice(ahead);
        let mut program = empty();
        let steps = 20 + dice.roll(5);
        for step in -(ahead as i64)..steps {
            if step + (ahead as i64) < steps {
                program.ask(&mut dice, LOAD, 10);
            }
            if step < 0 {
                continue;
            }
            for operator in ["MatMul", "Add", "Gelu", "MatMul", "Add", "Loss"] {
                program.ask(&mut dice, operator, 12);
            }
            if step % waits_every == 0 {
                program.sync();
            }
        }
        program.sync();
        assert_eq!(count(&program), steps as usize, "{ahead} ahead");
    }
}

/// Steps begin after the pause, with the update. The first one of the loop has none before it.
#[test]
fn the_first_step_may_lack_its_begin() {
    let usual = [
        "Load",
        "Embed",
        "Attention",
        "Norm",
        "Attention",
        "Norm",
        "Loss",
        "Backward",
    ];
    let steps = |first: &[&str]| {
        let mut text = String::new();
        for round in 0..12 {
            let begin = 10 + round * 1000;
            let names: &[&str] = if round == 0 { first } else { &usual };
            for (name, call) in names.iter().zip((begin..).step_by(10)) {
                let (returned, runs, end) = (call + 2, call + 5, call + 14);
                text += &format!("s1: {name}[{runs}us..{end}us] by t1[{call}us..{returned}us]\n");
            }
            let (wait, waited) = (begin + 100, begin + 900);
            text += &format!("t1: sync(s1)[{wait}us..{waited}us]\n");
            let (update, end) = (waited + 10, waited + 20);
            text += &format!(
                "s1: Adam[{update}us..{end}us] by t1[{}us..{}us]\n",
                waited + 2,
                waited + 4
            );
        }
        let timeline = Timeline::of(&text);
        let found = found(&timeline.trace(), StepDefinition::Any);
        found.map_or(0, |it| it.cuts.len())
    };
    assert_eq!(steps(&usual), 12);
    // It has little of a step.
    assert_eq!(steps(&["Loss", "Backward"]), 11);
}

/// Twelve rounds in which a thread gives two devices the same work. It waits for each before it goes on, or for both at the end.
fn on_two_devices(waits_between: bool) -> Vec<usize> {
    let mut text = String::new();
    for begin in (0..12).map(|round| 10 + round * 1000) {
        for (device, called) in [(0, begin), (1, begin + 300)] {
            let stream = device + 1;
            for (name, call) in ["Embed", "Attention", "Loss", "Backward"]
                .iter()
                .zip((called..).step_by(10))
            {
                let (returned, runs, end) = (call + 2, call + 5, call + 14);
                text += &format!(
                    "s{stream}@{device}: {name}[{runs}us..{end}us] by t1[{call}us..{returned}us]\n"
                );
            }
            let wait = if waits_between {
                called + 100
            } else {
                begin + 600 + device * 100
            };
            let (waited, update) = (wait + 40, wait + 50);
            text += &format!("t1: sync(s{stream})[{wait}us..{waited}us]\n");
            text += &format!(
                "s{stream}@{device}: Adam[{update}us..{}us] by t1[{}us..{}us]\n",
                update + 20,
                waited + 2,
                waited + 4
            );
        }
    }
    let timeline = Timeline::of(&text);
    let trace = timeline.trace();
    let found = found(&trace, StepDefinition::Any);
    let steps = found.map(|lap| asked(&trace, &lap)).unwrap_or_default();
    steps.iter().map(Vec::len).collect()
}

#[test]
fn the_same_work_for_several_devices_at_a_time_is_one_step() {
    assert_eq!(on_two_devices(false), [10; 12]);
    assert_eq!(on_two_devices(true), [5; 24]);
}

#[test]
fn the_number_of_micro_batches_may_differ() {
    let mut dice = Dice(4);
    let mut program = empty();
    for _ in 0..24 {
        for _ in 0..2 + dice.roll(4) {
            program.ask(&mut dice, LOAD, 10);
            for operator in ["MatMul", "Gelu", "Loss"] {
                program.ask(&mut dice, operator, 12);
            }
        }
        program.ask(&mut dice, "Norm", 12);
        program.ask(&mut dice, "Adam", 12);
        program.sync();
    }
    assert_eq!(count(&program), 24);
}

#[test]
fn an_evaluation_after_the_last_step_is_none() {
    let mut dice = Dice(1);
    let mut program = empty();
    let forward = [
        "MatMul", "Add", "MatMul", "Add", "MatMul", "Add", "MatMul", "Add",
    ];
    for step in 0..24 {
        program.ask(&mut dice, LOAD, 10);
        for operator in forward {
            program.ask(&mut dice, operator, 12);
        }
        program.ask(&mut dice, "Adam", 12);
        program.sync();
        for _ in 0..if step % 8 == 7 { 3 } else { 0 } {
            program.ask(&mut dice, LOAD, 10);
            for operator in forward {
                program.ask(&mut dice, operator, 12);
            }
            program.ask(&mut dice, RESULT, 5);
            program.sync();
        }
    }
    assert_eq!(count(&program), 24);
}

#[test]
fn steps_begin_with_the_launch_of_a_graph() {
    let mut text = String::new();
    for at in 0..6 {
        let at = at * 100;
        let (begin, end) = (at + 20, at + 70);
        let (called, returned) = (at + 10, at + 12);
        text += &format!(
            "s1: graph[{begin}us..{end}us] by t1[{called}us..{returned}us] of g1\n\
             t1: sync(s1)[{}us..{}us]\n",
            at + 13,
            at + 75
        );
    }
    let trace = Timeline::of(&text).trace();
    let lap = found(&trace, StepDefinition::Any).expect("it repeats");
    assert_eq!(lap.origin, Origin::Graph);
    let expected = |after: i64, last: i64| {
        let begins = (0..6).map(move |at| at * 100_000 + after);
        let ends = (1..6).map(move |at| at * 100_000 + after).chain([last]);
        begins.zip(ends).collect::<Vec<_>>()
    };
    let asked = lap.cuts.iter().map(|it| (it.asked.begin, it.asked.end));
    assert_eq!(asked.collect::<Vec<_>>(), expected(10_000, 575_000));
    let cuts = lap.cuts.iter().map(|it| (it.begin, it.end));
    assert_eq!(cuts.collect::<Vec<_>>(), expected(20_000, 570_000));
    assert_eq!(lap.clock, StepClock::Device);
}

#[test]
fn a_pattern_picks_ranges_and_marks() {
    let program = training(&mut Dice(3));
    let names: Vec<String> = (0..3).map(|it| format!("batch/{it}")).collect();
    let ranges = [
        (0, 20, 20, names[0].as_str()),
        (0, 90, 90, names[1].as_str()),
        (0, 200, 200, names[2].as_str()),
        (0, 0, 50, "other"),
    ];
    let timeline = Timeline::of(&program.text);
    let trace = timeline.with_ranges(&ranges).trace();
    let lap = |start: &'static str| {
        let is_wanted = move |range: &ascend_trace_recording::Range| range.name.starts_with(start);
        found(&trace, StepDefinition::Those(&is_wanted))
    };
    let last = trace.span().expect("it has calls").end;
    let marks = lap("batch/").expect("there are three");
    assert_eq!(marks.origin, Origin::Pattern);
    let cuts = marks.cuts.iter().map(|it| (it.begin, it.end));
    let expected = [(20_000, 90_000), (90_000, 200_000), (200_000, last)];
    assert_eq!(cuts.collect::<Vec<_>>(), expected);
    assert_eq!(lap("other").map(|it| it.cuts[0].end), Some(50_000));
    assert_eq!(lap("nothing"), None);
}

#[test]
fn the_slowest_step_is_compared_with_the_median_one() {
    // Step 3 runs its second MatMul for 40 µs more, adds a Cast, and asks for Add 30 µs late.
    let mut text = String::new();
    let mut ranges = Vec::new();
    for step in 0..6 {
        let is_slow = step == 3;
        let at = step * 200;
        let mut ask = |name: &str, begin: i64, end: i64| {
            let (called, returned) = (at + begin - 2, at + begin - 1);
            let (begin, end) = (at + begin, at + end);
            text += &format!("s1: {name}[{begin}us..{end}us] by t1[{called}us..{returned}us]\n");
        };
        let (more, late) = if is_slow { (40, 30) } else { (0, 0) };
        ask("MatMul", 10, 20);
        ask("MatMul", 22, 32 + more);
        if is_slow {
            ask("Cast", 75, 80);
        }
        let add = 35 + more + late + if is_slow { 7 } else { 0 };
        ask("Add", add, add + 5);
        ranges.push((0, at, at + add + 6, format!("step {step}")));
    }
    let ranges: Vec<_> = ranges
        .iter()
        .map(|(thread, begin, end, name)| (*thread, *begin, *end, name.as_str()))
        .collect();
    let timeline = Timeline::of(&text);
    let trace = timeline.with_ranges(&ranges).trace();
    let report = Report::of(&Window::whole(&trace), StepDefinition::Any);
    assert_eq!((report.steps.len(), report.processes[0].count), (6, 6));
    let found = &report.comparisons[0];
    assert_eq!((found.slow.name.as_str(), found.aligned), ("step 3", 3));
    let reported = found.more.iter().map(|more| {
        let place = more
            .place
            .map(|place| (place, more.at.clone().unwrap_or_default()));
        let counts = (more.slow_count, more.median_count);
        (
            more.name.as_str(),
            more.difference_ns() / 1_000,
            counts,
            place,
        )
    });
    let reported: Vec<_> = reported.collect();
    let place = |at: u64, name: &str| Some((at, name.to_owned()));
    assert_eq!(reported[0], ("MatMul", 40, (2, 2), place(2, "MatMul")));
    assert_eq!(reported[1], ("program", 30, (0, 0), place(4, "Add")));
    assert_eq!(reported[2], ("Cast", 5, (1, 0), place(3, "Cast")));
}

/// A step that is slow after its last operation says so, and no small pause before an operation.
#[test]
fn free_time_after_the_last_operation_is_named() {
    let mut text = String::new();
    let mut ranges = Vec::new();
    for step in 0..6 {
        let at = step * 200;
        let late = i64::from(step == 3);
        let (begin, end) = (at + 10 + late, at + 20 + late);
        let (called, returned) = (begin - 2, begin - 1);
        text += &format!("s1: MatMul[{begin}us..{end}us] by t1[{called}us..{returned}us]\n");
        ranges.push((0, at, end + 5 + 100 * late, format!("step {step}")));
    }
    let ranges: Vec<_> = ranges
        .iter()
        .map(|(thread, begin, end, name)| (*thread, *begin, *end, name.as_str()))
        .collect();
    let trace = Timeline::of(&text).with_ranges(&ranges).trace();
    let report = Report::of(&Window::whole(&trace), StepDefinition::Any);
    let free = &report.comparisons[0].more[0];
    assert_eq!((free.kind, free.difference_ns()), ("free", 101_000));
    assert_eq!(
        (free.place, &free.at, free.there_ns),
        (None, &None, 100_000)
    );
}

#[test]
fn steps_do_not_depend_on_where_a_recording_is_cut() {
    for seed in 0..8 {
        let mut dice = Dice(seed);
        let timeline = marked(&training(&mut dice));
        let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
        let mut recording = Recording::from_bytes(file).expect("it reads back");
        let is_mark = |range: &ascend_trace_recording::Range| range.begin == range.end;
        for wanted in [
            StepDefinition::Any,
            StepDefinition::Repeated,
            StepDefinition::Those(&is_mark),
        ] {
            let mut reported = |step: WindowSize| {
                let report = Report::of_recording(&mut recording, step, wanted);
                report.expect("it reads back")
            };
            let whole = reported(WindowSize::WHOLE);
            assert!(!whole.steps.is_empty() && whole.comparisons.len() == 1);
            for _ in 0..3 {
                let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
                assert_eq!(reported(WindowSize { rows, margin }), whole, "seed {seed}");
            }
        }
    }
}

#[test]
fn steps_and_the_path_are_the_same_when_they_are_found_together() {
    let timeline = marked(&training(&mut Dice(3)));
    let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
    let mut recording = Recording::from_bytes(file).expect("it reads back");
    let range = recording.span().expect("it has calls");
    for step in [
        WindowSize::WHOLE,
        WindowSize {
            rows: 40,
            margin: 5,
        },
    ] {
        let report = Report::of_recording(&mut recording, step, StepDefinition::Any);
        let path = Critical::of_recording(&mut recording, step, range);
        let alone = (report.expect("it reads back"), path.expect("it reads back"));
        assert!(!alone.0.steps.is_empty() && !alone.1.segments.is_empty());
        let both = steps_and_path(&mut recording, step, StepDefinition::Any, range);
        assert_eq!(both.expect("it reads back"), alone);
    }
}

//! Comparisons of two recordings: they find the changes, and no others.

use ascend_trace_analysis::Window;
use ascend_trace_analysis::WindowSize;
use ascend_trace_analysis::diff::{Change, Diff, SubjectKind, Verdict};
use ascend_trace_analysis::steps::StepDefinition;
use ascend_trace_recording::Recording;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;

use super::random::Dice;

/// The operations of a step, and how long each takes in nanoseconds.
const STEP: [(&str, i64); 8] = [
    ("MatMul", 40_000),
    ("Add", 9_000),
    ("Gelu", 15_000),
    ("MatMul", 38_000),
    ("Norm", 12_000),
    ("Attention", 60_000),
    ("AllReduce", 25_000),
    ("Adam", 30_000),
];

/// A training loop on its way to a timeline's text.
struct Program {
    dice: Dice,
    text: String,
    now: i64,
    busy: i64,
    marks: Vec<(i64, i64)>,
    /// How much the machine is slower at the time, in parts of a million. It wanders.
    wander: i64,
}

impl Program {
    fn of(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            text: String::new(),
            now: 10_000,
            busy: 0,
            marks: Vec::new(),
            wander: 0,
        }
    }

    /// A random number with a nearly normal distribution and a standard deviation of 3 % of a million.
    fn noise(&mut self) -> i64 {
        let sum: i64 = (0..12).map(|_| self.dice.roll(30_001)).sum();
        sum - 180_000
    }

    fn ask(&mut self, name: &str, length: i64) {
        let noise = self.noise() + self.wander;
        let length = length + length * noise / 1_000_000;
        let (called, returned) = (self.now, self.now + 2_000 + self.dice.roll(1_500));
        let begin = self.busy.max(returned + 1_000);
        self.busy = begin + length;
        self.now = returned + self.dice.roll(500);
        let end = self.busy;
        self.text += &format!("s1: {name}[{begin}..{end}] by t1[{called}..{returned}]\n");
    }

    /// One step, with a pause after each operation.
    fn step(&mut self, operations: &[(&str, i64)]) {
        self.wander = self.wander * 8 / 10 + self.noise() / 10;
        let begin = self.now;
        for (name, length) in operations {
            self.ask(name, *length);
        }
        // One step in fifty is held up by something else.
        let late = if self.dice.roll(50) == 0 { 900_000 } else { 0 };
        let end = self.busy + 4_000 + self.dice.roll(2_000) + late;
        self.text += &format!("t1: sync(s1)[{}..{end}]\n", self.now);
        self.now = end + 1_000;
        self.marks.push((begin / 1_000, self.now / 1_000));
    }

    fn timeline(self, is_marked: bool) -> Timeline {
        let timeline = Timeline::of(&self.text);
        let names: Vec<String> = (0..self.marks.len())
            .map(|it| format!("step {it}"))
            .collect();
        let ranges = self.marks.iter().zip(&names);
        let ranges: Vec<_> = ranges
            .map(|(it, name)| (0, it.0, it.1, name.as_str()))
            .collect();
        match is_marked {
            true => timeline.with_ranges(&ranges),
            false => timeline,
        }
    }
}

/// A loop of `steps` steps.
fn training(seed: u64, steps: usize, operations: &[(&str, i64)]) -> Timeline {
    let mut program = Program::of(seed);
    (0..steps).for_each(|_| program.step(operations));
    program.timeline(true)
}

/// The operations of a step, one of which takes longer.
fn slower(name: &str, percent: i64) -> Vec<(&'static str, i64)> {
    let longer = |it: &(&'static str, i64)| match it.0 == name {
        true => (it.0, it.1 + it.1 * percent / 100),
        false => *it,
    };
    STEP.iter().map(longer).collect()
}

fn diff(a: &Timeline, b: &Timeline) -> Diff {
    let (a, b) = (a.trace(), b.trace());
    Diff::of(&Window::whole(&a), &Window::whole(&b), StepDefinition::Any)
}

fn row<'d>(
    found: &'d Diff,
    kind: SubjectKind,
    name: &str,
) -> &'d ascend_trace_analysis::diff::DiffRow {
    let mut rows = found.rows_of(kind, |it| it == name);
    rows.next().unwrap_or_else(|| panic!("no {name}")).0
}

#[test]
fn an_operation_that_takes_5_percent_longer_is_found_in_noise_of_3_percent() {
    for (seed, (name, _)) in (0..).zip(STEP) {
        let a = training(seed, 100, &STEP);
        let found = diff(&a, &training(seed + 1_000, 100, &slower(name, 5)));
        assert!(found.by_steps && found.changed);
        let own = row(&found, SubjectKind::Operation, name);
        assert_eq!(own.verdict, Verdict::Longer, "{name}: {own:?}");
        let change = own.change.unwrap();
        assert!((change - 0.05).abs() < 0.015, "{name}: {change}");
        let part = |ns: Option<i64>| ns.unwrap() as f64 / own.a.typical_ns.unwrap() as f64;
        assert!(
            part(own.low_ns) < 0.05 && part(own.high_ns) > 0.05,
            "{own:?}"
        );
        // No other operation is said to have changed.
        for (other, _) in STEP.iter().filter(|it| it.0 != name) {
            let other = row(&found, SubjectKind::Operation, other);
            assert_eq!(other.verdict, Verdict::Same, "{name}: {other:?}");
        }
    }
}

/// A loop with a different number of layers in each step. Another seed has other numbers.
fn layered(seed: u64, layer: i64) -> Timeline {
    let mut program = Program::of(seed);
    for _ in 0..64 {
        let layers = 2 + program.dice.roll(6) as usize;
        let mut operations = vec![("Embed", 9_000)];
        operations.resize(layers + 1, ("Layer", layer));
        operations.push(("Adam", 30_000));
        program.step(&operations);
    }
    program.timeline(true)
}

#[test]
fn a_change_is_found_where_the_number_of_operations_varies() {
    for seed in 0..8 {
        let a = layered(seed, 40_000);
        let found = diff(&a, &layered(seed + 1_000, 42_000));
        let own = row(&found, SubjectKind::Operation, "Layer");
        assert_eq!(own.verdict, Verdict::Longer, "{own:?}");
        let change = own.change.unwrap();
        assert!((change - 0.05).abs() < 0.015, "{change}");
        let same = diff(&a, &layered(seed + 2_000, 40_000));
        let own = row(&same, SubjectKind::Operation, "Layer");
        assert_eq!(own.verdict, Verdict::Same, "{own:?}");
    }
}

#[test]
fn two_runs_of_a_program_differ_in_nothing() {
    let runs: Vec<Timeline> = (0..101).map(|seed| training(seed, 50, &STEP)).collect();
    let alarms = runs.windows(2).filter(|it| {
        let found = diff(&it[0], &it[1]);
        assert!(found.tests > 15 && found.pairs[0].edits.is_empty());
        found.changed
    });
    let alarms = alarms.count();
    assert!(alarms <= 3, "{alarms} of 100");
}

/// The duration of the tracer's events is subtracted from every duration. Where it is known badly, all
/// durations of a recording may be off to the same side: that is no change of the program.
#[test]
fn what_measuring_leaves_open_is_no_change() {
    let measured = |seed: u64, percent: i64, open: u32| {
        let mut timeline = training(seed, 100, &slower("Adam", percent));
        for row in &mut timeline.rows {
            if let Row::TaskTime(row) = row {
                row.record_open_ns = open;
            }
        }
        timeline
    };
    // 5 % of 30 us are 1.5 us.
    for (open, verdict) in [
        (0, Verdict::Longer),
        (300, Verdict::Longer),
        (5_000, Verdict::Same),
    ] {
        for sides in [(open, 0), (0, open)] {
            let found = diff(&measured(1, 0, sides.0), &measured(2, 5, sides.1));
            let adam = row(&found, SubjectKind::Operation, "Adam");
            assert_eq!(adam.verdict, verdict, "{sides:?}: {adam:?}");
            assert!(adam.open_ns >= i64::from(open), "{sides:?}: {adam:?}");
        }
    }
}

/// A host that waits in every fourth step alone; recordings of different lengths are compared.
#[test]
fn loops_that_wait_now_and_then_are_compared_by_whole_repeats() {
    let run = |seed: u64, steps: usize, wait: i64| {
        let mut program = Program::of(seed);
        for step in 0..steps {
            program.step(&STEP);
            if step % 4 == 3 {
                program.now += wait + program.dice.roll(20_000);
                program.marks.last_mut().expect("a step").1 = program.now / 1_000;
            }
        }
        program.timeline(true)
    };
    let long = run(1, 161, 900_000);
    for steps in [25, 41, 161] {
        let same = diff(&long, &run(2, steps, 900_000));
        assert_eq!(
            row(&same, SubjectKind::Step, "step").verdict,
            Verdict::Same,
            "{steps} steps"
        );
    }
    let found = diff(&long, &run(2, 121, 1_900_000));
    let step = row(&found, SubjectKind::Step, "step");
    assert_eq!(step.verdict, Verdict::Longer, "{step:?}");
    let added = step.change_ns.expect("times");
    assert!((added - 250_000).abs() < 25_000, "{step:?}");
}

#[test]
fn insertions_and_deletions_are_named() {
    let mut changed = STEP.to_vec();
    changed.remove(4);
    changed.insert(1, ("Cast", 5_000));
    let found = diff(&training(1, 20, &STEP), &training(2, 20, &changed));
    let edits = found.pairs[0].edits.iter();
    let edits: Vec<_> = edits
        .map(|it| {
            (
                it.change,
                it.name.as_str(),
                it.place,
                it.after.as_deref(),
                it.certain,
            )
        })
        .collect();
    assert_eq!(
        edits,
        [
            (Change::Inserted, "Cast", 2, Some("MatMul"), true),
            (Change::Deleted, "Norm", 5, Some("MatMul"), true),
        ]
    );
    assert_eq!(found.pairs[0].aligned, 7);
    let cast = row(&found, SubjectKind::Operation, "Cast");
    assert_eq!(
        (cast.verdict, cast.a.count, cast.b.count),
        (Verdict::New, 0.0, 1.0)
    );
    assert_eq!(
        row(&found, SubjectKind::Operation, "Norm").verdict,
        Verdict::Gone
    );
    // One more of an existing operation.
    let mut more = STEP.to_vec();
    more.push(("Add", 9_000));
    let found = diff(&training(1, 20, &STEP), &training(2, 20, &more));
    let add = row(&found, SubjectKind::Operation, "Add");
    assert_eq!(
        (add.verdict, add.a.count, add.b.count),
        (Verdict::More, 1.0, 2.0)
    );
    assert!(add.impact_ns > 8_000 && add.impact_ns < 10_000, "{add:?}");
}

#[test]
fn a_host_that_is_late_is_found_as_a_cause() {
    let run = |seed: u64, late: i64| {
        let mut program = Program::of(seed);
        for _ in 0..60 {
            program.now += late;
            let begin = program.now - late;
            program.step(&STEP);
            program.marks.last_mut().expect("a step").0 = begin / 1_000;
        }
        program.timeline(true)
    };
    let found = diff(&run(1, 10_000), &run(2, 50_000));
    for (kind, name) in [
        (SubjectKind::Step, "step"),
        (SubjectKind::Part, "program"),
        (SubjectKind::Stall, "host-late"),
    ] {
        let row = row(&found, kind, name);
        assert_eq!(row.verdict, Verdict::Longer, "{row:?}");
        let added = row.change_ns.unwrap();
        assert!((added - 40_000).abs() < 4_000, "{row:?}");
    }
    assert_eq!(
        row(&found, SubjectKind::Part, "computing").verdict,
        Verdict::Same
    );
}

#[test]
fn recordings_without_steps_are_compared_as_wholes() {
    let run = |seed: u64, percent: i64| {
        let mut program = Program::of(seed);
        let operations = slower("Gelu", percent);
        // In no order that repeats.
        for _ in 0..400 {
            let (name, length) = operations[program.dice.roll(8) as usize];
            program.ask(name, length);
        }
        program.timeline(false)
    };
    let found = diff(&run(1, 0), &run(2, 8));
    assert!(!found.by_steps && found.a.is_empty() && found.pairs.len() == 1);
    assert_eq!(row(&found, SubjectKind::Operation, "Gelu").verdict, {
        // Their numbers differ as well.
        Verdict::More
    });
    let gelu = row(&found, SubjectKind::Operation, "Gelu");
    assert!(gelu.p_corrected.unwrap() < 0.01, "{gelu:?}");
    assert!((gelu.change.unwrap() - 0.08).abs() < 0.03, "{gelu:?}");
    assert!(found.rows_of(SubjectKind::Step, |_| true).next().is_none());
    // Steps on one side alone are not compared.
    let found = diff(&run(1, 0), &training(1, 20, &STEP));
    assert!(!found.by_steps && found.b.is_empty());
}

#[test]
fn too_few_steps_say_nothing() {
    let needed = Diff::steps_needed();
    assert_eq!(needed, 6);
    let least = |steps: usize| {
        let found = diff(
            &training(1, steps, &STEP),
            &training(2, steps, &slower("Adam", 50)),
        );
        let mut rows = found.rows_of(SubjectKind::Step, |_| true);
        rows.next().expect("steps").1
    };
    assert!(least(needed) <= 0.01 && least(needed - 1) > 0.01);
}

#[test]
fn a_comparison_does_not_depend_on_where_recordings_are_cut() {
    for seed in 0..4 {
        let mut dice = Dice(seed);
        let runs = [
            training(seed, 12, &STEP),
            training(seed + 9, 14, &slower("Add", 30)),
        ];
        let mut recordings = runs.map(|it| {
            let file = indexed(20, &it.session, &it.tables, it.rows);
            Recording::from_bytes(file).expect("it reads back")
        });
        let mut reported = |step: WindowSize| {
            let [a, b] = &mut recordings;
            let found = Diff::of_recordings([a, b], step, StepDefinition::Any);
            found.expect("it reads back")
        };
        let whole = reported(WindowSize::WHOLE);
        let add = row(&whole, SubjectKind::Operation, "Add");
        assert_eq!(add.verdict, Verdict::Longer);
        for _ in 0..4 {
            let step = WindowSize {
                rows: 1 + dice.roll(60) as u64,
                margin: 1 + dice.roll(30) as usize,
            };
            assert!(reported(step) == whole, "seed {seed}, {step:?}");
        }
    }
}

//! Analyses use the best estimates of tasks that were measured badly, and say how far these may be off.

use ascend_trace_analysis::critical::{Critical, PathShare, SegmentKind};
use ascend_trace_analysis::diff::{Diff, DiffRow, SubjectKind, Verdict};
use ascend_trace_analysis::steps::StepDefinition;
use ascend_trace_analysis::whatif::{Change, WhatIf};
use ascend_trace_analysis::{Estimates, Learner, Stats, Window};
use ascend_trace_recording::{TaskId, TimeRange, Trace};
use ascend_trace_testkit::Timeline;

/// Microseconds.
const US: i64 = 1_000;

/// Tasks of one name on a stream, each with a call. Times are microseconds.
#[derive(Default)]
struct Program {
    text: String,
    /// Begins of tasks, and from the begin of their call to the submission of the event after them.
    closed: Vec<(i64, u32)>,
    now: i64,
    /// The end of the last call.
    called: i64,
    marks: Vec<(i64, i64)>,
    record_open_ns: u32,
}

impl Program {
    /// A task that waited in a queue: its bar is its duration.
    fn sharp(&mut self, name: &str, length: i64) {
        let (call, begin) = (self.now, self.now + 5);
        self.add(name, (call, call + 1), (begin, begin + length), 2);
    }

    /// A task on an idle stream. Its bar begins with its call, which held it up for some time.
    fn open(&mut self, name: &str, length: i64, held: i64) {
        let call = self.now;
        let end = call + held + length;
        self.add(name, (call, call + held), (call, end), held);
    }

    /// A task of which only the begin is known: the event after it was submitted much later.
    fn open_end(&mut self, name: &str, bar: i64) {
        let (call, begin) = (self.now, self.now + 5);
        self.add(name, (call, call + 1), (begin, begin + bar), bar + 20);
    }

    fn add(&mut self, name: &str, call: (i64, i64), bar: (i64, i64), closed: i64) {
        let ((from, until), (begin, end)) = (call, bar);
        self.text += &format!("s1: {name}[{begin}us..{end}us] by t1[{from}us..{until}us]\n");
        self.closed.push((begin * US, (closed * US) as u32));
        self.called = until;
        self.now = end + 5;
    }

    fn step(&mut self, tasks: impl Fn(&mut Self)) {
        let begin = self.now;
        tasks(self);
        self.sync();
        self.marks.push((begin, self.now));
    }

    /// The thread waits for the last task.
    fn sync(&mut self) {
        let (from, until) = (self.called + 1, self.now - 3);
        self.text += &format!("t1: sync(s1)[{from}us..{until}us]\n");
    }

    fn timeline(self) -> Timeline {
        let names: Vec<String> = (0..self.marks.len())
            .map(|it| format!("step {it}"))
            .collect();
        let marks = self.marks.iter().zip(&names);
        let marks: Vec<_> = marks
            .map(|(it, name)| (0, it.0, it.1, name.as_str()))
            .collect();
        let timeline = Timeline::of(&self.text);
        timeline.with_ranges(&marks).with_times(|row| {
            let known = self.closed.iter().find(|it| it.0 == row.begin_device_ns);
            row.submitting_ns = known.map_or(0, |it| it.1);
            row.record_open_ns = self.record_open_ns;
        })
    }

    fn trace(self) -> Trace {
        self.timeline().trace()
    }
}

/// Twenty sharp tasks of 10 µs, then one with a bar of 90 µs.
fn with_open(last: impl Fn(&mut Program)) -> Trace {
    let mut program = Program::default();
    (0..20).for_each(|_| program.sharp("A", 10));
    last(&mut program);
    program.sync();
    program.trace()
}

fn open_begin() -> Trace {
    with_open(|it| it.open("A", 10, 80))
}

fn open_end() -> Trace {
    with_open(|it| it.open_end("A", 90))
}

fn long() -> Trace {
    with_open(|it| it.sharp("A", 90))
}

#[test]
fn a_bar_is_open_where_its_task_may_not_have_run() {
    let last = |trace: &Trace| trace.tasks()[20].time.expect("a time");
    let time = last(&open_begin());
    let bar = time.range();
    assert_eq!(bar.duration(), 90 * US);
    let open = time.open_part();
    assert_eq!(open.begin, bar.begin);
    assert!((open.duration() - 80 * US).abs() < US, "{open:?}");
    assert!(!time.is_end_open());
    let time = last(&open_end());
    assert_eq!(time.open_part(), time.range());
    assert!(time.is_end_open());
    assert!(last(&long()).open_part().is_empty());
}

#[test]
fn a_task_is_estimated_by_tasks_like_it_and_stays_within_its_bar() {
    for (trace, at_end) in [(open_begin(), true), (open_end(), false)] {
        let (estimates, mut learner) = (Estimates::of(&trace), Learner::default());
        let placed = |it: u32| estimates.task(&trace, trace.task(TaskId(it)));
        let learned: Vec<_> = trace
            .tasks()
            .iter()
            .map(|it| learner.place(&trace, it))
            .collect();
        for found in [placed(20), learned[20]].map(|it| it.expect("an estimate")) {
            let bar = trace.tasks()[20].time.expect("a time").range();
            assert!((found.time.duration() - 10 * US).abs() <= found.error);
            assert!(found.error < 3 * US, "{found:?}");
            assert!(bar.covers(found.time));
            assert_eq!(found.time.end == bar.end, at_end, "{found:?}");
        }
    }
    // A long task that was measured well is a long task.
    let trace = long();
    let found = Estimates::of(&trace).task(&trace, trace.task(TaskId(20)));
    let found = found.expect("an estimate");
    assert!((found.time.duration() - 90 * US).abs() <= found.error && found.error < US);
}

fn critical(trace: &Trace) -> Critical {
    Critical::of(&Window::whole(trace), trace.span().expect("a span"))
}

fn share(path: &Critical, kind: SegmentKind) -> PathShare {
    let found = path.kinds.iter().find(|it| it.kind == kind);
    found
        .cloned()
        .unwrap_or_else(|| panic!("no {kind:?}: {path:?}"))
}

#[test]
fn the_critical_path_has_tasks_as_long_as_they_are_and_says_its_error() {
    for trace in [open_begin(), open_end()] {
        let path = critical(&trace);
        let found = share(&path, SegmentKind::Computing);
        let off = (found.total_ns - 10 * US).abs();
        assert!(off <= found.error_ns, "{found:?}");
        assert!(found.error_ns < 5 * US, "{found:?}");
        // The path has no gaps.
        let whole: i64 = path.kinds.iter().map(|it| it.total_ns).sum();
        assert_eq!(whole, path.end_ns - path.begin_ns);
        let mut reached = path.begin_ns;
        for piece in path.segments.iter() {
            assert_eq!(piece.begin_ns, reached);
            reached = piece.end_ns;
        }
        assert_eq!(reached, path.end_ns);
    }
    let path = critical(&long());
    let found = share(&path, SegmentKind::Computing);
    assert!((found.total_ns - 90 * US).abs() <= found.error_ns && found.error_ns < 5 * US);
}

/// A loop with steps of four tasks.
fn training(steps: i64, tasks: impl Fn(&mut Program, i64)) -> Timeline {
    let mut program = Program::default();
    for number in 0..steps {
        program.step(|it| tasks(it, number));
    }
    program.timeline()
}

fn row(a: &Timeline, b: &Timeline) -> DiffRow {
    let (a, b) = (a.trace(), b.trace());
    let found = Diff::of(&Window::whole(&a), &Window::whole(&b), StepDefinition::Any);
    let mut rows = found.rows_of(SubjectKind::Operation, |it| it == "A");
    rows.next().expect("a row").0.clone()
}

#[test]
fn a_comparison_does_not_take_a_longer_bar_for_a_longer_task() {
    // A few nanoseconds more or less in each step.
    let busy = training(40, |it, _| (0..4).for_each(|_| it.sharp("A", 10)));
    let idle = training(40, |it, number| {
        (0..3).for_each(|_| it.sharp("A", 10));
        it.open("A", 10, 60 + number % 7);
    });
    let found = row(&busy, &idle);
    assert_eq!(found.verdict, Verdict::Same, "{found:?}");
    let longer = training(40, |it, number| {
        (0..3).for_each(|_| it.sharp("A", 10));
        it.sharp("A", 70 + number % 7);
    });
    let found = row(&busy, &longer);
    assert_eq!(found.verdict, Verdict::Longer, "{found:?}");
    assert!(!found.within_error);
}

#[test]
fn a_change_within_the_error_is_no_change_and_is_marked() {
    let of = |length: i64, open: u32| {
        let mut program = Program {
            record_open_ns: open,
            ..Program::default()
        };
        for number in 0..40 {
            program
                .step(|it| (0..4).for_each(|place| it.sharp("A", length + (number + place) % 2)));
        }
        program.timeline()
    };
    let (before, after) = (of(20, 3_000), of(22, 3_000));
    let found = row(&before, &after);
    assert_eq!(
        (found.verdict, found.word()),
        (Verdict::Same, "within error")
    );
    assert!(found.within_error && found.open_ns > found.change_ns.expect("a change"));
    let found = row(&of(20, 100), &of(22, 100));
    assert_eq!((found.verdict, found.word()), (Verdict::Longer, "longer"));
    assert!(!found.within_error);
    let found = row(&of(20, 3_000), &of(20, 3_000));
    assert_eq!((found.verdict, found.word()), (Verdict::Same, "same"));
}

/// How much a program saves if `A` takes no time, and how far that may be off.
fn saved(trace: &Trace) -> (i64, i64) {
    let change = Change::Operation {
        names: ["A".to_owned()].into(),
        factor: 0.0,
    };
    let report = WhatIf::of(&Window::whole(trace)).predict(&[change], Vec::new());
    let found = &report.predictions[0];
    (found.saved_ns, found.error_ns.expect("it is known"))
}

#[test]
fn a_prediction_saves_no_more_than_tasks_took_and_its_error_has_theirs() {
    let most = saved(&long()).0;
    for trace in [open_begin(), open_end()] {
        let (saved, _) = saved(&trace);
        assert!(saved <= most - 75 * US, "{saved} {most}");
    }
    // All tasks may be off to the same side.
    let of = |open: u32| {
        let mut program = Program {
            record_open_ns: open,
            ..Program::default()
        };
        (0..20).for_each(|_| program.sharp("A", 10));
        program.sync();
        saved(&program.trace()).1
    };
    // Errors of different causes add up like the sides of a right triangle.
    let (with, without) = (of(1_000) as f64, of(0) as f64);
    assert!(with >= without.hypot((20 * US) as f64), "{with} {without}");
}

/// Two streams with the same tasks at the same time, each of which may have begun later.
#[test]
fn a_device_is_certainly_busy_where_any_stream_is() {
    let mut text = String::new();
    for number in 0..100 {
        let at = number * 10;
        text += &format!("s1: A[{at}us..{}us] by t1[0us..1us]\n", at + 10);
        text += &format!("s2: B[{}us..{}us] by t1[1us..2us]\n", at + 5, at + 15);
    }
    let timeline = Timeline::of(&text);
    let trace = timeline
        .with_times(|row| row.record_open_ns = 1_000)
        .trace();
    let stats = Stats::of(&trace);
    let (device, stream) = (&stats.devices[0], &stats.streams[0]);
    // Each task may be off by a microsecond: 10 % of the stream.
    assert!(stream.busy_error_ns >= 95 * US, "{stream:?}");
    // Of both together, only the outer ends and the middles of tasks matter.
    assert!(device.busy_error_ns <= 10 * US, "{device:?}");
    let truth = 1_005 * US;
    let off = (device.estimated_busy_ns - truth).abs();
    assert!(off <= device.busy_error_ns, "{device:?}");
    // With one stream alone it is as open as the stream.
    let alone = Stats::within(
        &Window::whole(&trace),
        Some(TimeRange::new(trace.span().expect("a span").begin, 3 * US)),
    );
    assert!(alone.devices[0].busy_error_ns > 0);
}

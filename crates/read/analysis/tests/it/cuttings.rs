//! Analyses take a recording in windows: their results do not depend on the cuts.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use ascend_trace_analysis::checks::{Finding, Findings};
use ascend_trace_analysis::communication::{Communication, CommunicationFold};
use ascend_trace_analysis::hang::{Hangs, Report};
use ascend_trace_analysis::memory::{
    Allocations, MemoryCurves, MemoryCurvesFold, MemoryInUse, MemoryUsage, MemoryUsageFold,
};
use ascend_trace_analysis::requests::{NameTemplate, RequestFold, Requests};
use ascend_trace_analysis::stats::{Grouping, StallGroup, StallStats, Tables};
use ascend_trace_analysis::{
    EstimateMaker, Fold, PlacedTasks, Stall, Stats, UntimedPlacer, Window, WindowSize,
};
use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_format::record::figure::Work;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{Row, TablesRow};
use ascend_trace_recording::{Recording, TimeRange, Trace};
use ascend_trace_testkit::whole::from_rows;

use ascend_trace_testkit::Timeline;
use ascend_trace_testkit::recording::indexed;
use ascend_trace_testkit::workload::{self, Workload};

use super::programs::everything;
use super::random::Dice;

/// Enough for several windows.
const STEPS: u32 = 4_000;

/// What every analysis that is a fold says of a recording.
#[derive(Clone, Debug, PartialEq)]
struct Answers {
    stalls: Vec<StallStats>,
    findings: Vec<Finding>,
    groups: Vec<StallGroup>,
    stats: Stats,
    part: Stats,
    hangs: Report,
    memory: MemoryInUse,
    usage: MemoryUsage,
    curves: MemoryCurves,
    communication: Communication,
    requests: Requests,
    places: PlacedTasks,
}

/// Every stall, with all its facts.
#[derive(Default)]
struct EveryStall(Vec<StallStats>);

impl Fold for EveryStall {
    type Answer = Vec<StallStats>;

    fn take(&mut self, window: &Window<'_>) {
        let reported = window.stalls().map(|stall| {
            let trace = window.trace;
            StallStats::of(trace, &window.dependencies, &window.stalls, stall).with_late(
                trace,
                window.places(),
                stall,
            )
        });
        self.0.extend(reported);
    }

    fn finish(mut self) -> Self::Answer {
        let lane = |stall: &StallStats| (stall.pid, stall.tid, stall.device, stall.stream_id);
        self.0
            .sort_by_key(|stall| (stall.begin_ns, lane(stall), stall.end_ns));
        self.0
    }
}

/// All folds at once.
struct All {
    every: EveryStall,
    findings: Findings,
    grouping: Grouping<fn(&Trace, &Stall) -> bool>,
    whole: Tables,
    part: Tables,
    hangs: Hangs,
    memory: Allocations,
    usage: MemoryUsageFold,
    curves: MemoryCurvesFold,
    communication: CommunicationFold,
    requests: RequestFold,
    places: UntimedPlacer,
}

impl Fold for All {
    type Answer = Answers;

    fn take(&mut self, window: &Window<'_>) {
        self.every.take(window);
        self.findings.take(window);
        self.grouping.take(window);
        self.whole.take(window);
        self.part.take(window);
        self.hangs.take(window);
        self.memory.take(window);
        self.usage.take(window);
        self.curves.take(window);
        self.communication.take(window);
        self.requests.take(window);
        self.places.take(window);
    }

    fn finish(self) -> Answers {
        Answers {
            stalls: self.every.finish(),
            findings: self.findings.finish(),
            groups: self.grouping.finish().rows(),
            stats: self.whole.finish(),
            part: self.part.finish(),
            hangs: self.hangs.finish(),
            memory: self.memory.finish(),
            usage: self.usage.finish(),
            curves: self.curves.finish(),
            communication: self.communication.finish(),
            requests: self.requests.finish(),
            places: self.places.finish(),
        }
    }
}

fn answers(recording: &mut Recording, step: WindowSize) -> Answers {
    let span = recording.span();
    let part = span.map(|span| {
        let third = span.duration() / 3;
        TimeRange::new(span.begin + third, span.end - third)
    });
    let estimates = EstimateMaker::default().of_recording(recording, step, |_| true);
    let estimates = estimates.expect("it reads back").unwrap_or_default();
    let all = All {
        every: EveryStall::default(),
        findings: Findings::default(),
        grouping: Grouping::of_those(|_, _| true),
        whole: Tables::within(span),
        part: Tables::within(part),
        // Much later, so that every pending stall is reported.
        hangs: Hangs::default().until(span.map(|span| span.end + 1_000_000_000_000)),
        memory: Allocations::default(),
        usage: MemoryUsageFold::default(),
        // Few, so that pieces are joined.
        curves: MemoryCurvesFold::with_pieces(6),
        communication: CommunicationFold::default(),
        // Each range is work for what its name has.
        requests: RequestFold::with(NameTemplate::parse("{id}").ok()),
        places: UntimedPlacer::new(estimates.into()),
    };
    let answer = all.of_recording(recording, step, |_| true);
    answer
        .expect("it reads back")
        .expect("the reading was not cancelled")
}

/// In how many ways a recording is cut.
const CUTTINGS: usize = 5;

/// Cuts a recording anywhere: how many rows are read at a time, and how many calls are looked at with them.
/// Returns whether tasks without a time have places.
#[track_caller]
fn check(file: &[u8], dice: &mut Dice, what: &str) -> bool {
    let mut recording = Recording::from_bytes(file.to_vec()).expect("it reads back");
    let whole = answers(&mut recording, WindowSize::WHOLE);
    for _ in 0..CUTTINGS {
        let (rows, margin) = (1 + dice.roll(60) as u64, 1 + dice.roll(30) as usize);
        let found = answers(&mut recording, WindowSize { rows, margin });
        if found != whole {
            let difference = difference(&found, &whole);
            panic!("{rows} rows, margin {margin}:\n{difference}\n{what}");
        }
    }
    !whole.places.is_empty()
}

/// Lines that are shown of a difference, and before it.
const AROUND: usize = 24;

/// The lines in which two results differ, after some before the first.
fn difference(found: &Answers, whole: &Answers) -> String {
    let (found, whole) = (format!("{found:#?}"), format!("{whole:#?}"));
    let pairs = found.lines().zip(whole.lines());
    let differing = pairs
        .enumerate()
        .filter(|(_, (found, whole))| found != whole);
    let Some((first, _)) = differing.clone().next() else {
        return "one of them is longer".to_owned();
    };
    let around = whole
        .lines()
        .skip(first.saturating_sub(AROUND))
        .take(AROUND);
    let reported = differing
        .take(AROUND)
        .map(|(_, (found, whole))| format!("{} instead of {}", found.trim(), whole.trim()));
    let lines = around.map(str::to_owned).chain(reported);
    lines.collect::<Vec<_>>().join("\n")
}

/// A recording with waits, syncs that block, gaps, and its bytes.
pub(super) fn training() -> (Vec<u8>, Trace) {
    let (session, tables) = workload::leading();
    let tables = with_roles(tables);
    let mut writer = Writer::create(Vec::new(), &session, &tables).expect("it is in memory");
    let workload = Workload {
        steps: STEPS,
        rest_ns: 30_000,
        ..Workload::default()
    };
    let mut rows = 0;
    let mut end = None;
    let mut all = Vec::new();
    workload::run(workload, |row| {
        rows += 1;
        if rows % 3_000 == 0 {
            writer.flush().expect("it is in memory");
        }
        all.push(row.clone());
        match row {
            Row::End(row) => end = Some(row),
            row => writer.push(row).expect("it is in memory"),
        }
    });
    let bytes = writer
        .finish(end.expect("it is in memory"))
        .expect("it is in memory");
    let whole = from_rows(session, tables, all);
    (bytes, whole)
}

/// The workload's functions as the tables of a recording describe them.
fn with_roles(mut tables: TablesRow) -> TablesRow {
    for function in &mut tables.functions {
        let (role, blocks) = match function.name.as_str() {
            "aclrtRecordEvent" => ("record-event", "no"),
            "aclrtStreamWaitEvent" => ("wait-event", "no"),
            "aclrtSynchronizeStream" => ("sync-stream", "stream"),
            _ => continue,
        };
        function.role = role.to_owned();
        function.blocks = blocks.to_owned();
    }
    tables
}

/// Steps of the program's thread, some with the loading of data.
fn ranges(dice: &mut Dice) -> Vec<(usize, i64, i64, &'static str)> {
    let mut ranges = Vec::new();
    let mut begin = 0;
    for step in ["step 0", "step 1", "step 2", "step 3", "step 4", "step 5"] {
        let end = begin + 1 + dice.roll(150);
        ranges.push((0, begin, end, step));
        if dice.roll(3) > 0 {
            ranges.push((
                0,
                begin,
                begin + dice.roll(1 + (end - begin) as u64),
                "dataloader",
            ));
        }
        begin = end + dice.roll(9);
    }
    ranges
}

/// A task by process, stream and place on it.
type TaskKey = (u32, u32, u32);

/// The work of a timeline that has times: its kind, and the end on the device.
fn timed_work(timeline: &Timeline) -> HashMap<TaskKey, i64> {
    let mut threads = HashMap::new();
    let mut work = HashSet::new();
    let mut ends = HashMap::new();
    for row in &timeline.rows {
        match row {
            Row::Thread(row) => {
                threads.insert(row.thread, row.process);
            }
            Row::Call(call) => {
                let kind = call.task.and_then(|it| TaskKind::from_code(it.kind));
                if let (Some(task), Some(stream)) = (call.task, call.stream)
                    && kind.and_then(Work::of).is_some()
                    && task.untimed == Untimed::Timed.code()
                {
                    work.insert((threads[&call.thread], stream, task.sequence));
                }
            }
            Row::TaskTime(time) if time.untimed == Untimed::Timed.code() => {
                let key = (time.process, time.stream, time.sequence);
                ends.insert(key, time.end_device_ns);
            }
            _ => {}
        }
    }
    ends.retain(|key, _| work.contains(key));
    ends
}

/// Some work has a time together with that after it on its stream.
fn with_runs(mut timeline: Timeline, dice: &mut Dice) -> Timeline {
    let ends = timed_work(&timeline);
    let mut inside = HashSet::new();
    let mut threads = HashMap::new();
    for row in &mut timeline.rows {
        let Row::TaskTime(time) = row else { continue };
        let key = |further| (time.process, time.stream, time.sequence + further);
        if !ends.contains_key(&key(0)) || inside.contains(&key(0)) || dice.roll(3) > 0 {
            continue;
        }
        let most = 1 + dice.roll(3) as u32;
        let further = (1..=most).take_while(|it| ends.contains_key(&key(*it)));
        let further = further.last().unwrap_or(0);
        time.end_device_ns = ends[&key(further)];
        inside.extend((1..=further).map(key));
        time.run_tasks = 1 + further;
    }
    timeline.rows.retain_mut(|row| match row {
        Row::Thread(row) => {
            threads.insert(row.thread, row.process);
            true
        }
        Row::TaskTime(time) => !inside.contains(&(time.process, time.stream, time.sequence)),
        Row::Call(call) => {
            if let (Some(stream), Some(task)) = (call.stream, &mut call.task)
                && task.untimed == Untimed::Timed.code()
                && inside.contains(&(threads[&call.thread], stream, task.sequence))
            {
                task.untimed = Untimed::InRun.code();
            }
            true
        }
        _ => true,
    });
    timeline
}

/// Random programs of `operations` operations, each in a separate file, on all processors.
fn check_random(seeds: std::ops::Range<u64>, operations: usize) {
    let (next, placed) = (AtomicU64::new(seeds.start), AtomicU64::new(0));
    let check_some = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let mut dice = Dice(seed);
            let text = everything(&mut dice, operations);
            let timeline = Timeline::of(&text);
            let timeline = timeline.with_ranges(&ranges(&mut dice));
            let timeline = with_runs(timeline, &mut dice);
            let file = indexed(20, &timeline.session, &timeline.tables, timeline.rows);
            let has_places = check(&file, &mut dice, &text);
            placed.fetch_add(has_places.into(), Ordering::Relaxed);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(check_some);
        }
    });
    assert!(placed.into_inner() > 0, "no program has such tasks");
}

#[test]
fn results_do_not_depend_on_where_a_recording_is_cut() {
    check_random(0..2_500, 16);
    check_random(10_000..10_005, 400);
}

/// The same of many and longer ones.
#[test]
#[ignore = "takes minutes"]
fn results_do_not_depend_on_where_a_long_recording_is_cut() {
    check_random(0..10_000, 16);
    check_random(10_000..10_020, 400);
    check_random(0..10_000, 120);
    check_random(10_000..10_100, 2_000);
}

#[test]
fn a_training_loop_has_the_same_tables_in_windows_as_at_once() {
    let (bytes, trace) = training();
    assert!(trace.calls().len() > 150_000);
    let mut recording = Recording::from_bytes(bytes).expect("it reads back");
    let whole = answers(&mut recording, WindowSize::WHOLE);
    assert!(whole.stats.stall_causes.len() > 3);
    assert!(whole.part.operations.len() > 1);
    assert_eq!(answers(&mut recording, WindowSize::default()), whole);
}

#[test]
fn an_analysis_can_be_given_up() {
    let mut recording = Recording::from_bytes(training().0).expect("it reads back");
    let (span, mut windows) = (recording.span(), 0);
    let answer = Stats::of_recording(&mut recording, span, |_| {
        windows += 1;
        windows < 2
    });
    assert_eq!(answer.expect("it reads back"), None);
    assert_eq!(windows, 2);
}

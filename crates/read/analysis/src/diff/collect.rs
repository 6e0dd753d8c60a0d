//! Sums up one recording: step by step, or operation by operation.
//!
//! An operation belongs to the step in which the program asked for it, whenever it ran. So each step has the operations
//! of one round of the loop, also where the host runs ahead of the device.

use std::collections::BTreeMap;

use ascend_trace_recording::{StreamId, TaskId, Trace};
use rustc_hash::FxHashMap;

use super::operation_order::{Orders, UsualSequence};
use super::series::{Key, Measured, Names, SampledValues, Series, Steps, SubjectKind};
use crate::dependencies::runs;
use crate::estimate::Learner;
use crate::stats::{self, StepStats, operation};
use crate::steps::{FoundStep, LoopSteps, RecordingSteps};
use crate::{Fold, Lane, TaskRole, Window};

/// Steps from which on the first is left out: it warms up.
const MANY: usize = 5;

/// The number of the first step that is compared.
pub(super) fn first(steps: usize) -> u32 {
    u32::from(steps >= MANY)
}

/// Sums of a process, or of a whole recording.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The number of the process; `None` for a whole recording.
    pub(super) process: Option<u32>,
    /// The numbers of the steps that are compared.
    pub(super) steps: Vec<u32>,
    pub(super) series: BTreeMap<Key, Series>,
    pub(super) usual: UsualSequence,
}

/// The sums of one recording on its way.
#[derive(Debug)]
pub(super) struct Collect {
    names: Names,
    /// By the number of the process; empty where the recording is taken as a whole.
    loops: BTreeMap<u32, Loop>,
    sums: stats::Steps,
    single: FxHashMap<u32, SampledValues>,
    learner: Learner,
}

/// The steps of one process.
#[derive(Debug)]
struct Loop {
    cuts: Vec<FoundStep>,
    steps: Steps,
    orders: Orders,
}

impl Loop {
    fn of(lap: &LoopSteps) -> Self {
        Self {
            steps: Steps::of(lap.cuts.len()),
            orders: Orders::of(first(lap.cuts.len()), lap.cuts.len()),
            cuts: lap.cuts.clone(),
        }
    }

    /// The step in which something was asked for.
    fn step(&self, at: i64) -> Option<u32> {
        let place = self.cuts.partition_point(|it| it.asked.end <= at);
        let is_in = self.cuts.get(place).is_some_and(|it| it.asked.begin <= at);
        is_in.then_some(place as u32)
    }
}

impl Collect {
    /// Without steps, the recording is taken as a whole.
    pub(super) fn of(plan: &RecordingSteps) -> Self {
        let loops = plan
            .laps
            .iter()
            .map(|(it, lap)| (it.process, Loop::of(lap)));
        Self {
            names: Names::default(),
            loops: loops.collect(),
            sums: stats::Steps::planned(plan.clone(), Vec::new()),
            single: FxHashMap::default(),
            learner: Learner::default(),
        }
    }

    fn is_whole(&self) -> bool {
        self.loops.is_empty()
    }

    /// Takes in one thing of a process.
    fn note(
        &mut self,
        process: u32,
        (kind, name): (SubjectKind, &str),
        at: i64,
        time: Option<Measured>,
    ) {
        let name = self.names.number(kind, name);
        self.add(process, name, at, time);
    }

    /// The same by number. Returns the step in which it was.
    fn add(
        &mut self,
        process: u32,
        name: u32,
        at: i64,
        time: Option<Measured>,
    ) -> Option<(&mut Loop, u32)> {
        if self.is_whole() {
            self.single.entry(name).or_default().add(time);
            return None;
        }
        let own = self.loops.get_mut(&process)?;
        let step = own.step(at)?;
        own.steps.add(name, step, time);
        Some((own, step))
    }

    fn task(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        if TaskRole::of(trace, task) != TaskRole::Work || !runs(trace, id) {
            return;
        }
        let process = trace.process(trace.stream(task.stream).process).serial;
        let call = trace.call(task.call);
        let planned = trace.planned(call).map(|it| trace.call(it).begin);
        let at = planned.map_or(call.begin, |it| it.min(call.begin));
        let measured = self.learner.place(trace, task).map(|it| Measured {
            time: it.time.duration(),
            error: it.common,
        });
        let name = self
            .names
            .number(SubjectKind::Operation, &operation(trace, task));
        if let Some((own, step)) = self.add(process, name, at, measured)
            && own.orders.looks_at(step)
        {
            let place = (at, task.stream.0, task.sequence);
            let shape = || trace.shapes(call);
            let time = measured.map(|it| it.time);
            own.orders.add(step, place, name, time, shape);
        }
    }

    /// Takes in an idle time of a stream; one that lasts longer than its step is shared out.
    fn stall(&mut self, process: u32, cause: &'static str, begin: i64, end: i64) {
        if self.is_whole() {
            let time = Some(Measured::exact(end - begin));
            return self.note(process, (SubjectKind::Stall, cause), begin, time);
        }
        let name = self.names.number(SubjectKind::Stall, cause);
        let Some(own) = self.loops.get_mut(&process) else {
            return;
        };
        let from = own.cuts.partition_point(|it| it.end <= begin);
        let cuts = own.cuts[from..].iter().zip(from as u32..);
        for (cut, step) in cuts.take_while(|it| it.0.begin < end) {
            let time = cut.end.min(end) - cut.begin.max(begin);
            match begin >= cut.begin {
                true => own.steps.add(name, step, Some(Measured::exact(time))),
                false => own.steps.go_on(name, step, time),
            }
        }
    }

    /// What each step was, and what its time went to.
    fn steps(&mut self, rows: &[StepStats]) {
        let whole = self.names.number(SubjectKind::Step, "step");
        for row in rows {
            let Some(own) = self.loops.get_mut(&row.process) else {
                continue;
            };
            let found = own.cuts.binary_search_by_key(&row.begin_ns, |it| it.begin);
            let Ok(step) = found.map(|it| it as u32) else {
                continue;
            };
            let length = Measured::exact(row.length_ns);
            own.steps.add(whole, step, Some(length));
            for (part, time) in parts(row) {
                let error = row.error_ns;
                let name = self.names.number(SubjectKind::Part, part);
                own.steps.add(name, step, Some(Measured { time, error }));
            }
        }
    }
}

impl Fold for Collect {
    type Answer = Vec<Group>;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                self.task(trace, id);
            }
        }
        for call in window.calls().map(|id| trace.call(id)) {
            if call.depth == 0 && call.ending.is_return() {
                let process = trace.process(trace.thread(call.thread).process).serial;
                let name = &trace.function(call.function).name;
                let time = Some(Measured::exact(call.end - call.begin));
                self.note(process, (SubjectKind::Call, name), call.begin, time);
            }
        }
        for stall in window.stalls() {
            if let (Lane::Stream(stream), true) = (stall.lane, stall.cause.is_notable()) {
                let process = trace.process(trace.stream(stream).process).serial;
                self.stall(process, stall.cause.name(), stall.begin, stall.end);
            }
        }
        if !self.is_whole() {
            self.sums.take(window);
        }
    }

    fn finish(mut self) -> Vec<Group> {
        let rows = std::mem::take(&mut self.sums).finish();
        self.steps(&rows);
        if self.is_whole() {
            let single = self.single.into_iter();
            let series =
                single.map(|(it, single)| (self.names.of(it).clone(), single.into_series()));
            return vec![Group {
                series: series.collect(),
                ..Group::default()
            }];
        }
        let names = &self.names;
        let groups = self.loops.into_iter().map(|(process, own)| {
            let (from, until) = (first(own.cuts.len()), own.cuts.len() as u32);
            Group {
                process: Some(process),
                steps: own.steps.kept(from, until).collect(),
                series: own.steps.series(names, from),
                usual: own.orders.usual(names),
            }
        });
        groups.collect()
    }
}

/// The parts of a step's time. They add up to it.
fn parts(row: &StepStats) -> [(&'static str, i64); 8] {
    [
        ("computing", row.compute_ns),
        ("communication not overlapped", row.exposed_communication_ns),
        ("copies not overlapped", row.exposed_copy_ns),
        ("loading", row.loading_ns),
        ("program", row.python_ns),
        ("planning", row.planning_ns),
        ("queue", row.queue_ns),
        ("launch", row.launch_ns),
    ]
}

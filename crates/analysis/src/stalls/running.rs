//! The stalls of a recording that is read part by part, in the order of time.
//!
//! What a stall depends on from before its part is carried along: where each stream stands, since when
//! streams exist, for how long threads were held up, and when events were recorded.

use std::collections::{BTreeMap, HashMap, VecDeque};

use ascend_trace_format::api::TaskKind;
use ascend_trace_model::{CallId, StreamId, TaskId, TaskTime, Trace};

use super::class::takes_time;
use super::hosts::HostStalls;
use super::lives::Lives;
use super::streams::{Sources, StreamStalls};
use super::{Stall, Stalls};
use crate::dependencies::{Dependencies, runs};

/// Records that are remembered.
const RECORDS: usize = 1 << 18;
/// Tasks without a time of one stream that wait for those before them.
const WAITING: usize = 1 << 16;

/// When an event was recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorded {
    pub(super) device: u32,
    pub(super) time: Option<TaskTime>,
}

impl Recorded {
    pub(super) fn of(trace: &Trace, record: TaskId) -> Self {
        let task = trace.task(record);
        Self {
            device: trace.stream(task.stream).device,
            time: task.time,
        }
    }
}

/// Process, serial of the event, generation.
type RecordKey = (u32, u32, u32);

/// The last records, by what waits name.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    all: HashMap<RecordKey, Recorded>,
    order: VecDeque<RecordKey>,
}

impl Records {
    fn key(trace: &Trace, id: TaskId) -> Option<RecordKey> {
        let generation = trace.call(trace.task(id).call).event?;
        let event = trace.event(generation.event);
        let is_known = generation.number > 0;
        is_known.then_some((event.process.0, event.serial, generation.number))
    }

    fn note(&mut self, trace: &Trace, id: TaskId) {
        let is_record = trace.task(id).kind == TaskKind::Record;
        let Some(key) = Self::key(trace, id).filter(|_| is_record) else {
            return;
        };
        if self.all.insert(key, Recorded::of(trace, id)).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > RECORDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
    }

    /// The record that a wait names.
    pub(super) fn before(&self, trace: &Trace, wait: TaskId) -> Option<Recorded> {
        self.all.get(&Self::key(trace, wait)?).copied()
    }
}

/// A stream, and its tasks without a time that have been seen but whose turn has not come: whether
/// they took time, by their sequence.
#[derive(Clone, Debug, Default)]
struct RunningStream {
    stalls: StreamStalls,
    waiting: BTreeMap<u32, bool>,
    /// When the last task was submitted.
    used: Option<i64>,
}

/// What is carried from part to part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Running {
    streams: Vec<RunningStream>,
    hosts: HostStalls,
    lives: Lives,
    records: Records,
}

impl Running {
    /// Takes the next part in: the calls that begin in it, and the tasks that begin in it, with those
    /// without a time by their calls. Answers with the stalls that ended in it.
    pub(crate) fn take(
        &mut self,
        trace: &Trace,
        dependencies: &Dependencies,
        calls: &[CallId],
        owns: impl Fn(i64) -> bool,
    ) -> Stalls {
        self.lives.take_all(trace, calls.iter().copied());
        self.hosts
            .take_all(trace, dependencies, calls.iter().copied());
        let own = |id: TaskId| trace.task(id).time.is_some_and(|time| owns(time.begin));
        let tasks = (0..trace.tasks().len() as u32).map(TaskId);
        for id in tasks.filter(|id| own(*id)) {
            self.records.note(trace, id);
        }
        let streams = trace.streams().len();
        self.streams.resize_with(streams, RunningStream::default);
        let sources = Sources {
            trace,
            dependencies,
            hosts: &self.hosts,
            lives: &self.lives,
            records: Some(&self.records),
        };
        let mut ended = Stalls::default();
        for (stream, running) in (0..).map(StreamId).zip(&mut self.streams) {
            running.note(trace, stream, &owns);
            running.advance(sources, stream, own);
            let mut own = StreamStalls::default();
            std::mem::swap(&mut own.stalls, &mut running.stalls.stalls);
            ended.streams.push(own);
        }
        ended.wait_for_peers_where(trace, None, owns);
        ended
    }

    /// The stalls of threads that have begun since the last time.
    pub(crate) fn host_stalls(&mut self) -> Vec<Stall> {
        self.hosts.fresh()
    }

    /// What is left when nothing more will come; `things` has the streams and contexts.
    pub(crate) fn finish(mut self, things: &Trace) -> Stalls {
        let dependencies = Dependencies::default();
        let streams = things.streams().len();
        self.streams.resize_with(streams, RunningStream::default);
        let sources = Sources {
            trace: things,
            dependencies: &dependencies,
            hosts: &self.hosts,
            lives: &self.lives,
            records: None,
        };
        let mut left = Stalls::default();
        for (stream, mut running) in (0..).map(StreamId).zip(self.streams) {
            running.pass_until(u32::MAX);
            running.stalls.close(sources, stream, running.used);
            left.streams.push(running.stalls);
        }
        left
    }
}

impl RunningStream {
    /// Notes the tasks without a time whose calls are in the part.
    fn note(&mut self, trace: &Trace, stream: StreamId, owns: &impl Fn(i64) -> bool) {
        for id in trace.stream_tasks(stream) {
            let task = trace.task(*id);
            let begin = trace.call(task.call).begin;
            if !owns(begin) {
                continue;
            }
            self.used = Some(self.used.map_or(begin, |used| used.max(begin)));
            if task.time.is_none() && trace.runs(task) && self.waiting.len() < WAITING {
                let takes = takes_time(trace, *id);
                debug_assert!(!takes || runs(trace, *id));
                self.waiting.insert(task.sequence, takes);
            }
        }
    }

    fn advance(&mut self, sources: Sources<'_>, stream: StreamId, own: impl Fn(TaskId) -> bool) {
        for id in sources.trace.stream_tasks(stream) {
            if own(*id) {
                self.pass_until(sources.trace.task(*id).sequence);
                self.stalls.take(sources, stream, *id);
            }
        }
    }

    /// Passes over the tasks without a time before this one.
    fn pass_until(&mut self, sequence: u32) {
        let later = self.waiting.split_off(&sequence);
        let before = std::mem::replace(&mut self.waiting, later);
        for (sequence, takes) in before {
            if self.stalls.sequence().is_none_or(|last| last < sequence) {
                self.stalls.pass(sequence, takes);
            }
        }
    }
}

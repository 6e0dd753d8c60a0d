//! Counts of a recording's index.

use std::collections::BTreeMap;

use ascend_trace_format::api::{RetKind, TaskKind, Untimed};

use crate::file::index::{CODES, Totals};
use crate::file::{OpenError, Table};
use crate::load::TraceBuilder;
use crate::rows::{EventRow, RangeRow};
use crate::trace::{StreamId, Task, ThreadId, Trace};

use super::Recording;

/// Counts over a whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    pub calls: u64,
    /// Calls that a library of the runtime made inside another call.
    pub nested: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Calls by the position of their function in the trace's table.
    pub functions: Vec<u64>,
    pub threads: BTreeMap<ThreadId, u64>,
    /// Tasks, and those with a time.
    pub streams: BTreeMap<StreamId, (u64, u64)>,
    pub tasks: u64,
    pub timed: u64,
    pub kinds: BTreeMap<TaskKind, u64>,
    /// Tasks without a time; [`Untimed::Timed`] means a time that may still arrive.
    pub untimed: BTreeMap<Untimed, u64>,
    /// Events that were made or used.
    pub events: u64,
    /// Ranges and marks that the program named.
    pub ranges: u64,
}

/// Gives every lane an id, so that it has the same one in all windows.
pub(super) fn name_lanes(totals: &Totals, builder: &mut TraceBuilder) {
    for thread in totals.threads.keys() {
        builder.thread_of(*thread);
    }
    for ((process, serial), stream) in &totals.streams {
        builder.stream_of(*process, *serial, stream.device);
    }
}

impl FileCounts {
    /// Counts over a trace.
    pub fn of(trace: &Trace) -> Self {
        let mut counts = Self {
            calls: trace.calls().len() as u64,
            functions: vec![0; trace.functions().len()],
            tasks: trace.tasks().len() as u64,
            events: trace.events().len() as u64,
            ranges: trace.ranges().len() as u64,
            ..Self::default()
        };
        for call in trace.calls() {
            let has_code = trace.function(call.function).ret == RetKind::Error;
            counts.nested += u64::from(call.depth > 0);
            counts.errors += u64::from(has_code && call.ret != 0);
            counts.functions[call.function.index()] += 1;
            *counts.threads.entry(call.thread).or_default() += 1;
        }
        trace.tasks().iter().for_each(|task| counts.add_task(task));
        counts
    }

    fn add_task(&mut self, task: &Task) {
        let is_timed = u64::from(task.time.is_some());
        let stream = self.streams.entry(task.stream).or_default();
        *stream = (stream.0 + 1, stream.1 + is_timed);
        self.timed += is_timed;
        add(&mut self.kinds, task.kind, 1);
        add(&mut self.untimed, task.untimed, 1 - is_timed);
    }
}

/// Rows of a step in which times are counted.
const STEP: u64 = 1 << 15;

impl Recording {
    /// Counts over the whole file.
    pub fn counts(&mut self) -> FileCounts {
        let totals = self.layout.totals();
        let mut counts = self.counts_of(&totals);
        if totals.uncertain > 0
            && let Ok(times) = self.count_times()
        {
            counts.timed = times.timed;
            counts.untimed = times.untimed;
            counts.streams = times.streams;
        }
        counts
    }

    /// Counts the times of tasks one by one, where the index is not certain. This reads the file.
    fn count_times(&mut self) -> Result<FileCounts, OpenError> {
        let position = self.position();
        if let Some((_, counts)) = self.counted.as_ref().filter(|it| it.0 == position) {
            return Ok(counts.clone());
        }
        let mut counts = FileCounts::default();
        let mut replay = self.replay();
        while replay.advance(STEP)? {
            let trace = replay.trace();
            trace.tasks().iter().for_each(|task| counts.add_task(task));
            let nothing = vec![false; trace.calls().len()];
            replay.forget(&nothing);
        }
        self.counted = Some((position, counts.clone()));
        Ok(counts)
    }

    fn counts_of(&mut self, totals: &Totals) -> FileCounts {
        let functions = self.builder.trace().functions().iter();
        let errors = functions
            .zip(&totals.functions)
            .filter(|(function, _)| function.ret == RetKind::Error)
            .map(|(_, (_, failed))| failed)
            .sum();
        let mut functions: Vec<u64> = totals.functions.iter().map(|(calls, _)| *calls).collect();
        // Those at the end of the table may never have been called.
        functions.resize(self.entities().functions().len().max(functions.len()), 0);
        let mut counts = FileCounts {
            calls: totals.calls,
            nested: totals.nested,
            errors,
            functions,
            tasks: totals.tasks(),
            timed: totals.timed,
            events: self.entities().events().len() as u64 + self.layout.left().rows(EventRow::KIND),
            ranges: self.entities().ranges().len() as u64 + self.layout.left().rows(RangeRow::KIND),
            ..FileCounts::default()
        };
        for (thread, calls) in &totals.threads {
            *counts
                .threads
                .entry(self.builder.thread_of(*thread))
                .or_default() += calls;
        }
        let mut unreadable = 0;
        for ((process, serial), stream) in &totals.streams {
            let id = self.builder.stream_of(*process, *serial, stream.device);
            let device = self.builder.trace().stream(id).device;
            let mut timed = stream.timed;
            if !self.clocks.maps(*process, device) {
                unreadable += std::mem::take(&mut timed);
            }
            counts.streams.insert(id, (stream.tasks, timed));
        }
        // Without a clock, a task has no time.
        counts.timed = counts.timed.saturating_sub(unreadable);
        add(&mut counts.untimed, Untimed::Unreadable, unreadable);
        for code in 0..CODES {
            let kind = TaskKind::from_code(code as u8).unwrap_or(TaskKind::Other);
            add(&mut counts.kinds, kind, totals.kinds[code]);
            let reason = Untimed::from_code(code as u8).unwrap_or(Untimed::Unreadable);
            let count = totals.untimed[code].saturating_sub(totals.regained[code]);
            add(&mut counts.untimed, reason, count);
        }
        // A time that has not come by the end of the recording never will.
        let known = counts.timed + counts.untimed.values().sum::<u64>();
        let reason = match self.complete() {
            true => Untimed::Lost,
            false => Untimed::Timed,
        };
        add(
            &mut counts.untimed,
            reason,
            counts.tasks.saturating_sub(known),
        );
        counts
    }
}

fn add<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, count: u64) {
    if count > 0 {
        *counts.entry(key).or_default() += count;
    }
}

//! What a recording's index counts.

use std::collections::BTreeMap;

use ascend_trace_format::api::{RetKind, TaskKind, Untimed};

use crate::file::Table;
use crate::file::index::{CODES, Totals};
use crate::load::TraceBuilder;
use crate::rows::{EventRow, RangeRow};
use crate::trace::{StreamId, ThreadId, Trace};

use super::Recording;

/// Counts over a whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
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
    /// Tasks that have no time; [`Untimed::Timed`] stands for a time that may still come.
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

impl Counts {
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
        for task in trace.tasks() {
            let is_timed = u64::from(task.time.is_some());
            let stream = counts.streams.entry(task.stream).or_default();
            *stream = (stream.0 + 1, stream.1 + is_timed);
            counts.timed += is_timed;
            add(&mut counts.kinds, task.kind, 1);
            add(&mut counts.untimed, task.untimed, 1 - is_timed);
        }
        counts
    }
}

impl Recording {
    /// Counts over the whole file.
    pub fn counts(&mut self) -> Counts {
        let totals = self.layout.totals();
        let functions = self.builder.trace().functions().iter();
        let errors = functions
            .zip(&totals.functions)
            .filter(|(function, _)| function.ret == RetKind::Error)
            .map(|(_, (_, failed))| failed)
            .sum();
        let mut functions: Vec<u64> = totals.functions.iter().map(|(calls, _)| *calls).collect();
        // Those at the end of the table may never have been called.
        functions.resize(self.things().functions().len().max(functions.len()), 0);
        let mut counts = Counts {
            calls: totals.calls,
            nested: totals.nested,
            errors,
            functions,
            tasks: totals.tasks(),
            timed: totals.timed,
            events: self.things().events().len() as u64 + self.layout.left().rows(EventRow::KIND),
            ranges: self.things().ranges().len() as u64 + self.layout.left().rows(RangeRow::KIND),
            ..Counts::default()
        };
        for (thread, calls) in &totals.threads {
            *counts
                .threads
                .entry(self.builder.thread_of(*thread))
                .or_default() += calls;
        }
        for ((process, serial), stream) in &totals.streams {
            let id = self.builder.stream_of(*process, *serial, stream.device);
            counts.streams.insert(id, (stream.tasks, stream.timed));
        }
        for code in 0..CODES {
            let kind = TaskKind::from_code(code as u8).unwrap_or(TaskKind::Other);
            add(&mut counts.kinds, kind, totals.kinds[code]);
            let reason = Untimed::from_code(code as u8).unwrap_or(Untimed::Unreadable);
            add(&mut counts.untimed, reason, totals.untimed[code]);
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

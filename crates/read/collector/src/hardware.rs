//! The hardware's log: which of its entries are of which tasks.
//!
//! An entry names its stream and the call that submitted it, by msPTI's number, which has no other
//! meaning. So entries are joined to tasks by their order on a stream, stretch by stretch: from one
//! synchronisation to another where it is certain which entries are between them. A stretch is joined
//! only when it has an entry, or several of one call, for each task, of the task's kind, and all of
//! them began after the submission of their task. All others stay work of their stream without a known
//! task. So a lost entry makes a stretch unknown, and nothing after it wrong. Nodes of a replayed graph
//! are joined in the same way, to the task that replays it, once its streams on the device are known.

mod added;
mod bind;
mod binding;
mod clock_offset;
mod entry;
mod graphs;
mod lane;
mod matching;
mod patterns;
mod process;
mod progress;
mod replays;

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::Role;
use ascend_trace_format::record::{LogState, kinds};
use ascend_trace_format::time::Ticks;
use ascend_trace_recording::rows::{CallRow, EventRow, LogRow, Row, StreamRow, TaskTimeRow};

use super::clock::{self, TickClock};
use crate::tables;
use entry::LogEntry;
use process::LoggedProcess;

/// All processes with a log.
#[derive(Debug, Default)]
pub(super) struct Hardware {
    processes: BTreeMap<u32, LoggedProcess>,
    /// State of the log of any process, and msPTI's return codes.
    states: BTreeSet<(u8, u32)>,
    /// Whether logs are read at all.
    is_wanted: bool,
    /// Rows of processes without a known log: another thread has begun it, and its channel is read
    /// later. By pass over the channels, this one and the last.
    early: [Vec<(u32, Row)>; 2],
}

impl Hardware {
    /// How it stands with the log of a process from now on.
    pub(super) fn log(&mut self, record: &kinds::Log, process: u32) -> Row {
        self.states.insert((record.state.code(), record.code));
        if record.state == LogState::On {
            let own = self.processes.entry(process).or_default();
            own.kinds = record.kinds;
            own.is_alone = record.is_alone;
            own.comparison = clock::comparison();
            self.take_early(process);
        }
        Row::Log(LogRow {
            process,
            state: record.state.code(),
            code: record.code,
            kinds: record.kinds,
            is_alone: record.is_alone,
        })
    }

    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// Takes a row of a process.
    pub(super) fn take(&mut self, row: &Row, process: u32) {
        let is_used = matches!(
            row,
            Row::Stream(_) | Row::Event(_) | Row::Call(_) | Row::TaskTime(_)
        );
        if self.is_wanted && is_used {
            self.take_row(row, process);
        }
    }

    fn take_row(&mut self, row: &Row, process: u32) {
        if !self.processes.contains_key(&process) {
            self.early[0].push((process, row.clone()));
            return;
        }
        match row {
            Row::Stream(row) => self.stream(row),
            Row::Event(row) => self.event(row),
            Row::Call(row) => self.call(row, process),
            Row::TaskTime(row) => self.timed(row, process),
            _ => {}
        }
    }

    /// The log of a process was begun.
    fn take_early(&mut self, process: u32) {
        let [this, last] = std::mem::take(&mut self.early);
        for (pass, rows) in [last, this].into_iter().enumerate() {
            for (of, row) in rows {
                match of == process {
                    true => self.take(&row, process),
                    false => self.early[1 - pass].push((of, row)),
                }
            }
        }
    }

    /// A stream's number is known.
    fn stream(&mut self, row: &StreamRow) {
        let Some(id) = row.acl_id.and_then(|id| u32::try_from(id).ok()) else {
            return;
        };
        let Some(own) = self.processes.get_mut(&row.process) else {
            return;
        };
        own.stream(row.serial, (row.device, id));
    }

    /// An event was made.
    fn event(&mut self, row: &EventRow) {
        /// `ACL_EVENT_EXTERNAL`, of `aclrtCreateEventWithFlag`.
        const EXTERNAL: (u8, u32) = (1, 0x20);
        if (row.creation, row.flags & EXTERNAL.1) == EXTERNAL
            && let Some(own) = self.processes.get_mut(&row.process)
        {
            own.external.insert(row.serial);
        }
    }

    /// Events have shown when a task ran.
    fn timed(&mut self, row: &TaskTimeRow, process: u32) {
        let own = self.processes.get_mut(&process);
        let is_single = row.run().is_none();
        if let Some(own) = own.filter(|own| is_single && !own.is_alone) {
            own.added.timed(row);
        }
    }

    /// A call has returned, or was left.
    fn call(&mut self, row: &CallRow, process: u32) {
        let Some(own) = self.processes.get_mut(&process) else {
            return;
        };
        let function = tables::FUNCTIONS.get(usize::from(row.function));
        let role = function.map_or(Role::Plain, |function| function.role);
        match (&row.task, row.stream) {
            (Some(task), Some(serial)) => own.task(row, task, serial, role),
            _ => own.execute(row, role),
        }
        if row.ret == 0 {
            own.done(row, role);
        }
    }

    /// Takes an entry of the log.
    pub(super) fn entry(&mut self, record: &kinds::Activity, process: u32, clock: &TickClock) {
        let Some(own) = self.processes.get_mut(&process) else {
            return;
        };
        let seen = clock.at(Ticks::new(record.seen));
        let progress = own.progress.entry(record.device).or_default();
        let entry = LogEntry {
            activity: *record,
            seen,
        };
        progress.note(seen, entry.begin());
        let lane = own.lanes.entry((record.device, record.stream)).or_default();
        lane.take(entry);
    }

    /// One line for each thing that a reader of the times should know.
    pub(super) fn summary(&self) -> Vec<String> {
        let states = self.states.iter();
        let refusals = states.filter_map(|(state, code)| {
            let why = match LogState::from_code(*state)? {
                LogState::On => return None,
                LogState::Absent => "there is no libmspti.so".to_owned(),
                LogState::Busy => "another profiler is active".to_owned(),
                LogState::Refused => format!("msPTI refused with code {code}"),
                LogState::GaveWay => {
                    let text = "the tool stopped reading the hardware log: the program began its own profiler";
                    return Some(text.to_owned());
                }
            };
            Some(format!(
                "the tool did not read the hardware log: {why}; it timed tasks by events"
            ))
        });
        let mismatches: u64 = (self.processes.values())
            .map(|process| process.counts.mismatches)
            .sum();
        let unclear = (mismatches > 0).then(|| {
            format!(
                "in {mismatches} stretches of streams the hardware log did not match the submitted tasks: \
                 these tasks have no times from it"
            )
        });
        refusals.chain(unclear).collect()
    }

    /// Joins entries and tasks as far as possible; with `is_last` everything that remains. Call it when
    /// all channels have been read.
    pub(super) fn settle(&mut self, is_last: bool) -> Vec<Row> {
        let mut rows = Vec::new();
        self.early.swap(0, 1);
        self.early[0].clear();
        for (process, own) in &mut self.processes {
            own.settle(*process, is_last, &mut rows);
        }
        rows
    }
}

#[cfg(test)]
mod tests;

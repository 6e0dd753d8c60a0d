//! Collectives by process, and which process waited for which.

use std::collections::BTreeMap;

use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_analysis::{Cause, Fold, Node, Window};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{ProcessId, StreamId, Trace};
use serde::Serialize;

/// Rows of each table in a page.
const MOST_ROWS: usize = 300;

/// The collectives of one name in one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CollectiveRow {
    /// Number of the process in the recording.
    pub process: u32,
    pub rank: Option<u64>,
    pub name: String,
    pub count: u64,
    pub timed: u64,
    /// Of those that were timed: from begin to end, so the wait for others is in it.
    pub total_ns: i64,
    /// The errors of these durations together.
    pub error_ns: i64,
    /// Bytes that the process gives, or takes where it gives none.
    pub bytes: u64,
    /// Collectives of which the bytes are not known.
    pub unsized_count: u64,
}

/// The time that one process waited for another one, which came last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeerWait {
    pub process: u32,
    pub rank: Option<u64>,
    pub late_process: u32,
    pub late_rank: Option<u64>,
    pub count: u64,
    pub total_ns: i64,
}

/// The communication of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Communication {
    pub collectives: Vec<CollectiveRow>,
    pub waits: Vec<PeerWait>,
}

/// Sums up the communication of a recording.
#[derive(Debug, Default)]
pub struct CommunicationFold {
    rows: BTreeMap<(ProcessId, String), CollectiveRow>,
    waits: BTreeMap<(ProcessId, ProcessId), PeerWait>,
}

impl CommunicationFold {
    fn collectives(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in window.stream_tasks(stream) {
                let task = trace.task(id);
                if task.kind != TaskKind::Collective || !trace.runs(task) {
                    continue;
                }
                let process = trace.stream(stream).process;
                let name = trace.task_name(task);
                let row = self
                    .rows
                    .entry((process, name.to_owned()))
                    .or_insert_with(|| CollectiveRow {
                        process: trace.process(process).serial,
                        rank: trace.process(process).rank_number(),
                        name: name.to_owned(),
                        count: 0,
                        timed: 0,
                        total_ns: 0,
                        error_ns: 0,
                        bytes: 0,
                        unsized_count: 0,
                    });
                row.count += 1;
                if let Some(time) = task.time {
                    row.timed += 1;
                    row.total_ns = row.total_ns.saturating_add(time.duration());
                    let error = i64::from(time.shorter.max(time.longer));
                    row.error_ns = row.error_ns.saturating_add(error);
                }
                match bytes_moved(trace, trace.call(task.call)) {
                    Some(bytes) => row.bytes = row.bytes.saturating_add(bytes),
                    None => row.unsized_count += 1,
                }
            }
        }
    }

    fn wait(&mut self, trace: &Trace, (own, late): (ProcessId, ProcessId), length: i64) {
        let serial = |id: ProcessId| trace.process(id).serial;
        let rank = |id: ProcessId| trace.process(id).rank_number();
        let wait = self.waits.entry((own, late)).or_insert_with(|| PeerWait {
            process: serial(own),
            rank: rank(own),
            late_process: serial(late),
            late_rank: rank(late),
            count: 0,
            total_ns: 0,
        });
        wait.count += 1;
        wait.total_ns = wait.total_ns.saturating_add(length);
    }
}

impl Fold for CommunicationFold {
    type Answer = Communication;

    fn take(&mut self, window: &Window<'_>) {
        self.collectives(window);
        let trace = window.trace;
        let process = |task| trace.stream(trace.task(task).stream).process;
        for stall in window.stalls() {
            let Node::Task(task) = stall.node else {
                continue;
            };
            if stall.cause != Cause::CollectivePeer {
                continue;
            }
            if let Some(late) = window.stalls.peer(task) {
                self.wait(trace, (process(task), process(late)), stall.length());
            }
        }
    }

    fn finish(self) -> Communication {
        let mut collectives: Vec<CollectiveRow> = self.rows.into_values().collect();
        collectives.sort_by_key(|it| std::cmp::Reverse(it.total_ns));
        let mut waits: Vec<PeerWait> = self.waits.into_values().collect();
        waits.sort_by_key(|it| std::cmp::Reverse(it.total_ns));
        waits.truncate(MOST_ROWS);
        Communication { collectives, waits }
    }
}

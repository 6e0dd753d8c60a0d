//! Which process waited for which, in collectives.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Cause, Fold, Node, Window};
use ascend_trace_recording::{ProcessId, Trace};
use serde::Serialize;

/// Pairs of processes in a page.
const MOST_ROWS: usize = 300;

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

/// Sums up the waits of a recording.
#[derive(Debug, Default)]
pub struct PeerWaits(BTreeMap<(ProcessId, ProcessId), PeerWait>);

impl PeerWaits {
    fn wait(&mut self, trace: &Trace, (own, late): (ProcessId, ProcessId), length: i64) {
        let serial = |id: ProcessId| trace.process(id).serial;
        let rank = |id: ProcessId| trace.process(id).rank_number();
        let wait = self.0.entry((own, late)).or_insert_with(|| PeerWait {
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

impl Fold for PeerWaits {
    type Answer = Vec<PeerWait>;

    fn take(&mut self, window: &Window<'_>) {
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

    fn finish(self) -> Vec<PeerWait> {
        let mut waits: Vec<PeerWait> = self.0.into_values().collect();
        waits.sort_by_key(|it| std::cmp::Reverse(it.total_ns));
        waits.truncate(MOST_ROWS);
        waits
    }
}

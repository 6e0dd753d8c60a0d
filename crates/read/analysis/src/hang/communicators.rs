//! The communicators of a recording, for those who look at several recordings of a job.

use std::collections::HashMap;

use ascend_trace_recording::{ProcessId, Trace};

use super::progress::Progress;
use super::queues::CompletionCondition;
use super::ranks::{CommKey, named};
use super::report::CommState;
use super::state::HangState;

/// Progress of each process in each of its communicators.
pub(super) fn communicators(
    trace: &Trace,
    state: &HangState,
    progress: &Progress<'_>,
) -> Vec<CommState> {
    let heads = heads(state, progress);
    let made = state.ranks.all().filter_map(|(key, made, count, last)| {
        let (rank, size) = state.ranks.size(key)?;
        Some(CommState {
            identity: state.ranks.identity(key).map(str::to_owned),
            end_ns: Some(made.end),
            count,
            last: last.map(|it| it.name.to_string()),
            waits_in: heads.get(&key).copied(),
            ..begun(trace, key.0, (rank, size), made.begin)
        })
    });
    let hosts = &state.hosts;
    let open = hosts.threads().into_iter().filter_map(|it| hosts.get(it));
    let open = open.flat_map(|it| &it.open).filter_map(|open| {
        let process = trace.thread(open.call.thread).process;
        let named = named(trace, &open.call)?;
        Some(begun(trace, process, named, open.call.begin))
    });
    let mut all: Vec<CommState> = made.chain(open).collect();
    all.sort_by_key(|it| (it.begin_ns, it.process, it.rank));
    all
}

fn begun(trace: &Trace, process: ProcessId, (rank, size): (u64, u64), begin_ns: i64) -> CommState {
    let process = trace.process(process);
    CommState {
        process: process.serial,
        pid: process.pid,
        rank,
        size,
        identity: None,
        begin_ns,
        end_ns: None,
        count: 0,
        last: None,
        waits_in: None,
    }
}

/// The first collective of each communicator that a stream has reached.
fn heads(state: &HangState, progress: &Progress<'_>) -> HashMap<CommKey, u64> {
    let mut heads = HashMap::new();
    for stream in state.queues.busy() {
        let head = progress.stop(stream).or_else(|| progress.running(stream));
        if let Some(CompletionCondition::Ranks(comm, number)) = head.map(|it| it.needs) {
            let first = heads.entry(comm).or_insert(number);
            *first = number.min(*first);
        }
    }
    heads
}

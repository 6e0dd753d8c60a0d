//! The tables of a recording that is too long to be in memory.

use ascend_trace_format::version::JSON_SCHEMA_VERSION;
use ascend_trace_model::archive::{Answer, Towards, WindowError};
use ascend_trace_model::{Archive, Trace};

use super::histogram::Histogram;
use super::running::{ApiSums, RunningStats};
use super::{Lost, Stats, Tracing, graphs, lane_sums, open, tables};
use crate::graphs::Graphs;

impl Stats {
    /// The tables of what overlaps a range of time, read part by part from the begin of the recording
    /// to the end of the range. `keep_on` is told how far that has come, and ends it by answering
    /// false; there are no tables then.
    ///
    /// Memory follows the number of different functions, operations, streams and threads. Percentiles
    /// of more than 4096 durations are right to a 128th. What is said of stalls is what
    /// [`Stats::within`] says of the same recording, with these exceptions: a queue is known to be
    /// full by what was pending at most so far, collectives are compared with their peers within a
    /// part, and so are notifies and values with what waits for them.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_archive(
        archive: &mut Archive,
        range: Option<(i64, i64)>,
        keep_on: impl FnMut(i64) -> bool,
    ) -> Result<Option<Self>, WindowError> {
        let mut running = RunningStats::new(range);
        let last = range.map_or(i64::MAX, |range| range.1);
        let take = |trace: &Trace, own: (i64, i64)| {
            running.take(trace, own);
            (own.1 >= last).then_some(())
        };
        let answer = archive.find(i64::MIN, Towards::Later, |_| true, keep_on, take)?;
        if answer == Answer::Stopped {
            return Ok(None);
        }
        let calls = archive.graph_calls()?;
        let graphs = Graphs::with_replays(&calls.trace, calls.replays.keys().copied());
        Ok(Some(tables_of(
            archive.things(),
            &calls.trace,
            &graphs,
            running,
        )))
    }
}

fn tables_of(
    things: &Trace,
    graph_calls: &Trace,
    graphs: &Graphs,
    mut running: RunningStats,
) -> Stats {
    running.close(things);
    let range = running.range;
    let losses = things.losses();
    let (streams, devices) = lane_sums::rows(
        things,
        &running.streams,
        &running.work,
        &running.lives,
        range,
    );
    let operations = running.operations.iter();
    let operations = operations.map(|((name, graph, kind), (count, time))| {
        let time = time.clone().durations();
        ((name.as_str(), *graph, *kind), (*count, time))
    });
    let apis = running.apis.into_iter();
    let apis = apis.map(
        |ApiSums {
             time,
             errors,
             nested,
         }| (time.durations(), errors, nested),
    );
    let mut replays = running.replays;
    let graphs = graphs::rows_with(graph_calls, graphs, range, |graph| {
        let found = replays.remove(&(graph.process, graph.serial));
        let (count, time): (u64, Histogram) = found.unwrap_or_default();
        (count, time.durations())
    });
    Stats {
        schema: JSON_SCHEMA_VERSION,
        begin_ns: range.map(|range| range.0),
        end_ns: range.map(|range| range.1),
        operations: tables::operation_rows(operations),
        streams,
        devices,
        threads: lane_sums::thread_rows(things, &running.threads),
        overlap: running.work.overlap,
        apis: tables::api_rows(&running.functions, apis),
        stall_causes: running.causes.rows(),
        worst_stalls: running.worst.rows(),
        graphs,
        open_calls: open::sorted(running.open),
        tracing: Tracing::of(things),
        lost: Lost {
            calls: losses.calls,
            others: losses.others,
        },
    }
}

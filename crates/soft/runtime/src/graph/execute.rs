//! Replays: a complete graph as one task of a stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::body::{Body, NodeAction, Replay};
use super::lifetime;
use super::state::{self, Graph, GraphPhase};
use crate::clock;
use crate::code::{
    Outcome, RT_MODEL_CAPTURED, RT_MODEL_EXECUTE, RT_PARAM_INVALID, RT_STREAM_CAPTURED,
    RT_STREAM_SYNC_TIMEOUT, check, fault,
};
use crate::current;
use crate::engine::inbox;
use crate::engine::task::Work;
use crate::event::record::Record;
use crate::progress::WaitResult;
use crate::stream::line::flag;
use crate::stream::{Stream, access};
use crate::sync::lock;

impl Graph {
    fn body(&self) -> Outcome<Arc<Body>> {
        let state = lock(&self.state);
        match (&state.body, state.phase) {
            (Some(body), _) => Ok(Arc::clone(body)),
            (None, GraphPhase::Building) => fault(RT_MODEL_EXECUTE, "the graph is not complete"),
            (None, _) => fault(RT_MODEL_CAPTURED, "the graph is still being captured"),
        }
    }
}

fn replay(graph: usize, stream: &Arc<Stream>) -> Outcome<u64> {
    let graph = lifetime::of_context(graph)?;
    let body = graph.body()?;
    if stream.flags & flag::PERSISTENT != 0 {
        return fault(RT_PARAM_INVALID, "graphs cannot execute on this stream");
    }
    let mut replay = Replay {
        number: graph.activity.submit(),
        activity: Arc::clone(&graph.activity),
        body,
        records: BTreeMap::new(),
    };
    bind_waits(&mut replay);
    let records = bind_records(&mut replay);
    let submitted = stream.submit(|seq| {
        for record in &records {
            record.settle_place(&stream.line, seq);
        }
        Work::Graph(Box::new(replay))
    });
    if submitted.is_err() {
        // Nobody will reach these records; who waits for them must not wait for ever.
        for record in &records {
            inbox::get().wake(&record.complete(clock::now()));
        }
    }
    submitted
}

/// The waits that come from outside, before a record of the same replay could take their place.
fn bind_waits(replay: &mut Replay) {
    for (index, node) in replay.body.nodes.iter().enumerate() {
        if let NodeAction::ExternalWait(event) = &node.action
            && let Some(record) = event.latest()
        {
            replay.records.insert(index, record);
        }
    }
}

/// The replay's records are the latest records for later waits.
fn bind_records(replay: &mut Replay) -> Vec<Arc<Record>> {
    let mut records = Vec::new();
    for (index, node) in replay.body.nodes.iter().enumerate() {
        if let NodeAction::ExternalRecord(event) = &node.action {
            let record = event.expect_record();
            replay.records.insert(index, Arc::clone(&record));
            records.push(record);
        }
    }
    records
}

pub(crate) fn execute_async(graph: usize, stream: usize) -> Outcome {
    state::of(graph)?;
    let stream = access::of_context(stream)?;
    if stream.route.is_capturing() {
        return fault(RT_STREAM_CAPTURED, "a graph cannot be part of a capture");
    }
    replay(graph, &stream).map(drop)
}

/// Executes on the context's default stream and waits for it.
pub(crate) fn execute(graph: usize, timeout_ms: i32) -> Outcome {
    state::of(graph)?;
    let limit = access::timeout(timeout_ms)?;
    let stream = access::of_context(0)?;
    let seq = replay(graph, &stream)?;
    match stream.wait_for(seq, limit) {
        WaitResult::Done => stream.take_error(),
        WaitResult::TimedOut => fault(RT_STREAM_SYNC_TIMEOUT, "the graph is not done yet"),
        WaitResult::Aborted(code) => fault(code, "the stream was aborted"),
    }
}

/// Throws away the replays that were submitted before. The streams go on.
pub(crate) fn abort(graph: usize) -> Outcome {
    check(graph != 0, "the graph is NULL")?;
    let graph = lifetime::of_context(graph)?;
    graph.activity.abort();
    current::with(|context| {
        for stream in context.all_streams() {
            stream.call_engine();
        }
        Ok(())
    })
}

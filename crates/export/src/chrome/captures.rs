//! Captures as slices beside the thread that began them, with arrows to the replays of the graph.

use std::io;

use ascend_trace_analysis::graphs::{Graph, Outcome};
use ascend_trace_model::Trace;

use super::flows::{Flow, Reach, task, write_flow};
use super::output::Output;
use super::tracks::Tracks;
use crate::Source;
use crate::json::Json;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    for (index, graph) in source.graphs.all().iter().enumerate() {
        let Some((capture, track)) = graph.making_span(trace).zip(tracks.capture(index)) else {
            continue;
        };
        output.event("X", track, |members| {
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            members.named(&name, "capture");
            members.lasting(capture.0, capture.1);
            members.args(|json| write_args(json, source, graph));
        })?;
    }
    Ok(())
}

fn write_args(json: &mut Json, source: &Source<'_>, graph: &Graph) {
    let trace = source.trace;
    json.name("graph").unsigned(u64::from(graph.serial));
    json.name("outcome").string(graph.outcome.name());
    if let Outcome::Failed(code) = graph.outcome {
        json.name("code").integer(code);
    }
    if let Some(why) = source.graphs.failure(trace, graph) {
        json.name("reason").string(&why.text);
    }
    let refusals = source.graphs.refusals(trace, graph);
    json.name("refused").unsigned(refusals.len() as u64);
    let streams = graph.streams().into_iter();
    let streams = streams.map(|id| trace.stream(id).number().to_string());
    let streams = streams.collect::<Vec<_>>().join(" ");
    json.name("streams").string(&streams);
    json.name("nodes").unsigned(graph.nodes.len() as u64);
    json.name("replays").unsigned(graph.replays.len() as u64);
}

/// From the end of a capture to each replay of its graph. Answers how many could not be drawn.
pub(super) fn write_flows(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    next_id: &mut u64,
) -> io::Result<u64> {
    let trace = source.trace;
    let mut omitted = 0;
    for (index, graph) in source.graphs.all().iter().enumerate() {
        let Some(from) = capture(trace, tracks, graph, index) else {
            continue;
        };
        for replay in graph.replays.iter().filter_map(|replay| replay.task) {
            let Some(to) = task(trace, tracks, replay) else {
                omitted += 1;
                continue;
            };
            let flow = Flow {
                name: "replay",
                early: true,
            };
            omitted += u64::from(!write_flow(output, flow, (from, to), next_id)?);
        }
    }
    Ok(omitted)
}

/// The last moment of a capture's slice.
fn capture(trace: &Trace, tracks: &Tracks, graph: &Graph, index: usize) -> Option<Reach> {
    let (begin, end) = graph.making_span(trace)?;
    let last = (end - 1).max(begin);
    Some(Reach {
        track: tracks.capture(index)?,
        first: last,
        last,
    })
}

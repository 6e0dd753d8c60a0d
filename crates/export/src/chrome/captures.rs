//! Captures as slices beside the thread that began them, with arrows to the replays of the graph.

use std::io;

use ascend_trace_analysis::Node;
use ascend_trace_analysis::graphs::Graph;
use ascend_trace_model::Trace;

use super::flows::{Flow, Reach, task, write_flow};
use super::output::Output;
use crate::Source;
use crate::facts::Facts;
use crate::fields::write_graph;
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    facts: &Facts,
) -> io::Result<()> {
    let trace = source.trace;
    for graph in source.graphs.all() {
        let Some((capture, track)) = graph.making_span(trace).zip(tracks.capture(graph)) else {
            continue;
        };
        output.event(b'X', track, |members| {
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            members.named(name.into(), "capture");
            members.lasting(capture.0, capture.1);
            members.args(|json| write_graph(json, source, graph, facts));
        })?;
    }
    Ok(())
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
    for graph in source.graphs.all() {
        let Some(from) = capture(trace, tracks, graph) else {
            continue;
        };
        let replays = graph.replays.iter().filter_map(|replay| replay.task);
        for replay in replays.filter(|task| source.owns(Node::Task(*task))) {
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
fn capture(trace: &Trace, tracks: &Tracks, graph: &Graph) -> Option<Reach> {
    let (begin, end) = graph.making_span(trace)?;
    let last = (end - 1).max(begin);
    Some(Reach {
        track: tracks.capture(graph)?,
        first: last,
        last,
        begin,
        end,
        mark: None,
    })
}

//! Captures as slices next to the thread that began them.

use std::io;

use super::output::EventOutput;
use crate::ExportSource;
use crate::fields::write_graph;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut EventOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    let trace = source.trace;
    for graph in source.graphs.all() {
        let Some((capture, track)) = graph.making_span(trace).zip(tracks.capture(graph)) else {
            continue;
        };
        output.event(b'X', track, |members| {
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            members.named(&name, "capture");
            members.lasting(capture.begin, capture.end);
            members.args(|json| write_graph(json, source, graph, facts));
        })?;
    }
    Ok(())
}

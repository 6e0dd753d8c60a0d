//! Captures as slices next to the thread that began them.

use std::io;

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
            members.named(&name, "capture");
            members.lasting(capture.begin, capture.end);
            members.args(|json| write_graph(json, source, graph, facts));
        })?;
    }
    Ok(())
}

//! Captures as slices next to the thread that began them.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::output::PacketOutput;
use crate::ExportSource;
use crate::fields::write_graph;
use crate::trace_facts::TraceFacts;
use crate::tracks::TrackLayout;

pub(super) fn write(
    output: &mut PacketOutput<'_>,
    source: &ExportSource<'_>,
    tracks: &TrackLayout,
    facts: &TraceFacts,
) -> io::Result<()> {
    for graph in source.graphs.all() {
        let span = graph.making_span(source.trace);
        let Some((making, track)) = span.zip(tracks.capture(graph)) else {
            continue;
        };
        output.event(SLICE_BEGIN, track, making.begin, |event| {
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            event.named(&name, "capture");
            write_graph(event, source, graph, facts);
        })?;
        output.event(SLICE_END, track, making.end, |_| {})?;
    }
    Ok(())
}

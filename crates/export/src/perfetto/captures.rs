//! Captures as slices beside the thread that began them. A flow leads from each through all
//! replays of its graph.

use std::io;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::flows::of_graph;
use super::meta::uuid;
use super::output::Output;
use crate::Source;
use crate::fields::write_graph;
use crate::tracks::Tracks;

pub(super) fn write<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    tracks: &Tracks,
) -> io::Result<()> {
    for (index, graph) in source.graphs.all().iter().enumerate() {
        let span = graph.making_span(source.trace);
        let Some(((begin, end), track)) = span.zip(tracks.capture(index)) else {
            continue;
        };
        output.event(SLICE_BEGIN, uuid(track), begin, |event| {
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            event.named(name, "capture");
            write_graph(event, source, graph);
            event.flow_begins(of_graph(index));
        })?;
        output.event(SLICE_END, uuid(track), end, |_| {})?;
    }
    Ok(())
}

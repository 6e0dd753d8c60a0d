//! Names and order of the tracks.

use std::io;

use ascend_trace_recording::Trace;

use super::{Dialect, NamedTrack, TimelineEncoder, TrackParent};
use crate::lane_labels::{
    numbered, parts_name, placed_name, stalls_name, stream_name, thread_name,
};
use crate::tracks::{ParallelTracks, TrackLayout};

/// Names tracks without a name: processes with their threads, devices with their streams.
pub(super) fn write(
    encoder: &mut impl TimelineEncoder,
    dialect: &impl Dialect,
    trace: &Trace,
    tracks: &mut TrackLayout,
) -> io::Result<()> {
    for (order, process) in tracks.fresh_processes() {
        let name = dialect.process_name(trace, &process);
        encoder.process(trace, &tracks.processes, (order, &process, &name))?;
    }
    for (thread, lane) in trace.threads().iter().zip(&mut tracks.threads) {
        let order = i64::from(thread.tid);
        let process = TrackParent::Process(lane.pid);
        let own = lane.own().map_or(process, TrackParent::Track);
        let name = || thread_name(thread);
        let parents = (TrackParent::Thread, own);
        write_parallel(encoder, &mut lane.slices, parents, name, order)?;
        let captures = || format!("{} captures", name());
        write_parallel(
            encoder,
            &mut lane.captures,
            (process, process),
            captures,
            order,
        )?;
        let ranges = || format!("{} ranges", name());
        write_parallel(encoder, &mut lane.ranges, (own, own), ranges, order)?;
    }
    for (stream, lane) in trace.streams().iter().zip(&mut tracks.streams) {
        let order = stream.number() * 2;
        let parents = (
            TrackParent::Process(lane.pid),
            TrackParent::Process(lane.pid),
        );
        let name = || stream_name(stream);
        write_parallel(encoder, &mut lane.slices, parents, name, order)?;
        let events = || format!("stream {} events", stream.number());
        write_parallel(encoder, &mut lane.events, parents, events, order + 1)?;
        let name = || parts_name(stream);
        write_parallel(encoder, &mut lane.parts, parents, name, order + 1)?;
        let name = || placed_name(stream);
        write_parallel(encoder, &mut lane.placed, parents, name, order + 1)?;
        let name = || stalls_name(stream);
        write_parallel(encoder, &mut lane.stalls, parents, name, order + 1)?;
    }
    Ok(())
}

/// Names tracks that are parallel: the first after the lane, the others with a number.
fn write_parallel(
    encoder: &mut impl TimelineEncoder,
    tracks: &mut ParallelTracks,
    (first, others): (TrackParent, TrackParent),
    name: impl Fn() -> String,
    order: i64,
) -> io::Result<()> {
    for (place, track) in tracks.fresh() {
        encoder.track(&NamedTrack {
            track,
            parent: if place == 0 { first } else { others },
            name: numbered(name(), place),
            order,
        })?;
    }
    Ok(())
}

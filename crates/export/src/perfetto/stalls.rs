//! Idle stretches of streams as slices beside them, named after their cause.

use std::io;

use ascend_trace_model::StreamId;

use super::fields::event::{SLICE_BEGIN, SLICE_END};
use super::meta::{process_uuid, uuid, write_lane};
use super::output::Output;
use crate::Source;
use crate::fields::write_stall;
use crate::labels::stalls_name;
use crate::tracks::Tracks;

pub(super) fn write<'t>(
    output: &mut Output<'_, 't>,
    source: &Source<'t>,
    tracks: &Tracks,
) -> io::Result<()> {
    for (index, stream) in source.trace.streams().iter().enumerate() {
        let id = StreamId(index as u32);
        let mut stalls = source.idle(id).peekable();
        if stalls.peek().is_none() {
            continue;
        }
        let track = tracks.stalls(id);
        let (device, order) = (process_uuid(track.pid), stream.number() * 2 + 1);
        write_lane(output, &[track.tid], device, &stalls_name(stream), order)?;
        for stall in stalls {
            output.event(SLICE_BEGIN, uuid(track), stall.begin, |event| {
                event.named(stall.cause.name(), "stall");
                write_stall(event, source, stall);
            })?;
            output.event(SLICE_END, uuid(track), stall.end, |_| {})?;
        }
    }
    Ok(())
}

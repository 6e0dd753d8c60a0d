//! Idle stretches of streams as slices beside them, named after their cause.

use std::io;

use ascend_trace_model::StreamId;

use super::meta::write_lane;
use super::output::Output;
use crate::Source;
use crate::fields::write_stall;
use crate::labels::stalls_name;
use crate::tracks::Tracks;

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    for (index, stream) in source.trace.streams().iter().enumerate() {
        let id = StreamId(index as u32);
        let mut stalls = source.idle(id).peekable();
        if stalls.peek().is_none() {
            continue;
        }
        let track = tracks.stalls(id);
        let order = stream.number() * 2 + 1;
        write_lane(output, track.pid, &[track.tid], &stalls_name(stream), order)?;
        for stall in stalls {
            output.event("X", track, |members| {
                members.named(stall.cause.name(), "stall");
                members.lasting(stall.begin, stall.end);
                members.args(|json| write_stall(json, source, stall));
            })?;
        }
    }
    Ok(())
}

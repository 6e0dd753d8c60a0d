//! Ranges and marks that the program named, as asynchronous events: they overlap in any way, begin
//! in one thread and end in another, and viewers give them a lane of their own.

use std::io;

use ascend_trace_model::{Range, Trace};

use super::output::{Members, Output};
use crate::Source;
use crate::tracks::Tracks;

/// The category of events whose range has no domain with a name.
const CATEGORY: &str = "mstx";

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    let trace = source.trace;
    let ranges = trace.ranges().iter().zip(1..);
    for (range, id) in ranges.filter(|(range, _)| source.selection.span(range.begin, range.end)) {
        let Some(lane) = tracks.threads.get(range.thread.index()) else {
            continue;
        };
        let Some(track) = lane.own() else { continue };
        if range.begin == range.end {
            output.event(b'n', track, |members| {
                describe(members, trace, range, id);
                members.at(range.begin);
            })?;
            continue;
        }
        for (phase, time) in [(b'b', range.begin), (b'e', range.end)] {
            output.event(phase, track, |members| {
                describe(members, trace, range, id);
                members.at(time);
            })?;
        }
    }
    Ok(())
}

fn describe(members: &mut Members<'_>, trace: &Trace, range: &Range, id: u64) {
    members.named(
        range.name.as_str().into(),
        trace.domain(range).unwrap_or(CATEGORY),
    );
    // Of its process: an `id` alone is one of the whole trace, and has a track there.
    members.json.plain(b",\"id2\":{\"local\":\"");
    members.json.unsigned(id);
    members.json.plain(b"\"}");
}

//! Counters as events of phase `C`.

use std::io;

use super::output::Output;
use crate::Source;
use crate::counters::all;
use crate::tracks::{Track, Tracks};

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
) -> io::Result<()> {
    for counter in all(source, tracks) {
        let process = Track {
            pid: counter.pid,
            tid: counter.pid,
        };
        let track = counter.track.unwrap_or(process);
        for (time, value) in counter.values {
            output.event("C", track, |members| {
                members.named(&counter.name, "");
                members.at(time);
                members.args(|json| json.key(counter.unit).integer(value));
            })?;
        }
    }
    Ok(())
}

//! Counters as events of phase `C`.

use std::io;

use super::output::Output;
use crate::Source;
use crate::counters::Counters;
use crate::tracks::{Track, Tracks};

pub(super) fn write(
    output: &mut Output<'_>,
    source: &Source<'_>,
    tracks: &Tracks,
    counters: &mut Counters,
) -> io::Result<()> {
    counters.advance(source, tracks, &mut |counter, step| {
        let Some((time, value)) = step else {
            return Ok(());
        };
        let process = Track {
            pid: counter.pid,
            tid: counter.pid,
        };
        output.event(b'C', counter.track.unwrap_or(process), |members| {
            members.named(counter.name.as_str().into(), "");
            members.at(time);
            members.args(|json| json.key(counter.unit).integer(value));
        })
    })
}

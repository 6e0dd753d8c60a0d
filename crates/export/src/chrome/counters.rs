//! Counters as events of phase `C`.

use std::collections::BTreeMap;
use std::io;

use ascend_trace_model::{StreamId, Trace};

use super::output::Output;
use crate::counters::{busy, queued};
use crate::tracks::{Track, Tracks};

pub(super) fn write(output: &mut Output<'_>, trace: &Trace, tracks: &Tracks) -> io::Result<()> {
    let mut devices: BTreeMap<u32, Vec<StreamId>> = BTreeMap::new();
    for index in 0..trace.streams().len() {
        let id = StreamId(index as u32);
        let lane = &tracks.streams[index];
        let track = Track {
            pid: lane.pid,
            tid: lane.slices[0],
        };
        let name = format!("queued on stream {}", trace.stream(id).number());
        write_counter(output, track, &name, "tasks", queued(trace, id))?;
        devices.entry(lane.pid).or_default().push(id);
    }
    for (pid, streams) in devices {
        let track = Track { pid, tid: pid };
        write_counter(output, track, "busy", "streams", busy(trace, &streams))?;
    }
    Ok(())
}

fn write_counter(
    output: &mut Output<'_>,
    track: Track,
    name: &str,
    unit: &str,
    values: impl Iterator<Item = (i64, i64)>,
) -> io::Result<()> {
    for (time, value) in values {
        output.event("C", track, |members| {
            members.named(name, "");
            members.at(time);
            members.args(|json| json.name(unit).integer(value));
        })?;
    }
    Ok(())
}

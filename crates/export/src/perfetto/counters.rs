//! Counters on tracks below their stream or device.

use std::collections::BTreeMap;
use std::io;

use ascend_trace_model::{StreamId, Trace};

use super::fields::event::COUNTER;
use super::meta::{process_uuid, uuid, write_counter_track};
use super::output::{Output, Uuid};
use crate::counters::{busy, queued};
use crate::tracks::{Track, Tracks};

/// Tracks of counters begin here, beyond those of slices.
const FIRST: u64 = 1 << 40;

pub(super) fn write(output: &mut Output<'_, '_>, trace: &Trace, tracks: &Tracks) -> io::Result<()> {
    let mut devices: BTreeMap<u32, Vec<StreamId>> = BTreeMap::new();
    let mut next = FIRST;
    for (index, lane) in tracks.streams.iter().enumerate() {
        let id = StreamId(index as u32);
        let Some(tid) = lane.slices.first().copied() else {
            continue;
        };
        let parent = uuid(Track { pid: lane.pid, tid });
        let name = format!("queued on stream {}", trace.stream(id).number());
        write_counter(
            output,
            &mut next,
            parent,
            (&name, "tasks"),
            queued(trace, id),
        )?;
        devices.entry(lane.pid).or_default().push(id);
    }
    for (pid, streams) in devices {
        let parent = process_uuid(pid);
        write_counter(
            output,
            &mut next,
            parent,
            ("busy", "streams"),
            busy(trace, &streams),
        )?;
    }
    Ok(())
}

fn write_counter(
    output: &mut Output<'_, '_>,
    next: &mut u64,
    parent: Uuid,
    (name, unit): (&str, &str),
    values: impl Iterator<Item = (i64, i64)>,
) -> io::Result<()> {
    let track = Uuid(*next);
    *next += 1;
    write_counter_track(output, track, parent, name, unit)?;
    for (time, value) in values {
        output.event(COUNTER, track, time, |event| event.counter(value))?;
    }
    Ok(())
}

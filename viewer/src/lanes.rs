//! The lines of the timeline from top to bottom: process, its devices with their streams, its
//! threads.

use std::collections::BTreeSet;

use ascend_trace_model::{ProcessId, StreamId, ThreadId, Trace};

use crate::item::TrackKey;
use crate::part::Overview;
use crate::tracks::Tracks;

/// A line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Process(ProcessId),
    Device(ProcessId, u32),
    Track(TrackKey),
}

impl Row {
    pub(crate) fn track(self) -> Option<TrackKey> {
        match self {
            Self::Track(key) => Some(key),
            Self::Process(_) | Self::Device(..) => None,
        }
    }
}

/// All lines in the order in which they are shown.
pub(crate) fn rows(trace: &Trace, tracks: &Tracks, overview: Option<&Overview>) -> Vec<Row> {
    let mut keys: BTreeSet<TrackKey> = tracks.keys().collect();
    keys.extend(overview.into_iter().flat_map(Overview::threads));
    let mut rows = Vec::new();
    for index in 0..trace.processes().len() {
        let process = ProcessId(index as u32);
        rows.push(Row::Process(process));
        push_devices(trace, process, &mut rows);
        push_threads(trace, &keys, process, &mut rows);
    }
    rows
}

fn push_devices(trace: &Trace, process: ProcessId, rows: &mut Vec<Row>) {
    let streams = trace.streams().iter().enumerate();
    let own: BTreeSet<_> = streams
        .filter(|(_, stream)| stream.process == process)
        .map(|(index, stream)| {
            let number = (!stream.is_default, stream.number());
            (stream.device, number, StreamId(index as u32))
        })
        .collect();
    let mut device = None;
    for (its_device, _, stream) in own {
        if device.replace(its_device) != Some(its_device) {
            rows.push(Row::Device(process, its_device));
        }
        rows.push(Row::Track(TrackKey::Stream(stream)));
    }
}

fn push_threads(trace: &Trace, keys: &BTreeSet<TrackKey>, process: ProcessId, rows: &mut Vec<Row>) {
    let of_process = |thread: ThreadId| trace.thread(thread).process == process;
    let keys = keys.iter().copied().filter(|key| match key {
        TrackKey::Thread(thread, _) => of_process(*thread),
        TrackKey::Stream(_) => false,
    });
    rows.extend(keys.map(Row::Track));
}

//! The lines of the timeline from top to bottom: pinned lanes, then process by process its devices
//! with their streams, and its threads.

use std::collections::BTreeSet;

use ascend_trace_model::{ProcessId, StreamId, ThreadId, Trace};

use crate::arrangement::{Arrangement, Group};
use crate::item::TrackKey;
use crate::part::Overview;
use crate::ranges::Ranges;
use crate::tracks::Tracks;

/// A line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Process(ProcessId),
    Device(ProcessId, u32),
    /// Lanes that are folded into this line.
    Folded(Group),
    /// Ranges that a thread named, from the outside in.
    Ranges(ThreadId, u8),
    Track(TrackKey),
}

impl Row {
    pub(crate) fn track(self) -> Option<TrackKey> {
        match self {
            Self::Track(key) => Some(key),
            Self::Process(_) | Self::Device(..) | Self::Folded(_) | Self::Ranges(..) => None,
        }
    }

    pub(crate) fn folded(self) -> Option<Group> {
        match self {
            Self::Folded(group) => Some(group),
            _ => None,
        }
    }
}

/// What lines are made of.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) tracks: &'a Tracks,
    pub(crate) overview: Option<&'a Overview>,
    pub(crate) ranges: &'a Ranges,
    pub(crate) arrangement: &'a Arrangement,
}

impl Lanes<'_> {
    /// Whether a lane has a line of its own, or one together with others.
    fn shows(&self, key: &TrackKey) -> bool {
        self.arrangement.wants(self.trace, *key) && !self.arrangement.pinned.contains(key)
    }
}

/// All lines in the order in which they are shown; the pinned ones come first.
pub(crate) fn rows(lanes: Lanes<'_>) -> Vec<Row> {
    let keys = keys(lanes.tracks, lanes.overview);
    let is_wanted = |key: &TrackKey| lanes.arrangement.wants(lanes.trace, *key);
    let pinned = lanes.arrangement.pinned.iter().copied().filter(is_wanted);
    let mut rows: Vec<_> = pinned.map(Row::Track).collect();
    for index in 0..lanes.trace.processes().len() {
        let process = ProcessId(index as u32);
        rows.push(Row::Process(process));
        push_devices(lanes, process, &mut rows);
        push_threads(lanes, &keys, process, &mut rows);
        // A process of which nothing is to be seen is not named.
        rows.pop_if(|row| *row == Row::Process(process) && !lanes.arrangement.filter.is_empty());
    }
    rows
}

/// Every track, of which the thread's are also those of other parts of the recording.
fn keys(tracks: &Tracks, overview: Option<&Overview>) -> BTreeSet<TrackKey> {
    let mut keys: BTreeSet<TrackKey> = tracks.keys().collect();
    keys.extend(overview.into_iter().flat_map(Overview::threads));
    keys
}

fn push_devices(lanes: Lanes<'_>, process: ProcessId, rows: &mut Vec<Row>) {
    let streams = lanes.trace.streams().iter().enumerate();
    let own: BTreeSet<_> = streams
        .map(|(index, stream)| (StreamId(index as u32), stream))
        .filter(|(id, stream)| stream.process == process && lanes.shows(&TrackKey::Stream(*id)))
        .map(|(id, stream)| (stream.device, (!stream.is_default, stream.number()), id))
        .collect();
    let mut device = None;
    for (its_device, _, stream) in own {
        let group = Group::Device(process, its_device);
        let is_folded = lanes.arrangement.is_folded(group);
        if device.replace(its_device) != Some(its_device) {
            rows.push(match is_folded {
                true => Row::Folded(group),
                false => Row::Device(process, its_device),
            });
        }
        if !is_folded {
            rows.push(Row::Track(TrackKey::Stream(stream)));
        }
    }
}

fn push_threads(
    lanes: Lanes<'_>,
    keys: &BTreeSet<TrackKey>,
    process: ProcessId,
    rows: &mut Vec<Row>,
) {
    let of_process = |thread: ThreadId| lanes.trace.thread(thread).process == process;
    let mut keys = keys.iter().copied().filter(|key| match key {
        TrackKey::Thread(thread, _) => of_process(*thread) && lanes.shows(key),
        TrackKey::Stream(_) => false,
    });
    let group = Group::Threads(process);
    if lanes.arrangement.is_folded(group) {
        rows.extend(keys.next().map(|_| Row::Folded(group)));
        return;
    }
    for key in keys {
        let TrackKey::Thread(thread, depth) = key else {
            continue;
        };
        if depth == 0 {
            let lines = lanes.ranges.of_thread(thread);
            rows.extend(lines.map(|line| Row::Ranges(thread, line)));
        }
        if depth == 0 || !lanes.arrangement.is_folded(Group::Nested(thread)) {
            rows.push(Row::Track(key));
        }
    }
}

/// The tracks that are folded into one line.
pub(crate) fn folded(
    trace: &Trace,
    tracks: &Tracks,
    overview: Option<&Overview>,
    arrangement: &Arrangement,
    group: Group,
) -> Vec<TrackKey> {
    let is_in = |key: &TrackKey| match (group, *key) {
        (Group::Device(process, device), TrackKey::Stream(id)) => {
            let stream = trace.stream(id);
            stream.process == process && stream.device == device
        }
        (Group::Threads(process), TrackKey::Thread(id, 0)) => trace.thread(id).process == process,
        (Group::Nested(thread), TrackKey::Thread(id, depth)) => id == thread && depth > 0,
        _ => false,
    };
    let is_shown = |key: &TrackKey| {
        arrangement.wants(trace, *key) && !arrangement.pinned.contains(key) && is_in(key)
    };
    keys(tracks, overview)
        .into_iter()
        .filter(is_shown)
        .collect()
}

//! The lines of the timeline from top to bottom: pinned lanes, then process by process its devices
//! with their streams, and its threads.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_recording::{ProcessId, StreamId, ThreadId, Trace};

use crate::arrangement::{LaneArrangement, LaneGroup};
use crate::idle_streams;
use crate::item::TrackKey;
use crate::meters::Meters;
use crate::nodes::NodeLines;
use crate::overview::RecordingOverview;
use crate::ranges::RangeLines;
use crate::tracks::SliceTracks;

/// A row of the view: a line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewRow {
    Process(ProcessId),
    Device(ProcessId, u32),
    /// Lanes that are folded into this line.
    Folded(LaneGroup),
    Track(TrackKey),
}

impl ViewRow {
    pub(crate) fn track(self) -> Option<TrackKey> {
        match self {
            Self::Track(key) => Some(key),
            Self::Process(_) | Self::Device(..) | Self::Folded(_) => None,
        }
    }

    /// Whether arrows may begin and end in it.
    pub(crate) fn has_arrows(self) -> bool {
        self.track().is_some_and(TrackKey::has_arrows)
    }

    pub(crate) fn folded(self) -> Option<LaneGroup> {
        match self {
            Self::Folded(group) => Some(group),
            _ => None,
        }
    }
}

/// What lines are made of.
#[derive(Clone, Copy)]
pub(crate) struct LaneInputs<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) tracks: &'a SliceTracks,
    pub(crate) overview: &'a RecordingOverview,
    pub(crate) ranges: &'a RangeLines,
    pub(crate) nodes: &'a NodeLines,
    pub(crate) meters: &'a Meters,
    pub(crate) arrangement: &'a LaneArrangement,
}

impl LaneInputs<'_> {
    /// Whether a lane has a line, alone or shared with others.
    fn shows(&self, key: &TrackKey) -> bool {
        self.arrangement.wants(self.trace, *key) && !self.arrangement.pinned.contains(key)
    }
}

/// All lines in the order in which they are shown; the pinned ones come first.
pub(crate) fn rows(lanes: LaneInputs<'_>) -> Vec<ViewRow> {
    let keys = keys(lanes.tracks, lanes.overview);
    let is_wanted = |key: &TrackKey| lanes.arrangement.wants(lanes.trace, *key);
    let pinned = lanes.arrangement.pinned.iter().copied().filter(is_wanted);
    let mut rows: Vec<_> = pinned.map(ViewRow::Track).collect();
    for process in lanes.trace.processes_by_rank() {
        rows.push(ViewRow::Process(process));
        push_devices(lanes, &keys, process, &mut rows);
        push_threads(lanes, &keys, process, &mut rows);
        let meters = lanes.meters.of_process(process);
        rows.extend(meters.filter(|key| lanes.shows(key)).map(ViewRow::Track));
        // A process without visible lanes is not named.
        rows.pop_if(|row| {
            *row == ViewRow::Process(process) && !lanes.arrangement.filter.is_empty()
        });
    }
    rows
}

/// Every track, of which the thread's are also those of other parts of the recording.
fn keys(tracks: &SliceTracks, overview: &RecordingOverview) -> BTreeSet<TrackKey> {
    let mut keys: BTreeSet<TrackKey> = tracks.keys().collect();
    keys.extend(overview.threads());
    keys
}

/// The streams of each device with their lines, then the communicators.
fn push_devices(
    lanes: LaneInputs<'_>,
    keys: &BTreeSet<TrackKey>,
    process: ProcessId,
    rows: &mut Vec<ViewRow>,
) {
    let streams = (0..).map(StreamId).zip(lanes.trace.streams());
    let own: BTreeSet<_> = streams
        .filter(|(id, stream)| stream.process == process && lanes.trace.lane_of(*id) == *id)
        .map(|(id, stream)| (stream.device, (!stream.is_default, stream.number()), id))
        .collect();
    let mut devices: BTreeMap<u32, Vec<TrackKey>> = BTreeMap::new();
    for (device, _, stream) in own {
        let nodes = lanes.nodes.has(stream).then_some(TrackKey::Nodes(stream));
        let callbacks = Some(TrackKey::Callbacks(stream)).filter(|key| keys.contains(key));
        let lines = [Some(TrackKey::Stream(stream)), nodes, callbacks];
        let lines = lines.into_iter().flatten();
        devices.entry(device).or_default().extend(lines);
    }
    for key in keys.iter().copied() {
        if let TrackKey::Collectives(_, stream) = key
            && lanes.trace.stream(stream).process == process
        {
            let device = lanes.trace.stream(stream).device;
            devices.entry(device).or_default().push(key);
        }
    }
    let arrangement = lanes.arrangement;
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by_key(|(device, _)| arrangement.rank_of_device(*device));
    for (device, mut lines) in devices {
        lines.retain(|key| lanes.shows(key));
        lines.sort_by_cached_key(|key| arrangement.rank_of_lane(lanes.trace, *key));
        if lines.is_empty() {
            continue;
        }
        let group = LaneGroup::Device(process, device);
        if lanes.arrangement.is_folded(group) {
            rows.push(ViewRow::Folded(group));
            continue;
        }
        rows.push(ViewRow::Device(process, device));
        let unused = fold_unused(lanes, LaneGroup::Unused(process, device), &mut lines);
        rows.extend(lines.into_iter().map(ViewRow::Track));
        rows.extend(unused);
    }
}

/// Takes the lanes out that are put into one line because they never had a task.
fn fold_unused(
    lanes: LaneInputs<'_>,
    group: LaneGroup,
    lines: &mut Vec<TrackKey>,
) -> Option<ViewRow> {
    let is_in =
        |key: &TrackKey| idle_streams::group(lanes.trace, lanes.overview, *key) == Some(group);
    let number = lines.iter().filter(|key| is_in(key)).count();
    if number < idle_streams::FOLDED || !lanes.arrangement.is_folded(group) {
        return None;
    }
    lines.retain(|key| !is_in(key));
    Some(ViewRow::Folded(group))
}

fn push_threads(
    lanes: LaneInputs<'_>,
    keys: &BTreeSet<TrackKey>,
    process: ProcessId,
    rows: &mut Vec<ViewRow>,
) {
    let of_process = |thread: ThreadId| lanes.trace.thread(thread).process == process;
    let is_wanted = |key: &TrackKey| match key {
        TrackKey::Thread(thread, _) => of_process(*thread) && lanes.shows(key),
        _ => false,
    };
    let mut keys: Vec<TrackKey> = keys.iter().copied().filter(is_wanted).collect();
    keys.sort_by_cached_key(|key| lanes.arrangement.rank_of_lane(lanes.trace, *key));
    let mut keys = keys.into_iter();
    let group = LaneGroup::Threads(process);
    if lanes.arrangement.is_folded(group) {
        rows.extend(keys.next().map(|_| ViewRow::Folded(group)));
        return;
    }
    for key in keys {
        let TrackKey::Thread(thread, depth) = key else {
            continue;
        };
        if depth == 0 {
            let lines = lanes.ranges.of_thread(thread);
            let lines = lines.map(|line| TrackKey::Ranges(thread, line));
            rows.extend(lines.filter(|key| lanes.shows(key)).map(ViewRow::Track));
        }
        if depth == 0 || !lanes.arrangement.is_folded(LaneGroup::Nested(thread)) {
            rows.push(ViewRow::Track(key));
        }
    }
}

/// The tracks that are folded into one line.
pub(crate) fn folded(
    trace: &Trace,
    tracks: &SliceTracks,
    overview: &RecordingOverview,
    arrangement: &LaneArrangement,
    group: LaneGroup,
) -> Vec<TrackKey> {
    let is_in = |key: &TrackKey| match (group, *key) {
        (LaneGroup::Device(process, device), TrackKey::Stream(id)) => {
            let stream = trace.stream(id);
            let is_unused = idle_streams::is_unused(overview, id);
            stream.process == process && stream.device == device && !is_unused
        }
        (LaneGroup::Unused(..), key) => idle_streams::group(trace, overview, key) == Some(group),
        (LaneGroup::Threads(process), TrackKey::Thread(id, 0)) => {
            trace.thread(id).process == process
        }
        (LaneGroup::Nested(thread), TrackKey::Thread(id, depth)) => id == thread && depth > 0,
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

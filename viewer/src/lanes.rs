//! The lines of the timeline from top to bottom: pinned lanes, then process by process its devices
//! with their streams, and its threads. Devices of several processes on one card are together, before the first of these processes.

mod shared_cards;

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
use shared_cards::{SharedCard, shared_cards};

/// A row of the view: a line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewRow {
    Process(ProcessId),
    /// The card with this number on the host of a process. The devices below it are those of several processes.
    Card(ProcessId, u32),
    Device(ProcessId, u32),
    /// A device below its card.
    DeviceOfCard(ProcessId, u32),
    /// Lanes that are folded into this line.
    Folded(LaneGroup),
    Track(TrackKey),
}

impl ViewRow {
    pub(crate) fn track(self) -> Option<TrackKey> {
        match self {
            Self::Track(key) => Some(key),
            Self::Process(_)
            | Self::Card(..)
            | Self::Device(..)
            | Self::DeviceOfCard(..)
            | Self::Folded(_) => None,
        }
    }

    /// Whether it only names the rows below it.
    pub(crate) fn is_heading(self) -> bool {
        self.track().is_none() && self.folded().is_none()
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
    let processes = lanes.trace.processes_by_rank();
    let cards = shared_cards(lanes.trace, &processes);
    for process in processes {
        let of_process = cards.iter().filter(|it| it.devices[0].0 == process);
        of_process.for_each(|card| push_card(lanes, &keys, card, &mut rows));
        rows.push(ViewRow::Process(process));
        for (device, lines) in devices(lanes, &keys, process) {
            let is_shown = cards
                .iter()
                .any(|it| it.devices.contains(&(process, device)));
            if !is_shown {
                let row = ViewRow::Device(process, device);
                push_device(lanes, row, lines, &mut rows);
            }
        }
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

/// The devices of several processes on one card, if any of their lanes is shown.
fn push_card(
    lanes: LaneInputs<'_>,
    keys: &BTreeSet<TrackKey>,
    card: &SharedCard,
    rows: &mut Vec<ViewRow>,
) {
    let first = rows.len();
    for own in &card.devices {
        let (process, device) = *own;
        let lines = devices(lanes, keys, process).into_iter();
        for (_, lines) in lines.filter(|(its, _)| *its == device) {
            let row = ViewRow::DeviceOfCard(process, device);
            push_device(lanes, row, lines, rows);
        }
    }
    if rows.len() > first {
        let header = ViewRow::Card(card.devices[0].0, card.number);
        rows.insert(first, header);
    }
}

/// The lines of each device of a process: the streams with their lines, then the communicators and the memory.
fn devices(
    lanes: LaneInputs<'_>,
    keys: &BTreeSet<TrackKey>,
    process: ProcessId,
) -> Vec<(u32, Vec<TrackKey>)> {
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
    if let Some(memory) = &lanes.overview.memory {
        for place in memory.places(process) {
            let lines = place
                .device()
                .map(|it| devices.entry(u32::from(it)).or_default());
            let key = TrackKey::Memory(process, place);
            lines.into_iter().for_each(|it| it.push(key));
        }
    }
    let arrangement = lanes.arrangement;
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by_key(|(device, _)| arrangement.rank_of_device(*device));
    for (_, lines) in &mut devices {
        lines.retain(|key| lanes.shows(key));
        lines.sort_by_cached_key(|key| arrangement.rank_of_lane(lanes.trace, *key));
    }
    devices.retain(|(_, lines)| !lines.is_empty());
    devices
}

/// The row of a device and its lines, or the line that they are folded into.
fn push_device(
    lanes: LaneInputs<'_>,
    row: ViewRow,
    mut lines: Vec<TrackKey>,
    rows: &mut Vec<ViewRow>,
) {
    let (ViewRow::Device(process, device) | ViewRow::DeviceOfCard(process, device)) = row else {
        return;
    };
    let group = LaneGroup::Device(process, device);
    if lanes.arrangement.is_folded(group) {
        rows.push(ViewRow::Folded(group));
        return;
    }
    rows.push(row);
    let unused = fold_unused(lanes, LaneGroup::Unused(process, device), &mut lines);
    rows.extend(lines.into_iter().map(ViewRow::Track));
    rows.extend(unused);
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

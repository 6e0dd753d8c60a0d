//! Facts about a group of chunks.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::TimeRange;
use crate::clock::ClockBound;
use crate::file::chunk::ChunkKind;
use crate::summary::{LaneBuilder, LaneEntry};

use super::links::TimesLink;
use super::run_spans::RunSpan;
use super::streams::WaitingTasks;
use super::totals::Totals;

/// A line of the timeline: tasks of a stream, or calls of a thread at one depth of nesting. Named
/// by the numbers that the file uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneKey {
    Stream { process: u32, serial: u32 },
    Thread { thread: u32, depth: u8 },
}

/// Lanes summed up. Times of streams are device times.
pub(crate) type Lanes = BTreeMap<LaneKey, Vec<LaneEntry>>;

/// Some chunks that lie together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) calls: u32,
    /// Rows that say when a task ran.
    pub(crate) times: u32,
    /// First begin and last end of its calls.
    pub(crate) call_span: Option<TimeRange>,
    /// A range that certainly contains the tasks with times in this group, and their launches.
    pub(crate) task_span: Option<TimeRange>,
    /// Where the earliest segment begins that holds a launch of one of them.
    pub(crate) launched_from: u64,
    /// Its calls that have to do with graphs, replays apart.
    pub(crate) graph_calls: u32,
}

impl Segment {
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }

    pub(crate) fn rows(&self) -> u64 {
        u64::from(self.calls) + u64::from(self.times)
    }
}

/// A chunk of things that every part of the file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntityChunk {
    pub(crate) kind: ChunkKind,
    pub(crate) offset: u64,
    /// Header and payload.
    pub(crate) length: u64,
}

/// Where a group's lanes are, summed up finely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum FineLanes {
    #[default]
    None,
    /// A chunk of the file begins here.
    InFile(u64),
    /// What such a chunk would hold, packed with LZ4.
    Held(Arc<[u8]>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkGroup {
    /// Begin of the covered bytes of the file.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) segments: Vec<Segment>,
    pub(crate) entities: Vec<EntityChunk>,
    /// Its lanes, summed up coarsely, as they are stored.
    pub(crate) coarse: Arc<[u8]>,
    pub(crate) fine: FineLanes,
    /// Bounds on the clock of a device, as a process sees it, by device time.
    pub(crate) bounds: BTreeMap<(u32, u32), Vec<ClockBound>>,
    /// The same for the driver's readings.
    pub(crate) driver_bounds: BTreeMap<(u32, u32), Vec<ClockBound>>,
    pub(crate) totals: Totals,
    /// Where times of this group are, or launches, and where their counterparts are: here or before.
    pub(crate) links: Vec<TimesLink>,
    /// When tasks ran that have their times here.
    pub(crate) ran: Vec<RunSpan>,
    /// Launches and times that wait for each other after this group.
    pub(crate) waiting: Vec<WaitingTasks>,
}

impl ChunkGroup {
    /// Keeps the fine lanes that no chunk of the file holds.
    pub(crate) fn hold(&mut self, fine: &[u8]) {
        self.fine = FineLanes::Held(lz4_flex::compress_prepend_size(fine).into());
    }

    /// About the number of bytes in memory, with derived data.
    pub(crate) fn memory(&self) -> u64 {
        /// A lane: its counts here and over all groups, its thread or stream, and their details.
        const LANE: usize = 400;
        /// An entry of another table of counts, here and over all groups.
        const COUNT: usize = 100;
        let held = match &self.fine {
            FineLanes::Held(bytes) => bytes.len(),
            FineLanes::None | FineLanes::InFile(_) => 0,
        };
        let totals = &self.totals;
        let devices = || totals.devices.values().chain(totals.drivers.values());
        let widths: usize = devices().map(|it| it.widths.len()).sum();
        let clocks = || self.bounds.values().chain(self.driver_bounds.values());
        let bounds: usize = clocks().map(Vec::len).sum();
        let bytes = [
            self.coarse.len() + held,
            self.segments.len() * size_of::<Segment>(),
            self.entities.len() * size_of::<EntityChunk>(),
            // Each device's are kept as stretches of its clock, too.
            bounds * 2 * size_of::<ClockBound>() + clocks().count() * COUNT,
            (totals.threads.len() + totals.streams.len()) * LANE,
            (totals.counters.len() + devices().count() + widths + totals.replays.len()) * COUNT,
            totals.functions.len() * 2 * size_of::<(u64, u64)>(),
            self.links.len() * 2 * size_of::<TimesLink>(),
            self.ran.len() * 2 * size_of::<RunSpan>(),
            self.waiting.len() * 2 * size_of::<WaitingTasks>(),
            size_of::<Self>(),
        ];
        bytes.into_iter().sum::<usize>() as u64
    }

    /// Keeps only the places: for a file with more of everything else than its length allows.
    pub(crate) fn strip(&mut self) {
        self.coarse = Arc::default();
        self.fine = FineLanes::None;
        self.bounds.clear();
        self.driver_bounds.clear();
        let totals = &mut self.totals;
        totals.threads.clear();
        totals.streams.clear();
        totals.counters.clear();
        totals.devices.clear();
        totals.drivers.clear();
        totals.replays.clear();
    }

    pub(crate) fn rows(&self) -> u64 {
        self.segments.iter().map(Segment::rows).sum()
    }

    /// A range that certainly holds everything in it.
    pub(crate) fn span(&self) -> Option<TimeRange> {
        let spans = self.segments.iter();
        TimeRange::around(spans.flat_map(|segment| [segment.call_span, segment.task_span]))
    }
}

/// Lanes in fewer entries: one for each `share` slices, at least `fewest` and at most `most`.
pub(super) fn shrunk(
    lanes: Vec<(LaneKey, LaneBuilder)>,
    (share, fewest): (u64, usize),
    most: usize,
) -> Lanes {
    let lanes = lanes.into_iter().filter(|(_, lane)| lane.len() > 0);
    lanes
        .map(|(key, mut lane)| {
            let wanted = usize::try_from(lane.slices() / share).unwrap_or(most);
            lane.shrink(wanted.clamp(fewest, most));
            (key, lane.finish())
        })
        .collect()
}

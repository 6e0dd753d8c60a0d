//! The group that the index gets: when it is complete, and its content.

use crate::TimeRange;
use crate::file::index::bounds::known;
use crate::file::index::codec;
use crate::file::index::group::{ChunkGroup, FineLanes, LaneKey, shrunk};
use crate::file::index::streams::StreamState;
use crate::file::index::totals::{MOST, Totals};
use crate::summary::LaneBuilder;

use super::{
    COARSE, COARSE_ENTRIES, FINE, GROUP_ENTITIES, GROUP_ROWS, GROUP_SEGMENTS, Indexer, LANE_ENTRIES,
};

impl Indexer {
    /// Whether the group is complete at `rows` rows.
    pub(crate) fn is_due(&self, rows: u64) -> bool {
        self.rows >= rows
            || self.segments.len() >= GROUP_SEGMENTS
            || self.entities.len() >= GROUP_ENTITIES
    }

    /// Whether the group is twice as long as a writer makes it.
    pub(crate) fn is_overdue(&self) -> bool {
        self.rows >= 2 * GROUP_ROWS
            || self.segments.len() >= 2 * GROUP_SEGMENTS
            || self.entities.len() >= 2 * GROUP_ENTITIES
    }

    /// The group until now, without ending it, and its lanes summed up finely.
    pub(crate) fn peek(&mut self) -> (ChunkGroup, Vec<u8>) {
        let lanes = self.summed_up();
        let mut group = ChunkGroup {
            begin: self.begin,
            end: self.end,
            segments: self.segments.clone(),
            entities: self.entities.clone(),
            coarse: codec::lanes(&shrunk(lanes.clone(), COARSE, COARSE_ENTRIES)).into(),
            fine: FineLanes::None,
            bounds: Default::default(),
            driver_bounds: Default::default(),
            totals: self.totals.clone(),
            links: self.links.known(),
            ran: self.ran.known(),
            waiting: Vec::new(),
        };
        if self.segment.length > 0 {
            group.segments.push(self.segment);
            let span = self.segment.call_span;
            group.totals.call_span = TimeRange::around([group.totals.call_span, span]);
        }
        group.bounds = known(&self.clocks);
        group.driver_bounds = known(&self.drivers);
        for place in &self.touched_threads {
            let thread = &self.thread_states[*place];
            group.totals.threads.insert(thread.number, thread.calls);
        }
        for stream in self.streams.touched().take(MOST) {
            group.totals.streams.insert(stream.key, stream.totals);
        }
        (group, codec::lanes(&shrunk(lanes, FINE, LANE_ENTRIES)))
    }

    /// Tasks of the group with a time, and times that may belong to no task.
    pub(crate) fn timed(&self) -> (u64, u64) {
        (self.totals.timed, self.totals.uncertain)
    }

    /// Rows in the group until now.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The next group begins here.
    pub(crate) fn start(&mut self, begin: u64) {
        self.begin = begin;
        self.end = begin;
    }

    /// Ends the group; the next one begins at `next`.
    pub(crate) fn take(&mut self, next: u64) -> (ChunkGroup, Vec<u8>) {
        self.close_segment();
        let taken = self.peek();
        for place in self.touched_threads.drain(..) {
            let thread = &mut self.thread_states[place];
            thread.calls = 0;
            thread.lanes.clear();
        }
        self.streams.start_over();
        for clock in self.clocks.values_mut().chain(self.drivers.values_mut()) {
            clock.take();
        }
        self.segments.clear();
        self.entities.clear();
        self.totals = Totals::default();
        self.links.clear();
        self.ran.clear();
        self.offsets.clear();
        self.rows = 0;
        self.start(next);
        taken
    }

    fn summed_up(&mut self) -> Vec<(LaneKey, LaneBuilder)> {
        let mut lanes = Vec::new();
        for place in self.touched_threads.iter().take(MOST) {
            let thread = &self.thread_states[*place];
            for (depth, lane) in (0..).zip(&thread.lanes) {
                let thread = thread.number;
                lanes.push((LaneKey::Thread { thread, depth }, lane.clone()));
            }
        }
        let streams = self.streams.touched().take(MOST);
        lanes.extend(streams.map(|StreamState { key, lane, .. }| {
            let (process, serial) = *key;
            (LaneKey::Stream { process, serial }, lane.clone())
        }));
        lanes
    }
}

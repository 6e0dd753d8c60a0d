//! Lanes summed up over a range of time.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_format::time::DeviceNs;

use crate::TimeRange;
use crate::clock::DeviceClockMap;
use crate::file::index::{self, ChunkGroup, FineLanes, LaneKey};
use crate::file::{FileParts, OpenError, kinds};
use crate::summary::{LaneBuilder, LaneEntry, LaneSummary};
use crate::trace::{StreamId, ThreadId};

use super::Recording;
use super::window::overlap;

/// Largest number of groups with fine lanes in one summary. A wider range uses the coarse ones.
const MOST_FINE: usize = 16;
/// Entries of all lanes of a summary.
const MOST_ENTRIES: usize = 1 << 18;

/// What lanes did, in sum, over a range of time. All times are host times.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The range that was asked for. Beyond it the sums may be incomplete.
    pub range: TimeRange,
    streams: BTreeMap<StreamId, LaneSummary>,
    threads: BTreeMap<(ThreadId, u8), LaneSummary>,
}

impl Summary {
    pub fn stream(&self, id: StreamId) -> Option<&LaneSummary> {
        self.streams.get(&id)
    }

    /// The calls of a thread at a depth of nesting; the deepest ones are together.
    pub fn thread(&self, id: ThreadId, depth: u8) -> Option<&LaneSummary> {
        self.threads.get(&(id, depth))
    }

    pub fn streams(&self) -> impl Iterator<Item = (StreamId, &LaneSummary)> {
        self.streams.iter().map(|(id, lane)| (*id, lane))
    }

    pub fn threads(&self) -> impl Iterator<Item = (ThreadId, u8, &LaneSummary)> {
        let threads = self.threads.iter();
        threads.map(|((id, depth), lane)| (*id, *depth, lane))
    }
}

impl Recording {
    /// Sums up what lanes did in a range, in no more than about `entries` entries per lane.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn summary(
        &mut self,
        range: impl Into<TimeRange>,
        entries: usize,
    ) -> Result<Summary, OpenError> {
        let range = range.into();
        let groups: Vec<&ChunkGroup> = self
            .layout
            .groups()
            .filter(|group| overlap(group.span(), range))
            .collect();
        let is_fine = groups.len() <= MOST_FINE;
        let mut lanes = GatheredLanes::new(entries);
        for group in groups {
            match fine(&self.parts, group).filter(|_| is_fine) {
                Some(payload) => lanes.take(&payload),
                None => lanes.take(&group.coarse),
            }
        }
        Ok(self.finish(range, lanes))
    }

    fn finish(&mut self, range: TimeRange, lanes: GatheredLanes) -> Summary {
        let mut summary = Summary {
            range,
            ..Summary::default()
        };
        let mut streams: BTreeMap<StreamId, Vec<LaneEntry>> = BTreeMap::new();
        let limit = lanes.limit;
        for (key, lane) in lanes.lanes {
            let entries = lane.finish();
            match key {
                LaneKey::Thread { thread, depth } => {
                    let id = self.builder.thread_of(thread);
                    summary
                        .threads
                        .insert((id, depth), LaneSummary::new(entries));
                }
                LaneKey::Stream { process, serial } => {
                    let id = self.builder.stream_of(process, serial, 0);
                    let device = self.builder.trace().stream(id).device;
                    let clock = self.clocks.get(process, device);
                    let entries = clock.map(|clock| on_host(entries, clock));
                    let lane = self.builder.trace().lane_of(id);
                    let known = streams.entry(lane).or_default();
                    known.extend(entries.unwrap_or_default());
                }
            }
        }
        let streams = streams.into_iter();
        summary.streams = streams
            .map(|(lane, entries)| (lane, LaneSummary::new(in_order(entries, limit))))
            .collect();
        summary
    }

    /// Begin and end of everything: of the calls, and of the tasks at the end.
    pub(super) fn whole_span(&self, calls: Option<TimeRange>) -> Option<TimeRange> {
        let TimeRange { mut begin, mut end } = calls?;
        for group in self.layout.groups().rev().take(3) {
            let mut ends = BTreeMap::new();
            index::read_lanes(&group.coarse, &mut |key, entry: &LaneEntry| {
                let last = ends.entry(key).or_insert(entry.end);
                *last = entry.end.max(*last);
            });
            for (key, last) in ends {
                let LaneKey::Stream { process, serial } = key else {
                    continue;
                };
                let device = group.totals.streams.get(&(process, serial));
                let device = self
                    .builder
                    .device_of(process, serial)
                    .or(device.map(|it| it.device));
                let clock = self.clocks.get(process, device.unwrap_or(0));
                if let Some(mapped) = clock.and_then(|clock| clock.map(DeviceNs::new(last))) {
                    end = end.max(mapped.host.ns());
                    begin = begin.min(mapped.host.ns());
                }
            }
        }
        Some(TimeRange { begin, end })
    }
}

/// The payload of a group's fine lanes.
fn fine(parts: &FileParts, group: &ChunkGroup) -> Option<Vec<u8>> {
    match &group.fine {
        FineLanes::None => None,
        FineLanes::Held(packed) => kinds::unpack(packed),
        // When they cannot be read, the coarse ones still serve.
        FineLanes::InFile(offset) => {
            let found = parts.chunk_of(kinds::SUMMARY, *offset).ok()??;
            Some(found.1)
        }
    }
}

/// Lanes from several groups, in a bounded number of entries.
struct GatheredLanes {
    lanes: BTreeMap<LaneKey, LaneBuilder>,
    limit: usize,
    entries: usize,
}

impl GatheredLanes {
    fn new(limit: usize) -> Self {
        Self {
            lanes: BTreeMap::new(),
            limit: limit.max(16),
            entries: 0,
        }
    }

    fn take(&mut self, payload: &[u8]) {
        let (lanes, limit) = (&mut self.lanes, self.limit);
        let mut entries = 0;
        // Lanes that make no sense from some point on are shown as far as they do.
        index::read_lanes(payload, &mut |key, entry: &LaneEntry| {
            entries += 1;
            let lane = lanes.entry(key).or_insert_with(|| LaneBuilder::new(limit));
            lane.add_entry(entry);
        });
        self.entries += entries;
        if self.entries > MOST_ENTRIES {
            self.limit = (MOST_ENTRIES / self.lanes.len().max(1) / 2).clamp(4, self.limit);
            let lanes = self.lanes.values_mut();
            lanes.for_each(|lane| lane.limit(limit.min(self.limit)));
            self.entries = self.lanes.values().map(LaneBuilder::len).sum();
        }
    }
}

/// The entries of streams that had a lane one after another.
fn in_order(mut entries: Vec<LaneEntry>, limit: usize) -> Vec<LaneEntry> {
    if entries.is_sorted_by_key(|entry| entry.begin) && entries.len() <= limit {
        return entries;
    }
    entries.sort_by_key(|entry| entry.begin);
    let mut lane = LaneBuilder::new(limit);
    entries.iter().for_each(|entry| lane.add_entry(entry));
    lane.finish()
}

/// Entries of device times on the host's clock.
fn on_host(entries: Vec<LaneEntry>, clock: &Arc<DeviceClockMap>) -> Vec<LaneEntry> {
    let mut last = i64::MIN;
    let host = |device: i64| Some(clock.map(DeviceNs::new(device))?.host.ns());
    let mapped = entries.into_iter().filter_map(|entry| {
        let begin = host(entry.begin)?.max(last);
        let end = host(entry.end)?.max(begin);
        last = end;
        Some(LaneEntry {
            begin,
            end,
            ..entry
        })
    });
    mapped.collect()
}

//! Facts about the whole recording.

use std::collections::BTreeSet;
use std::sync::Arc;

use ascend_trace_analysis::memory::{MemoryCurves, MemoryCurvesFold};
use ascend_trace_format::api::RetKind;
use ascend_trace_recording::summary::{LaneSummary, SlotSums};
use ascend_trace_recording::{Category, StreamId, Summary, ThreadId, TimeRange, Trace};

use crate::item::TrackKey;

/// Facts about a whole recording.
#[derive(Clone, Debug, Default)]
pub struct RecordingOverview {
    /// Begin and end of the recording, once it has any content.
    pub span: Option<TimeRange>,
    pub calls: u64,
    pub tasks: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Streams that have tasks.
    pub used: BTreeSet<StreamId>,
    /// All lanes summed up from begin to end.
    pub whole: Arc<Summary>,
    /// Sums of lanes for the range on screen, in more detail.
    pub near: Arc<Summary>,
    /// The range of which the trace holds every call and task.
    pub loaded: Option<TimeRange>,
    /// From this time on, ranges of the program are known only in the loaded part.
    pub ranges_until: Option<i64>,
    /// The memory in use over time; `None` until it is known.
    pub memory: Option<Arc<MemoryCurves>>,
    /// How much of the file has been read, in percent, while it is being opened.
    pub opening: Option<u8>,
}

impl RecordingOverview {
    /// Of a trace that holds everything. Nothing is summed up: it is all there.
    pub fn of_whole(trace: &Trace) -> Self {
        let all = trace.calls().iter();
        let failed =
            all.filter(|call| trace.function(call.function).ret == RetKind::Error && call.ret != 0);
        let streams = (0..trace.streams().len() as u32).map(StreamId);
        Self {
            span: trace.span(),
            calls: trace.calls().len() as u64,
            tasks: trace.tasks().len() as u64,
            failed: failed.count() as u64,
            used: streams
                .filter(|id| !trace.stream_tasks(*id).is_empty())
                .map(|id| trace.lane_of(id))
                .collect(),
            loaded: Some(TimeRange::EVERYTHING),
            memory: Some(Arc::new(MemoryCurvesFold::of_trace(trace))),
            ..Self::default()
        }
    }

    /// Whether the trace holds everything.
    pub fn is_whole(&self) -> bool {
        self.is_loaded(TimeRange::EVERYTHING)
    }

    /// Whether the trace holds everything of a range.
    pub(crate) fn is_loaded(&self, range: TimeRange) -> bool {
        self.loaded.is_some_and(|loaded| loaded.covers(range))
    }

    /// Sums of a lane in a range, by the summary with the most detail.
    pub(crate) fn sums(&self, key: TrackKey, range: TimeRange) -> SlotSums {
        let near = self.near.range.covers(range).then(|| lane(&self.near, key));
        let known = near.unwrap_or_else(|| lane(&self.whole, key));
        known.map_or_else(SlotSums::default, |lane| lane.sums(range.begin, range.end))
    }

    /// Lines of the host threads that have calls.
    pub(crate) fn threads(&self) -> impl Iterator<Item = TrackKey> {
        let threads: BTreeSet<(ThreadId, u8)> = [&self.whole, &self.near]
            .into_iter()
            .flat_map(|summary| summary.threads().map(|(thread, depth, _)| (thread, depth)))
            .collect();
        threads
            .into_iter()
            .map(|(thread, depth)| TrackKey::Thread(thread, depth))
    }
}

fn lane(summary: &Summary, key: TrackKey) -> Option<&LaneSummary> {
    match key {
        TrackKey::Stream(id) => summary.stream(id),
        TrackKey::Thread(id, depth) => summary.thread(id, depth),
        _ => None,
    }
}

/// What fills most of the time in sums of a lane.
pub(crate) fn main_category(key: TrackKey, sums: &SlotSums) -> Category {
    let slot = sums.main_slot();
    match key {
        TrackKey::Thread(..) => Category::of_thread_slot(slot),
        _ => Category::of_stream_slot(slot),
    }
}

/// Time in sums of a lane that was spent working rather than waiting.
pub(crate) fn working(key: TrackKey, sums: &SlotSums) -> u64 {
    let slots = sums.busy.iter().enumerate();
    let category = |slot| match key {
        TrackKey::Thread(..) => Category::of_thread_slot(slot),
        _ => Category::of_stream_slot(slot),
    };
    slots
        .filter(|(slot, _)| category(*slot).is_work())
        .fold(0, |sum, (_, busy)| sum.saturating_add(*busy))
}

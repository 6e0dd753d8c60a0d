//! What happened in a range that the program named.

use std::collections::HashMap;

use ascend_trace_analysis::Intervals;
use ascend_trace_recording::{Call, Trace};

use crate::item::{CallOrTask, Category, TrackKey};
use crate::ranges::RangeId;
use crate::tracks::SliceTracks;

/// Calls that are looked at; of longer ranges the begin is summed up.
const MOST: usize = 200_000;
/// Operations that are named.
const NAMED: usize = 4;

/// Sums over a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeContents {
    /// Calls of the thread, not counting those inside of others.
    pub(crate) calls: usize,
    /// Tasks that these submitted.
    pub(crate) tasks: usize,
    /// Those of them that have no time.
    pub(crate) untimed: usize,
    /// Time in which at least one of them worked, whether in the range or after it.
    pub(crate) busy: i64,
    /// What took most of it: name, number, time.
    pub(crate) most: Vec<(String, usize, i64)>,
    /// Time that streams of the process worked during the range, summed over the streams, and how
    /// many of them did.
    pub(crate) meanwhile: (u64, usize),
    /// There were more calls than are looked at.
    pub(crate) more: bool,
}

impl RangeContents {
    pub(crate) fn of(trace: &Trace, tracks: &SliceTracks, id: RangeId) -> Option<Self> {
        let range = trace.ranges().get(id.index())?;
        let calls = trace.thread_calls(range.thread);
        let first = calls.partition_point(|id| trace.call(*id).begin < range.begin);
        let last = calls.partition_point(|id| trace.call(*id).begin <= range.end);
        let all = calls.get(first..last).unwrap_or_default();
        let mut inside = Self {
            more: all.len() > MOST,
            ..Self::default()
        };
        let own = all.iter().take(MOST).map(|id| trace.call(*id));
        inside.add_calls(trace, own);
        let process = trace.thread(range.thread).process;
        for key in tracks.originals() {
            let TrackKey::Stream(stream) = key else {
                continue;
            };
            if trace.stream(stream).process != process {
                continue;
            }
            let span = range.time();
            let track = tracks.get(key);
            let busy = track.map_or(0, |track| {
                let places = track.range(trace, 0, span.begin, span.end);
                track.totals(trace, places, span).busy()
            });
            inside.meanwhile.0 = inside.meanwhile.0.saturating_add(busy);
            inside.meanwhile.1 += usize::from(busy > 0);
        }
        Some(inside)
    }

    fn add_calls<'t>(&mut self, trace: &'t Trace, calls: impl Iterator<Item = &'t Call>) {
        let mut spans = Vec::new();
        let mut names: HashMap<&str, (usize, i64)> = HashMap::new();
        for call in calls {
            self.calls += usize::from(call.depth == 0);
            let Some(id) = call.task else { continue };
            self.tasks += 1;
            let task = trace.task(id);
            let Some(time) = task.time else {
                self.untimed += 1;
                continue;
            };
            if !Category::of_task(task.kind).is_work() {
                continue;
            }
            spans.push(time.range());
            let entry = names.entry(CallOrTask::Task(id).name(trace)).or_default();
            entry.0 += 1;
            entry.1 = entry.1.saturating_add(time.end.saturating_sub(time.begin));
        }
        self.busy = Intervals::union_of(spans).total();
        let mut most: Vec<_> = names.into_iter().collect();
        most.sort_by_key(|(name, (_, total))| (std::cmp::Reverse(*total), *name));
        let most = most.into_iter().take(NAMED);
        self.most = most
            .map(|(name, (count, total))| (name.to_owned(), count, total))
            .collect();
    }
}

//! Tracks: for each line of the timeline its slices in time order, kept up while a trace grows.

use std::collections::BTreeMap;

use ascend_trace_analysis::collectives::CollectiveArguments;
use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{Call, CallId, StreamId, TaskId, TimeRange, Trace};

use crate::item::{CallOrTask, Category, TrackKey, copies};
use crate::pyramid::{CategoryTotals, SumPyramid};

/// The slices of one line.
#[derive(Clone, Debug)]
pub(crate) struct SliceTrack {
    key: TrackKey,
    /// Calls, or tasks with a time or a place where they probably ran, by begin time.
    items: Vec<u32>,
    /// Tasks that will never have a time, nor a place, by the time of their launch.
    untimed: Vec<u32>,
    /// Tasks with a time that may still arrive.
    pending: Vec<u32>,
    pyramid: SumPyramid,
}

impl SliceTrack {
    fn new(key: TrackKey) -> Self {
        Self {
            key,
            items: Vec::new(),
            untimed: Vec::new(),
            pending: Vec::new(),
            pyramid: SumPyramid::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The slice at a position in time order.
    pub(crate) fn item(&self, index: usize) -> Option<CallOrTask> {
        self.items.get(index).map(|id| self.wrap(*id))
    }

    fn wrap(&self, id: u32) -> CallOrTask {
        match self.key {
            TrackKey::Thread(..) => CallOrTask::Call(CallId(id)),
            _ => CallOrTask::Task(TaskId(id)),
        }
    }

    /// Tasks that are drawn at their launch, in `[begin, end]`: first those that have no time, then
    /// those with a time that may still arrive.
    pub(crate) fn launches(
        &self,
        trace: &Trace,
        window: TimeRange,
    ) -> impl Iterator<Item = CallOrTask> {
        let part = |all: &[u32]| {
            let first = all.partition_point(|id| self.begin(trace, *id) < window.begin);
            let last = all.partition_point(|id| self.begin(trace, *id) <= window.end);
            (first, last.max(first))
        };
        let (from, to) = part(&self.untimed);
        let (first, last) = part(&self.pending);
        let all = self.untimed[from..to]
            .iter()
            .chain(&self.pending[first..last]);
        all.map(|id| self.wrap(*id))
    }

    /// How many of [`Self::launches`] there are.
    pub(crate) fn launch_count(&self, trace: &Trace, window: TimeRange) -> usize {
        let count = |all: &[u32]| {
            let first = all.partition_point(|id| self.begin(trace, *id) < window.begin);
            all.partition_point(|id| self.begin(trace, *id) <= window.end)
                .saturating_sub(first)
        };
        count(&self.untimed) + count(&self.pending)
    }

    pub(crate) fn pending(&self) -> usize {
        self.pending.len()
    }

    fn begin(&self, trace: &Trace, id: u32) -> i64 {
        self.wrap(id).span(trace).begin
    }

    /// The slices that have a part in `[begin, end)`, or begin there, as a range of positions.
    /// `from` is a position at or before the first one.
    pub(crate) fn range(&self, trace: &Trace, from: usize, begin: i64, end: i64) -> (usize, usize) {
        let before = |id: &u32| {
            let span = self.wrap(*id).span(trace);
            span.end <= begin && span.begin < begin
        };
        let first = gallop(&self.items, from, before);
        let last = gallop(&self.items, first, |id| self.begin(trace, *id) < end);
        (first, last)
    }

    /// Time by category over a range of positions, clipped to `[begin, end]`.
    pub(crate) fn totals(
        &self,
        trace: &Trace,
        range: (usize, usize),
        clip: TimeRange,
    ) -> CategoryTotals {
        let slice = |index: usize| self.slice(trace, index);
        let mut totals = self.pyramid.sum(range.0, range.1, slice);
        let mut trim = |index: usize, outside: i64| {
            let category = slice(index).0;
            totals.take(category, outside.max(0) as u64);
        };
        if let Some(first) = self.item(range.0).filter(|_| range.0 < range.1) {
            trim(range.0, clip.begin.saturating_sub(first.span(trace).begin));
            let last = self.item(range.1 - 1).unwrap_or(first);
            trim(range.1 - 1, last.span(trace).end.saturating_sub(clip.end));
        }
        totals
    }

    fn slice(&self, trace: &Trace, index: usize) -> (Category, u64) {
        self.item(index).map_or((Category::Other, 0), |item| {
            (item.category(trace), item.length(trace).max(0) as u64)
        })
    }

    /// The nearest item after `(time, item)` in time order; a missing item stands before all
    /// that begin at that time.
    pub(crate) fn after(
        &self,
        trace: &Trace,
        time: i64,
        item: Option<CallOrTask>,
    ) -> Option<CallOrTask> {
        let key = |id: &u32| (self.begin(trace, *id), Some(self.wrap(*id)));
        let next = |all: &[u32]| {
            let place = all.partition_point(|id| key(id) <= (time, item));
            all.get(place).map(key)
        };
        let lists = [&self.items, &self.untimed, &self.pending];
        lists.iter().filter_map(|list| next(list)).min()?.1
    }

    /// The nearest item before `(time, item)`; see [`Self::after`].
    pub(crate) fn before(
        &self,
        trace: &Trace,
        time: i64,
        item: Option<CallOrTask>,
    ) -> Option<CallOrTask> {
        let key = |id: &u32| (self.begin(trace, *id), Some(self.wrap(*id)));
        let previous = |all: &[u32]| {
            let place = all.partition_point(|id| key(id) < (time, item));
            all.get(place.checked_sub(1)?).map(key)
        };
        let lists = [&self.items, &self.untimed, &self.pending];
        lists.iter().filter_map(|list| previous(list)).max()?.1
    }

    /// The item at a timestamp, else the nearest one.
    pub(crate) fn nearest(&self, trace: &Trace, time: i64) -> Option<CallOrTask> {
        let before = self.before(trace, time, None);
        let after = self.after(trace, time, None);
        let distance = |item: &CallOrTask| {
            let TimeRange { begin, end } = item.span(trace);
            (begin - time).max(time - end).max(0)
        };
        [before, after].into_iter().flatten().min_by_key(distance)
    }

    fn insert(&mut self, trace: &Trace, id: u32) {
        let place = place(&self.items, |id| self.begin(trace, id), id);
        self.pyramid.truncate(place);
        self.items.insert(place, id);
    }

    fn settle(&mut self, trace: &Trace) {
        let pending = std::mem::take(&mut self.pending);
        for id in pending {
            self.sort_in(trace, id);
        }
        let mut pyramid = std::mem::take(&mut self.pyramid);
        pyramid.extend(self.items.len(), |index| self.slice(trace, index));
        self.pyramid = pyramid;
    }

    /// Puts a task into the list that its time calls for.
    fn sort_in(&mut self, trace: &Trace, id: u32) {
        let task = trace.task(TaskId(id));
        if task.time.is_some() || CallOrTask::Task(TaskId(id)).is_placed(trace) {
            return self.insert(trace, id);
        }
        let begin = |id| CallOrTask::Task(TaskId(id)).span(trace).begin;
        let list = match task.untimed {
            Untimed::Timed => &mut self.pending,
            _ => &mut self.untimed,
        };
        let place = place(list, begin, id);
        list.insert(place, id);
    }
}

/// Where `id` belongs; almost always the end.
fn place(list: &[u32], begin: impl Fn(u32) -> i64, id: u32) -> usize {
    let key = (begin(id), id);
    match list.last() {
        Some(last) if (begin(*last), *last) > key => {
            list.partition_point(|other| (begin(*other), *other) < key)
        }
        _ => list.len(),
    }
}

/// [`slice::partition_point`] from a position on, fast when the result is near.
fn gallop(items: &[u32], from: usize, before: impl Fn(&u32) -> bool) -> usize {
    let mut step = 1;
    let mut low = from.min(items.len());
    while low + step <= items.len() && before(&items[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step).min(items.len());
    low + items[low..high].partition_point(before)
}

/// All tracks of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct SliceTracks {
    tracks: BTreeMap<TrackKey, SliceTrack>,
    /// By function: the argument that names a collective.
    places: Vec<Option<CollectiveArguments>>,
    /// Calls that are under way, as of the last update.
    open: Vec<Call>,
    streams: usize,
    tasks: usize,
    calls: usize,
}

impl SliceTracks {
    pub(crate) fn get(&self, key: TrackKey) -> Option<&SliceTrack> {
        self.tracks.get(&key)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = TrackKey> {
        self.tracks.keys().copied()
    }

    /// Calls of a line that are under way, by their begin.
    pub(crate) fn open_calls(&self, key: TrackKey) -> impl Iterator<Item = &Call> {
        self.open
            .iter()
            .filter(move |call| TrackKey::of_call(call) == key)
    }

    /// The tracks that together show everything once.
    pub(crate) fn originals(&self) -> impl Iterator<Item = TrackKey> {
        self.keys().filter(|key| !key.is_copy())
    }

    pub(crate) fn pending(&self) -> usize {
        let pending = |key| self.get(key).map_or(0, SliceTrack::pending);
        self.originals().map(pending).sum()
    }

    /// Keeps the lines that another part of the recording has, so that they do not come and go.
    pub(crate) fn keep_lines_of(&mut self, other: &Self) {
        for key in other.keys().filter(|key| key.is_copy()) {
            self.track(key);
        }
    }

    /// Adds the new part of the trace.
    pub(crate) fn update(&mut self, trace: &Trace) {
        for index in self.streams..trace.streams().len() {
            self.track(TrackKey::of_stream(trace, StreamId(index as u32)));
        }
        self.streams = trace.streams().len();
        for function in trace.functions().iter().skip(self.places.len()) {
            self.places.push(CollectiveArguments::of(function));
        }
        for index in self.tasks..trace.tasks().len() {
            let task = &trace.tasks()[index];
            let function = trace.call(task.call).function;
            let places = self.places.get(function.index()).and_then(Option::as_ref);
            let copy = copies(trace, TaskId(index as u32), places);
            for key in [Some(TrackKey::of_stream(trace, task.stream)), copy]
                .into_iter()
                .flatten()
            {
                self.track(key).pending.push(index as u32);
            }
        }
        self.tasks = trace.tasks().len();
        for index in self.calls..trace.calls().len() {
            let call = &trace.calls()[index];
            let key = TrackKey::of_call(call);
            self.track(key).insert(trace, index as u32);
        }
        self.calls = trace.calls().len();
        self.open = trace.open_calls().to_vec();
        for call in trace.open_calls() {
            self.track(TrackKey::of_call(call));
        }
        for track in self.tracks.values_mut() {
            track.settle(trace);
        }
    }

    fn track(&mut self, key: TrackKey) -> &mut SliceTrack {
        self.tracks
            .entry(key)
            .or_insert_with(|| SliceTrack::new(key))
    }
}

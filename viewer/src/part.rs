//! What is loaded of a recording and what is known of all of it, and how the view moves from one part to the
//! next.

use std::collections::BTreeSet;
use std::sync::Arc;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Graphs, Lane, Stall, Stalls, Window};
use ascend_trace_format::api::RetKind;
use ascend_trace_recording::summary::{LaneSummary, Sums};
use ascend_trace_recording::{Category, Range, StreamId, Summary, ThreadId, Trace};

use crate::app::{App, OpenCall, Place, Selected, Walk, World};
use crate::failures::Failures;
use crate::item::{Item, TrackKey};
use crate::nodes::NodeLines;
use crate::overall::Running;
use crate::ranges::{RangeId, Ranges};
use crate::tracks::Tracks;
use crate::update::of_stall;

/// What the view derives from a trace. It may be made on another thread than the view's.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    tracks: Tracks,
    dependencies: Arc<Dependencies>,
    stalls: Arc<Stalls>,
    graphs: Graphs,
    nodes: NodeLines,
    communicators: Communicators,
    failures: Failures,
    ranges: Ranges,
    running: Running,
    extent: Extent,
}

/// How much of a recording a trace holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// All that has been recorded, rather than a range of it.
    pub is_whole: bool,
    /// The recording gains nothing any more.
    pub is_final: bool,
}

impl Derived {
    /// Of a trace that holds so much of a recording.
    pub fn of(trace: &Trace, extent: Extent) -> Self {
        let mut tracks = Tracks::default();
        tracks.update(trace);
        let dependencies: Arc<_> = Dependencies::of(trace).into();
        let stalls: Arc<_> = match extent.is_whole && extent.is_final {
            true => Stalls::with(trace, &dependencies),
            false => Stalls::of_part(trace, &dependencies, extent.is_final),
        }
        .into();
        let graphs = Graphs::of(trace);
        let mut nodes = NodeLines::default();
        nodes.update(trace, &graphs);
        let mut ranges = Ranges::default();
        ranges.update(trace);
        let mut failures = Failures::default();
        failures.update(trace);
        let window = Window::with(trace, Arc::clone(&dependencies), Arc::clone(&stalls));
        Self {
            tracks,
            running: Running::of(&window, extent.is_whole),
            dependencies,
            stalls,
            graphs,
            nodes,
            communicators: Communicators::of(trace),
            failures,
            ranges,
            extent,
        }
    }
}

/// What is known of a whole recording.
#[derive(Clone, Debug, Default)]
pub struct Overview {
    /// First and last moment of the recording, once there is anything in it.
    pub span: Option<(i64, i64)>,
    pub calls: u64,
    pub tasks: u64,
    /// Calls that returned an error.
    pub failed: u64,
    /// Streams that have tasks.
    pub used: BTreeSet<StreamId>,
    /// All lanes summed up from begin to end.
    pub whole: Arc<Summary>,
    /// Lanes summed up for what is on screen, in more detail.
    pub near: Arc<Summary>,
    /// The range of which the trace holds every call and task.
    pub loaded: Option<(i64, i64)>,
    /// From when on ranges that the program named are known only of what is loaded.
    pub ranges_until: Option<i64>,
    /// How much of the file has been read, in percent, while it is being opened.
    pub opening: Option<u8>,
}

impl Overview {
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
                .collect(),
            loaded: Some((i64::MIN, i64::MAX)),
            ..Self::default()
        }
    }

    /// Whether the trace holds everything.
    pub fn is_whole(&self) -> bool {
        self.is_loaded((i64::MIN, i64::MAX))
    }

    /// Whether the trace holds everything of a range.
    pub(crate) fn is_loaded(&self, range: (i64, i64)) -> bool {
        self.loaded.is_some_and(|loaded| covers(loaded, range))
    }

    /// What a lane did in a range, by the summary that tells most about it.
    pub(crate) fn sums(&self, key: TrackKey, range: (i64, i64)) -> Sums {
        let near = covers(self.near.range, range).then(|| lane(&self.near, key));
        let known = near.unwrap_or_else(|| lane(&self.whole, key));
        known.map_or_else(Sums::default, |lane| lane.sums(range.0, range.1))
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

fn covers(outer: (i64, i64), inner: (i64, i64)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

fn lane(summary: &Summary, key: TrackKey) -> Option<&LaneSummary> {
    match key {
        TrackKey::Stream(id) => summary.stream(id),
        TrackKey::Thread(id, depth) => summary.thread(id, depth),
        _ => None,
    }
}

/// What fills most of the time in sums of a lane.
pub(crate) fn main_category(key: TrackKey, sums: &Sums) -> Category {
    let slot = sums.main_slot();
    match key {
        TrackKey::Thread(..) => Category::of_thread_slot(slot),
        _ => Category::of_stream_slot(slot),
    }
}

/// Time in sums of a lane that was spent working rather than waiting.
pub(crate) fn working(key: TrackKey, sums: &Sums) -> u64 {
    let slots = sums.busy.iter().enumerate();
    let category = |slot| match key {
        TrackKey::Thread(..) => Category::of_thread_slot(slot),
        _ => Category::of_stream_slot(slot),
    };
    slots
        .filter(|(slot, _)| category(*slot).is_work())
        .fold(0, |sum, (_, busy)| sum.saturating_add(*busy))
}

/// A selection by what it has in every part: its ids are those of one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    Task {
        stream: StreamId,
        sequence: u32,
        /// Captured tasks have the sequence of the next one that ran: their calls tell them apart.
        launched: i64,
        /// Where it is drawn.
        begin: i64,
    },
    Call {
        thread: ThreadId,
        begin: i64,
        depth: u8,
    },
    Range {
        thread: ThreadId,
        level: u8,
        begin: i64,
        end: i64,
    },
    Stall {
        lane: Lane,
        begin: i64,
        end: i64,
    },
}

impl Identity {
    /// Of what is selected. A node is named by its replay.
    pub(crate) fn of(selected: Selected, trace: &Trace) -> Option<Self> {
        match selected {
            Selected::Gap(stall) => Some(Self::Stall {
                lane: stall.lane,
                begin: stall.begin,
                end: stall.end,
            }),
            Selected::Item(item) => Some(Self::of_item(item, trace)),
            Selected::Node(node) => Some(Self::of_item(Item::Task(node.replay), trace)),
            Selected::Open(open) => Some(Self::of_open(open)),
            Selected::Range(id, level) => {
                let range = trace.ranges().get(id.index())?;
                Some(Self::Range {
                    thread: range.thread,
                    level,
                    begin: range.begin,
                    end: range.end,
                })
            }
        }
    }

    /// A call that is under way is the same one when it has returned.
    pub(crate) fn of_open(open: OpenCall) -> Self {
        Self::Call {
            thread: open.thread,
            begin: open.begin,
            depth: open.depth,
        }
    }

    pub(crate) fn of_item(item: Item, trace: &Trace) -> Self {
        match item {
            Item::Task(id) => {
                let task = trace.task(id);
                Self::Task {
                    stream: task.stream,
                    sequence: task.sequence,
                    launched: trace.call(task.call).begin,
                    begin: item.span(trace).0,
                }
            }
            Item::Call(id) => {
                let call = trace.call(id);
                Self::Call {
                    thread: call.thread,
                    begin: call.begin,
                    depth: call.depth,
                }
            }
        }
    }

    /// Where it begins.
    pub(crate) fn begin(self) -> i64 {
        match self {
            Self::Task { begin, .. }
            | Self::Call { begin, .. }
            | Self::Range { begin, .. }
            | Self::Stall { begin, .. } => begin,
        }
    }

    pub(crate) fn find(self, trace: &Trace, stalls: &Stalls) -> Option<Selected> {
        match self {
            Self::Stall { lane, begin, end } => {
                // Times of a task may differ a little from part to part: its clock is known better
                // in one than in the other.
                let near = stalls.in_window(lane, begin, end);
                let part = |it: &&Stall| it.end.min(end).saturating_sub(it.begin.max(begin));
                // One that only touches it is another one.
                let is_it =
                    |it: &&Stall| it.is_notable() && part(it) >= end.saturating_sub(begin) / 2;
                let found = near.iter().filter(is_it).max_by_key(part)?;
                Some(of_stall(*found))
            }
            Self::Range {
                thread,
                level,
                begin,
                end,
            } => {
                let is_it = |it: &Range| (it.thread, it.begin, it.end) == (thread, begin, end);
                let place = trace.ranges().iter().position(is_it)?;
                Some(Selected::Range(RangeId(place as u32), level))
            }
            Self::Task { .. } | Self::Call { .. } => {
                let item = self.find_item(trace).map(Selected::Item);
                item.or_else(|| self.find_open(trace))
            }
        }
    }

    fn find_open(self, trace: &Trace) -> Option<Selected> {
        let open = trace.open_calls().iter().map(OpenCall::of);
        let mut own = open.filter(|open| Self::of_open(*open) == self);
        own.next().map(Selected::Open)
    }

    fn find_item(self, trace: &Trace) -> Option<Item> {
        match self {
            Self::Range { .. } | Self::Stall { .. } => None,
            Self::Task {
                stream,
                sequence,
                launched,
                ..
            } => {
                let tasks = trace.stream_tasks(stream);
                let place = tasks.partition_point(|id| trace.task(*id).sequence < sequence);
                let same = tasks[place..].iter().map(|id| (*id, trace.task(*id)));
                let mut same = same.take_while(|(_, task)| task.sequence == sequence);
                let (id, _) = same.find(|(_, task)| trace.call(task.call).begin == launched)?;
                Some(Item::Task(id))
            }
            Self::Call {
                thread,
                begin,
                depth,
            } => {
                let calls = trace.thread_calls(thread);
                let place = calls.partition_point(|id| trace.call(*id).begin < begin);
                let same = calls[place..].iter().map(|id| (*id, trace.call(*id)));
                let mut same = same.take_while(|(_, call)| call.begin == begin);
                let (id, _) = same.find(|(_, call)| call.depth == depth)?;
                Some(Item::Call(id))
            }
        }
    }
}

/// What of the state names items of the present part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    selected: Option<Identity>,
    history: Vec<Option<Identity>>,
    walk: Option<KeptWalk>,
}

impl Kept {
    /// Notes what items of the present part the state names.
    pub(crate) fn of(app: &App, trace: &Trace) -> Self {
        let identity = |selected: Option<Selected>| Identity::of(selected?, trace);
        let history = app.history.iter().map(|place| identity(place.selected));
        Self {
            selected: identity(app.selected).or(app.away),
            history: history.collect(),
            walk: app.walk.as_ref().and_then(|walk| KeptWalk::of(walk, trace)),
        }
    }
}

/// A walk along dependencies.
#[derive(Clone, Debug)]
struct KeptWalk {
    choices: Vec<Identity>,
    chosen: usize,
    trail: Vec<(Identity, bool)>,
    to_cause: bool,
}

impl KeptWalk {
    fn of(walk: &Walk, trace: &Trace) -> Option<Self> {
        let step = |(selected, to_cause): &(Selected, bool)| {
            Some((Identity::of(*selected, trace)?, *to_cause))
        };
        let choice = |item: &Item| Identity::of_item(*item, trace);
        Some(Self {
            choices: walk.choices.iter().map(choice).collect(),
            chosen: walk.chosen,
            trail: walk.trail.iter().map(step).collect::<Option<_>>()?,
            to_cause: walk.to_cause,
        })
    }

    /// The same in another part, if all of it is there.
    fn find(&self, trace: &Trace, stalls: &Stalls) -> Option<Walk> {
        let step = |(identity, to_cause): &(Identity, bool)| {
            Some((identity.find(trace, stalls)?, *to_cause))
        };
        let choice = |identity: &Identity| identity.find_item(trace);
        Some(Walk {
            choices: self.choices.iter().map(choice).collect::<Option<_>>()?,
            chosen: self.chosen,
            trail: self.trail.iter().map(step).collect::<Option<_>>()?,
            to_cause: self.to_cause,
        })
    }
}

impl App {
    /// Goes over to what has been read: another part of the recording, or more of one that is known
    /// whole. Hands out what was derived from the one before.
    pub(crate) fn take_part(
        &mut self,
        mut derived: Derived,
        kept: Kept,
        world: World<'_>,
    ) -> Derived {
        if !derived.extent.is_whole {
            derived.tracks.keep_lines_of(&self.tracks);
            derived.nodes = derived.nodes.with_lines_of(&self.nodes);
            let communicators = std::mem::take(&mut derived.communicators);
            derived.communicators = std::mem::take(&mut self.communicators);
            derived.communicators.take(communicators);
        }
        self.worst = derived.running.worst.clone();
        self.exchange(&mut derived);
        if derived.extent.is_whole {
            self.overall = derived.running.overall.take();
        }
        self.find_again(kept, world);
        derived
    }

    fn exchange(&mut self, derived: &mut Derived) {
        std::mem::swap(&mut self.tracks, &mut derived.tracks);
        std::mem::swap(&mut self.dependencies, &mut derived.dependencies);
        std::mem::swap(&mut self.stalls, &mut derived.stalls);
        std::mem::swap(&mut self.graphs, &mut derived.graphs);
        std::mem::swap(&mut self.nodes, &mut derived.nodes);
        std::mem::swap(&mut self.communicators, &mut derived.communicators);
        std::mem::swap(&mut self.failures, &mut derived.failures);
        std::mem::swap(&mut self.ranges, &mut derived.ranges);
        self.blamed = Arc::clone(&derived.running.blamed);
    }

    /// What the state names has other ids in another part.
    fn find_again(&mut self, kept: Kept, world: World<'_>) {
        let trace = world.trace;
        self.rank = None;
        self.inside = None;
        self.stale = true;
        let find = |identity: Option<Identity>| identity?.find(trace, &self.stalls);
        let selected = find(kept.selected);
        let history: Vec<_> = kept.history.into_iter().map(find).collect();
        for (place, selected) in self.history.iter_mut().zip(history) {
            let place: &mut Place = place;
            place.selected = selected;
        }
        self.walk = kept.walk.and_then(|walk| walk.find(trace, &self.stalls));
        // What is not in this part is selected again when it comes back.
        self.away = kept.selected.filter(|_| selected.is_none());
        self.selected = selected;
    }
}

//! A recording in windows: read once, in order, with only the part kept that the rest depends on.
//!
//! A [`Window`] is the part in memory at a time, with its links; its [`RecordingPart`] owns some calls,
//! tasks and stalls, so that each belongs to one window. An analysis takes the windows one after
//! another and carries the state that it needs: its result does not depend on the cuts between windows.
//! A trace in memory is one window.

use std::sync::{Arc, OnceLock};

use ascend_trace_recording::recording::Replay;
use ascend_trace_recording::{
    CallId, OpenError, Recording, StreamId, TaskId, ThreadId, TimeRange, Trace,
};

use crate::retention::{self, Keys, keep};
use crate::stalls::{CarriedState, Passage};
use crate::{Dependencies, Edge, Graphs, Lane, Node, PlannedRanges, Stall, Stalls};

/// How much of a recording is in memory at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Rows that are read at a time: calls, and times of tasks. More where more than a few calls are kept.
    pub rows: u64,
    /// Calls before and after those of a window's part that are looked at with them.
    pub margin: usize,
}

/// Small windows are fast, since their content is passed over many times: it stays in the cache.
impl Default for WindowSize {
    fn default() -> Self {
        Self {
            rows: 1 << 15,
            margin: 1 << 12,
        }
    }
}

impl WindowSize {
    /// Everything is in memory.
    pub const WHOLE: Self = Self {
        rows: u64::MAX,
        margin: 0,
    };

    /// Number of calls to read in addition to the kept ones. These are passed over again in each
    /// window, so with many of them, as of many threads, the windows are larger.
    fn beside(&self, kept: usize) -> u64 {
        /// What any recording may keep.
        const FEW: usize = 1 << 14;
        match kept {
            0..FEW => self.rows,
            _ => self.rows.max(2 * kept as u64),
        }
    }
}

/// Data that an analysis needs in addition to the calls and tasks of a window. Unneeded data is not
/// computed, and empty: that takes about half the time of reading a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnalysisNeeds {
    /// Calls, tasks, and where ranges are.
    Calls,
    /// The dependencies between them as well.
    Dependencies,
    /// All that a window has.
    All,
}

impl AnalysisNeeds {
    /// What both need.
    const fn and(self, other: Self) -> Self {
        if self as u8 >= other as u8 {
            self
        } else {
            other
        }
    }
}

/// Which part of a recording belongs to a window; see [`crate::retention`] for the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingPart {
    /// The part before.
    before: PartBefore,
    /// Calls and tasks with keys in `from..until` belong to the part.
    pub from: i64,
    pub until: i64,
    /// Everything with a key below this is known.
    pub known: i64,
    pub is_last: bool,
    /// The begin of the recording.
    pub begin: i64,
}

/// Keys of the part before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartBefore {
    /// With which it began.
    from: i64,
    /// Everything with a key below this was known then.
    known: i64,
}

impl RecordingPart {
    /// All of a trace.
    fn whole(trace: &Trace) -> Self {
        Self {
            before: PartBefore {
                from: i64::MIN,
                known: i64::MAX,
            },
            from: i64::MIN,
            until: i64::MAX,
            known: i64::MAX,
            is_last: true,
            begin: first_time(trace, trace.span()),
        }
    }

    /// The part of a trace before the first one.
    fn none(begin: i64) -> Self {
        Self {
            before: PartBefore {
                from: i64::MIN,
                known: i64::MIN,
            },
            from: i64::MIN,
            until: i64::MIN,
            known: i64::MIN,
            is_last: false,
            begin,
        }
    }

    /// The part after this one, now that everything with keys below `known` is.
    fn next(&self, until: i64, known: i64, is_last: bool) -> Self {
        Self {
            before: PartBefore {
                from: self.from,
                known: self.known,
            },
            from: self.until,
            until: until.max(self.until),
            known: known.max(self.known),
            is_last,
            begin: self.begin,
        }
    }

    /// Whether the item with this key was in the part before, when a dependency with that key was not
    /// known.
    pub fn is_far(&self, key: i64, edge: i64) -> bool {
        let PartBefore { from, known } = self.before;
        key < self.from && (key < from || edge >= known)
    }

    pub fn is_whole(&self) -> bool {
        self.from == i64::MIN && self.is_last
    }

    pub fn holds(&self, key: i64) -> bool {
        self.from <= key && (key < self.until || self.is_last)
    }
}

/// The part of a recording in memory, and its derived data. Clones share it.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    pub trace: &'a Trace,
    pub dependencies: Arc<Dependencies>,
    pub stalls: Arc<Stalls>,
    pub graphs: Arc<Graphs>,
    pub keys: Arc<Keys>,
    /// Made at the first query.
    places: Arc<OnceLock<PlannedRanges>>,
    pub part: RecordingPart,
    /// Everything from here on is in memory.
    pub since: i64,
}

impl<'a> Window<'a> {
    /// All of a trace.
    pub fn whole(trace: &'a Trace) -> Self {
        let keys = Keys::of(trace, Keys::default());
        Self::of_part(
            trace,
            &mut WindowState::default(),
            keys,
            (RecordingPart::whole(trace), AnalysisNeeds::All),
        )
    }

    /// A whole trace with known dependencies and stalls.
    pub fn with(trace: &'a Trace, dependencies: Arc<Dependencies>, stalls: Arc<Stalls>) -> Self {
        Self {
            trace,
            dependencies,
            stalls,
            graphs: Graphs::of(trace).into(),
            keys: Keys::of(trace, Keys::default()).into(),
            places: Arc::default(),
            part: RecordingPart::whole(trace),
            since: i64::MIN,
        }
    }

    fn of_part(
        trace: &'a Trace,
        past: &mut WindowState,
        keys: Keys,
        (part, needs): (RecordingPart, AnalysisNeeds),
    ) -> Self {
        let dependencies = match needs {
            AnalysisNeeds::Calls => Dependencies::default(),
            _ => Dependencies::of(trace),
        };
        let (stalls, graphs) = match needs {
            AnalysisNeeds::All => {
                let passage = Passage {
                    keys: &keys,
                    since: past.since,
                    until: match part.is_last {
                        true => i64::MAX,
                        false => part.until,
                    },
                    next: past.next,
                    is_last: part.is_last,
                };
                let carried = &mut past.carried;
                let stalls = Stalls::of_passage(trace, &dependencies, carried, &passage);
                (stalls, Graphs::of(trace))
            }
            _ => Default::default(),
        };
        Self {
            trace,
            stalls: stalls.into(),
            dependencies: dependencies.into(),
            graphs: graphs.into(),
            keys: keys.into(),
            places: past.places(trace),
            part,
            since: past.since,
        }
    }

    /// The ranges of the trace, and the work that was planned in them.
    pub fn places(&self) -> &PlannedRanges {
        self.places.get_or_init(|| PlannedRanges::of(self.trace))
    }

    /// The calls of the part.
    pub fn calls(&self) -> impl Iterator<Item = CallId> {
        let calls = self.trace.calls().iter().zip((0..).map(CallId));
        let own = calls.filter(|(call, _)| self.part.holds(call.begin));
        own.map(|(_, id)| id)
    }

    /// The calls of a thread in the part, by begin.
    pub fn thread_calls(&self, thread: ThreadId) -> impl Iterator<Item = CallId> {
        let calls = self.trace.thread_calls(thread);
        let begin = |id: &CallId| self.trace.call(*id).begin;
        let first = calls.partition_point(|id| begin(id) < self.part.from);
        let calls = calls[first..].iter().copied();
        calls.take_while(move |id| self.part.holds(begin(id)))
    }

    /// The tasks of a stream in the part, in the order of submission.
    pub fn stream_tasks(&self, stream: StreamId) -> impl Iterator<Item = TaskId> {
        let tasks = self.trace.stream_tasks(stream);
        let first = tasks.partition_point(|id| self.keys.task(*id) < self.part.from);
        let tasks = tasks[first..].iter().copied();
        tasks.take_while(|id| self.part.holds(self.keys.task(*id)))
    }

    /// Whether a call or task belongs to the part.
    pub fn owns(&self, node: Node) -> bool {
        self.part.holds(self.keys.node(self.trace, node))
    }

    pub fn owns_edge(&self, edge: &Edge) -> bool {
        self.part.is_whole() || self.part.holds(self.keys.edge(self.trace, edge))
    }

    pub fn owns_stall(&self, stall: &Stall) -> bool {
        self.part.holds(self.keys.stall(self.trace, stall))
    }

    /// The stalls of the part, lane by lane.
    pub fn stalls(&self) -> impl Iterator<Item = &Stall> {
        self.stalls.iter().filter(|stall| self.owns_stall(stall))
    }

    /// The stalls of a lane in the part, by begin.
    pub fn lane_stalls(&self, lane: Lane) -> impl Iterator<Item = &Stall> {
        let stalls = self.stalls.lane(lane).iter();
        stalls.filter(|stall| self.owns_stall(stall))
    }
}

/// State carried over from earlier parts.
#[derive(Debug)]
struct WindowState {
    keys: Keys,
    /// With the number of ranges that they were made of.
    places: (usize, Arc<OnceLock<PlannedRanges>>),
    carried: CarriedState,
    /// Everything from here on is in memory.
    since: i64,
    /// From here on it will be when the next part comes.
    next: i64,
}

impl WindowState {
    /// Ranges are not forgotten, and threads keep their numbers.
    fn places(&mut self, trace: &Trace) -> Arc<OnceLock<PlannedRanges>> {
        if self.places.0 != trace.ranges().len() {
            self.places = (trace.ranges().len(), Arc::default());
        }
        Arc::clone(&self.places.1)
    }
}

impl Default for WindowState {
    fn default() -> Self {
        Self {
            keys: Keys::default(),
            places: Default::default(),
            carried: CarriedState::default(),
            since: i64::MIN,
            next: i64::MIN,
        }
    }
}

/// A recording on its way through memory.
#[derive(Debug)]
pub struct Windows<'a> {
    replay: Replay<'a>,
    step: WindowSize,
    needs: AnalysisNeeds,
    part: RecordingPart,
    past: WindowState,
}

impl<'a> Windows<'a> {
    /// Of all of a recording, with as much of each window as is needed.
    pub fn of(recording: &'a mut Recording, step: WindowSize, needs: AnalysisNeeds) -> Self {
        let begin = first_time(recording.entities(), recording.span());
        Self {
            replay: recording.replay(),
            step,
            needs,
            part: RecordingPart::none(begin),
            past: WindowState::default(),
        }
    }

    /// Reads on and hands the next window to `take`; `None` when there are no more.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next<T>(&mut self, take: impl FnOnce(&Window<'_>) -> T) -> Result<Option<T>, OpenError> {
        if self.part.is_last {
            return Ok(None);
        }
        let kept = self.replay.trace().calls().len();
        self.replay.advance(self.step.beside(kept))?;
        let (trace, known) = (self.replay.trace(), self.replay.horizon());
        let past = &mut self.past;
        let keys = Keys::of(trace, std::mem::take(&mut past.keys));
        // A collective is looked at once all that it may have waited for is known.
        let reach = past.carried.peers.reach(trace, &keys, known);
        let until = margin(
            trace,
            TimeRange::new(self.part.until, known),
            self.step.margin,
        );
        let until = until.min(reach).min(retention::reach(trace, &keys, known));
        self.part = self.part.next(until, known, self.replay.is_done());
        // The last items are examined again with the next ones, for any length of the part: the effects
        // of its calls may come just after it.
        let next = margin(
            trace,
            TimeRange::new(i64::MIN, self.part.until),
            self.step.margin,
        );
        past.next = next.max(past.since);
        let window = Window::of_part(trace, past, keys, (self.part, self.needs));
        let taken = take(&window);
        past.since = past.next;
        past.carried.peers.forget(self.part.until);
        let keep = keep(&window, &past.carried, past.since);
        past.carried.renumber(keep.moves());
        past.keys = window.keys.kept(trace, &keep);
        drop(window);
        self.replay.forget(keep.as_slice());
        Ok(Some(taken))
    }

    /// Rows that have been read, and all there are.
    pub fn progress(&self) -> (u64, u64) {
        self.replay.progress()
    }
}

/// An analysis: it takes the windows of a recording, one after another, and carries the state that it
/// needs. For any cut between windows, the result is the same.
pub trait Fold: Sized {
    type Answer;

    /// The data that it needs. A trace in memory has all of it, so a test that compares a recording in
    /// windows with one in memory fails where this is too little.
    const NEEDS: AnalysisNeeds = AnalysisNeeds::All;

    /// Takes in the next window.
    fn take(&mut self, window: &Window<'_>);

    /// Whether later windows change nothing: they are not read then.
    fn is_done(&self) -> bool {
        false
    }

    /// The result, after the last window.
    fn finish(self) -> Self::Answer;

    /// The result for a trace in memory.
    fn of(mut self, window: &Window<'_>) -> Self::Answer {
        self.take(window);
        self.finish()
    }

    /// The result for a recording, read step by step. `keep_on` gets the time of the progress, and ends
    /// it by returning false; without a result then.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn of_recording(
        mut self,
        recording: &mut Recording,
        step: WindowSize,
        mut keep_on: impl FnMut(i64) -> bool,
    ) -> Result<Option<Self::Answer>, OpenError> {
        let mut windows = Windows::of(recording, step, Self::NEEDS);
        while let Some(reached) = windows.next(|window| {
            self.take(window);
            window.part.until
        })? {
            if !keep_on(reached) {
                return Ok(None);
            }
            if self.is_done() {
                break;
            }
        }
        Ok(Some(self.finish()))
    }
}

/// Two analyses that go through a recording together.
impl<A: Fold, B: Fold> Fold for (A, B) {
    type Answer = (A::Answer, B::Answer);

    const NEEDS: AnalysisNeeds = A::NEEDS.and(B::NEEDS);

    fn take(&mut self, window: &Window<'_>) {
        self.0.take(window);
        self.1.take(window);
    }

    fn is_done(&self) -> bool {
        self.0.is_done() && self.1.is_done()
    }

    fn finish(self) -> Self::Answer {
        (self.0.finish(), self.1.finish())
    }
}

/// The begin of a recording with this span of calls and tasks. Named ranges can begin before its first
/// call.
fn first_time(trace: &Trace, span: Option<TimeRange>) -> i64 {
    let ranges = trace.ranges().iter().map(|range| range.begin);
    let begins = ranges.chain(span.map(|span| span.begin));
    begins.min().unwrap_or(0)
}

/// The time in a range after which `count` calls of the range begin, or its begin.
fn margin(trace: &Trace, range: TimeRange, count: usize) -> i64 {
    let mut begins = Vec::new();
    for thread in (0..trace.threads().len() as u32).map(ThreadId) {
        let calls = trace.thread_calls(thread);
        let begin = |id: &CallId| trace.call(*id).begin;
        let upto = calls.partition_point(|id| begin(id) < range.end);
        // No thread has more of the last ones than there are.
        let last = calls[..upto].iter().rev().take(count.max(1)).map(begin);
        begins.extend(last.take_while(|it| *it >= range.begin));
    }
    let Some(place) = begins.len().checked_sub(count.max(1)) else {
        return range.begin;
    };
    *begins.select_nth_unstable(place).1
}

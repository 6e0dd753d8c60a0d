//! Runs: short tasks of one operation in a row get one pair of events together, where all tasks of a stream are timed
//! (`--budget off`). Each event takes the device longer than such a task may.
//!
//! A run begins with a task of which the operation is known to be short, and is that of the task before it. The stream has work in
//! its queue, and a pair is known to take long on the device. The run goes on while the stream gets the same operation, up to a
//! length. The event after it follows its last task at once if it has that length. Else it comes before the next call that is not
//! the run's: another submission to the stream, or a call that waits for it or ends it. A run that something came into is given
//! up: its tasks have no time.
//!
//! The task after a run has a separate pair. It shows the durations of single tasks and the cost of a pair
//! ([`crate::timing::excess`]).

use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::figure::Work;

use crate::clock::ticks;
use crate::objects::{ContextEntry, StreamEntry};
use crate::thread::ThreadState;
use crate::timing::api::Api;
use crate::timing::lane::{self, Lane, Link, Turn};
use crate::timing::operations::Operation;
use crate::timing::pair::Pair;
use crate::timing::{capture, counters, harvest, reference};
use crate::{contexts, last_task, memory, session, syscall_policy};

/// Tasks that take no longer than this, with their events, are short.
const SHORT_NS: u32 = 50_000;
/// Events are worth it to be left out if they take longer than this part of a task.
const DEAR: u32 = 20;
/// A run ends after about this time of the device.
const LONG_NS: u32 = 195_000;
/// It has no more tasks than this.
const MOST_TASKS: u32 = 64;
/// Tasks that a stream must have got since it was last known to be idle, before a run begins.
const LEAST_QUEUED: u32 = 4;
/// Pairs of a stream before its first run. A program may have thousands of streams with fewer tasks, and memory is limited.
const LEAST_PAIRS: u64 = 8;

/// Where a task is, by the runs of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunPlace {
    /// It has a separate pair of events.
    Alone,
    /// The same, behind a run of its operation.
    Behind,
    /// It begins a run of this number of tasks at most, and takes about this time of the device, in nanoseconds.
    First { most: u32, lasts: u32 },
    /// It goes on with a run, and takes about this time.
    Next { lasts: u32 },
}

/// The tasks that a run is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortTask {
    operation: Operation,
    /// Nanoseconds of the device from one such task to the next.
    lasts: u32,
}

/// A run that has begun.
pub(crate) struct OpenRun {
    context: &'static ContextEntry,
    stream: &'static StreamEntry,
    api: &'static Api,
    /// With the events, and the first task.
    pair: Pair,
    first: u32,
    /// Unmeasured submissions until then, and calls of unknown functions.
    others: (u32, u32),
    most: u32,
    tasks: u32,
    lasts: u32,
    /// A call that submits a task of it is under way.
    is_submitting: bool,
}

/// The runs of a stream: for who submits to it.
struct StreamRuns {
    open: Option<OpenRun>,
    /// The operation of the last task; 0 without one.
    last: u32,
    /// That task ended a run.
    has_ended: bool,
    /// Tasks since the stream was last known to be idle.
    queued: u32,
    /// Ticks at the last of them.
    entry: u64,
}

/// The same, made with the first task that may be in one.
pub(crate) struct Runs(Option<NonNull<StreamRuns>>);

// SAFETY: the value belongs to the lane, which hands it to one thread at a time.
unsafe impl Send for Runs {}

/// Whether tasks may be in runs.
#[inline]
pub(crate) fn are_made() -> bool {
    session::is_auto() && session::budget() == 0
}

/// Facts about a task that may be in a run. `None` if it is long, or if events around it take little.
pub(crate) fn short_task(
    context: &ContextEntry,
    work: Option<(Work, Operation)>,
) -> Option<ShortTask> {
    let (work, operation) = work?;
    let excess = reference::excess(context)?;
    let known = excess.operations.known_in_row(operation)?;
    let beyond = u32::try_from(excess.beyond(work)?).unwrap_or(0);
    let record = reference::record_time(context)?.estimate();
    let lasts = known.saturating_sub(beyond).max(1);
    let is_dear = beyond.saturating_add(record) > lasts / DEAR;
    (known <= SHORT_NS && is_dear).then_some(ShortTask { operation, lasts })
}

impl Runs {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    fn get(&mut self) -> Option<&mut StreamRuns> {
        // SAFETY: it was made by `made`, is never freed, and belongs to the borrowed value.
        self.0.map(|mut runs| unsafe { runs.as_mut() })
    }

    fn made(&mut self) -> Option<&mut StreamRuns> {
        if self.0.is_none() {
            self.0 = memory::make(StreamRuns {
                open: None,
                last: 0,
                has_ended: false,
                queued: 0,
                entry: 0,
            });
        }
        self.get()
    }

    /// The lane has another stream, or belongs to another process.
    pub(crate) fn forget(&mut self) {
        if let Some(runs) = self.get() {
            (runs.open, runs.last, runs.has_ended) = (None, 0, false);
            (runs.queued, runs.entry) = (0, 0);
        }
    }

    fn take(&mut self) -> Option<OpenRun> {
        self.get()?.open.take()
    }
}

/// Finds the place of the next task of a stream, and ends a run that the task is not part of. The thread has the turn.
pub(crate) fn place(
    turn: &mut Turn,
    lane: &Lane,
    state: &ThreadState,
    (task, entry): (Option<ShortTask>, u64),
) -> RunPlace {
    let (key, lasts) = task.map_or((0, 0), |it| (it.operation.in_row(), it.lasts));
    let goes_on = turn.runs.get().and_then(|runs| runs.open.as_mut());
    if let Some(run) = goes_on {
        if key != 0 && key == run.pair.operation.in_row() && run.goes_on(lane) {
            run.is_submitting = true;
            if let Some(runs) = turn.runs.get() {
                runs.count(lane, entry);
            }
            return RunPlace::Next { lasts };
        }
        end(turn, lane, state);
        if let Some(run) = turn.runs.take() {
            lane.has_run.store(false, Relaxed);
            give_up(turn, lane, &run, Untimed::Contended);
        }
    }
    let stretch = turn.stretches.is_under_way();
    let may_begin = key != 0 && lane.pending.counts().0 >= LEAST_PAIRS;
    let runs = match may_begin {
        true => turn.runs.made(),
        false => turn.runs.get(),
    };
    let Some(runs) = runs else {
        return RunPlace::Alone;
    };
    runs.count(lane, entry);
    let last = core::mem::replace(&mut runs.last, key);
    let is_behind = core::mem::take(&mut runs.has_ended);
    if key == 0 || key != last || stretch {
        return RunPlace::Alone;
    }
    if is_behind {
        return RunPlace::Behind;
    }
    match runs.queued {
        LEAST_QUEUED.. if lane.account.waits() => RunPlace::First {
            most: runs.queued.min(MOST_TASKS),
            lasts,
        },
        _ => RunPlace::Alone,
    }
}

impl StreamRuns {
    /// Counts a task of the stream.
    fn count(&mut self, lane: &Lane, entry: u64) {
        // Earlier submissions are done.
        if lane.known() > self.entry {
            self.queued = 0;
        }
        self.queued = self.queued.saturating_add(1);
        self.entry = entry;
    }
}

impl OpenRun {
    /// A run of a task that has just been submitted.
    pub(crate) fn begin(
        (api, context, stream): (&'static Api, &'static ContextEntry, &'static StreamEntry),
        (pair, first): (Pair, u32),
        others: (u32, u32),
        (most, lasts): (u32, u32),
    ) -> Self {
        Self {
            context,
            stream,
            api,
            pair,
            first,
            others,
            most,
            tasks: 1,
            lasts,
            is_submitting: false,
        }
    }

    /// Whether the stream got only its tasks, and may have been busy since its begin.
    fn goes_on(&self, lane: &Lane) -> bool {
        self.is_whole(lane) && lane.known() < self.pair.begin
    }

    /// Whether the stream got only its tasks.
    fn is_whole(&self, lane: &Lane) -> bool {
        let others = lane
            .untimed()
            .map(|untimed| (untimed, lane::unknown_calls()));
        let next = self.first.wrapping_add(self.tasks);
        !self.is_submitting
            && others == Some(self.others)
            && self.stream.sequence.load(Relaxed) == next
    }

    fn is_full(&self) -> bool {
        self.tasks >= self.most || self.lasts >= LONG_NS
    }

    /// Whether an event may be recorded on its stream by this thread.
    fn may_end(&self, state: &ThreadState) -> bool {
        let may_call = !state.in_callback() && syscall_policy::is_allowed() && session::is_timed();
        let is_own = || {
            let context = contexts::adopt_context(state);
            context.is_some_and(|own| core::ptr::eq(own, self.context))
        };
        may_call
            && self.context.timing.is_open()
            && !self.stream.bound.load(Relaxed)
            && is_own()
            && capture::of(self.stream).is_none()
    }
}

/// A run has begun with a task that was submitted.
pub(crate) fn begin(turn: &mut Turn, lane: &Lane, run: OpenRun) -> bool {
    let Some(runs) = turn.runs.get() else {
        return false;
    };
    runs.open = Some(run);
    lane.has_run.store(true, Relaxed);
    true
}

/// The next task of a run was submitted, if it has a number. The event after the run follows if the run is long enough.
pub(crate) fn submitted(
    turn: &mut Turn,
    lane: &Lane,
    state: &ThreadState,
    (sequence, lasts): (Option<u32>, u32),
) {
    let Some(run) = turn.runs.get().and_then(|runs| runs.open.as_mut()) else {
        return;
    };
    run.is_submitting = false;
    if sequence.is_none() {
        return;
    }
    run.tasks = run.tasks.saturating_add(1);
    run.lasts = run.lasts.saturating_add(lasts);
    if run.is_full() {
        end(turn, lane, state);
    }
}

/// Ends the run of a stream, unless another thread submits to it.
pub(crate) fn end_of(stream: &StreamEntry, state: &ThreadState) {
    if let Some(lane) = lane::known(stream) {
        end_on(lane, state);
    }
}

/// Gives the run of a stream up: the program has seen the stream done, without an event after the run.
pub(crate) fn give_up_of(stream: &StreamEntry) {
    if let Some(lane) = lane::known(stream)
        && lane.has_run.load(Relaxed)
        && let Some(mut turn) = lane.free_turn()
        && turn
            .runs
            .get()
            .and_then(|runs| runs.open.as_ref())
            .is_some_and(|run| !run.is_submitting)
        && let Some(run) = turn.runs.take()
    {
        lane.has_run.store(false, Relaxed);
        give_up(&mut turn, lane, &run, Untimed::InRun);
    }
}

fn end_on(lane: &Lane, state: &ThreadState) {
    if lane.has_run.load(Relaxed)
        && let Some(mut turn) = lane.free_turn()
    {
        end(&mut turn, lane, state);
    }
}

/// Ends all runs that the thread may end: it is about to wait for everything, or to end it.
pub(crate) fn end_all(state: &ThreadState) {
    if !are_made() {
        return;
    }
    let lanes = lane::all().filter(|lane| lane.is_used());
    // Those of other contexts go on.
    lanes.for_each(|lane| end_on(lane, state));
}

/// Ends the run: records the event after it, or gives it up if something came into it. A run that the thread must not end
/// stays open.
#[cold]
fn end(turn: &mut Turn, lane: &Lane, state: &ThreadState) {
    let begun = ticks();
    let open = turn.runs.get().and_then(|runs| runs.open.as_ref());
    if open.is_none_or(|run| !run.may_end(state)) {
        return;
    }
    let Some(run) = turn.runs.take() else {
        return;
    };
    lane.has_run.store(false, Relaxed);
    // SAFETY: the thread has the turn, so no other one puts in.
    let has_room = unsafe { lane.pending.reserve() };
    if !has_room || !run.is_whole(lane) {
        give_up(turn, lane, &run, Untimed::Contended);
        return;
    }
    last_task::keep_if_new(state);
    let has_ended = run.api.record(run.pair.end, run.stream.handle());
    let closed = ticks();
    if !has_ended {
        give_up(turn, lane, &run, Untimed::NoEvent);
        return;
    }
    let is_whole = run.is_whole(lane);
    let pair = Pair {
        sequence: Some(run.first).filter(|_| is_whole),
        tasks: run.tasks,
        closed,
        closed_behind: closed,
        ..run.pair
    };
    if !is_whole {
        report(lane, &run, Untimed::Contended);
    }
    let place = lane.pending.counts().0;
    // SAFETY: as above.
    unsafe { lane.pending.push(pair) };
    turn.chain = Link::new(run.others, closed).filter(|_| is_whole);
    turn.slots.put(1, pair.end, (place, closed));
    if let Some(runs) = turn.runs.get() {
        runs.has_ended = run.tasks > 1;
    }
    let meter = state.meter();
    meter.spend(state, &meter.timing, (begun, closed));
    meter.events.add(1);
    if is_whole && run.tasks > 1 {
        counters::RUN_TASKS.add(run.tasks.into());
    }
    counters::MOST_PENDING.raise(lane.pending.len() as u64);
}

/// The tasks of the run have no time. Its first event returns once the device has reached it.
fn give_up(turn: &mut Turn, lane: &Lane, run: &OpenRun, reason: Untimed) {
    report(lane, run, reason);
    turn.chain = None;
    turn.stash.put_back(run.context, run.api, run.pair.end);
    // SAFETY: the thread has the turn, so no other one puts in.
    if run.pair.start != 0 && unsafe { lane.pending.reserve() } {
        let pair = Pair {
            end: run.pair.start,
            sequence: None,
            ..run.pair
        };
        // SAFETY: as above.
        unsafe { lane.pending.push(pair) };
    }
}

fn report(lane: &Lane, run: &OpenRun, reason: Untimed) {
    let first = Pair {
        sequence: Some(run.first),
        ..run.pair
    };
    harvest::report_untimed(lane, first, reason);
}

/// The stream or its context has ended, or is about to, with a run under way: its tasks have no time. Returns its events, which
/// nothing uses any more.
pub(crate) fn abandon(turn: &mut Turn, lane: &Lane, reason: Untimed) -> Option<[u64; 2]> {
    let run = turn.runs.take()?;
    lane.has_run.store(false, Relaxed);
    report(lane, &run, reason);
    Some([run.pair.start, run.pair.end])
}

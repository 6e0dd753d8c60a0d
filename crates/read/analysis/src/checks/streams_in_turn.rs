//! A thread submitted to one stream, waited for it, submitted to another one, waited for that, and so on. So the work of the
//! streams never ran at the same time, although no event orders them. Several streams have no effect in such a program.
//!
//! Submit the work of all streams, and wait then. If the work of one stream needs the results of another, let it wait for an
//! event, or use one stream: the host need not wait between them.
//!
//! The time of a finding is the most that an overlap can save: of each two turns, the time of the shorter one. The streams share
//! the device, so the work itself may take longer then.
//!
//! Nothing is reported of these turns:
//!
//! - One uses memory that the one before it writes, or writes memory that it uses. The check knows the memory of copies, fills and
//!   the tensors of operators; the page of `data-race` says which.
//! - One brings data to the host, and the one after it takes data from the host: the host may have computed the one from the other.
//! - A stream waits for an event, a notify or a value.
//! - The host did something else for longer than the turn took: the work may not have been there yet.

use std::collections::{BTreeSet, HashMap};

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::units::count;
use ascend_trace_recording::{CallId, Direction, StreamId, TaskId, ThreadId, Trace};

use super::super::happens_before::{NotedCall, Touched, conflict, touched};
use super::super::{Check, Finding, Remedy};
use crate::dependencies::runs;
use crate::{TaskRole, Node, Window, released};

/// Fewer turns are not worth a word.
const LEAST: u64 = 16;
/// The least share of the turns of a pair, in percent.
const SHARE: u64 = 90;
/// Uses of memory of one turn that are kept; with more, the turns count as dependent.
const MOST_USES: usize = 1 << 10;
/// Pairs of streams of a thread that are followed.
const MOST_PAIRS: usize = 1 << 10;

/// The work that a thread submitted to one stream before it submitted to another.
#[derive(Debug)]
struct Turn {
    stream: StreamId,
    begin: i64,
    /// The last task: its number on the stream.
    last: u32,
    tasks: u64,
    timed: u64,
    time_ns: i64,
    uses: Vec<Touched>,
    /// The memory of all its tasks is in `uses`, as far as it is known at all.
    is_whole: bool,
    /// A stream waited on the device.
    is_ordered: bool,
    /// It has copies to the host, and from the host.
    brings: bool,
    takes: bool,
    /// The wait of the thread for all of its tasks.
    waited: Option<NotedCall>,
}

impl Turn {
    fn work_ns(&self) -> i64 {
        let tasks = i64::try_from(self.tasks).unwrap_or(i64::MAX);
        match i64::try_from(self.timed) {
            Ok(timed @ 1..) => self.time_ns.saturating_mul(tasks) / timed,
            _ => 0,
        }
    }

    fn copies(&mut self, direction: Option<Direction>) {
        self.brings |= direction == Some(Direction::DeviceToHost);
        self.takes |= direction == Some(Direction::HostToDevice);
    }

    fn remember(&mut self, uses: Vec<Touched>) {
        self.is_whole &= self.uses.len() + uses.len() <= MOST_USES;
        if self.is_whole {
            self.uses.extend(uses);
        }
    }
}

/// The turns of two streams of a thread.
#[derive(Debug, Default)]
struct Pair {
    turns: u64,
    found: Option<Finding>,
}

/// A thread on its way.
#[derive(Debug, Default)]
struct ThreadTurns {
    before: Option<Turn>,
    current: Option<Turn>,
    is_ordered: bool,
    pairs: HashMap<(StreamId, StreamId), Pair>,
}

#[derive(Debug, Default)]
pub(super) struct StreamsInTurn {
    threads: HashMap<ThreadId, ThreadTurns>,
    numbers: HashMap<StreamId, i64>,
}

impl Check for StreamsInTurn {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                let state = self.threads.entry(thread).or_default();
                state.take(window, id, wanted(id));
            }
        }
        for thread in self.threads.values() {
            for (one, other) in thread.pairs.keys() {
                for stream in [*one, *other] {
                    let number = || trace.stream(stream).number();
                    self.numbers.entry(stream).or_insert_with(number);
                }
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let threads = std::mem::take(&mut self.threads).into_values();
        let found = threads.filter_map(|state| state.finding(&self.numbers));
        found.collect()
    }
}

impl ThreadTurns {
    fn take(&mut self, window: &Window<'_>, id: CallId, is_wanted: bool) {
        let trace = window.trace;
        let call = trace.call(id);
        if let Some(task) = call.task {
            self.submitted(trace, id, task);
            return;
        }
        if call.depth > 0 {
            return;
        }
        let role = trace.function(call.function).role;
        // A loop of queries waits as well: its last query shows for what.
        if role.meaning().waits.is_sync() || role.asks_for_an_end() {
            self.waited(window, id, is_wanted);
        } else if self.keeps_uses()
            && let Some(current) = &mut self.current
        {
            current.remember(touched(trace, id));
            current.copies(trace.direction(trace.call(id)));
        }
    }

    /// Whether the memory of the current turn matters: a turn that ended with a wait came before it, or it has a wait itself.
    fn keeps_uses(&self) -> bool {
        let waited = |turn: &Option<Turn>| turn.as_ref().is_some_and(|it| it.waited.is_some());
        waited(&self.before) || waited(&self.current)
    }

    fn submitted(&mut self, trace: &Trace, id: CallId, submitted: TaskId) {
        let task = trace.task(submitted);
        if !runs(trace, submitted) || task.untimed == Untimed::HostCopy {
            return;
        }
        match TaskRole::of(trace, task) {
            TaskRole::EventWait | TaskRole::SignalWait | TaskRole::Callback => self.is_ordered = true,
            TaskRole::Mark => {}
            TaskRole::Work => self.worked(trace, id, submitted),
        }
    }

    fn worked(&mut self, trace: &Trace, id: CallId, submitted: TaskId) {
        let task = trace.task(submitted);
        let goes_on = self.current.as_ref().is_some_and(|it| it.stream == task.stream);
        if !goes_on {
            self.settle(trace);
            self.before = self.current.take();
            self.current = Some(Turn {
                stream: task.stream,
                begin: trace.call(id).begin,
                last: task.sequence,
                tasks: 0,
                timed: 0,
                time_ns: 0,
                uses: Vec::new(),
                is_whole: true,
                is_ordered: false,
                brings: false,
                takes: false,
                waited: None,
            });
        }
        let keeps_uses = self.keeps_uses();
        let is_ordered = std::mem::take(&mut self.is_ordered);
        let Some(turn) = &mut self.current else {
            return;
        };
        turn.is_ordered |= is_ordered;
        turn.copies(trace.direction(trace.call(id)));
        turn.last = task.sequence;
        turn.tasks += 1;
        // The thread waits for this one as well, if it does.
        turn.waited = None;
        if let Some(time) = task.time {
            turn.timed += 1;
            turn.time_ns += time.duration();
        }
        match keeps_uses {
            true => turn.remember(touched(trace, id)),
            false => turn.is_whole = false,
        }
    }

    /// A call that waited: perhaps for all tasks of the current turn.
    fn waited(&mut self, window: &Window<'_>, id: CallId, is_wanted: bool) {
        let Some(turn) = &mut self.current else {
            return;
        };
        let trace = window.trace;
        let rows = released::of(trace, &window.dependencies, Node::Call(id));
        let tasks = rows.filter(|row| row.kind.is_sync()).filter_map(|row| row.task());
        let mut tasks = tasks.map(|it| trace.task(it));
        if tasks.any(|task| task.stream == turn.stream && task.sequence >= turn.last) {
            turn.waited = Some(NotedCall::of(trace, id, is_wanted));
        }
    }

    /// Judges the last two turns: both are complete.
    fn settle(&mut self, trace: &Trace) {
        let (Some(before), Some(turn)) = (&self.before, &self.current) else {
            return;
        };
        let key = (before.stream.min(turn.stream), before.stream.max(turn.stream));
        if self.pairs.len() >= MOST_PAIRS && !self.pairs.contains_key(&key) {
            return;
        }
        let pair = self.pairs.entry(key).or_default();
        pair.turns += 1;
        let shorter = before.work_ns().min(turn.work_ns());
        let Some(wait) = before.waited.filter(|it| it.is_wanted) else {
            return;
        };
        let is_late = turn.begin - wait.end > shorter;
        let is_known = before.is_whole && turn.is_whole;
        let is_ordered = turn.is_ordered || !is_known || conflict(&before.uses, &turn.uses);
        let is_ordered = is_ordered || before.brings && turn.takes;
        if is_late || is_ordered || shorter == 0 {
            return;
        }
        let this = Finding {
            total_ns: shorter,
            calls: vec![wait.number],
            ..Finding::of_note(trace, &wait)
        };
        match &mut pair.found {
            Some(known) => known.join(&this),
            None => pair.found = Some(this),
        }
    }

    fn finding(mut self, numbers: &HashMap<StreamId, i64>) -> Option<Finding> {
        let mut streams: BTreeSet<i64> = BTreeSet::new();
        let mut whole: Option<Finding> = None;
        let mut pairs: Vec<_> = self.pairs.drain().collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        for ((one, other), pair) in pairs {
            let found = pair.found.filter(|it| {
                // The first turns show only that there are such turns.
                it.count >= LEAST && (it.count + 2) * 100 >= pair.turns * SHARE
            });
            let Some(found) = found else {
                continue;
            };
            streams.extend([one, other].iter().filter_map(|it| numbers.get(it)));
            match &mut whole {
                Some(known) => known.join(&found),
                None => whole = Some(found),
            }
        }
        let found = whole?;
        let names: Vec<String> = streams.iter().map(i64::to_string).collect();
        Some(Finding {
            what: format!(
                "{} waited for one of streams {} before the thread submitted to another, {} times: their work did not \
                 overlap",
                found.site.name,
                names.join(", "),
                count(found.count),
            ),
            advice: "submit to all of them before you wait; if one needs the results of another, use an event or one stream"
                .to_owned(),
            streams: streams.into_iter().collect(),
            remedy: Some(Remedy::NoWait),
            ..found
        })
    }
}

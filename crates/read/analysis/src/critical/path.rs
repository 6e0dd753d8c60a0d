//! The two passes: the causes of everything, and the items on the path.

use ascend_trace_recording::{TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::item_code::{Code, Marked, Table};
use super::outside_pauses::counted;
use super::piece_owners::{Owners, PathItem};
use super::pieces::Pieces;
use super::segment::SegmentKind;
use super::segments::{PathPiece, Segments};
use super::wait_reasons::{Cause, Causes, WaitReason, latest, of_ends};
use crate::estimate::Learner;
use crate::whatif::{EndOfPause, Handover, PauseCauses, PauseReader};
use crate::{AnalysisNeeds, Certainty, Fold, Node, TaskRole, Window};

/// The cause of the end of a call or task.
#[derive(Clone, Copy, Debug)]
struct EndCause {
    cause: Cause,
    /// It became available after the wait had begun.
    is_held: bool,
    tie: bool,
}

/// The causes of everything.
#[derive(Debug)]
pub(crate) struct Links {
    range: TimeRange,
    begins: Table<Code>,
    ways: Table<WaitReason>,
    /// Of those alone that did wait.
    ends: FxHashMap<Code, EndCause>,
    /// The last item to end, and whether another thread or stream ended then as well.
    last: Option<(i64, Code)>,
    is_tied: bool,
    /// What began last of all that goes on where the range ends, and that begin.
    running: Option<(i64, Code)>,
    causes: Causes,
    /// Pauses of threads; `None` if no thread can wait for another.
    pauses: Option<PauseReader>,
}

impl Links {
    /// With the path to the last end in a range of a recording with these entities.
    pub(crate) fn within(range: TimeRange, entities: &Trace) -> Self {
        Self {
            range,
            begins: Table::of(Code::NONE),
            ways: Table::of(WaitReason::None),
            ends: FxHashMap::default(),
            last: None,
            is_tied: false,
            running: None,
            causes: Causes::default(),
            pauses: PauseReader::of(entities),
        }
    }

    /// Takes in when something ended.
    fn note_end(&mut self, end: i64, code: Code) {
        let key = |(end, code): (i64, Code)| (end, code.rank());
        let found = (end, code);
        if let Some(last) = self.last {
            // A call ends with the task that it waited for, so that is no tie.
            let is_like = last.0 == end && last.1.is_task() == code.is_task();
            let is_later = (last.0, !last.1.is_task()) < (end, !code.is_task());
            self.is_tied = is_like || self.is_tied && !is_later;
        }
        let known = self.last.unwrap_or(found);
        self.last = Some(if key(found) >= key(known) {
            found
        } else {
            known
        });
    }

    /// Takes an item that continues where the range ends.
    fn note_running(&mut self, begin: i64, code: Code) {
        let key = |(begin, code): (i64, Code)| (begin, code.rank());
        let found = (begin, code);
        if self.running.is_none_or(|known| key(found) >= key(known)) {
            self.running = Some(found);
        }
    }

    /// Where the path ends, and whether that goes on after the range: only if nothing ended in the range.
    fn target(&self) -> Option<(Code, bool)> {
        let ended = self.last.filter(|it| it.0 > self.range.begin);
        let running = || self.running.map(|it| (it.1, true));
        let before = || self.last.map(|it| (it.1, false));
        ended
            .map(|it| (it.1, false))
            .or_else(running)
            .or_else(before)
    }

    fn end(&mut self, window: &Window<'_>, node: Node, cause: Cause) {
        let trace = window.trace;
        let TimeRange { mut begin, end } = node.range(trace);
        if let (Node::Call(id), WaitReason::Return) = (node, cause.way) {
            // A loop of queries began before its last query.
            let since = window.stalls.poll_step(id).waited_since;
            begin = since.unwrap_or(begin).min(begin);
        }
        // A cause before the begin held up nothing; by the bars, it may have.
        let may_have = cause.leave >= begin.saturating_sub(cause.error);
        if !may_have {
            return;
        }
        let cause = Cause {
            leave: cause.leave.min(end),
            ..cause
        };
        let is_close = |one: i64, other: i64| (one - other).abs() <= cause.error;
        let held = EndCause {
            cause,
            is_held: cause.leave > begin,
            tie: is_close(cause.leave, begin),
        };
        let code = Code::of(trace, node);
        let known = self.ends.entry(code).or_insert(held);
        if known.cause.code == cause.code {
            return;
        }
        let tie = is_close(known.cause.leave, cause.leave);
        if cause.leave > known.cause.leave {
            *known = held;
        }
        known.tie |= tie;
    }

    /// The path, from its end back, and its items.
    fn walk(&self, pauses: &PauseCauses) -> (Vec<(Code, WaitReason)>, Marked) {
        let mut path = Vec::new();
        let (mut seen, mut early) = (Marked::default(), Marked::default());
        let target = self.target();
        let mut next = target.map(|it| it.0);
        // The end of a running call is still to come.
        let mut is_early = target.is_some_and(|it| it.1);
        // A call may end with a task that it submitted. The path reaches such a call twice.
        while let Some(code) =
            next.filter(|it| *it != Code::NONE && seen.mark(*it) | (is_early && early.mark(*it)))
        {
            let end = self.ends.get(&code).filter(|_| !is_early);
            // A cause before its begin held up nothing, though by the bars it may have.
            let end = end.filter(|it| it.is_held);
            let (cause, way) = match end {
                Some(end) => (end.cause.code, end.cause.way),
                None => match (self.begins.get(code), self.ways.get(code)) {
                    (before, WaitReason::Program) => pauses.cause(code, before),
                    known => known,
                },
            };
            path.push((code, way));
            is_early = way.leaves_early();
            next = Some(cause);
        }
        seen.settle();
        (path, seen)
    }
}

impl Fold for Links {
    type Answer = Path;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let until = self.range.end;
        let mut causes = std::mem::take(&mut self.causes);
        causes.of_begins(window, &mut |node, causes| {
            let code = Code::of(trace, node);
            if let Some((cause, _)) = latest(causes) {
                self.begins.set(code, cause.code);
                self.ways.set(code, cause.way);
            }
            // A call inside of a call ends before that does.
            let is_inner = matches!(node, Node::Call(id) if trace.call(id).depth > 0);
            match node.range(trace) {
                _ if is_inner => {}
                ran if ran.end <= until => self.note_end(ran.end, code),
                ran if ran.begin < until => self.note_running(ran.begin, code),
                _ => {}
            }
        });
        self.causes = causes;
        of_ends(window, &mut |node, cause| self.end(window, node, cause));
        if let Some(pauses) = &mut self.pauses {
            pauses.take(window);
        }
    }

    fn finish(mut self) -> Path {
        let pauses = self.pauses.take().map(PauseReader::finish);
        let pauses = pauses.unwrap_or_default();
        let (walked, on) = self.walk(&pauses);
        let goes_on = self.target().is_some_and(|it| it.1);
        let mut ends = self.ends;
        ends.retain(|code, _| on.place(*code).is_some());
        Path {
            range: self.range,
            is_tied: self.is_tied && !goes_on,
            goes_on,
            ends,
            facts: vec![None; walked.len()],
            ended: pauses.on(&walked),
            handovers: pauses.handovers,
            walked,
            on,
            causes: Causes::default(),
            owners: Owners::default(),
            learner: Learner::default(),
        }
    }
}

/// Facts about an item on the path: as few as possible, since most calls and tasks of a program have
/// one.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathItemFacts {
    own: PathItem,
    end: i64,
    /// The best estimate of its time, by how much its duration may be off, and by how much the clocks of host and device.
    pub(super) placed: TimeRange,
    pub(super) error: i64,
    pub(super) clocks: i64,
    /// When the cause of its begin was available, and whether another may have been the last.
    leave: i64,
    tie: bool,
    /// Its own part.
    kind: SegmentKind,
}

/// The path. The second pass adds the facts about its items.
#[derive(Debug)]
pub(crate) struct Path {
    range: TimeRange,
    /// Something else ended last as well.
    is_tied: bool,
    /// Its last part ends after the range.
    goes_on: bool,
    walked: Vec<(Code, WaitReason)>,
    on: Marked,
    ends: FxHashMap<Code, EndCause>,
    /// The pauses on it that something seems to have ended, and their descriptions.
    ended: FxHashMap<Code, EndOfPause>,
    handovers: Vec<Handover>,
    causes: Causes,
    /// By place among the items of the path.
    facts: Vec<Option<PathItemFacts>>,
    owners: Owners,
    learner: Learner,
}

impl Path {
    /// The place of an item on the path, and the facts about it.
    fn place(&self, code: Code) -> Option<(u32, &PathItemFacts)> {
        let place = self.on.place(code)?;
        Some((place as u32, self.facts.get(place)?.as_ref()?))
    }

    /// Its pieces, from the end back.
    fn pieces(&self) -> Vec<PathPiece> {
        let mut pieces = Pieces::within(self.range, self.is_tied);
        let mut is_early = self.goes_on;
        let mut last = None;
        for (code, way) in &self.walked {
            let known = self.place(*code).filter(|_| pieces.goes_on());
            let Some((place, fact)) = known else {
                break;
            };
            if last.is_none() {
                pieces.push((place, SegmentKind::Edge), fact.end, 0, false);
            }
            last = Some(place);
            if !is_early {
                pieces.end_at(place, fact);
            }
            let end = self.ends.get(code).filter(|_| !is_early);
            let tie = end.is_some_and(|it| it.tie);
            let leave = match end.filter(|_| way.is_of_end()) {
                Some(end) => end.cause.leave,
                None => fact.leave,
            };
            match way {
                WaitReason::Peer => pieces.push((place, fact.kind), leave, fact.error, tie),
                way if way.is_of_end() => {
                    pieces.push((place, SegmentKind::of_way(*way)), leave, fact.clocks, tie);
                }
                way => {
                    pieces.push((place, fact.kind), fact.placed.begin, fact.error, false);
                    let error = fact.error.saturating_add(fact.clocks);
                    let kind = SegmentKind::of_way(*way);
                    match self.ended.get(code) {
                        Some(EndOfPause { release, .. }) => {
                            let by = self.place(Code::of_number(release.by));
                            let error = error.saturating_add(by.map_or(0, |it| it.1.clocks));
                            let tie = release.certainty == Certainty::Learnt { may_be_own: true };
                            pieces.push((place, kind), release.at, error, tie);
                        }
                        None => pieces.push((place, kind), leave, error, tie || fact.tie),
                    }
                }
            }
            is_early = way.leaves_early();
        }
        if let Some(place) = last {
            pieces.push((place, SegmentKind::Edge), self.range.begin, 0, false);
        }
        pieces.found
    }
}

/// The pieces of the path, and how threads seem to wait for each other on it.
#[derive(Debug, Default)]
pub(crate) struct PathPieces {
    pub(crate) segments: Segments,
    pub(crate) handovers: Vec<Handover>,
}

impl Fold for Path {
    type Answer = PathPieces;

    const NEEDS: AnalysisNeeds = AnalysisNeeds::Dependencies;
    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let (on, facts, range) = (&self.on, &mut self.facts, self.range);
        let (owners, learner) = (&mut self.owners, &mut self.learner);
        let target = self.walked.first().map(|it| it.0);
        self.causes.of_begins(window, &mut |node, causes| {
            let code = Code::of(trace, node);
            let task = match node {
                Node::Task(id) => Some(trace.task(id)),
                Node::Call(_) => None,
            };
            // Waits and records are as long as they were measured. The learner needs all other tasks.
            let work = task.filter(|it| TaskRole::of(trace, it) == TaskRole::Work);
            let placed = work.and_then(|it| learner.place(trace, it));
            let time = task.and_then(|it| it.time);
            let (Some(place), ran) = (on.place(code), node.range(trace)) else {
                return;
            };
            // A range without running items is completely after the last end.
            if (ran.end < range.begin && Some(code) != target) || ran.begin > range.end {
                return;
            }
            let latest = latest(causes);
            let fact = PathItemFacts {
                end: ran.end,
                placed: placed.map_or(ran, |it| it.time),
                error: placed.map_or(0, |it| it.error),
                clocks: time.map_or(0, |it| it.error.saturating_sub(it.local_error).max(0)),
                leave: latest.map_or(i64::MIN, |it| it.0.leave),
                tie: latest.is_some_and(|it| it.1.is_some()),
                kind: SegmentKind::of_own(trace, node),
                own: owners.own(trace, node, ran.begin),
            };
            facts[place] = Some(fact);
        });
    }

    fn finish(self) -> PathPieces {
        let mut pieces = self.pieces();
        pieces.reverse();
        let owners = self.facts.into_iter();
        let owners = owners.map(|fact| fact.map(|it| it.own)).collect();
        PathPieces {
            handovers: counted(self.handovers, self.ended.values()),
            segments: Segments::new(pieces, owners, self.owners),
        }
    }
}

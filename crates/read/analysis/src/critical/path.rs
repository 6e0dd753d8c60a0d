//! The two passes: the causes of everything, and the items on the path.

use ascend_trace_recording::{TimeRange, Trace};
use rustc_hash::FxHashMap;

use super::causes::{Cause, Causes, Way, latest, of_ends, span};
use super::code::{Code, Marked, Table};
use super::owners::{Own, Owners};
use super::segment::Kind;
use super::segments::{Piece, Segments};
use crate::estimate::Learner;
use crate::{Class, Fold, Needs, Node, Window};

/// The cause of the end of a call or task.
#[derive(Clone, Copy, Debug)]
struct End {
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
    ways: Table<Way>,
    /// Of those alone that did wait.
    ends: FxHashMap<Code, End>,
    /// The last item to end, and whether another thread or stream ended then as well.
    last: Option<(i64, Code)>,
    is_tied: bool,
    /// What began last of all that goes on where the range ends, and that begin.
    running: Option<(i64, Code)>,
    causes: Causes,
}

impl Links {
    /// With the path to the last end in a range.
    pub(crate) fn within(range: TimeRange) -> Self {
        Self {
            range,
            begins: Table::of(Code::NONE),
            ways: Table::of(Way::None),
            ends: FxHashMap::default(),
            last: None,
            is_tied: false,
            running: None,
            causes: Causes::default(),
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

    fn end(&mut self, trace: &Trace, node: Node, cause: Cause) {
        let Some(TimeRange { begin, end }) = span(trace, node) else {
            return;
        };
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
        let held = End {
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
    fn walk(&self) -> (Vec<(Code, Way)>, Marked) {
        let mut path = Vec::new();
        let mut seen = Marked::default();
        let target = self.target();
        let mut next = target.map(|it| it.0);
        // The end of a running call is still to come.
        let mut is_early = target.is_some_and(|it| it.1);
        while let Some(code) = next.filter(|it| *it != Code::NONE && seen.mark(*it)) {
            let end = self.ends.get(&code).filter(|_| !is_early);
            // A cause before its begin held up nothing, though by the bars it may have.
            let end = end.filter(|it| it.is_held);
            let (cause, way) = match end {
                Some(end) => (end.cause.code, end.cause.way),
                None => (self.begins.get(code), self.ways.get(code)),
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
            match span(trace, node).filter(|_| !is_inner) {
                Some(ran) if ran.end <= until => self.note_end(ran.end, code),
                Some(ran) if ran.begin < until => self.note_running(ran.begin, code),
                _ => {}
            }
        });
        self.causes = causes;
        of_ends(window, &mut |node, cause| self.end(trace, node, cause));
    }

    fn finish(self) -> Path {
        let (walked, on) = self.walk();
        let goes_on = self.target().is_some_and(|it| it.1);
        let mut ends = self.ends;
        ends.retain(|code, _| on.place(*code).is_some());
        Path {
            range: self.range,
            is_tied: self.is_tied && !goes_on,
            goes_on,
            ends,
            facts: vec![None; walked.len()],
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
struct Fact {
    own: Own,
    end: i64,
    /// The best estimate of its time, by how much its duration may be off, and by how much the clocks of host and device.
    placed: TimeRange,
    error: i64,
    clocks: i64,
    /// When the cause of its begin was available, and whether another may have been the last.
    leave: i64,
    tie: bool,
    /// Its own part.
    kind: Kind,
}

/// The path. The second pass adds the facts about its items.
#[derive(Debug)]
pub(crate) struct Path {
    range: TimeRange,
    /// Something else ended last as well.
    is_tied: bool,
    /// Its last part ends after the range.
    goes_on: bool,
    walked: Vec<(Code, Way)>,
    on: Marked,
    ends: FxHashMap<Code, End>,
    causes: Causes,
    /// By place among the items of the path.
    facts: Vec<Option<Fact>>,
    owners: Owners,
    learner: Learner,
}

impl Path {
    /// The place of an item on the path, and the facts about it.
    fn place(&self, code: Code) -> Option<(u32, &Fact)> {
        let place = self.on.place(code)?;
        Some((place as u32, self.facts.get(place)?.as_ref()?))
    }

    /// Its pieces, from the end back.
    fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Pieces::within(self.range, self.is_tied);
        let mut is_early = self.goes_on;
        let mut last = None;
        for (code, way) in &self.walked {
            let known = self.place(*code).filter(|_| pieces.goes_on());
            let Some((place, fact)) = known else {
                break;
            };
            if last.is_none() {
                pieces.push((place, Kind::Edge), fact.end, 0, false);
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
                Way::Peer => pieces.push((place, fact.kind), leave, fact.error, tie),
                way if way.is_of_end() => {
                    pieces.push((place, Kind::of_way(*way)), leave, fact.clocks, tie);
                }
                way => {
                    pieces.push((place, fact.kind), fact.placed.begin, fact.error, false);
                    let error = fact.error.saturating_add(fact.clocks);
                    pieces.push((place, Kind::of_way(*way)), leave, error, tie || fact.tie);
                }
            }
            is_early = way.leaves_early();
        }
        if let Some(place) = last {
            pieces.push((place, Kind::Edge), self.range.begin, 0, false);
        }
        pieces.found
    }
}

/// The pieces of a path on the way from its end back.
struct Pieces {
    found: Vec<Piece>,
    /// The begin of the range, and the begin of the last piece that was added.
    from: i64,
    reached: i64,
    /// A tie where no time passed is one of the piece before.
    tie: bool,
}

impl Pieces {
    fn within(range: TimeRange, tie: bool) -> Self {
        Self {
            found: Vec::new(),
            from: range.begin,
            reached: range.end,
            tie,
        }
    }

    fn goes_on(&self) -> bool {
        self.reached > self.from
    }

    /// Adds the piece from a time to the last one.
    fn push(&mut self, (owner, kind): (u32, Kind), begin: i64, error: i64, tie: bool) {
        let range = TimeRange::new(begin.max(self.from), self.reached);
        self.tie |= tie;
        if range.is_empty() {
            return;
        }
        self.found.push(Piece {
            range,
            owner,
            kind,
            tie: std::mem::take(&mut self.tie),
            error: narrow(error),
        });
        self.reached = range.begin;
    }

    /// The next piece ends with an item. Where the bar of the item ends later than its estimate, the rest belongs to the
    /// last piece.
    fn end_at(&mut self, owner: u32, fact: &Fact) {
        let rest = self.reached.saturating_sub(fact.placed.end);
        let error = match rest > 0 {
            true => fact.error.saturating_add(fact.clocks),
            false => fact.clocks,
        };
        match self.found.last_mut() {
            // Its begin is the end of the item.
            Some(after) => {
                after.error = after.error.max(narrow(error));
                if rest > 0 {
                    after.range.begin = fact.placed.end.max(self.from);
                    self.reached = after.range.begin;
                }
            }
            None if rest > 0 => self.push((owner, Kind::Edge), fact.placed.end, error, false),
            None => {}
        }
    }
}

fn narrow(error: i64) -> u32 {
    u32::try_from(error.max(0)).unwrap_or(u32::MAX)
}

impl Fold for Path {
    type Answer = Segments;

    const NEEDS: Needs = Needs::Dependencies;
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
            let work = task.filter(|it| Class::of(trace, it) == Class::Work);
            let placed = work.and_then(|it| learner.place(trace, it));
            let time = task.and_then(|it| it.time);
            let Some((place, ran)) = on.place(code).zip(span(trace, node)) else {
                return;
            };
            // A range without running items is completely after the last end.
            if (ran.end < range.begin && Some(code) != target) || ran.begin > range.end {
                return;
            }
            let latest = latest(causes);
            let fact = Fact {
                end: ran.end,
                placed: placed.map_or(ran, |it| it.time),
                error: placed.map_or(0, |it| it.error),
                clocks: time.map_or(0, |it| it.error.saturating_sub(it.local_error).max(0)),
                leave: latest.map_or(i64::MIN, |it| it.0.leave),
                tie: latest.is_some_and(|it| it.1.is_some()),
                kind: Kind::of_own(trace, node),
                own: owners.own(trace, node, ran.begin),
            };
            facts[place] = Some(fact);
        });
    }

    fn finish(self) -> Segments {
        let mut pieces = self.pieces();
        pieces.reverse();
        let owners = self.facts.into_iter();
        let owners = owners.map(|fact| fact.map(|it| it.own)).collect();
        Segments::new(pieces, owners, self.owners)
    }
}

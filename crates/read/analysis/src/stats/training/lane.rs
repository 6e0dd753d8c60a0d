//! The steps of one process on the way through a recording, and what its devices did in them.

use std::cmp::Reverse;

use ascend_trace_recording::{ProcessId, TimeRange, Trace};

use super::step::StepStats;
use crate::Intervals;
use crate::steps::{Detail, FoundStep, LoopId};

/// Use of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    Compute,
    Communication,
    Copy,
}

/// A time in which it was, and how that came to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UseInterval {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) used: Use,
    /// Begin and end of the planning, begin of the submission.
    pub(super) host: [i64; 3],
    /// By how much its duration may be off.
    pub(super) error: i64,
    /// The number of its name, where details are wanted.
    pub(crate) name: u32,
}

impl UseInterval {
    pub(crate) const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }
}

/// The steps of a process, and what its devices did that may belong to those ahead.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    id: LoopId,
    /// The thread that has the steps.
    tid: u32,
    /// By begin, and not overlapping.
    ahead: Vec<FoundStep>,
    /// Of these, how many tasks without a time were submitted in them.
    untimed: Vec<u64>,
    /// Number of them that have been summed up.
    done: usize,
    loading: Intervals,
    /// Pieces that may be in the next step, and in later ones.
    pieces: Vec<UseInterval>,
    /// Pieces since the last sums of steps.
    fresh: Vec<UseInterval>,
    watched: Vec<i64>,
    details: Vec<Detail>,
}

impl Lane {
    /// The steps ahead.
    pub(super) fn of(id: LoopId, tid: u32, ahead: Vec<FoundStep>, loading: Intervals) -> Self {
        Self {
            id,
            tid,
            untimed: vec![0; ahead.len()],
            ahead,
            done: 0,
            loading,
            pieces: Vec::new(),
            fresh: Vec::new(),
            watched: Vec::new(),
            details: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, piece: UseInterval) {
        let next = self.next().map_or(i64::MAX, |it| it.begin);
        if !piece.range().is_empty() && piece.end > next {
            self.fresh.push(piece);
        }
    }

    /// A task without a time was submitted at this time.
    pub(super) fn untimed(&mut self, at: i64) {
        let place = self.ahead.partition_point(|it| it.asked.end <= at);
        if self.ahead.get(place).is_some_and(|it| it.asked.begin <= at) {
            self.untimed[place] += 1;
        }
    }

    /// Keeps the work of the step that begins then.
    pub(super) fn watch(&mut self, begin: i64) {
        self.watched.push(begin);
    }

    pub(super) fn is_watching(&self) -> bool {
        !self.watched.is_empty()
    }

    /// The work of the watched steps.
    pub(super) fn into_details(self) -> Vec<Detail> {
        self.details
    }

    /// Sums up the steps that end before a time, and passes on each of them.
    pub(super) fn settle(
        &mut self,
        trace: &Trace,
        id: ProcessId,
        until: i64,
        take: &mut impl FnMut(StepStats),
    ) {
        // A window may have many steps: each examines only pieces that begin before its end.
        let mut ahead = std::mem::take(&mut self.fresh);
        ahead.sort_unstable_by_key(|piece| Reverse(piece.begin));
        while let Some(end) = self.next().map(|step| step.end).filter(|it| *it <= until) {
            while let Some(piece) = ahead.pop_if(|piece| piece.begin < end) {
                self.pieces.push(piece);
            }
            self.settle_next(trace, id).into_iter().for_each(&mut *take);
        }
        self.fresh = ahead;
    }

    fn next(&self) -> Option<&FoundStep> {
        self.ahead.get(self.done)
    }

    fn settle_next(&mut self, trace: &Trace, id: ProcessId) -> Option<StepStats> {
        let step = self.next()?;
        let row = self.sum(trace, id, step);
        if self.watched.contains(&row.begin_ns) {
            let pieces = self.pieces.iter();
            let inside = pieces.filter(|it| it.range().shares_time(step.range()));
            self.details.push(Detail::of(&row, inside));
        }
        self.done += 1;
        let next = self.next().map_or(i64::MAX, |it| it.begin);
        self.pieces.retain(|piece| piece.end > next);
        Some(row)
    }

    fn sum(&self, trace: &Trace, id: ProcessId, step: &FoundStep) -> StepStats {
        let range = step.range();
        let inside = self.pieces.iter();
        let inside = inside.filter(|it| it.range().shares_time(range));
        let of = |used: Use| {
            let own = inside.clone().filter(|it| it.used == used);
            Intervals::union_of(own.map(|it| it.range().intersection(range)))
        };
        let compute = of(Use::Compute);
        let (communication, copy) = (of(Use::Communication), of(Use::Copy));
        let exposed = communication.difference(&compute);
        let busy = compute.union(&communication);
        let copied = copy.difference(&busy);
        let idle = busy.union(&copy).gaps(range);
        let host = Idle::of(&idle, &self.loading, inside.clone());
        let process = trace.process(id);
        let mut row = StepStats {
            process: process.serial,
            loop_number: self.id.number,
            pid: process.pid,
            rank: process.rank_number(),
            tid: self.tid,
            name: step.name.clone(),
            begin_ns: range.begin,
            length_ns: range.duration(),
            verdict: None,
            is_close: false,
            error_ns: inside.clone().map(|piece| piece.error).sum(),
            tasks: inside.count() as u64,
            untimed: self.untimed[self.done],
            compute_ns: compute.total(),
            communication_ns: communication.total(),
            exposed_communication_ns: exposed.total(),
            copy_ns: copy.total(),
            exposed_copy_ns: copied.total(),
            idle_ns: idle.total(),
            loading_ns: host.loading,
            python_ns: host.parts[0],
            planning_ns: host.parts[1],
            queue_ns: host.parts[2],
            launch_ns: host.parts[3],
            host_word: process.host_word(),
        };
        row.verdict = row.judge();
        row.is_close = row.is_a_close_one();
        row
    }
}

/// Idle time by the wait of the next piece of work.
#[derive(Debug, Default)]
struct Idle {
    loading: i64,
    /// Before the planning, in it, until the submission, from there on.
    parts: [i64; 4],
}

impl Idle {
    fn of<'p>(
        idle: &Intervals,
        loading: &Intervals,
        pieces: impl Iterator<Item = &'p UseInterval>,
    ) -> Self {
        let mut begun: Vec<_> = pieces.map(|it| (it.begin, it.host)).collect();
        begun.sort_unstable();
        let mut sums = Self {
            loading: idle.intersection(loading).total(),
            ..Self::default()
        };
        for TimeRange { begin, end } in idle.difference(loading).parts() {
            let next = begun.partition_point(|piece| piece.0 < *end);
            // After the last one the program has not come to the next yet.
            let host = begun.get(next).map_or([*end; 3], |piece| piece.1);
            let mut from = *begin;
            for (sum, until) in sums.parts.iter_mut().zip(host.into_iter().chain([*end])) {
                let until = until.clamp(from, *end);
                *sum += until - from;
                from = until;
            }
        }
        sums
    }
}

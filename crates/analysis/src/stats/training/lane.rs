//! The steps of one process on the way through a recording, and what its devices did in them.

use std::cmp::Reverse;

use ascend_trace_recording::{ProcessId, Range, Trace};

use super::step::StepStats;
use crate::Intervals;

/// What a device was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Compute,
    Communication,
    Copy,
}

/// A time in which it was, and how that came to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) used: Use,
    /// Begin and end of the planning, begin of the submission.
    pub(super) host: [i64; 3],
}

/// A step that is still to be summed up.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    begin: i64,
    end: i64,
    name: String,
    untimed: u64,
}

/// The steps of a process, and what its devices did that may belong to those ahead.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    /// The thread that has the steps.
    tid: u32,
    /// By begin, and not overlapping.
    ahead: Vec<Ahead>,
    /// So many of them have been summed up.
    done: usize,
    loading: Intervals,
    pieces: Vec<Piece>,
}

impl Lane {
    /// What is ahead, of a thread that has steps; nothing where it has none.
    pub(super) fn of(tid: u32, steps: Vec<&Range>, loading: Intervals) -> Option<Self> {
        let ahead = disjoint(steps);
        let lane = Self {
            tid,
            ahead,
            done: 0,
            loading,
            pieces: Vec::new(),
        };
        (!lane.ahead.is_empty()).then_some(lane)
    }

    pub(super) fn add(&mut self, piece: Piece) {
        let next = self.ahead.get(self.done).map_or(i64::MAX, |it| it.begin);
        if piece.begin < piece.end && piece.end > next {
            self.pieces.push(piece);
        }
    }

    /// A task without a time was submitted at this moment.
    pub(super) fn untimed(&mut self, at: i64) {
        let place = self.ahead.partition_point(|it| it.end <= at);
        if let Some(step) = self.ahead.get_mut(place).filter(|it| it.begin <= at) {
            step.untimed += 1;
        }
    }

    /// Sums up the next step, if it ends before a moment.
    pub(super) fn settle(&mut self, trace: &Trace, id: ProcessId, until: i64) -> Option<StepStats> {
        let step = self.ahead.get(self.done).filter(|it| it.end <= until)?;
        let row = self.sum(trace, id, step);
        self.done += 1;
        let next = self.ahead.get(self.done).map_or(i64::MAX, |it| it.begin);
        self.pieces.retain(|piece| piece.end > next);
        Some(row)
    }

    fn sum(&self, trace: &Trace, id: ProcessId, step: &Ahead) -> StepStats {
        let (begin, end) = (step.begin, step.end);
        let inside = self.pieces.iter();
        let inside = inside.filter(|it| it.begin < end && it.end > begin);
        let of = |used: Use| {
            let own = inside.clone().filter(|it| it.used == used);
            Intervals::union_of(own.map(|it| (it.begin.max(begin), it.end.min(end))))
        };
        let compute = of(Use::Compute);
        let (communication, copy) = (of(Use::Communication), of(Use::Copy));
        let exposed = communication.difference(&compute);
        let busy = compute.union(&communication);
        let copied = copy.difference(&busy);
        let idle = busy.union(&copy).gaps(begin, end);
        let host = Idle::of(&idle, &self.loading, inside.clone());
        let process = trace.process(id);
        let mut row = StepStats {
            process: process.serial,
            pid: process.pid,
            rank: process.rank_number(),
            tid: self.tid,
            name: step.name.clone(),
            begin_ns: begin,
            length_ns: end - begin,
            verdict: None,
            tasks: inside.count() as u64,
            untimed: step.untimed,
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
        };
        row.verdict = row.judge();
        row
    }
}

/// Idle time by what the next piece of work was waiting for.
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
        pieces: impl Iterator<Item = &'p Piece>,
    ) -> Self {
        let mut begun: Vec<_> = pieces.map(|it| (it.begin, it.host)).collect();
        begun.sort_unstable();
        let mut sums = Self {
            loading: idle.intersection(loading).total(),
            ..Self::default()
        };
        for (begin, end) in idle.difference(loading).parts() {
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

/// By begin; what begins inside of a step is none.
fn disjoint(mut steps: Vec<&Range>) -> Vec<Ahead> {
    steps.sort_by_key(|it| (it.begin, Reverse(it.end)));
    let mut ahead: Vec<Ahead> = Vec::new();
    for step in steps {
        if ahead.last().is_none_or(|last| last.end <= step.begin) && step.begin < step.end {
            ahead.push(Ahead {
                begin: step.begin,
                end: step.end,
                name: step.name.clone(),
                untimed: 0,
            });
        }
    }
    ahead
}

//! When everything would happen: one pass over all lanes, in several simulations at once.
//!
//! Each begin and end is the latest of its targets, plus a duration. Lanes continue in the order of the
//! recording, so that little has to be kept: the reached time of each lane, and the targets of others.
//! A lane that needs a later result waits. If all of them wait, the waits form a circle: the first one
//! in the recording then continues with the known values.

mod begin;
mod effects;
mod shared;
mod slots;
mod stream;
mod thread;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::compact_recording::Facts;
use super::links::LanePosition;
use super::sync_rewrite::ALL;
use super::wait_index::Index;

pub(super) use effects::Run;

use effects::Effects;
use shared::{LaneNeed, LaneProgress, SolverContext};
use stream::StreamLane;
use thread::ThreadLane;

/// Simulations that run at once: the rows of many more take too much memory.
const AT_ONCE: usize = 128;

/// Calls or tasks that a lane may go on for before others have their turn.
const TURN: usize = 64;

/// Result of a simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Solved {
    /// From the first call or task to the end of the last.
    pub(super) lasts: i64,
    /// How long each stream worked.
    pub(super) worked: Vec<i64>,
}

/// Simulates, and says how many waits had to be left out since they form a circle. `groups` are calls of the ledger.
pub(super) fn solve(
    (facts, index): (&Facts, &Index),
    groups: &[(LanePosition, u32)],
    runs: &[Run<'_>],
) -> (Vec<Solved>, u64) {
    let mut solved = vec![Solved::default(); runs.len()];
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|it| runs[*it].manner as u8);
    let mut left_out = 0;
    for order in order.chunks(AT_ONCE) {
        let own: Vec<Run<'_>> = order.iter().map(|it| runs[*it]).collect();
        let mut lanes = Lanes::of((facts, index), groups, &own);
        lanes.run();
        let lasts = lanes.shared.lasts().into_iter();
        lasts
            .zip(order)
            .for_each(|(it, run)| solved[*run].lasts = it);
        for stream in &lanes.streams {
            let worked = stream.worked().zip(order);
            worked.for_each(|(it, run)| solved[*run].worked.push(it));
        }
        left_out = lanes.shared.left_out;
    }
    (solved, left_out)
}

/// All lanes: threads first.
#[derive(Debug)]
struct Lanes<'f> {
    threads: Vec<ThreadLane<'f>>,
    streams: Vec<StreamLane<'f>>,
    shared: SolverContext<'f>,
    /// Lanes that can go on, by when.
    ready: BinaryHeap<Reverse<(i64, usize)>>,
    blocked: Vec<Option<LaneNeed>>,
}

impl<'f> Lanes<'f> {
    fn of(
        (facts, index): (&'f Facts, &'f Index),
        groups: &'f [(LanePosition, u32)],
        runs: &[Run<'_>],
    ) -> Self {
        let shared = SolverContext::of(facts, index, Effects::of(facts, runs));
        let threads = 0..facts.threads.len();
        let streams = 0..facts.streams.len();
        let mut lanes = Self {
            blocked: vec![None; threads.len() + streams.len()],
            threads: threads
                .map(|it| ThreadLane::of(&shared, groups, it))
                .collect(),
            streams: streams.map(|it| StreamLane::of(&shared, it)).collect(),
            shared,
            ready: BinaryHeap::new(),
        };
        (0..lanes.blocked.len()).for_each(|it| lanes.is_ready(it));
        lanes
    }

    fn time(&self, lane: usize) -> Option<i64> {
        match lane.checked_sub(self.threads.len()) {
            None => self.threads[lane].time(),
            Some(stream) => self.streams[stream].time(),
        }
    }

    fn is_ready(&mut self, lane: usize) {
        if let Some(time) = self.time(lane) {
            self.ready.push(Reverse((time, lane)));
        }
    }

    fn step(&mut self, lane: usize) -> LaneProgress {
        match lane.checked_sub(self.threads.len()) {
            None => self.threads[lane].step(&mut self.shared),
            Some(stream) => self.streams[stream].step(&mut self.shared, &mut self.threads),
        }
    }

    fn run(&mut self) {
        loop {
            let Some(Reverse((_, lane))) = self.ready.pop() else {
                match self.force() {
                    true => continue,
                    false => break,
                }
            };
            self.turn(lane);
            for (lane, need) in std::mem::take(&mut self.shared.woken) {
                if self.blocked[lane] == Some(need) {
                    self.blocked[lane] = None;
                    self.is_ready(lane);
                }
            }
        }
    }

    /// Lets a lane go on for a while.
    fn turn(&mut self, lane: usize) {
        for _ in 0..TURN {
            match self.step(lane) {
                LaneProgress::On => {}
                LaneProgress::Done => return,
                LaneProgress::Blocked(need) => {
                    self.blocked[lane] = Some(need);
                    match need {
                        LaneNeed::Source(source) => self.shared.wait_for(source, lane),
                        LaneNeed::Call(thread, ..) => {
                            self.threads[thread as usize].wait_for(need, lane);
                        }
                    }
                    return;
                }
            }
        }
        self.is_ready(lane);
    }

    /// All lanes wait for each other: lets the first one in the recording continue. False without any.
    fn force(&mut self) -> bool {
        let lanes = (0..self.blocked.len()).filter(|it| self.blocked[*it].is_some());
        let first = lanes.filter_map(|it| Some((self.time(it)?, it))).min();
        let Some((_, lane)) = first else {
            return false;
        };
        self.blocked[lane] = None;
        match lane.checked_sub(self.threads.len()) {
            None => self.threads[lane].is_forced = true,
            Some(stream) => self.streams[stream].is_forced = true,
        }
        self.is_ready(lane);
        true
    }
}

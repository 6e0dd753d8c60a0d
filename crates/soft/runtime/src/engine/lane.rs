//! The engine's side of a stream: the progress in its queue.

use std::collections::VecDeque;
use std::sync::Arc;

use super::task::{Task, Work};
use crate::event::record::Record;
use crate::graph::body::Replay;
use crate::label::LabelPlace;

/// Only the engine thread locks it.
#[derive(Default)]
pub(crate) struct Lane {
    pub(super) tasks: VecDeque<Task>,
    pub(super) previous_end: u64,
    /// Whether the task before the first one was an event record; `None` without such a task.
    pub(super) after_record: Option<bool>,
    pub(super) stage: TaskStage,
    /// The progress of the first task when it is a replay.
    pub(super) run: Option<ReplayRun>,
}

/// Where the first task of a lane stands.
#[derive(Default, Clone, Copy)]
pub(super) enum TaskStage {
    #[default]
    Fresh,
    /// Its effect is done; it completes at `end`.
    Ending { begin: u64, end: u64 },
    /// It depends on something that has not happened yet.
    Parked { begin: u64 },
}

/// What to do with the first task next.
pub(super) enum NextStep {
    Ends {
        begin: u64,
        end: u64,
    },
    /// Look again at this time.
    At(u64),
    /// Whoever it waits for brings the stream back.
    Parked {
        begin: u64,
    },
    /// As `Parked`, but look again at this time in any case.
    ParkedUntil {
        begin: u64,
        until: u64,
    },
}

/// Progress of a replay.
pub(crate) struct ReplayRun {
    pub(super) lanes: Vec<LaneCursor>,
    /// When each node ended.
    pub(super) ends: Vec<Option<u64>>,
    /// One node runs at a time, of the first lane in this order that can go on.
    order: Option<Box<[usize]>>,
    last_end: u64,
}

#[derive(Default)]
pub(super) struct LaneCursor {
    pub(super) next: usize,
    pub(super) previous_end: u64,
    pub(super) stage: TaskStage,
    /// The work of the current node, or its wait: fixed at its turn.
    pub(super) work: Option<Arc<Work>>,
    pub(super) awaited: Option<Arc<Record>>,
}

impl ReplayRun {
    pub(super) fn new(replay: &Replay, begin: u64, order: Option<Box<[usize]>>) -> Self {
        let lanes = replay.body.lanes.iter().zip(&replay.body.heads);
        let cursor = |(nodes, &starts): (&Vec<usize>, &bool)| LaneCursor {
            next: if starts { 0 } else { nodes.len() },
            previous_end: begin,
            ..LaneCursor::default()
        };
        Self {
            lanes: lanes.map(cursor).collect(),
            ends: vec![None; replay.body.nodes.len()],
            order,
            last_end: begin,
        }
    }

    /// The lane to look at in this place.
    pub(super) fn lane(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place])
    }

    pub(super) const fn is_serial(&self) -> bool {
        self.order.is_some()
    }

    /// When the next node of a lane begins.
    pub(super) fn next_begin(&self, lane: usize) -> u64 {
        let previous = self.lanes[lane].previous_end;
        match self.order {
            Some(_) => previous.max(self.last_end),
            None => previous,
        }
    }

    pub(super) fn node_ended(&mut self, index: usize, end: u64) {
        self.ends[index] = Some(end);
        self.last_end = self.last_end.max(end);
    }

    pub(super) fn is_over(&self, replay: &Replay) -> bool {
        let mut lanes = self.lanes.iter().zip(&replay.body.lanes);
        lanes.all(|(cursor, nodes)| cursor.next == nodes.len())
    }

    /// Goes on somewhere else: in the same lane, or in another one, which ends this one.
    pub(super) fn jump(&mut self, replay: &Replay, from: usize, to: Option<LabelPlace>, end: u64) {
        let Some(to) = to else {
            return;
        };
        if to.lane != from {
            self.lanes[from].next = replay.body.lanes[from].len();
        }
        self.lanes[to.lane] = LaneCursor {
            next: to.position,
            previous_end: end,
            ..LaneCursor::default()
        };
    }

    pub(super) fn end(&self) -> u64 {
        let ends = self.lanes.iter().map(|cursor| cursor.previous_end);
        ends.max().unwrap_or(0)
    }
}

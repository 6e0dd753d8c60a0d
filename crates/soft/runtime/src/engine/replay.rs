//! Playing a replay: the lanes of a graph side by side, each in its order.
//!
//! The replay is one task of the executing stream: its nodes begin when it begins, and it ends with
//! the last of its lanes. Inside, a node begins when the one before it in its lane ends, so lanes
//! overlap; waits order them. There is no latency of submission between nodes.

use std::sync::Arc;

use super::lane::{LaneCursor, NextStep, ReplayRun, TaskStage};
use super::player::{Player, now};
use super::steps::settle;
use super::task::Work;
use crate::graph::body::{Node, NodeAction, Replay};
use crate::stream::Stream;
use crate::stream::line::Token;
use crate::truth::{FinishedTask, Transition};
use crate::{mspti, process};

/// Report of a lane.
enum LaneProgress {
    Moved,
    /// Nothing to do before this time, unless something that it waits for happens.
    Until(u64),
}

/// Where a node is played.
struct NodeSpot<'a> {
    replay: &'a Replay,
    stream: &'a Arc<Stream>,
    seq: u64,
    index: usize,
    begin: u64,
    now: u64,
}

impl NodeSpot<'_> {
    fn node(&self) -> &Node {
        &self.replay.body.nodes[self.index]
    }

    const fn token(&self) -> Token {
        Token {
            seq: self.seq,
            node: Some(self.index),
        }
    }

    const fn instant(&self) -> NextStep {
        NextStep::Ends {
            begin: self.begin,
            end: self.begin,
        }
    }
}

impl Player {
    /// Takes all lanes as far as they can go now.
    pub(super) fn replay(
        &mut self,
        replay: &Replay,
        run: &mut ReplayRun,
        seq: u64,
        stream: &Arc<Stream>,
        begin: u64,
    ) -> NextStep {
        let mut until = u64::MAX;
        let mut moved = true;
        while moved {
            moved = false;
            until = u64::MAX;
            for place in 0..run.lanes.len() {
                let lane = run.lane(place);
                loop {
                    match self.play_next(replay, run, lane, seq, stream) {
                        Some(LaneProgress::Moved) => moved = true,
                        Some(LaneProgress::Until(time)) => {
                            until = until.min(time);
                            break;
                        }
                        None => break,
                    }
                }
                if run.is_serial() && (moved || until != u64::MAX) {
                    break;
                }
            }
        }
        if run.is_over(replay) {
            let end = run.end().max(begin);
            return NextStep::Ends { begin, end };
        }
        match until {
            u64::MAX => NextStep::Parked { begin },
            _ => NextStep::ParkedUntil { begin, until },
        }
    }

    /// Plays the next node of a lane; `None` when the lane is over.
    fn play_next(
        &mut self,
        replay: &Replay,
        run: &mut ReplayRun,
        lane: usize,
        seq: u64,
        stream: &Arc<Stream>,
    ) -> Option<LaneProgress> {
        let fresh_begin = run.next_begin(lane);
        let cursor = &mut run.lanes[lane];
        let index = *replay.body.lanes[lane].get(cursor.next)?;
        let begin = match cursor.stage {
            TaskStage::Fresh => fresh_begin,
            TaskStage::Ending { begin, .. } | TaskStage::Parked { begin } => begin,
        };
        let spot = NodeSpot {
            replay,
            stream,
            seq,
            index,
            begin,
            now: now(),
        };
        let step = match cursor.stage {
            TaskStage::Ending { begin, end } => NextStep::Ends { begin, end },
            stage => self.play(&spot, cursor, &run.ends, matches!(stage, TaskStage::Fresh)),
        };
        match step {
            NextStep::Ends { begin, end } if end > spot.now && end > now() => {
                cursor.stage = TaskStage::Ending { begin, end };
                Some(LaneProgress::Until(end))
            }
            NextStep::Ends { begin, end } => {
                let work = cursor.work.take();
                if let Some(work) = &work {
                    self.tell_node(&spot, work, (begin, end));
                }
                self.pass(&spot, work, end);
                *cursor = LaneCursor {
                    next: cursor.next + 1,
                    previous_end: end,
                    ..LaneCursor::default()
                };
                run.node_ended(index, end);
                if let NodeAction::Switch(switch) = &replay.body.nodes[index].action {
                    run.jump(replay, lane, switch.target(&replay.activity), end);
                }
                Some(LaneProgress::Moved)
            }
            NextStep::At(time) => Some(LaneProgress::Until(time)),
            NextStep::Parked { begin } => {
                cursor.stage = TaskStage::Parked { begin };
                Some(LaneProgress::Until(u64::MAX))
            }
            NextStep::ParkedUntil { begin, until } => {
                cursor.stage = TaskStage::Parked { begin };
                Some(LaneProgress::Until(until))
            }
        }
    }

    /// Begins a node, or looks at it again.
    fn play(
        &mut self,
        spot: &NodeSpot<'_>,
        cursor: &mut LaneCursor,
        ends: &[Option<u64>],
        is_fresh: bool,
    ) -> NextStep {
        let NodeSpot {
            stream, begin, now, ..
        } = *spot;
        match &spot.node().action {
            NodeAction::Task(_) if is_fresh => {
                let Some(work) = spot.node().work().filter(|_| !spot.node().is_disabled()) else {
                    return spot.instant();
                };
                let step = self.start(&work, spot.token(), stream, begin, now);
                cursor.work = Some(work);
                step
            }
            NodeAction::Task(_) => match &cursor.work {
                Some(work) => self.look_again(work, spot.token(), stream, begin, now),
                None => spot.instant(),
            },
            NodeAction::Record { .. }
            | NodeAction::Reset { .. }
            | NodeAction::ExternalRecord(_) => spot.instant(),
            NodeAction::Label => spot.instant(),
            // A jump backwards must take time, or a loop would not let the engine go.
            NodeAction::Switch(_) => NextStep::Ends {
                begin,
                end: begin + process::options().launch_ns.max(1),
            },
            NodeAction::Wait { record, .. } => settle(ends[*record], 0, stream, begin, now),
            NodeAction::ExternalWait(_) => match spot.replay.records.get(&spot.index) {
                Some(record) => {
                    record.notify(stream.handle);
                    settle(record.end_ns(), 0, stream, begin, now)
                }
                None => spot.instant(),
            },
            // The device changes a flag at the device's time.
            NodeAction::FlagRecord(_) | NodeAction::FlagReset(_) | NodeAction::FlagWait(_)
                if begin > now =>
            {
                NextStep::At(begin)
            }
            NodeAction::FlagRecord(_) | NodeAction::FlagReset(_) => spot.instant(),
            NodeAction::FlagWait(event) => {
                let record = cursor.awaited.get_or_insert_with(|| event.flag_to_await());
                record.notify(stream.handle);
                settle(record.end_ns(), 0, stream, begin, now)
            }
        }
    }

    /// Tells msPTI of a node that ran, and then the truth log as well.
    fn tell_node(&self, spot: &NodeSpot<'_>, work: &Work, (begin, end): (u64, u64)) {
        let node = spot.node();
        let place = mspti::ActivityPlace {
            device: spot.stream.device,
            stream_id: spot.replay.body.streams[node.lane],
            correlation: node.correlation,
        };
        let stream_id = place.stream_id;
        let is_reported = mspti::get().ran(work.activity(), place, (begin, end));
        if let Some(truth) = process::truth().as_ref().filter(|_| is_reported) {
            truth.add(&FinishedTask {
                device: spot.stream.device.id,
                stream_id,
                seq: spot.index as u64,
                kind: "node",
                begin_ns: begin,
                end_ns: end,
                event: None,
                name: work.name(),
                transition: Transition::None,
            });
        }
    }

    /// Publishes the effects of a node's end.
    fn pass(&mut self, spot: &NodeSpot<'_>, work: Option<Arc<Work>>, end: u64) {
        if let Some(work) = work {
            self.publish(&work, end);
        }
        match &spot.node().action {
            NodeAction::ExternalRecord(_) => {
                if let Some(record) = spot.replay.records.get(&spot.index) {
                    self.wake(&record.complete(end));
                }
            }
            NodeAction::FlagRecord(event) => {
                self.wake(&event.raise_flag(&spot.stream.line, spot.seq, end));
            }
            NodeAction::FlagReset(event) => event.lower_flag(),
            _ => {}
        }
    }

    /// A dropped replay: its records count as reached, so that no wait lasts for ever.
    pub(super) fn abandon(&mut self, replay: &Replay, now: u64) {
        for (index, record) in &replay.records {
            let is_own = matches!(
                replay.body.nodes[*index].action,
                NodeAction::ExternalRecord(_)
            );
            if is_own && record.end_ns().is_none() {
                record.drop_time();
                self.wake(&record.complete(now));
            }
        }
    }
}

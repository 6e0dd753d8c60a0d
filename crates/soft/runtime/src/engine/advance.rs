//! One stream's progress through its queue.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::lane::{Lane, NextStep, ReplayRun, TaskStage};
use super::player::{Player, now};
use super::task::{Task, Work};
use crate::clock::mono;
use crate::graph::body::Replay;
use crate::stream::Stream;
use crate::stream::line::Token;
use crate::stream::waiting::DroppedTasks;
use crate::sync::lock;
use crate::truth::{FinishedTask, Transition};
use crate::{mspti, process, virtual_time};

impl Player {
    /// Takes a stream as far as it can go now.
    pub(super) fn advance(&mut self, stream: &Arc<Stream>) {
        let mut lane = lock(&stream.lane);
        let lane = &mut *lane;
        self.begin_playing(stream);
        match stream.take_drop_request() {
            DroppedTasks::Nothing => {}
            DroppedTasks::Current => self.drop_tasks(stream, lane, 1),
            DroppedTasks::Everything => self.drop_tasks(stream, lane, usize::MAX),
        }
        let mut present = now();
        loop {
            if lane.tasks.is_empty() && !stream.refill(&mut lane.tasks) {
                break;
            }
            let Some(task) = lane.tasks.front() else {
                break;
            };
            if task.work.is_aborted() {
                self.drop_tasks(stream, lane, 1);
                continue;
            }
            let begin = match lane.stage {
                TaskStage::Fresh => {
                    let Some(earliest) = self.permitted(stream, task) else {
                        break;
                    };
                    let latency = process::options().submit_ns;
                    let reached = lane.previous_end + self.transition(stream, lane, task).ns();
                    earliest.max(reached.max(task.submitted_ns + latency))
                }
                TaskStage::Ending { begin, .. } | TaskStage::Parked { begin } => begin,
            };
            let token = Token {
                seq: task.seq,
                node: None,
            };
            let step = match (&task.work, lane.stage) {
                (_, TaskStage::Ending { begin, end }) => NextStep::Ends { begin, end },
                (Work::Graph(replay), _) => {
                    let order = || self.lane_order(stream, task.seq, replay);
                    let run = lane
                        .run
                        .get_or_insert_with(|| ReplayRun::new(replay, begin, order()));
                    self.replay(replay, run, task.seq, stream, begin)
                }
                (work, TaskStage::Fresh) => self.start(work, token, stream, begin, present),
                (work, TaskStage::Parked { .. }) => {
                    self.look_again(work, token, stream, begin, present)
                }
            };
            match step {
                NextStep::Ends { begin, end } => {
                    if end > present {
                        present = now();
                    }
                    if end > present {
                        lane.stage = TaskStage::Ending { begin, end };
                        self.set_alarm(end, stream);
                        break;
                    }
                    self.finish(stream, lane, begin, end);
                }
                NextStep::At(time) => {
                    self.set_alarm(time, stream);
                    break;
                }
                NextStep::Parked { begin } => {
                    lane.stage = TaskStage::Parked { begin };
                    self.gives_way(stream);
                    break;
                }
                NextStep::ParkedUntil { begin, until } => {
                    lane.stage = TaskStage::Parked { begin };
                    // A replay goes on by itself at that time.
                    if lane.run.is_none() {
                        self.gives_way(stream);
                    }
                    self.set_alarm(until, stream);
                    break;
                }
            }
        }
        if lane.tasks.is_empty() {
            self.end_playing(stream);
        }
        stream.wake_sleepers();
    }

    /// When the task may begin at the earliest; `None` as long as it may not.
    fn permitted(&self, stream: &Stream, task: &Task) -> Option<u64> {
        let Some(adversary) = &self.adversary else {
            return Some(0);
        };
        adversary.permits(stream, task)
    }

    /// The order of the lanes of a replay, if it is not that of their times.
    fn lane_order(&self, stream: &Stream, seq: u64, replay: &Replay) -> Option<Box<[usize]>> {
        let seed = self.adversary.as_ref()?.seed();
        Some(seed.lanes(stream, seq, replay.body.lanes.len()))
    }

    /// Other tasks may run while the first one of the stream waits.
    fn gives_way(&mut self, stream: &Stream) {
        if let Some(adversary) = &mut self.adversary {
            adversary.leaves(stream);
        }
    }

    /// Publishes the first task as complete.
    fn finish(&mut self, stream: &Arc<Stream>, lane: &mut Lane, begin: u64, end: u64) {
        let Some(task) = lane.tasks.pop_front() else {
            return;
        };
        let transition = self.transition(stream, lane, &task);
        lane.stage = TaskStage::Fresh;
        lane.run = None;
        lane.previous_end = end;
        lane.after_record = Some(matches!(task.work, Work::Record(_)));
        if let Some(adversary) = &mut self.adversary {
            adversary.ended(stream, end);
        }
        self.log(stream, &task, (begin, end), transition);
        let place = mspti::ActivityPlace {
            device: stream.device,
            stream_id: stream.id,
            correlation: task.correlation,
        };
        mspti::get().ran(task.work.activity(), place, (begin, end));
        self.publish(&task.work, end);
        if let Work::Graph(replay) = &task.work {
            replay.activity.ended_ns.fetch_max(end, Ordering::AcqRel);
        }
        let seq = task.seq;
        // A replay is over before anybody can see that it is complete.
        drop(task);
        stream.complete(seq, end);
    }

    fn log(&self, stream: &Stream, task: &Task, (begin, end): (u64, u64), transition: Transition) {
        if let Some(truth) = process::truth() {
            truth.add(&FinishedTask {
                device: stream.device.id,
                stream_id: stream.id,
                seq: task.seq - 1,
                kind: task.work.kind(),
                begin_ns: begin,
                end_ns: end,
                event: task.work.event(),
                name: task.work.name(),
                transition,
            });
        }
    }

    /// Throws away the first tasks. Dropped records count as reached now, so that other streams are
    /// not stuck for ever.
    fn drop_tasks(&mut self, stream: &Arc<Stream>, lane: &mut Lane, most: usize) {
        let now = if virtual_time::is_on() {
            lane.previous_end.max(1)
        } else {
            mono()
        };
        stream.refill(&mut lane.tasks);
        let count = lane.tasks.len().min(most);
        for task in lane.tasks.drain(..count) {
            if let Work::Record(record) = &task.work {
                record.drop_time();
            }
            if matches!(task.work, Work::Record(_) | Work::Free { .. }) {
                self.publish(&task.work, now);
            }
            if let Work::Graph(replay) = &task.work {
                self.abandon(replay, now);
            }
            let seq = task.seq;
            drop(task);
            stream.complete(seq, now);
            // Dropping is the runtime's own doing.
            stream.recycle_to(seq);
        }
        stream.forget_host_work();
        self.gives_way(stream);
        lane.run = None;
        lane.stage = TaskStage::Fresh;
        lane.previous_end = lane.previous_end.max(now);
    }
}

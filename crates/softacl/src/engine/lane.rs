//! One stream's progress through its queue.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use crate::clock::mono;
use crate::code::RT_WAIT_TIMEOUT;
use crate::engine::Player;
use crate::engine::task::{Task, Work};
use crate::event::Record;
use crate::stream::Stream;
use crate::sync::lock;
use crate::truth::Entry;

/// The engine's side of a stream; only the engine thread locks it.
#[derive(Default)]
pub(crate) struct Lane {
    tasks: VecDeque<Task>,
    previous_end: u64,
    stage: Stage,
}

/// Where the first task of a lane stands.
#[derive(Default, Clone, Copy)]
enum Stage {
    #[default]
    Fresh,
    /// Its effect is done; it completes at `end`.
    Ending { begin: u64, end: u64 },
    /// It depends on something that has not happened yet.
    Parked { begin: u64 },
}

/// What to do with the first task next.
enum Step {
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
    /// As `Parked`, but look again at this time all the same.
    ParkedUntil {
        begin: u64,
        until: u64,
    },
}

impl Player {
    /// Takes a stream as far as it can go now.
    pub(super) fn advance(&mut self, stream: &Arc<Stream>) {
        let mut lane = lock(&stream.lane);
        let lane = &mut *lane;
        if stream.take_abort_request() {
            self.drop_tasks(stream, lane);
        }
        let mut now = mono();
        loop {
            if lane.tasks.is_empty() && !stream.refill(&mut lane.tasks) {
                break;
            }
            let Some(task) = lane.tasks.front() else {
                break;
            };
            let options = &self.runtime.options;
            let step = match lane.stage {
                Stage::Fresh => {
                    let latency = options.submit_ns;
                    let begin = lane.previous_end.max(task.submitted_ns + latency);
                    start(task, stream, begin, now)
                }
                Stage::Ending { begin, end } => Step::Ends { begin, end },
                Stage::Parked { begin } => look_again(task, stream, begin, now),
            };
            match step {
                Step::Ends { begin, end } => {
                    if end > now {
                        now = mono();
                    }
                    if end > now {
                        lane.stage = Stage::Ending { begin, end };
                        self.set_alarm(end, stream);
                        break;
                    }
                    self.finish(stream, lane, begin, end);
                }
                Step::At(time) => {
                    self.set_alarm(time, stream);
                    break;
                }
                Step::Parked { begin } => {
                    lane.stage = Stage::Parked { begin };
                    break;
                }
                Step::ParkedUntil { begin, until } => {
                    lane.stage = Stage::Parked { begin };
                    self.set_alarm(until, stream);
                    break;
                }
            }
        }
        // Pairs with the fence of a thread that announces itself and then looks at `completed`.
        fence(Ordering::SeqCst);
        stream.wake_sleepers();
    }

    /// Publishes the first task as complete.
    fn finish(&mut self, stream: &Arc<Stream>, lane: &mut Lane, begin: u64, end: u64) {
        let Some(task) = lane.tasks.pop_front() else {
            return;
        };
        lane.stage = Stage::Fresh;
        lane.previous_end = end;
        self.log(stream, &task, begin, end);
        if let Work::Record(record) = &task.work {
            self.publish(record, end);
        }
        stream.complete(task.seq);
    }

    fn publish(&mut self, record: &Arc<Record>, end: u64) {
        self.ready.append(&mut record.complete(end));
    }

    fn log(&self, stream: &Stream, task: &Task, begin: u64, end: u64) {
        if let Some(truth) = &self.runtime.truth {
            truth.add(&Entry {
                device: stream.device.id,
                stream_id: stream.id,
                seq: task.seq - 1,
                kind: task.work.kind(),
                begin_ns: begin,
                end_ns: end,
                event: task.work.event(),
            });
        }
    }

    /// Throws away everything that is queued. Dropped records count as reached now, so that other
    /// streams are not stuck for ever.
    fn drop_tasks(&mut self, stream: &Arc<Stream>, lane: &mut Lane) {
        let now = mono();
        stream.refill(&mut lane.tasks);
        for task in std::mem::take(&mut lane.tasks) {
            if let Work::Record(record) = &task.work {
                self.publish(record, now);
            }
            stream.complete(task.seq);
        }
        lane.stage = Stage::Fresh;
        lane.previous_end = lane.previous_end.max(now);
    }
}

/// Begins a task: performs its effect, or finds out what it has to wait for.
fn start(task: &Task, stream: &Arc<Stream>, begin: u64, now: u64) -> Step {
    match &task.work {
        Work::Transfer {
            transfer,
            duration_ns,
        } => {
            transfer.run();
            Step::Ends {
                begin,
                end: begin + duration_ns,
            }
        }
        Work::Fill { fill, duration_ns } => {
            fill.run();
            Step::Ends {
                begin,
                end: begin + duration_ns,
            }
        }
        Work::Record(_) | Work::Marker => Step::Ends { begin, end: begin },
        Work::Wait { record, .. } => {
            record.notify(stream);
            look_again(task, stream, begin, now)
        }
        Work::HostFunction(_) | Work::Report(_) if begin > now => Step::At(begin),
        Work::HostFunction(callback) => {
            stream.call_host(*callback, task.seq);
            Step::Parked { begin }
        }
        Work::Report(report) => {
            let blocks = report.deliver(stream, task.seq);
            if blocks {
                Step::Parked { begin }
            } else {
                Step::Ends { begin, end: begin }
            }
        }
    }
}

/// Looks at a task that depends on something.
fn look_again(task: &Task, stream: &Arc<Stream>, begin: u64, now: u64) -> Step {
    match &task.work {
        Work::Wait { record, timeout_ns } => match (record.end_ns(), *timeout_ns) {
            (Some(end), 0) => Step::Ends {
                begin,
                end: begin.max(end),
            },
            (Some(end), timeout) if end <= begin + timeout => Step::Ends {
                begin,
                end: begin.max(end),
            },
            (None, 0) => Step::Parked { begin },
            (end, timeout) if end.is_some() || now >= begin + timeout => {
                stream.fail(RT_WAIT_TIMEOUT);
                Step::Ends {
                    begin,
                    end: begin + timeout,
                }
            }
            (_, timeout) => Step::ParkedUntil {
                begin,
                until: begin + timeout,
            },
        },
        _ => match stream.host_work_end(task.seq) {
            Some(end) => Step::Ends {
                begin,
                end: begin.max(end),
            },
            None => Step::Parked { begin },
        },
    }
}

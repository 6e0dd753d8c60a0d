//! What each kind of task does when its turn comes, and when it is over.

use std::sync::Arc;

use super::host::DueCallback;
use super::inbox;
use super::lane::{Lane, NextStep};
use super::player::{Player, seen};
use super::starved::place;
use super::task::{Task, Work};
use super::trouble;
use crate::code::{RT_VECTOR_CORE, RT_WAIT_TIMEOUT};
use crate::ffi::Callback;
use crate::hccl::collective::NextLook;
use crate::memory::{self, value};
use crate::scatter::scatter;
use crate::stream::Stream;
use crate::stream::line::Token;
use crate::truth::Transition;
use crate::{process, virtual_time};

impl Player {
    /// Begins a task: performs its effect, or finds the target of its wait.
    pub(super) fn start(
        &mut self,
        work: &Work,
        token: Token,
        stream: &Arc<Stream>,
        begin: u64,
        now: u64,
    ) -> NextStep {
        let lasting = |duration_ns: u64| NextStep::Ends {
            begin,
            end: begin + self.noisy(duration_ns, stream, token),
        };
        match work {
            Work::Transfer {
                transfers,
                duration_ns,
            } => {
                transfers.iter().for_each(|transfer| transfer.run());
                lasting(*duration_ns)
            }
            Work::Fill { fill, duration_ns } => {
                fill.run();
                lasting(*duration_ns)
            }
            Work::Reduce(reduce) => {
                reduce.run();
                lasting(reduce.duration_ns)
            }
            Work::Kernel(launch) => {
                launch.run();
                lasting(launch.duration_ns())
            }
            Work::Operator(operator) => {
                if let Some(text) = trouble::perform(&operator.effect) {
                    stream.fail_by(RT_VECTOR_CORE, &format!(": {}: {text}", operator.name));
                }
                lasting(operator.duration_ns)
            }
            Work::Record(_) => NextStep::Ends {
                begin,
                end: begin + self.record_duration_ns(stream, token.seq),
            },
            Work::Change { .. }
            | Work::WriteValue { .. }
            | Work::Free { .. }
            | Work::Patch(_)
            | Work::Graph(_)
            | Work::Marker => NextStep::Ends { begin, end: begin },
            Work::Wait { record, .. } => {
                record.notify(stream.handle);
                self.look_again(work, token, stream, begin, now)
            }
            Work::Pass(_)
            | Work::WaitValue(_)
            | Work::HostFunction(_)
            | Work::Report(_)
            | Work::Collective(_)
                if begin > now =>
            {
                NextStep::At(begin)
            }
            Work::Pass(_) | Work::Collective(_) => self.look_again(work, token, stream, begin, now),
            Work::WaitValue(wait) if wait.is_over() => {
                let written = self.values.get(&wait.address).copied();
                NextStep::Ends {
                    begin,
                    end: begin.max(written.unwrap_or(0)),
                }
            }
            Work::WaitValue(_) => {
                self.poll(stream);
                NextStep::Parked { begin }
            }
            Work::HostFunction(callback) => {
                call_host(stream, *callback, token, begin);
                NextStep::Parked { begin }
            }
            Work::Report(report) => {
                let blocks = report.deliver(begin, returned(stream, token));
                if blocks {
                    NextStep::Parked { begin }
                } else {
                    NextStep::Ends { begin, end: begin }
                }
            }
        }
    }

    /// Looks at a task that depends on something.
    pub(super) fn look_again(
        &mut self,
        work: &Work,
        token: Token,
        stream: &Arc<Stream>,
        begin: u64,
        now: u64,
    ) -> NextStep {
        match work {
            Work::Wait { record, timeout_ns } => {
                settle(record.end_ns(), *timeout_ns, stream, begin, now)
            }
            Work::Pass(pass) => {
                let since = pass
                    .signal
                    .try_wait(pass.condition, pass.clears, stream.handle);
                settle(since, pass.timeout_ns, stream, begin, now)
            }
            Work::WaitValue(wait) if wait.is_over() => {
                let written = self
                    .values
                    .get(&wait.address)
                    .copied()
                    .filter(|&at| at > begin);
                // Not written by a task: only the time when it was seen is known.
                NextStep::Ends {
                    begin,
                    end: written.unwrap_or_else(|| seen(begin)),
                }
            }
            Work::WaitValue(_) => {
                self.poll(stream);
                NextStep::Parked { begin }
            }
            Work::Collective(collective) => match collective.look(begin) {
                NextLook::Ends(end) => NextStep::Ends { begin, end },
                NextLook::Again => {
                    self.poll(stream);
                    NextStep::Parked { begin }
                }
                NextLook::Failed(code) => {
                    stream.fail(code);
                    NextStep::Ends {
                        begin,
                        end: seen(begin),
                    }
                }
            },
            // Its time is that of the function.
            _ => match stream.host_run(token) {
                Some(run) => NextStep::Ends {
                    begin: begin.max(run.called_ns),
                    end: begin.max(run.returned_ns),
                },
                None => NextStep::Parked { begin },
            },
        }
    }

    /// Publishes the effects of a task's end; its waiters are looked at next.
    pub(super) fn publish(&mut self, work: &Work, end: u64) {
        match work {
            Work::Record(record) => self.wake(&record.complete(end)),
            Work::Change { signal, change } => self.wake(&signal.change(*change, end)),
            Work::WriteValue { address, value } => {
                value::store(*address, *value);
                self.values.insert(*address, end);
                let polling = std::mem::take(&mut self.polling);
                self.ready.extend(polling.into_iter().rev());
            }
            Work::Patch(patches) => {
                for patch in patches {
                    patch.node.replace(Arc::clone(&patch.work));
                }
            }
            Work::Free { address } => {
                // Freed twice by the program; the call that could say so has returned.
                let _ = memory::free_in_order(*address);
            }
            _ => {}
        }
    }

    /// Duration of a record. The jitter depends only on the task, so that a run can be repeated.
    fn record_duration_ns(&self, stream: &Stream, seq: u64) -> u64 {
        let options = process::options();
        let roll = scatter(place(stream) ^ seq);
        options.record_ns
            + roll % (options.record_jitter_ns + 1)
            + tail(options.record_tail_ns, scatter(roll))
    }

    /// The time of the device from one task to the next. Two records follow each other at once.
    pub(super) fn transition(&self, stream: &Stream, lane: &Lane, task: &Task) -> Transition {
        let options = process::options();
        let is_record = matches!(task.work, Work::Record(_));
        let lasting = |ns: u64, jitter_ns: u64| {
            // Not the roll of the record's own duration.
            let roll = scatter(!(place(stream) ^ task.seq));
            ns + roll % (jitter_ns + 1)
        };
        match (lane.after_record, is_record) {
            (None, _) | (Some(true), true) => Transition::None,
            (Some(false), false) => {
                Transition::Switch(lasting(options.switch_ns, options.switch_jitter_ns))
            }
            _ => Transition::Turn(lasting(options.turn_ns, options.turn_jitter_ns)),
        }
    }

    /// Duration of a task with the noise of this run, which depends on its seed and the task.
    fn noisy(&self, duration_ns: u64, stream: &Stream, token: Token) -> u64 {
        let options = process::options();
        if options.noise_ppm == 0 {
            return duration_ns;
        }
        let node = token.node.map_or(0, |it| it as u64 + 1);
        let task = scatter(place(stream) ^ token.seq) ^ node;
        let roll = scatter(scatter(options.noise_seed) ^ task) % (2 * options.noise_ppm + 1);
        let parts = u128::from(1_000_000 - options.noise_ppm + roll);
        (u128::from(duration_ns) * parts / 1_000_000) as u64
    }

    /// Has the stream looked at again and again.
    fn poll(&mut self, stream: &Arc<Stream>) {
        if !self.polling.iter().any(|other| Arc::ptr_eq(other, stream)) {
            self.polling.push(Arc::clone(stream));
        }
    }
}

/// The addition to a record: seldom it is a multiple of the usual one.
fn tail(usual_ns: u64, roll: u64) -> u64 {
    // In parts of a thousand: of all records, a smaller part takes longer.
    let part = roll % 951;
    usual_ns * part / (1000 - part)
}

/// Has the context's helper thread run a host function.
fn call_host(stream: &Arc<Stream>, callback: Callback, token: Token, begin_ns: u64) {
    stream.host_thread.call(DueCallback {
        callback,
        begin_ns,
        done: returned(stream, token),
    });
}

/// Actions after a host function has returned.
fn returned(stream: &Arc<Stream>, token: Token) -> Box<dyn FnOnce((u64, u64)) + Send> {
    let stream = Arc::clone(stream);
    Box::new(move |ran| {
        stream.host_work_done(token, ran);
        inbox::get().enqueue(&stream);
    })
}

/// A wait that ends with its target, or after its timeout. Timeout 0 waits for ever.
pub(super) fn settle(
    reached: Option<u64>,
    timeout_ns: u64,
    stream: &Arc<Stream>,
    begin: u64,
    now: u64,
) -> NextStep {
    let deadline = if timeout_ns == 0 {
        u64::MAX
    } else {
        begin.saturating_add(timeout_ns)
    };
    match reached {
        Some(at) if at <= deadline => NextStep::Ends {
            begin,
            end: begin.max(at),
        },
        // In virtual time, the target says whether it came too late.
        None if timeout_ns == 0 || virtual_time::is_on() => NextStep::Parked { begin },
        None if now < deadline => NextStep::ParkedUntil {
            begin,
            until: deadline,
        },
        _ => {
            stream.fail(RT_WAIT_TIMEOUT);
            NextStep::Ends {
                begin,
                end: deadline,
            }
        }
    }
}

//! A thread waited for the device after each of many short tasks, or after a few of them. While it waits, it submits nothing. So the device is idle
//! from the end of each task until the thread has returned from the wait and submitted the next one. This takes longer than the
//! tasks themselves.
//!
//! A wait after a copy to the host is left out: the host may need the data before it goes on.
//!
//! Submit all tasks first, and wait once. Tasks of one stream run in order without a wait.
//!
//! A loop of queries, such as of `aclrtStreamQuery`, waits as well.
//!
//! Tasks without a time are short if they were submitted, ran and were waited for in less than 50 µs. They take the mean of the others.

use std::collections::HashMap;

use ascend_trace_format::api::WaitTarget;
use ascend_trace_recording::units::{count, duration};
use ascend_trace_recording::{CallId, Direction, FunctionId, ThreadId, Trace};

use super::super::{Check, Finding, Remedy};
use crate::dependencies::runs;
use crate::polls::Polls;
use crate::{TaskRole, Window};

/// Fewer waits are not worth a word.
const LEAST: u64 = 64;
/// Longer work is worth a wait. Nanoseconds.
const SHORT_NS: i64 = 50_000;
/// The largest number of tasks before a wait.
const FEW: u64 = 4;

/// A thread on its way.
#[derive(Debug, Default)]
struct ThreadWaits {
    /// Tasks since the last wait, those that have a time, and their sum.
    tasks: u64,
    timed: u64,
    time: i64,
    /// When the first of these tasks was submitted.
    submitted: Option<i64>,
    /// A copy to the host is among them.
    brings: bool,
    waits: u64,
    found: HashMap<FunctionId, Waits>,
}

/// Waits for short work by one function.
#[derive(Debug)]
struct Waits {
    finding: Finding,
    tasks: u64,
    /// Of these, the tasks of waits with all times, and how long they ran.
    timed: u64,
    ran: i64,
    /// They are loops of queries.
    are_loops: bool,
}

impl Waits {
    /// How long all tasks ran, where those without a time take the mean of the others.
    fn ran(&self) -> i64 {
        let all = i128::from(self.ran) * i128::from(self.tasks) / i128::from(self.timed.max(1));
        i64::try_from(all).unwrap_or(i64::MAX)
    }

    fn words(&self) -> String {
        let (name, waits) = (&self.finding.site.name, self.finding.count);
        let waited = match self.are_loops {
            true => format!("a loop of {name} waited"),
            false => format!("{name} was called"),
        };
        let of = match self.tasks == waits {
            true => format!("{waited} after each of {} short tasks", count(waits)),
            false => {
                let tasks = count(self.tasks);
                format!("{waited} {} times for {tasks} short tasks", count(waits))
            }
        };
        let about = match self.timed == self.tasks {
            true => String::new(),
            false => format!(" ({} have times)", count(self.timed)),
        };
        format!(
            "{of}: they ran for {}{about} in all, and the waits took {}",
            duration(self.ran()),
            duration(self.finding.total_ns),
        )
    }
}

#[derive(Debug, Default)]
pub(super) struct SyncEachTask {
    threads: HashMap<ThreadId, ThreadWaits>,
    polls: Polls,
}

impl Check for SyncEachTask {
    fn take(&mut self, window: &Window<'_>, wanted: &dyn Fn(CallId) -> bool) {
        let trace = window.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in window.thread_calls(thread) {
                let asked_since = self.polls.note(trace, trace.call(id)).waited_since;
                let state = self.threads.entry(thread).or_default();
                state.take(trace, id, asked_since, wanted);
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let threads = std::mem::take(&mut self.threads).into_values();
        let found = threads.flat_map(|state| {
            // Most waits of the thread are like this.
            let least = LEAST.max(state.waits / 2);
            let found = state.found.into_values();
            found.filter(move |it| it.finding.count >= least && it.timed > 0)
        });
        let found = found.map(|waits| Finding {
            what: waits.words(),
            // The tasks themselves would take as long.
            total_ns: waits.finding.total_ns - waits.ran(),
            advice: "submit the tasks first, and wait once".to_owned(),
            remedy: Some(Remedy::NoWait),
            ..waits.finding
        });
        found.collect()
    }
}

impl ThreadWaits {
    /// `asked_since`: a loop of queries ends with the call, and began then.
    fn take(
        &mut self,
        trace: &Trace,
        id: CallId,
        asked_since: Option<i64>,
        wanted: &dyn Fn(CallId) -> bool,
    ) {
        let call = trace.call(id);
        if let Some(task) = call.task {
            let is_work = TaskRole::of(trace, trace.task(task)) == TaskRole::Work;
            if is_work && runs(trace, task) {
                self.tasks += 1;
                self.brings |= trace.direction(call) == Some(Direction::DeviceToHost);
                self.submitted = self.submitted.or(Some(call.begin));
                let time = trace.task(task).time;
                self.timed += u64::from(time.is_some());
                self.time += time.map_or(0, |it| it.duration());
            }
            return;
        }
        let waits = trace.function(call.function).role.meaning().waits;
        let is_wait = matches!(
            waits,
            WaitTarget::Stream | WaitTarget::Device | WaitTarget::Event
        );
        let blocked_since = (is_wait && call.depth == 0).then_some(call.begin);
        let Some(begin) = asked_since.or(blocked_since) else {
            return;
        };
        self.waits += 1;
        let tasks = std::mem::take(&mut self.tasks);
        let (timed, ran) = (std::mem::take(&mut self.timed), std::mem::take(&mut self.time));
        let submitted = std::mem::take(&mut self.submitted).unwrap_or(begin);
        let is_needed = std::mem::take(&mut self.brings);
        let has_times = timed == tasks;
        // Tasks without a time ran no longer than until the end of the wait.
        let most = if has_times { ran } else { call.end - submitted };
        let is_short = (1..=FEW).contains(&tasks) && most <= SHORT_NS;
        // The wait costs more than the work.
        if !is_short || is_needed || !wanted(id) || call.end - begin <= ran {
            return;
        }
        let (timed, ran) = if has_times { (tasks, ran) } else { (0, 0) };
        let this = Finding {
            calls: vec![trace.call_number(id)],
            begin_ns: begin,
            total_ns: call.end - begin,
            ..Finding::of_call(trace, id)
        };
        self.found
            .entry(call.function)
            .and_modify(|known| {
                known.finding.join(&this);
                known.tasks += tasks;
                known.timed += timed;
                known.ran += ran;
            })
            .or_insert(Waits {
                finding: this,
                tasks,
                timed,
                ran,
                are_loops: asked_since.is_some(),
            });
    }
}

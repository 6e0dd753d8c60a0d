//! Last calls of threads, their open calls, and failed ones.

use std::collections::{HashMap, VecDeque};

use ascend_trace_format::api::Role;
use ascend_trace_recording::{
    Call, CallId, Ending, FunctionId, ProcessId, StackId, StreamId, ThreadId, Trace,
    is_capture_code,
};

use super::last_activity;
use super::sight::{FunctionSight, LookAtThreads, NamedThread, OutsideWait, ThreadSight};
use crate::dependencies::{device_failed, took_effect};
use crate::subscriptions::{self, LifeTimes, Subscription, Subscriptions};

/// Calls of a thread that the report lists.
pub(super) const LAST: usize = 5;

/// Who asks again and again does so at least as often. Nanoseconds.
const RECENT_NS: i64 = 1_000_000_000;

/// A call that may be gone from memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct PastCall {
    /// Number of the call in the recording.
    pub(super) number: u32,
    pub(super) thread: ThreadId,
    pub(super) function: FunctionId,
    pub(super) begin: i64,
    pub(super) end: i64,
    /// Its return code, if it returned.
    pub(super) code: Option<i64>,
    pub(super) stream: Option<StreamId>,
    /// Serial and generation of the event that it names.
    pub(super) event: Option<(u32, u32)>,
    /// The stack that it was made with.
    pub(super) stack: Option<StackId>,
    pub(super) is_poll: bool,
}

impl PastCall {
    pub(super) fn of(trace: &Trace, id: CallId) -> Self {
        let call = trace.call(id);
        Self {
            number: trace.call_number(id),
            thread: call.thread,
            function: call.function,
            begin: call.begin,
            end: call.end,
            code: call.result(),
            stream: call.stream,
            event: call
                .event
                .map(|it| (trace.event(it.event).serial, it.number)),
            stack: call.stack,
            is_poll: last_activity::polls(trace, call),
        }
    }
}

/// A call that has not returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreturnedCall {
    /// Number in the recording; `None` while the recording goes on.
    pub(super) number: Option<u32>,
    pub(super) call: Call,
}

/// A thread.
#[derive(Debug, Default)]
pub(super) struct Host {
    /// Its state in the system.
    pub(super) sight: ThreadSight,
    /// The target of its wait in a callback, where the system shows it.
    pub(super) callback_wait: Option<OutsideWait>,
    /// Since when it has made no other calls than those that ask whether something is done.
    pub(super) asks_since: Option<i64>,
    /// The last calls that returned, the latest last.
    pub(super) last: VecDeque<PastCall>,
    /// By depth.
    pub(super) open: Vec<UnreturnedCall>,
    /// The last call in which it ran callbacks.
    pub(super) report: Option<PastCall>,
    /// Begin of its first call.
    pub(super) first: Option<i64>,
    /// It has submitted tasks.
    pub(super) submits: bool,
}

impl Host {
    fn began(&mut self, trace: &Trace, call: &Call) {
        let begin = self.first.unwrap_or(call.begin).min(call.begin);
        self.first = Some(begin);
        self.submits |= trace.function(call.function).role.meaning().submits;
    }

    /// An outermost call has returned.
    fn returned(&mut self, past: PastCall) {
        let before = self.last.back().map(|it| it.end);
        let goes_on = before.is_some_and(|it| past.begin.saturating_sub(it) < RECENT_NS);
        self.asks_since = match past.is_poll {
            true => self.asks_since.filter(|_| goes_on).or(Some(past.begin)),
            false => None,
        };
        self.last.push_back(past);
        if self.last.len() > LAST {
            self.last.pop_front();
        }
    }

    /// Whether it has ended, as far as the system says.
    pub(super) fn has_ended(&self) -> bool {
        self.sight == ThreadSight::Ended
    }

    /// The target of its wait outside AscendCL, where the system shows it.
    pub(super) fn outside_wait(&self) -> Option<&OutsideWait> {
        match &self.sight {
            ThreadSight::Lives { waits, .. } => waits.as_ref().filter(|_| self.open.is_empty()),
            ThreadSight::Unknown | ThreadSight::Ended => None,
        }
    }

    /// Whether it is in no call, and its state is not known.
    pub(super) fn is_out_of_sight(&self) -> bool {
        self.open.is_empty() && self.sight == ThreadSight::Unknown
    }

    /// When it is known to exist: from its first call to the end of its last one.
    fn known(&self) -> Option<LifeTimes> {
        let open = self.open.iter().map(|it| it.call.end);
        let last = open.chain(self.last.back().map(|it| it.end)).max();
        Some((self.first?, last?))
    }

    /// Whether it runs callbacks of the program.
    pub(super) fn is_server(&self, trace: &Trace) -> bool {
        self.report.is_some() || self.reporting(trace).is_some()
    }

    /// The open call in which it waits for callbacks, or runs one.
    pub(super) fn reporting(&self, trace: &Trace) -> Option<&UnreturnedCall> {
        let role = |it: &UnreturnedCall| trace.function(it.call.function).role;
        self.open.iter().find(|it| role(it) == Role::ProcessReport)
    }

    /// Whether it is in the call that runs callbacks, and in none that a callback made.
    fn runs_callbacks(&self, trace: &Trace) -> bool {
        !self.open.is_empty() && self.blocked_in(trace).is_none()
    }

    /// The open call that keeps it from going on: the innermost, unless it waits for callbacks there.
    pub(super) fn blocked_in(&self, trace: &Trace) -> Option<&UnreturnedCall> {
        let role = |it: &&UnreturnedCall| trace.function(it.call.function).role;
        self.open
            .last()
            .filter(|it| role(it) != Role::ProcessReport)
    }

    /// The last call that queried completion, just before the end of the known time, if the thread is
    /// in no call.
    pub(super) fn poll(&self, now: i64) -> Option<&PastCall> {
        let last = self.last.back().filter(|_| self.open.is_empty());
        last.filter(|it| it.is_poll && now.saturating_sub(it.end) < RECENT_NS)
    }

    /// Whether it is in no call, and does not run callbacks.
    pub(super) fn is_outside(&self) -> bool {
        self.open.is_empty() && self.report.is_none() && !self.has_ended()
    }

    pub(super) fn is_blocked(&self, trace: &Trace) -> bool {
        self.blocked_in(trace).is_some()
    }
}

/// All threads that made calls.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    threads: HashMap<ThreadId, Host>,
    /// The first call of each process that reported a failure of the device.
    failed: HashMap<ProcessId, PastCall>,
    /// Streams with aborted tasks.
    aborted: HashMap<StreamId, PastCall>,
    subscriptions: Subscriptions,
    /// The first launch of a function that a thread of the runtime runs.
    functions: HashMap<ProcessId, i64>,
    /// Processes in which all threads outside AscendCL wait for each other, by pid.
    stuck: Vec<u32>,
    /// Threads of the runtime that wait in functions of the program.
    in_functions: Vec<FunctionSight>,
}

impl Hosts {
    /// When the first function was launched that a thread of the runtime runs.
    pub(super) fn first_function(&self, process: ProcessId) -> Option<i64> {
        self.functions.get(&process).copied()
    }

    /// Such a function was launched.
    pub(super) fn launched(&mut self, process: ProcessId, begin: i64) {
        let first = self.functions.entry(process).or_insert(begin);
        *first = begin.min(*first);
    }

    pub(super) fn get(&self, thread: ThreadId) -> Option<&Host> {
        self.threads.get(&thread)
    }

    /// Threads by id.
    pub(super) fn threads(&self) -> Vec<ThreadId> {
        let mut threads: Vec<ThreadId> = self.threads.keys().copied().collect();
        threads.sort_unstable();
        threads
    }

    pub(super) fn failed(&self, process: ProcessId) -> Option<&PastCall> {
        self.failed.get(&process)
    }

    /// The subscription to the callbacks of a stream.
    pub(super) fn subscriber(&self, stream: StreamId) -> Option<Subscription> {
        self.subscriptions.of(stream)
    }

    /// The threads that can run the callbacks of a stream: the one that is subscribed to it. Where that is not known,
    /// those of the process that run callbacks.
    pub(super) fn servers(&self, trace: &Trace, stream: StreamId) -> Vec<ThreadId> {
        let process = trace.stream(stream).process;
        if let Some(subscription) = self.subscriber(stream) {
            let known = |it: ThreadId| self.get(it).and_then(Host::known);
            let meant = subscriptions::meant(trace, process, subscription, known);
            return meant.into_iter().collect();
        }
        let mut servers = self.threads();
        servers.retain(|it| {
            let is_server = self.get(*it).is_some_and(|host| host.is_server(trace));
            trace.thread(*it).process == process && is_server
        });
        servers
    }

    /// Notes the states of the threads that are in no call.
    pub(super) fn look(&mut self, trace: &Trace, now: i64, look: LookAtThreads) {
        let threads = self.threads();
        let named = threads.iter().map(|it| {
            let known = trace.thread(*it);
            NamedThread {
                pid: trace.process(known.process).pid,
                tid: known.tid,
                name: known.name.clone(),
                in_call: self.get(*it).is_some_and(|host| !host.open.is_empty()),
                runs_callbacks: self.get(*it).is_some_and(|host| host.runs_callbacks(trace)),
            }
        });
        let seen = look(&named.collect::<Vec<_>>());
        self.stuck = seen.stuck;
        self.in_functions = seen.functions;
        for (thread, sight) in threads.into_iter().zip(seen.threads) {
            match (self.threads.get_mut(&thread), sight) {
                (Some(host), sight) if host.open.is_empty() && host.poll(now).is_none() => {
                    host.sight = sight;
                }
                (Some(host), ThreadSight::Lives { waits, .. }) if host.runs_callbacks(trace) => {
                    host.callback_wait = waits;
                }
                _ => {}
            }
        }
    }

    /// The threads of the runtime that wait in functions of a process.
    pub(super) fn in_functions(&self, pid: u32) -> impl Iterator<Item = &FunctionSight> {
        self.in_functions.iter().filter(move |it| it.pid == pid)
    }

    /// Whether all threads of a process outside AscendCL wait for each other, as far as the system says.
    pub(super) fn are_stuck(&self, pid: u32) -> bool {
        self.stuck.contains(&pid)
    }

    /// Whether a thread that is in no call works, as far as the system says.
    pub(super) fn any_works(&self) -> bool {
        let works = |it: &Host| matches!(it.sight, ThreadSight::Lives { works: true, .. });
        self.threads.values().any(works)
    }

    pub(super) fn aborted(&self, stream: StreamId) -> Option<&PastCall> {
        self.aborted.get(&stream)
    }

    /// Until when calls are known to be open.
    pub(super) fn open_until(&self) -> Option<i64> {
        let open = self.threads.values().flat_map(|it| &it.open);
        open.map(|it| it.call.end).max()
    }

    /// A call of the recording, in the order of their begins.
    pub(super) fn note(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        if call.ending == Ending::Open {
            self.open(trace, Some(trace.call_number(id)), call);
            return;
        }
        let function = trace.function(call.function);
        self.subscriptions.note(trace, call);
        let host = self.threads.entry(call.thread).or_default();
        host.began(trace, call);
        let past = PastCall::of(trace, id);
        if function.role == Role::ProcessReport {
            host.report = Some(past);
        }
        if call.depth == 0 {
            host.returned(past);
        }
        let is_refused = call.result().is_some_and(is_capture_code);
        if device_failed(trace, call) && !is_refused {
            let process = trace.thread(call.thread).process;
            self.failed.entry(process).or_insert(past);
        }
        if let (Role::AbortStream, Some(stream), true) =
            (function.role, call.stream, took_effect(trace, call))
        {
            self.aborted.insert(stream, past);
        }
    }

    /// A call that has not returned.
    pub(super) fn open(&mut self, trace: &Trace, number: Option<u32>, call: &Call) {
        let host = self.threads.entry(call.thread).or_default();
        host.began(trace, call);
        host.open.push(UnreturnedCall {
            number,
            call: *call,
        });
        host.open.sort_by_key(|it| it.call.depth);
    }
}

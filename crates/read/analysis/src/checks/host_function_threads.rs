//! Threads of the runtime that run the functions of `aclrtLaunchHostFunc`.
//!
//! Nothing in a recording says which threads these are. Such a thread makes calls only while a host function runs. A thread
//! of the program may do so by chance: that is ruled out where it happened in several functions with pauses between them.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, TaskKind};
use ascend_trace_recording::{Call, CallId, FunctionId, ProcessId, StreamId, ThreadId, Trace};

use super::Finding;
use crate::Window;

/// Host functions in which a thread must have made calls.
const LEAST: u64 = 5;

/// Findings that may come to nothing are bounded as well.
const MOST: usize = 4096;

/// When a host function ran.
#[derive(Clone, Copy, Debug)]
struct HostFunctionRun {
    /// The task: its stream, and its number there.
    task: (StreamId, u32),
    /// Its launch began.
    launched: i64,
    begin: i64,
    end: i64,
    error: i64,
    /// How long no function ran before it, by those that were launched before.
    free: i64,
}

impl HostFunctionRun {
    /// Whether a call can have been made in it.
    fn may_hold(&self, call: &Call) -> bool {
        let earliest = self.launched.max(self.begin - self.error);
        earliest <= call.begin && call.end <= self.end + self.error
    }

    /// Whether a call was made in its time.
    fn holds(&self, call: &Call) -> bool {
        self.begin + self.error <= call.begin && call.end <= self.end - self.error
    }
}

/// Where a call lies to host functions.
enum HostFunctionOverlap {
    In,
    /// It may be in one, as far as the error bars allow.
    AtItsEdge,
    Outside,
}

/// A thread that has made calls only while host functions ran.
#[derive(Debug, Default)]
struct CallbackThread {
    last: Option<(StreamId, u32)>,
    functions: u64,
    /// How long these functions ran, and how long none ran before each of them but the first.
    busy: i64,
    free: i64,
}

impl CallbackThread {
    fn note(&mut self, run: &HostFunctionRun) {
        if self.last.replace(run.task) == Some(run.task) {
            return;
        }
        if self.functions > 0 {
            self.free += run.free;
        }
        self.functions += 1;
        self.busy += run.end - run.begin;
    }

    /// A thread that made its calls at any time would have made some outside.
    fn is_proven(&self) -> bool {
        self.functions >= LEAST && self.free >= self.busy
    }
}

/// The host functions of a process.
#[derive(Debug, Default)]
struct Runs {
    /// Those that may not have ended.
    open: Vec<HostFunctionRun>,
    /// When all earlier launched functions had ended.
    until: Option<i64>,
}

#[derive(Debug, Default)]
pub(super) struct HostFunctionThreads {
    runs: HashMap<ProcessId, Runs>,
    /// `None` for threads that made calls at other times.
    threads: HashMap<ThreadId, Option<CallbackThread>>,
    found: HashMap<(ProcessId, ThreadId, FunctionId), Finding>,
    /// Processes with threads that may have made unrecorded calls, or all.
    unknown: Vec<Option<ProcessId>>,
}

impl HostFunctionThreads {
    /// Takes in a window, and keeps the calls of host functions that count.
    pub(super) fn take(&mut self, window: &Window<'_>, counts: impl Fn(CallId) -> bool) {
        let trace = window.trace;
        if trace.has_past() || trace.has_future() {
            self.doubt(None);
        }
        self.note_runs(window);
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            if matches!(self.threads.get(&thread), Some(None)) {
                continue;
            }
            for id in window.thread_calls(thread) {
                let call = trace.call(id);
                if call.depth > 0 {
                    continue;
                }
                match self.place(trace, call) {
                    HostFunctionOverlap::In if counts(id) => self.add(trace, id),
                    HostFunctionOverlap::In | HostFunctionOverlap::AtItsEdge => {}
                    HostFunctionOverlap::Outside => break,
                }
            }
        }
        let until = window.part.until;
        for runs in self.runs.values_mut() {
            runs.open.retain(|run| run.end + run.error >= until);
        }
    }

    fn note_runs(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        let mut launched: Vec<(i64, u32, ProcessId, HostFunctionRun)> = Vec::new();
        for id in window.calls() {
            let call = trace.call(id);
            if let Some(run) = run(trace, call) {
                let process = trace.thread(call.thread).process;
                launched.push((call.begin, trace.call_number(id), process, run));
            }
        }
        launched.sort_by_key(|(begin, number, ..)| (*begin, *number));
        for (_, _, process, run) in launched {
            let runs = self.runs.entry(process).or_default();
            let free = runs.until.map_or(0, |until| (run.begin - until).max(0));
            runs.until = runs.until.max(Some(run.end));
            runs.open.push(HostFunctionRun { free, ..run });
        }
    }

    /// Where a call was made. A thread that makes one outside of host functions is not the runtime's.
    fn place(&mut self, trace: &Trace, call: &Call) -> HostFunctionOverlap {
        let guest = self.threads.entry(call.thread);
        let guest = guest.or_insert_with(|| Some(CallbackThread::default()));
        let Some(known) = guest else {
            return HostFunctionOverlap::Outside;
        };
        let process = trace.thread(call.thread).process;
        let runs = self.runs.get(&process);
        let runs = runs.map_or(&[][..], |runs| &runs.open);
        if !runs.iter().any(|run| run.may_hold(call)) {
            *guest = None;
            self.found
                .retain(|(_, thread, _), _| *thread != call.thread);
            return HostFunctionOverlap::Outside;
        }
        let Some(run) = runs.iter().find(|run| run.holds(call)) else {
            return HostFunctionOverlap::AtItsEdge;
        };
        known.note(run);
        HostFunctionOverlap::In
    }

    fn add(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let process = trace.thread(call.thread).process;
        let key = (process, call.thread, call.function);
        let has_room = self.found.len() < MOST;
        let this = Finding::of_call(trace, id);
        match self.found.get_mut(&key) {
            Some(known) => known.join(&this),
            None if has_room => drop(self.found.insert(key, this)),
            None => {}
        }
    }

    /// Calls of a process, or of any, are missing.
    pub(super) fn doubt(&mut self, process: Option<ProcessId>) {
        if !self.unknown.contains(&process) {
            self.unknown.push(process);
        }
    }

    /// What was found in threads that are the runtime's.
    pub(super) fn findings(&mut self) -> Vec<Finding> {
        let threads = std::mem::take(&mut self.threads);
        let unknown = std::mem::take(&mut self.unknown);
        let is_proven = |process: ProcessId, thread: ThreadId| {
            let is_unknown = unknown.contains(&None) || unknown.contains(&Some(process));
            let guest = threads.get(&thread).and_then(Option::as_ref);
            !is_unknown && guest.is_some_and(CallbackThread::is_proven)
        };
        let found = std::mem::take(&mut self.found).into_iter();
        let found = found.filter(|((process, thread, _), _)| is_proven(*process, *thread));
        found.map(|(_, finding)| finding).collect()
    }
}

/// When the host function ran that a call launched.
fn run(trace: &Trace, call: &Call) -> Option<HostFunctionRun> {
    let task = trace.task(call.task?);
    // For a thread of the program, an argument says whether it blocks.
    let is_hosted = trace
        .function(call.function)
        .part(ArgPart::Blocking)
        .is_none();
    let time = task
        .time
        .filter(|_| task.kind == TaskKind::HostFunc && is_hosted)?;
    Some(HostFunctionRun {
        task: (task.stream, task.sequence),
        launched: call.begin,
        begin: time.begin,
        end: time.end,
        error: time.error,
        free: 0,
    })
}

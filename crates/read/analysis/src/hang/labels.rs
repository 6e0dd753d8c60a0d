//! How the report names threads, streams and events.

use ascend_trace_recording::units::duration;
use ascend_trace_recording::{Call, ProcessId, StreamId, ThreadId, Trace};

use super::events::EventKey;
use super::hosts::PastCall;
use super::report::Subject;

/// A process that ended this long before the others does not wait for anything. Nanoseconds.
const BEFORE_NS: i64 = 100_000_000;

/// Words for the things of a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'a> {
    pub(super) trace: &'a Trace,
    /// The end of the known time.
    pub(super) now: i64,
    /// The end of the last process, or the end of the known time if a process has not ended.
    last_end: i64,
    several_devices: bool,
    several_processes: bool,
}

/// The end of the last process; `None` while a process runs.
fn last_end(trace: &Trace) -> Option<i64> {
    let ends = trace.processes().iter().map(|it| it.end_ns);
    ends.collect::<Option<Vec<i64>>>()?.into_iter().max()
}

impl<'a> Labels<'a> {
    pub(super) fn of(trace: &'a Trace, now: i64) -> Self {
        let device = trace.streams().first().map(|it| it.device);
        Self {
            trace,
            now,
            last_end: last_end(trace).unwrap_or(now),
            several_devices: trace.streams().iter().any(|it| Some(it.device) != device),
            several_processes: trace.processes().len() > 1,
        }
    }

    /// When a process ended, if that was before the others: all that are killed together end at nearly the same time. The
    /// recording may end much later, on a busy host.
    pub(super) fn gone(&self, process: ProcessId) -> Option<i64> {
        let end = self.trace.process(process).end_ns;
        end.filter(|it| *it < self.last_end.saturating_sub(BEFORE_NS))
    }

    fn of_process(&self, process: ProcessId) -> String {
        let process = self.trace.process(process);
        match (self.several_processes, process.rank_number()) {
            (false, _) => String::new(),
            (true, Some(rank)) => format!(" of rank {rank}"),
            (true, None) => format!(" of process {}", process.serial),
        }
    }

    pub(super) fn stream(&self, stream: StreamId) -> String {
        let known = self.trace.stream(stream);
        let device = match self.several_devices {
            true => format!(" of device {}", known.device),
            false => String::new(),
        };
        let process = self.of_process(known.process);
        format!("stream {}{device}{process}", known.number())
    }

    pub(super) fn thread(&self, thread: ThreadId) -> String {
        let known = self.trace.thread(thread);
        format!("thread {}{}", known.tid, self.of_process(known.process))
    }

    pub(super) fn event(&self, event: EventKey) -> String {
        format!("event {}", event.1)
    }

    pub(super) fn function(&self, call: &Call) -> &'a str {
        &self.trace.function(call.function).name
    }

    /// A call with its stream or event.
    pub(super) fn past(&self, past: &PastCall) -> String {
        let name = &self.trace.function(past.function).name;
        match (past.stream, past.event) {
            (Some(stream), _) => format!("{name} on {}", self.stream(stream)),
            (None, Some((serial, _))) => format!("{name} of event {serial}"),
            (None, None) => name.clone(),
        }
    }

    /// How long ago something was.
    pub(super) fn ago(&self, at: i64) -> String {
        duration(self.now.saturating_sub(at).max(0))
    }

    /// A code with its name.
    pub(super) fn code(&self, code: i64) -> String {
        match self.trace.error_name(code) {
            Some(name) => format!("{code} ({name})"),
            None => code.to_string(),
        }
    }

    pub(super) fn about_process(&self, process: ProcessId) -> Subject {
        let process = self.trace.process(process);
        Subject {
            process: process.serial,
            pid: process.pid,
            ..Subject::default()
        }
    }

    pub(super) fn about_thread(&self, thread: ThreadId) -> Subject {
        let known = self.trace.thread(thread);
        Subject {
            tid: Some(known.tid),
            ..self.about_process(known.process)
        }
    }

    pub(super) fn about_stream(&self, stream: StreamId) -> Subject {
        let known = self.trace.stream(stream);
        Subject {
            device: Some(known.device),
            stream_id: Some(known.number()),
            ..self.about_process(known.process)
        }
    }
}

//! Findings of a check.

use ascend_trace_recording::{CallId, Trace};
use serde::Serialize;

use super::order::Note;
use crate::stats::{Place, Site};

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The program does not work as intended.
    Error,
    /// It loses time, or a mistake shows.
    Warning,
    /// It may be meant so.
    Info,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Info];

    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Calls of one thread that do the same thing wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    pub severity: Severity,
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    pub tid: u32,
    /// How many calls the first one was made in.
    #[serde(skip)]
    pub depth: u8,
    /// How many calls it was.
    pub count: u64,
    /// When the first of them began, and when the last one ended.
    pub begin_ns: i64,
    pub end_ns: i64,
    /// The time that they took.
    pub total_ns: i64,
    /// The first of the calls.
    pub site: Site,
    /// Numbers of the streams that the finding names.
    pub streams: Vec<i64>,
    /// The mistake, and its consequences.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

impl Finding {
    /// Adds the findings of other calls that do the same.
    pub(crate) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.end_ns = self.end_ns.max(other.end_ns);
        self.total_ns += other.total_ns;
        if other.begin_ns < self.begin_ns {
            self.begin_ns = other.begin_ns;
            self.site = other.site.clone();
            self.depth = other.depth;
            self.streams.clone_from(&other.streams);
            self.what.clone_from(&other.what);
            self.advice.clone_from(&other.advice);
        }
    }

    /// About one call until now, with all its time.
    pub(crate) fn of_call(trace: &Trace, id: CallId) -> Self {
        Self::of_note(trace, &Note::of(trace, id, true))
    }

    /// The same for a call that may be gone from memory.
    pub(crate) fn of_note(trace: &Trace, call: &Note) -> Self {
        let thread = trace.thread(call.thread);
        let process = trace.process(thread.process);
        Self {
            check: "",
            severity: Severity::Info,
            process: process.serial,
            pid: process.pid,
            tid: thread.tid,
            depth: call.depth,
            count: 1,
            begin_ns: call.begin,
            end_ns: call.end,
            total_ns: call.end - call.begin,
            site: Site {
                call: call.number,
                name: trace.function(call.function).name.clone(),
                tid: thread.tid,
                begin_ns: call.begin,
                at: call.stack.and_then(|stack| Place::of(trace, stack)),
            },
            streams: call.number_of_stream(trace).into_iter().collect(),
            what: String::new(),
            advice: String::new(),
        }
    }
}

/// The order in which calls began.
pub(super) fn began(trace: &Trace, id: CallId) -> (i64, u32, u32, u8) {
    let call = trace.call(id);
    let thread = trace.thread(call.thread);
    (call.begin, thread.process.0, thread.tid, call.depth)
}

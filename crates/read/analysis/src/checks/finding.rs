//! Findings of a check.

use ascend_trace_recording::{CallId, Trace};
use schemars::JsonSchema;

use super::happens_before::NotedCall;
use crate::columns::declare::*;
use crate::stats::{CallSite, Site};

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
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

/// A change of the program that would take a cost away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The calls wait for nothing.
    NoWait,
    /// They wait for one stream.
    WaitForStream,
    /// They wait for the only stream with copies to or from the host. [`crate::whatif::judge_costs`] has to confirm that nothing
    /// relies on the rest of the wait.
    WaitForCopies,
    /// The function copies pinned memory.
    PinnedMemory,
    /// A simulation does not have this change.
    NotSimulated,
}

/// This number of calls is reported in any case.
const MANY: u64 = 64;
/// This number is reported if the calls take this part of the time from the first to the last of them.
const SOME: u64 = 16;
const PART: i64 = 100;

/// Calls of a finding with numbers that are kept.
const MOST_CALLS: usize = 1 << 20;

table_row! {
/// Calls of one thread that do the same thing wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub check: &'static str => column("check", Word, |it: &Self| it.check.into(), "name of the check (see [CHECKS.md](CHECKS.md))").view("check", 100).exported("check");
    pub severity: Severity => column("severity", Word, |it: &Self| it.severity.name().into(), "`error`, `warning` or `info`").view("severity", 0).exported("severity");
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").exported("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").exported("pid");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "number of the thread").exported("tid");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "how many calls").view("calls", 0).exported("count");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "the begin of the first call").exported("begin_ns");
    pub end_ns: i64 => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "the end of the last call").exported("end_ns");
    pub total_ns: i64 => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "the time of all calls").view("total", 0).exported("total_ns");
    pub saved_ns: Option<i64> => column("saved_ns", Duration, |it: &Self| it.saved_ns.into(), "of a cost: by how much the program would be shorter with the change of [CHECKS.md](CHECKS.md), by [what-if](ANALYSIS.md#what-if); of `pageable-copy`, at most; `null` if that is not known");
    pub saved_error_ns: Option<i64> => column("saved_error_ns", Duration, |it: &Self| it.saved_error_ns.into(), "how far that may be off");
    pub site: Site => column("site", Nested, |it: &Self| Value::row(&it.site), "the first call: `call` (its number in `calls.csv`), `name`, `tid`, `begin_ns`, and its [call site](#call-sites)");
    => column("", Id, |it: &Self| it.site.call.into(), "number of the first call").exported("call");
    => column("", Word, |it: &Self| (&it.site.name).into(), "name of its function").exported("name");
    pub other: Option<Site> => column("other", Nested, |it: &Self| Value::maybe_row(it.other.as_ref()), "the other call that the finding is about, such as that of a race, as `site`; else `null`");
    pub streams: Vec<i64> => column("streams", Nested, |it: &Self| Value::list(&it.streams, |it| (*it).into()), "numbers of the streams that the finding names");
    pub what: String => column("what", Text, |it: &Self| (&it.what).into(), "what happened").view("what happened", 0).exported("what");
    pub advice: String => column("advice", Text, |it: &Self| (&it.advice).into(), "what to do").view("what to do", 150).exported("advice");
    => column("", Word, |it: &Self| it.site.at.as_ref().map(|it| &it.call_site).into(), "the call site of the first call").exported("call_site");
    /// How many calls the first one was made in.
    pub depth: u8;
    /// Of a cost: what would take it away, and the numbers of the calls for which it would.
    pub remedy: Option<Remedy>;
    pub calls: Vec<u32>;
}
}

impl Finding {
    /// Adds the findings of other calls that do the same.
    pub(crate) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.end_ns = self.end_ns.max(other.end_ns);
        self.total_ns += other.total_ns;
        other.calls.iter().for_each(|it| self.keep_call(*it));
        if other.begin_ns < self.begin_ns {
            self.begin_ns = other.begin_ns;
            self.site = other.site.clone();
            self.other.clone_from(&other.other);
            self.depth = other.depth;
            self.streams.clone_from(&other.streams);
            self.what.clone_from(&other.what);
            self.advice.clone_from(&other.advice);
        }
    }

    /// Whether calls that make things again and again, and those that end them, are reported. `spent_ns` is the time of all.
    pub(crate) fn is_often(&self, spent_ns: i64) -> bool {
        let lasted = self.end_ns.saturating_sub(self.begin_ns);
        self.count >= MANY || self.count >= SOME && spent_ns.saturating_mul(PART) >= lasted
    }

    /// Keeps the number of a call. With too many of them, a simulation is not made: see [`Self::has_all_calls`].
    pub(crate) fn keep_call(&mut self, number: u32) {
        if self.calls.len() < MOST_CALLS {
            self.calls.push(number);
        }
    }

    /// Whether the numbers of all of its calls are known.
    pub(crate) fn has_all_calls(&self) -> bool {
        self.calls.len() as u64 == self.count
    }

    /// About one call until now, with all its time.
    pub(crate) fn of_call(trace: &Trace, id: CallId) -> Self {
        Self::of_note(trace, &NotedCall::of(trace, id, true))
    }

    /// The same for a call that may be gone from memory.
    pub(crate) fn of_note(trace: &Trace, call: &NotedCall) -> Self {
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
            saved_ns: None,
            saved_error_ns: None,
            remedy: None,
            calls: Vec::new(),
            site: site(trace, call),
            other: None,
            streams: call.number_of_stream(trace).into_iter().collect(),
            what: String::new(),
            advice: String::new(),
        }
    }
}

/// Where a call was made, also of one that may be gone from memory.
pub(super) fn site(trace: &Trace, call: &NotedCall) -> Site {
    Site {
        call: call.number,
        name: trace.function(call.function).name.clone(),
        tid: trace.thread(call.thread).tid,
        begin_ns: call.begin,
        at: call.stack.and_then(|stack| CallSite::of(trace, stack)),
    }
}

/// The order in which calls began.
pub(super) fn began(trace: &Trace, id: CallId) -> (i64, u32, u32, u8) {
    let call = trace.call(id);
    let thread = trace.thread(call.thread);
    (call.begin, thread.process.0, thread.tid, call.depth)
}

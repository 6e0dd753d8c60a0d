//! Single stalls in words and numbers.

use ascend_trace_recording::{CallId, StackId, Trace};
use serde::Serialize;

use super::WORST_STALLS;
use super::tables::{Range, overlaps};
use crate::dependencies::{Dependencies, Node};
use crate::estimate::Measured;
use crate::stalls::{Chain, Evidence, Root, Why};
use crate::{Doing, Lane, Late, Meanwhile, Places, Stall, Stalls, Window};

/// One stall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StallStats {
    pub cause: &'static str,
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    /// The stalled thread, for a stall of the host.
    pub tid: Option<u32>,
    /// The stalled stream, for a stall on a device.
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    pub begin_ns: i64,
    pub end_ns: i64,
    pub length_ns: i64,
    /// Error of the end of a call's waiting, if the stall begins or ends there.
    pub split_err_ns: Option<i64>,
    /// By how much an idle time of a stream may be off, because the begin of the next task is not known exactly.
    pub error_ns: Option<i64>,
    /// Name of the task or call that could not continue.
    pub name: String,
    /// The process that was waited for, by number and rank.
    pub culprit_process: Option<u32>,
    pub culprit_rank: Option<u64>,
    /// The stream that was waited for, and the last work on it.
    pub culprit_device: Option<u32>,
    pub culprit_stream_id: Option<i64>,
    pub culprit_task: Option<String>,
    /// Serial number of the event that was waited for, within its process.
    pub event: Option<u32>,
    /// Name of the call that came late.
    pub culprit_call: Option<String>,
    /// The call that submitted the held-up task, or that blocked.
    pub site: Site,
    /// The call of the culprit: it submitted the target of the wait, or came late, or blocked the
    /// thread that would have submitted the next task.
    pub culprit_site: Option<Site>,
    /// The chain of waits from this one to the root, in words.
    pub chain: Vec<String>,
    /// End of the chain: a task that ran, or a call that came late.
    pub root: Option<String>,
    /// Activity of the thread that submitted the next task.
    pub meanwhile: Vec<MeanwhileStats>,
    /// Why no better cause is known, in words.
    pub why: Option<String>,
    /// The time that a stream waited for the threads that plan and submit its tasks, where they were
    /// late.
    pub late: Option<Late>,
}

/// Where the program made a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Site {
    /// Number of the call, as in `calls.csv`.
    pub call: u32,
    pub name: String,
    pub tid: u32,
    pub begin_ns: i64,
    /// Where in the program, if stacks were recorded.
    #[serde(flatten)]
    pub at: Option<Place>,
}

/// A place in the program that made a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// `file:line (function)`, or as much of it as is known.
    pub call_site: String,
    /// The source file with its path, and the line.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// All frames, innermost first.
    pub stack: Vec<String>,
}

impl Place {
    /// The frames of a stack, if any are known.
    pub fn of(trace: &Trace, stack: StackId) -> Option<Self> {
        let site = trace.site_of(stack)?;
        let frame = site.frame()?;
        Some(Self {
            call_site: frame.text(),
            file: frame.file.clone(),
            line: frame.line,
            stack: site.lines(),
        })
    }
}

/// Activity of the thread that submitted the next task in the time of a stall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeanwhileStats {
    /// A function, or a word for other activity: [`Self::TRACER`], [`Self::OUTSIDE`],
    /// [`Self::IN_FLIGHT`] or [`Self::EARLIER`].
    pub name: String,
    /// Calls of the function.
    pub count: u64,
    pub total_ns: i64,
}

/// By how much the duration of the task after an idle time may be off.
fn error_of(trace: &Trace, stall: &Stall) -> Option<i64> {
    let Node::Task(id) = stall.node else {
        return None;
    };
    let time = trace.task(id).time.filter(|_| stall.is_gap())?;
    Some(Measured::of(&time).open())
}

/// The longest stalls until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Worst {
    /// With their sort key: longest first.
    stalls: Vec<(Order, StallStats)>,
}

/// What stalls are sorted by.
type Order = (i64, i64, Lane);

fn place(stall: &Stall) -> Order {
    (-stall.length(), stall.begin, stall.lane)
}

impl Worst {
    pub(super) fn take(&mut self, window: &Window<'_>, range: Range) {
        let last = match self.stalls.len() < WORST_STALLS {
            true => None,
            false => self.stalls.last().map(|(place, _)| *place),
        };
        let stalls = window.stalls();
        let stalls = stalls.filter(|it| it.is_notable() && overlaps(range, it.range()));
        let mut found: Vec<&Stall> = stalls
            .filter(|it| last.is_none_or(|last| place(it) < last))
            .collect();
        if found.len() > WORST_STALLS {
            found.select_nth_unstable_by_key(WORST_STALLS, |it| place(it));
            found.truncate(WORST_STALLS);
        }
        let row = |stall: &Stall| {
            let trace = window.trace;
            StallStats::of(trace, &window.dependencies, &window.stalls, stall).with_late(
                trace,
                window.places(),
                stall,
            )
        };
        let rows = found.into_iter().map(|it| (place(it), row(it)));
        self.stalls.extend(rows);
        self.stalls.sort_by_key(|(place, _)| *place);
        self.stalls.truncate(WORST_STALLS);
    }

    pub(super) fn rows(self) -> Vec<StallStats> {
        self.stalls.into_iter().map(|(_, row)| row).collect()
    }
}

impl StallStats {
    /// One stall in words and numbers.
    pub fn of(trace: &Trace, dependencies: &Dependencies, stalls: &Stalls, stall: &Stall) -> Self {
        let evidence = stalls.evidence(trace, dependencies, stall);
        Self::with(trace, stall, &evidence)
    }

    /// The same without the thread's activity.
    pub fn brief(
        trace: &Trace,
        dependencies: &Dependencies,
        stalls: &Stalls,
        stall: &Stall,
    ) -> Self {
        let evidence = stalls.brief_evidence(trace, dependencies, stall);
        Self::with(trace, stall, &evidence)
    }

    fn with(trace: &Trace, stall: &Stall, evidence: &Evidence) -> Self {
        let culprit = evidence.culprit;
        let blamed = culprit.stream.map(|id| trace.stream(id));
        let (process, thread, stream) = match stall.lane {
            Lane::Thread(id) => (trace.thread(id).process, Some(trace.thread(id)), None),
            Lane::Stream(id) => (trace.stream(id).process, None, Some(trace.stream(id))),
        };
        let task = culprit.record.or(culprit.task);
        let blamed_call = culprit.call.or(task.map(|task| trace.task(task).call));
        let caller = |call| trace.thread(trace.call(call).thread).process;
        let late = blamed.map(|stream| stream.process);
        let late = late.or(blamed_call.map(caller));
        let late = late.map(|id| trace.process(id));
        Self {
            cause: stall.cause.name(),
            process: trace.process(process).serial,
            pid: trace.process(process).pid,
            tid: thread.map(|thread| thread.tid),
            device: stream.map(|stream| stream.device),
            stream_id: stream.map(|stream| stream.number()),
            begin_ns: stall.begin,
            end_ns: stall.end,
            length_ns: stall.length(),
            split_err_ns: evidence.split_error,
            error_ns: error_of(trace, stall),
            name: name_of(trace, stall.node),
            culprit_process: late.map(|it| it.serial),
            culprit_rank: late.and_then(|it| it.rank_number()),
            culprit_device: blamed.map(|stream| stream.device),
            culprit_stream_id: blamed.map(|stream| stream.number()),
            culprit_task: culprit.task.map(|task| name_of(trace, Node::Task(task))),
            event: culprit.event.map(|it| trace.event(it.event).serial),
            culprit_call: culprit.call.map(|call| name_of(trace, Node::Call(call))),
            site: Site::of(trace, call_of(trace, stall.node)),
            culprit_site: blamed_call.map(|call| Site::of(trace, call)),
            chain: chain_words(trace, &evidence.chain),
            root: evidence.chain.root.map(|root| root_words(trace, root)),
            meanwhile: evidence
                .meanwhile
                .iter()
                .map(|it| MeanwhileStats::of(trace, it))
                .collect(),
            why: evidence.why.map(|why| why_words(trace, why)),
            late: None,
        }
    }

    /// With what held up the threads that plan and submit.
    #[must_use]
    pub fn with_late(self, trace: &Trace, places: &Places, stall: &Stall) -> Self {
        Self {
            late: Late::of(trace, places, stall),
            ..self
        }
    }
}

impl Site {
    pub(crate) fn of(trace: &Trace, id: CallId) -> Self {
        let call = trace.call(id);
        Self {
            call: trace.call_number(id),
            name: trace.function(call.function).name.clone(),
            tid: trace.thread(call.thread).tid,
            begin_ns: call.begin,
            at: trace
                .shown_stack(call)
                .and_then(|stack| Place::of(trace, stack)),
        }
    }
}

impl MeanwhileStats {
    /// The tool's own work.
    pub const TRACER: &str = "tracer-overhead";
    /// Time outside of AscendCL.
    pub const OUTSIDE: &str = "outside-ascendcl";
    /// The task's way to the device.
    pub const IN_FLIGHT: &str = "in-flight";
    /// Time before the last calls of the thread: only a limited number is examined.
    pub const EARLIER: &str = "earlier";

    fn of(trace: &Trace, meanwhile: &Meanwhile) -> Self {
        Self {
            name: match meanwhile.doing {
                Doing::Calls(function) => trace.function(function).name.clone(),
                Doing::Tracer => Self::TRACER.to_owned(),
                Doing::Outside => Self::OUTSIDE.to_owned(),
                Doing::InFlight => Self::IN_FLIGHT.to_owned(),
                Doing::Earlier => Self::EARLIER.to_owned(),
            },
            count: u64::from(meanwhile.calls),
            total_ns: meanwhile.total,
        }
    }
}

fn call_of(trace: &Trace, node: Node) -> CallId {
    match node {
        Node::Task(task) => trace.task(task).call,
        Node::Call(call) => call,
    }
}

fn name_of(trace: &Trace, node: Node) -> String {
    match node {
        Node::Task(task) => trace.task_name(trace.task(task)).to_owned(),
        Node::Call(call) => trace.function(trace.call(call).function).name.clone(),
    }
}

fn chain_words(trace: &Trace, chain: &Chain) -> Vec<String> {
    let words = chain.links.iter().map(|link| {
        let stream = trace.stream(link.stream);
        let place = format!("device {} stream {}", stream.device, stream.number());
        match link.task {
            Some(task) => format!("{place} until {}", name_of(trace, Node::Task(task))),
            None => place,
        }
    });
    words.collect()
}

fn root_words(trace: &Trace, root: Root) -> String {
    match root {
        Root::Task(task) => name_of(trace, Node::Task(task)),
        Root::Call(call) => {
            let thread = trace.thread(trace.call(call).thread);
            let name = name_of(trace, Node::Call(call));
            format!("{name} came late in thread {}", thread.tid)
        }
    }
}

fn why_words(trace: &Trace, why: Why) -> String {
    match why {
        Why::Untimed(task, reason) => {
            let reason = match reason.name() {
                "" => "its time was not read",
                name => name,
            };
            format!("{} has no time: {reason}", name_of(trace, Node::Task(task)))
        }
        Why::Missing => "tasks are missing from the trace".to_owned(),
        Why::DeviceBusy(stream) => {
            let number = trace.stream(stream).number();
            format!("stream {number} of the device was busy")
        }
        Why::NotStarted => "the device did not begin the next task".to_owned(),
    }
}

//! Single stalls in words and numbers.

use ascend_trace_recording::{CallId, Trace};

use super::WORST_STALLS;
use super::call_sites::Site;
use super::stall_words;
use super::tables::{Range, overlaps};
use crate::columns::declare::*;
use crate::dependencies::{Dependencies, Node};
use crate::estimate::Measured;
use crate::stalls::{Chain, Evidence, Root, UnknownReason};
use crate::{
    ActivityDuringWait, HostLateness, Lane, PlannedRanges, Stall, Stalls, ThreadActivity, Window,
};

table_row! {
/// One stall.
#[derive(Clone, Debug, PartialEq)]
pub struct StallStats {
    => column("", Duration, |it: &Self| Value::estimate((it.length_ns, it.error_ns.unwrap_or(0)), 0), "the duration and its error").text("duration");
    pub cause: &'static str => column("cause", Word, |it: &Self| it.cause.into(), "a word of [STALLS.md](STALLS.md)").text("cause").exported("cause");
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process").exported("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").exported("pid");
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "its rank in a distributed run, or `null`").exported("rank");
    pub tid: Option<u32> => column("tid", Id, |it: &Self| it.tid.into(), "the stalled thread, or `null`").exported("tid");
    pub device: Option<u32> => column("device", Id, |it: &Self| it.device.into(), "the device of the stalled stream, or `null`").exported("device");
    pub stream_id: Option<i64> => column("stream_id", Id, |it: &Self| it.stream_id.into(), "number of the stalled stream, or `null`").exported("stream_id");
    => column("", Text, |it: &Self| stall_words::place(it).into(), "the stalled stream or thread").text("where");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when it began").exported("begin_ns");
    pub end_ns: i64 => column("end_ns", Moment, |it: &Self| it.end_ns.into(), "when it ended").exported("end_ns");
    pub length_ns: i64 => column("length_ns", Duration, |it: &Self| it.length_ns.into(), "the time between").exported("length_ns");
    pub split_err_ns: Option<i64> => column("split_err_ns", Duration, |it: &Self| it.split_err_ns.into(), "how far its begin or end may be off: the point that a call waited for, or one that was derived for a wait without a time").exported("split_err_ns");
    pub name: String => column("name", Word, |it: &Self| (&it.name).into(), "the task or call that could not continue").text("what").exported("name");
    pub culprit_process: Option<u32> => column("culprit_process", Id, |it: &Self| it.culprit_process.into(), "the process that was waited for, by number").exported("culprit_process");
    pub culprit_rank: Option<u64> => column("culprit_rank", Unsigned, |it: &Self| it.culprit_rank.into(), "its rank").exported("culprit_rank");
    pub culprit_device: Option<u32> => column("culprit_device", Id, |it: &Self| it.culprit_device.into(), "the device of the stream that was waited for").exported("culprit_device");
    pub culprit_stream_id: Option<i64> => column("culprit_stream_id", Id, |it: &Self| it.culprit_stream_id.into(), "number of this stream").exported("culprit_stream_id");
    pub culprit_task: Option<String> => column("culprit_task", Word, |it: &Self| it.culprit_task.as_ref().into(), "the last task there that was waited for").exported("culprit_task");
    pub culprit_call: Option<String> => column("culprit_call", Word, |it: &Self| it.culprit_call.as_ref().into(), "the call that came late").exported("culprit_call");
    pub event: Option<u32> => column("event", Id, |it: &Self| it.event.into(), "serial of the event that was waited for, in its process").exported("event_serial");
    pub site: Site => column("site", Nested, |it: &Self| Value::row(&it.site), "the call that submitted the delayed task, or that blocked: `call` (its number in `calls.csv`), `name`, `tid`, `begin_ns`, and its [call site](#call-sites)");
    => column("", Id, |it: &Self| it.site.call.into(), "number of this call").exported("call");
    pub culprit_site: Option<Site> => column("culprit_site", Nested, |it: &Self| Value::maybe_row(it.culprit_site.as_ref()), "the call that caused the stall, in the same form");
    => column("", Id, |it: &Self| it.culprit_site.as_ref().map(|it| it.call).into(), "number of the call that caused the stall").exported("blamed_call");
    => column("", Text, |it: &Self| stall_words::culprit(it).into(), "the cause in words").text("because of");
    => column("", Text, |it: &Self| it.site.words().into(), "the call that submitted the delayed task").text("call");
    => column("", Text, |it: &Self| it.culprit_site.as_ref().map(Site::words).into(), "the call that caused the stall").text("culprit");
    pub chain: Vec<String> => column("chain", Nested, |it: &Self| Value::list(&it.chain, Value::from), "a description of the waits from this one to the root");
    => column("", Text, |it: &Self| it.chain.join("; ").into(), "the waits from this one to the root").exported("chain");
    pub root: Option<String> => column("root", Word, |it: &Self| it.root.as_ref().into(), "the root of these waits").exported("root");
    pub meanwhile: Vec<MeanwhileStats> => column("meanwhile", Nested, |it: &Self| Value::list(&it.meanwhile, Value::row), "the work of the submitting thread during the stall: `name`, `count`, `total_ns`. `name` is a function, or with `count` 0 one of `tracer-overhead`, `outside-ascendcl`, `in-flight`, `earlier`");
    => column("", Text, |it: &Self| stall_words::meanwhile(it).into(), "the work of the submitting thread: function, calls, nanoseconds").exported("meanwhile");
    pub why: Option<String> => column("why", Text, |it: &Self| it.why.as_ref().into(), "why no better cause is known").exported("why");
    pub late: Option<HostLateness> => column("late", Nested, |it: &Self| Value::maybe_row(it.late.as_ref()), "the threads that plan and submit; `null` unless the host was late");
    => column("", Id, |it: &Self| it.late.as_ref().map(|it| it.tid).into(), "the thread that planned").exported("late_tid");
    => column("", Text, |it: &Self| it.late.as_ref().and_then(|it| it.range.as_ref()).into(), "the range of this thread").exported("late_range");
    => column("", Duration, |it: &Self| it.late.as_ref().map(|it| it.python_ns).into(), "until it planned").exported("python_ns");
    => column("", Duration, |it: &Self| it.late.as_ref().map(|it| it.planning_ns).into(), "its planning").exported("planning_ns");
    => column("", Duration, |it: &Self| it.late.as_ref().map(|it| it.queue_ns).into(), "until another thread began to submit").exported("queue_ns");
    => column("", Duration, |it: &Self| it.late.as_ref().map(|it| it.launch_ns).into(), "until the device began").exported("launch_ns");
    pub error_ns: Option<i64> => column("error_ns", Duration, |it: &Self| it.error_ns.into(), "of an idle time of a stream: by how much it may be off, because the begin of the next task is not known exactly; else `null`").exported("error_ns");
}
}

table_row! {
/// Activity of the thread that submitted the next task in the time of a stall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeanwhileStats {
    pub name: String => column("name", Word, |it: &Self| (&it.name).into(), "a function, or a word for other activity");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "calls of the function");
    pub total_ns: i64 => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "their time");
}
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
            rank: trace.process(process).rank_number(),
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
    pub fn with_late(self, trace: &Trace, places: &PlannedRanges, stall: &Stall) -> Self {
        Self {
            late: HostLateness::of(trace, places, stall),
            ..self
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

    fn of(trace: &Trace, meanwhile: &ActivityDuringWait) -> Self {
        Self {
            name: match meanwhile.doing {
                ThreadActivity::Calls(function) => trace.function(function).name.clone(),
                ThreadActivity::Tracer => Self::TRACER.to_owned(),
                ThreadActivity::Outside => Self::OUTSIDE.to_owned(),
                ThreadActivity::InFlight => Self::IN_FLIGHT.to_owned(),
                ThreadActivity::Earlier => Self::EARLIER.to_owned(),
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

fn why_words(trace: &Trace, why: UnknownReason) -> String {
    match why {
        UnknownReason::Untimed(task, reason) => {
            let reason = match reason.name() {
                "" => "its time was not read",
                name => name,
            };
            format!("{} has no time: {reason}", name_of(trace, Node::Task(task)))
        }
        UnknownReason::Missing => "tasks are missing from the trace".to_owned(),
        UnknownReason::DeviceBusy(stream) => {
            let number = trace.stream(stream).number();
            format!("stream {number} of the device was busy")
        }
        UnknownReason::NotStarted => "the device did not begin the next task".to_owned(),
    }
}

//! The fields of a slice in addition to its times, for all formats.

use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_analysis::graphs::{Graph, Outcome};
use ascend_trace_analysis::stats::{StallStats, StepStats, Verdict};
use ascend_trace_analysis::{Stall, queue_wait};
use ascend_trace_format::api::RetKind;
use ascend_trace_format::version::FILE_VERSION;
use ascend_trace_recording::{Call, CallId, ProcessId, Range, Task, TaskId, TaskPart, Trace};

use crate::arguments::{slice_name, write_arguments, write_result};
use crate::trace_facts::ExportTotals;
use crate::{ArgDetail, ExportSource};

/// The name of a value; it lives as long as the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldName<'t> {
    /// From the trace's tables, which can be anything.
    OfTrace(&'t str),
    /// A name of this crate. These are words.
    Word(&'static str),
}

impl<'t> FieldName<'t> {
    #[inline]
    pub(crate) fn of(text: &'t str) -> Self {
        Self::OfTrace(text)
    }

    #[inline]
    pub(crate) fn text(self) -> &'t str {
        match self {
            Self::OfTrace(text) => text,
            Self::Word(word) => word,
        }
    }

    /// A name in which nothing has to be escaped.
    #[inline]
    pub(crate) fn word(self) -> Option<&'static str> {
        match self {
            Self::OfTrace(_) => None,
            Self::Word(word) => Some(word),
        }
    }
}

impl From<&'static str> for FieldName<'_> {
    #[inline]
    fn from(text: &'static str) -> Self {
        Self::Word(text)
    }
}

/// Takes named values. Names live as long as the trace, `'t`.
pub(crate) trait FieldWriter<'t> {
    fn integer(&mut self, name: impl Into<FieldName<'t>>, value: i64);
    fn unsigned(&mut self, name: impl Into<FieldName<'t>>, value: u64);
    fn address(&mut self, name: impl Into<FieldName<'t>>, value: u64);
    fn float(&mut self, name: impl Into<FieldName<'t>>, value: f64);
    fn boolean(&mut self, name: impl Into<FieldName<'t>>, value: bool);
    /// One of a few texts that occur often.
    fn word(&mut self, name: impl Into<FieldName<'t>>, value: &str) {
        self.text(name, value);
    }
    /// Any text.
    fn text(&mut self, name: impl Into<FieldName<'t>>, value: &str);
    /// A list: its values, as JSON, with commas between them.
    fn list(&mut self, name: impl Into<FieldName<'t>>, values: &str) {
        self.text(name, values);
    }
    /// A text that is not there.
    fn nothing(&mut self, name: impl Into<FieldName<'t>>);
}

/// The wanted fields of a call; `stream` is the name of its stream's number.
#[inline]
pub(crate) fn write_call<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    id: CallId,
    stream: &'static str,
) {
    let (trace, call) = (source.trace, source.trace.call(id));
    match source.args {
        ArgDetail::Full => write_whole_call(fields, source, (id, call), stream),
        ArgDetail::Minimal => {
            let has_code = trace.function(call.function).ret == RetKind::Error;
            if call.result().is_none_or(|code| has_code && code != 0) {
                write_result(fields, source, call);
            }
            if call.task.is_some() {
                write_correlation(fields, trace, id);
            }
        }
        ArgDetail::None => {}
    }
}

/// Its arguments and result, then the tracer's facts about it.
fn write_whole_call<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    (id, call): (CallId, &Call),
    stream_name: &'static str,
) {
    let trace = source.trace;
    write_arguments(fields, source, call, slice_name);
    write_result(fields, source, call);
    write_process(fields, source, trace.thread(call.thread).process);
    fields.unsigned("call", u64::from(trace.call_number(id)));
    let stream = call.stream.map(|id| trace.stream(id));
    let device = stream.map_or(call.device.map(u32::from), |stream| Some(stream.device));
    if let Some(site) = trace.call_site(call) {
        fields.word("site", &site.text());
    }
    if let Some(device) = device {
        fields.unsigned("device", u64::from(device));
    }
    if let Some(stream) = stream {
        fields.integer(stream_name, stream.number());
    }
    if call.task.is_some() {
        write_correlation(fields, trace, id);
    }
    write_event(fields, trace, call);
    write_work(fields, trace, call);
    if let Some(graph) = call.graph {
        fields.unsigned("graph", u64::from(graph.serial));
        fields.unsigned("graph_index", u64::from(graph.index));
    }
    let untimed = call.task.map(|task| trace.task(task));
    if let Some(task) = untimed.filter(|task| task.time.is_none()) {
        // Functions have arguments called `kind` and `seq`.
        fields.unsigned("task_seq", u64::from(task.sequence));
        fields.word("task_kind", task.kind.name());
        fields.word("untimed", crate::untimed_reason(task));
        if trace.is_pageable(call) {
            fields.boolean("pageable", true);
        }
    }
}

/// The wanted fields of a task with times; `stream` is the name of its stream's number.
#[inline]
pub(crate) fn write_task<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    id: TaskId,
    stream: &'static str,
) {
    let trace = source.trace;
    match source.args {
        ArgDetail::Full => write_whole_task(fields, source, id, stream),
        ArgDetail::Minimal => {
            let task = trace.task(id);
            write_place(fields, trace, task, stream);
            if let Some(bytes) = bytes_moved(trace, trace.call(task.call)) {
                fields.unsigned("bytes", bytes);
            }
        }
        ArgDetail::None => {}
    }
}

/// Kind and place of a part of a task.
pub(crate) fn write_part<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    task: TaskId,
    part: &TaskPart<'t>,
) {
    if source.args == ArgDetail::None {
        return;
    }
    let task = source.trace.task(task);
    fields.unsigned("seq", u64::from(task.sequence));
    fields.unsigned("stream_of_log", u64::from(part.acl_id));
    if let Some(node) = part.node.filter(|node| *node > 0) {
        fields.unsigned("node", u64::from(node));
    }
}

/// Where a task ran, and which call submitted it.
fn write_place<'t>(
    fields: &mut impl FieldWriter<'t>,
    trace: &Trace,
    task: &Task,
    stream_name: &'static str,
) {
    let stream = trace.stream(task.stream);
    fields.unsigned("device", u64::from(stream.device));
    fields.integer(stream_name, stream.number());
    write_correlation(fields, trace, task.call);
}

fn write_whole_task<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    id: TaskId,
    stream: &'static str,
) {
    let trace = source.trace;
    let task = trace.task(id);
    let call = trace.call(task.call);
    write_process(fields, source, trace.stream(task.stream).process);
    write_place(fields, trace, task, stream);
    fields.unsigned("seq", u64::from(task.sequence));
    let life = trace.life_of(task.stream);
    if life > 1 {
        fields.unsigned("life", u64::from(life));
    }
    if let Some(time) = task.time {
        fields.integer("err_ns", time.error);
        fields.integer("err_device_ns", time.local_error);
    }
    if let Some(wait) = queue_wait(trace, task) {
        fields.integer("queue_ns", wait);
    }
    if let Some(bytes) = bytes_moved(trace, call) {
        fields.unsigned("bytes", bytes);
    }
    if let Some(name) = trace.whole_text(trace.task_name(task)) {
        fields.word("whole_name", name);
    }
    write_event(fields, trace, call);
    write_work(fields, trace, call);
    write_collective(fields, source, (task, call));
    fields.unsigned("call", u64::from(trace.call_number(task.call)));
    if let Some((index, number)) = source.graphs.replayed(trace, id) {
        let graph = &source.graphs.all()[index];
        fields.unsigned("graph", u64::from(graph.serial));
        fields.unsigned("replay", u64::from(number));
        fields.unsigned("nodes", graph.nodes.len() as u64);
    }
}

/// Of a stretch in which a stream did nothing: who is to blame, as far as that is known.
pub(crate) fn write_stall<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    stall: &Stall,
) {
    if source.args != ArgDetail::Full {
        return;
    }
    let stalls = &source.stalls;
    let brief = StallStats::brief(source.trace, &source.dependencies, stalls, stall);
    fields.unsigned("process", u64::from(brief.process));
    fields.word("before", &brief.name);
    fields.unsigned("call", u64::from(brief.site.call));
    if let Some(stream) = brief.culprit_stream_id {
        fields.integer("culprit_stream_id", stream);
    }
    if let Some(task) = &brief.culprit_task {
        fields.word("culprit_task", task);
    }
    if let Some(site) = &brief.culprit_site {
        fields.word("blamed_function", &site.name);
        fields.unsigned("blamed_call", u64::from(site.call));
    }
    if let Some(root) = &brief.root {
        fields.text("root", root);
    }
    if let Some(why) = &brief.why {
        fields.text("why", why);
    }
}

/// Of the making of a graph.
pub(crate) fn write_graph<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    graph: &Graph,
    facts: &ExportTotals,
) {
    if source.args == ArgDetail::None {
        return;
    }
    let trace = source.trace;
    write_process(fields, source, graph.process);
    fields.unsigned("graph", u64::from(graph.serial));
    fields.word("outcome", graph.outcome.name());
    if let Outcome::Failed(code) = graph.outcome {
        fields.integer("code", code);
    }
    if let Some(why) = source.graphs.failure(trace, graph) {
        fields.text("reason", &why.text);
    }
    let refusals = source.graphs.refusals(trace, graph);
    fields.unsigned("refused", refusals.len() as u64);
    let streams = graph.streams().into_iter();
    let streams = streams.map(|id| trace.stream(id).number().to_string());
    fields.text("streams", &streams.collect::<Vec<_>>().join(" "));
    fields.unsigned("nodes", graph.nodes.len() as u64);
    fields.unsigned("replays", facts.replays(graph));
}

/// Bounds of a step of a training loop, and the parts of its time. Readers find them next to the step's
/// name.
pub(crate) fn write_step<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    step: &StepStats,
) {
    if source.args == ArgDetail::None {
        return;
    }
    fields.word(
        "verdict",
        step.verdict.map_or("too few times", Verdict::name),
    );
    if source.args == ArgDetail::Minimal {
        return;
    }
    let times = [
        ("compute_ns", step.compute_ns),
        ("exposed_communication_ns", step.exposed_communication_ns),
        ("exposed_copy_ns", step.exposed_copy_ns),
        ("idle_ns", step.idle_ns),
        ("loading_ns", step.loading_ns),
        ("python_ns", step.python_ns),
        ("planning_ns", step.planning_ns),
        ("queue_ns", step.queue_ns),
        ("launch_ns", step.launch_ns),
    ];
    for (name, time) in times {
        fields.integer(name, time);
    }
    fields.integer("error_ns", step.error_ns);
    fields.unsigned("tasks", step.tasks);
    fields.unsigned("untimed", step.untimed);
}

/// The arguments of a range that a library named after its operation.
pub(crate) fn write_range<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    range: &Range,
) {
    if source.args == ArgDetail::Full && range.message.is_some() {
        let args = range.arguments().into_iter();
        let args = args.map(|(name, value)| format!("{name}={value}"));
        fields.text("arguments", &args.collect::<Vec<_>>().join(", "));
    }
}

/// Of the recording as a whole.
pub(crate) fn write_recording<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    facts: &ExportTotals,
) {
    let trace = source.trace;
    let session = trace.session();
    fields.word("tool", "ascend-trace");
    fields.text("tool_version", &session.tool_version);
    fields.unsigned("trace_format", u64::from(FILE_VERSION));
    fields.text("command", &session.command.join(" "));
    fields.text("host", &session.host);
    fields.text("architecture", &session.architecture);
    fields.text("runtime", &session.runtime);
    fields.text("timing", &session.timing);
    fields.text("start_time", &session.start_time);
    // The first timestamp, on the recording host's CLOCK_MONOTONIC and its other clocks, if they were
    // read.
    let begin = source.part.begin;
    fields.integer("begin_ns", begin);
    for (name, start) in [
        ("begin_boottime_ns", session.start_boottime_ns),
        ("begin_realtime_ns", session.start_realtime_ns),
    ] {
        if start != 0 {
            let passed = begin.saturating_sub(session.start_ns);
            fields.integer(name, start.saturating_add(passed));
        }
    }
    // The recording ended, the tool found no damage in it, and the recorder lost nothing.
    fields.boolean("complete", trace.is_complete());
    fields.boolean("ended", trace.end().is_some());
    fields.boolean("damaged", trace.is_damaged());
    fields.unsigned("calls", facts.calls);
    fields.unsigned("tasks", facts.tasks);
    fields.unsigned("untimed_tasks", facts.untimed_tasks);
    fields.unsigned("lost_calls", trace.losses().calls);
    fields.unsigned("lost_others", trace.losses().others);
    fields.unsigned("left_out_calls", facts.left_out_calls);
    fields.unsigned("left_out_tasks", facts.left_out_tasks);
    // Dependencies that no pair of slices can show.
    fields.unsigned("omitted_flows", facts.omitted_flows);
}

/// Number of the process, where its pid is that of another one before it.
fn write_process<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    process: ProcessId,
) {
    if source.has_pid_of_another(process) {
        let serial = source.trace.process(process).serial;
        fields.unsigned("process", u64::from(serial));
    }
}

/// The same number on a task and on the call that submitted it; never 0, which readers take for none.
pub(crate) fn write_correlation<'t>(
    fields: &mut impl FieldWriter<'t>,
    trace: &Trace,
    call: CallId,
) {
    fields.unsigned("correlation", u64::from(trace.call_number(call)) + 1);
}

/// Operands of an operator, and the direction of a copy.
fn write_work<'t>(fields: &mut impl FieldWriter<'t>, trace: &'t Trace, call: &Call) {
    if let Some(shapes) = trace.shapes(call) {
        fields.text("shapes", &shapes);
    }
    if let Some(direction) = trace.direction(call) {
        fields.word("direction", direction.name());
    }
}

/// Group, data, peer and least bandwidth of a collective. Unknown fields are left out.
fn write_collective<'t>(
    fields: &mut impl FieldWriter<'t>,
    source: &ExportSource<'t>,
    (task, call): (&Task, &Call),
) {
    let Some((collective, ranks)) = source.collective(call) else {
        return;
    };
    let trace = source.trace;
    fields.address("communicator", collective.comm);
    let process = trace.stream(task.stream).process;
    if let Some(name) = trace.name_of(process, collective.comm, call.begin) {
        fields.word("communicator_name", name);
    }
    for (name, value) in [("ranks", ranks), ("elements", collective.count)] {
        if let Some(value) = value {
            fields.unsigned(name, value);
        }
    }
    for (name, value) in [
        ("data_type", collective.data_type),
        ("reduction", collective.operation),
    ] {
        if let Some(value) = value {
            fields.word(name, value);
        }
    }
    if let Some((peer, rank)) = collective.peer {
        fields.unsigned(peer.field(), rank);
    }
    if let Some(size) = collective.size(ranks) {
        fields.unsigned("size", size);
    }
    let least = task
        .time
        .and_then(|time| collective.least_bandwidths(ranks, time));
    if let Some((algorithm, bus)) = least {
        fields.integer("least_algorithm_bandwidth", algorithm as i64);
        fields.integer("least_bus_bandwidth", bus as i64);
    }
}

fn write_event<'t>(fields: &mut impl FieldWriter<'t>, trace: &'t Trace, call: &Call) {
    if let Some(generation) = call.event {
        let serial = trace.event(generation.event).serial;
        fields.unsigned("event_serial", u64::from(serial));
        fields.unsigned("event_generation", u64::from(generation.number));
    }
}

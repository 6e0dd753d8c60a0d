//! Callbacks: from the task that asks for one, to the call in which a thread of the program ran it, and
//! on to the next task of the stream.
//!
//! No call names the callback that it ran. A callback that blocks its stream ends when its task
//! does, and the call that ran it returns then; so the call is found by time.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Role, TaskKind};
use ascend_trace_recording::{CallId, Function, ProcessId, TaskId, Trace};

use super::{Edge, EdgeKind, Node};

/// The argument by which a function that submits callbacks for a thread that the program sets aside for
/// them says whether the stream waits.
fn launch(function: &Function) -> Option<usize> {
    function.part(ArgPart::Blocking)
}

/// Reports that are considered for one callback.
const CANDIDATES: usize = 64;

/// Links all callbacks of a trace.
pub(super) fn link(trace: &Trace, emit: &mut dyn FnMut(Edge)) {
    let is_callback = |function: &Function| launch(function).is_some();
    if !trace.functions().iter().any(is_callback) {
        return;
    }
    let reports = reports(trace);
    for (index, task) in trace.tasks().iter().enumerate() {
        let call = trace.call(task.call);
        let function = trace.function(call.function);
        let Some(blocks) = launch(function).filter(|_| task.kind == TaskKind::HostFunc) else {
            continue;
        };
        let blocks = trace.args(call).get(blocks);
        let blocks = blocks.is_none_or(|value| *value != 0);
        let id = TaskId(index as u32);
        let process = trace.thread(call.thread).process;
        let Some(report) = reports
            .get(&process)
            .and_then(|reports| report(trace, reports, id, blocks))
        else {
            continue;
        };
        emit(Edge {
            kind: EdgeKind::HostFunc,
            from: Node::Task(id),
            to: Node::Call(report),
        });
        if let Some(next) = next(trace, id).filter(|_| blocks) {
            emit(Edge {
                kind: EdgeKind::HostResume,
                from: Node::Call(report),
                to: Node::Task(next),
            });
        }
    }
}

/// The calls that ran callbacks, by process and end.
fn reports(trace: &Trace) -> HashMap<ProcessId, Vec<CallId>> {
    let mut reports: HashMap<ProcessId, Vec<CallId>> = HashMap::new();
    for (index, call) in trace.calls().iter().enumerate() {
        if trace.function(call.function).role == Role::ProcessReport && call.result() == Some(0) {
            let process = trace.thread(call.thread).process;
            reports
                .entry(process)
                .or_default()
                .push(CallId(index as u32));
        }
    }
    for reports in reports.values_mut() {
        reports.sort_by_key(|id| trace.call(*id).end);
    }
    reports
}

fn report(trace: &Trace, reports: &[CallId], task: TaskId, blocks: bool) -> Option<CallId> {
    let time = trace.task(task).time?;
    // However little is known of its time, it did not run before it was asked for.
    let launch = trace.call(trace.task(task).call).begin;
    let begin = time.begin.saturating_sub(time.error).max(launch);
    let first = reports.partition_point(|id| trace.call(*id).end < begin);
    let mut after = reports[first..].iter().copied();
    if !blocks {
        return after.next();
    }
    let distance = |id: &CallId| (trace.call(*id).end - time.end).abs();
    let upto = time.end.saturating_add(time.error);
    let running = after
        .take(CANDIDATES)
        .filter(|id| trace.call(*id).begin <= upto);
    running.min_by_key(distance)
}

/// The task that the stream goes on with after this one.
fn next(trace: &Trace, id: TaskId) -> Option<TaskId> {
    let task = trace.task(id);
    let tasks = trace.stream_tasks(task.stream);
    let after = tasks.partition_point(|it| trace.task(*it).sequence <= task.sequence);
    let mut after = tasks[after..].iter().copied();
    after.find(|it| trace.runs(trace.task(*it)))
}

//! What calls do to captures and graphs.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{ArgPart, Role, TaskKind, Untimed};
use ascend_trace_format::record::pair;

use crate::call_context::Context;
use crate::graphs::{self, GRAPH_SERIALS};
use crate::objects::{self, EventEntry, StreamEntry};
use crate::span::{Span, Step, TaskState};
use crate::timing::capture;

/// The call is about to be made.
pub(crate) fn before(span: &mut Span, call: &Context<'_>) {
    let seen = || capture::seen_for(span.stream, None).unwrap_or(0);
    span.step = match (call.function.role, span.stream) {
        (Role::CaptureBegin, Some(stream)) => Step::Begins(capture::begin(stream)),
        (Role::CaptureEnd, _) => Step::Ends(seen()),
        (Role::TaskGroupBegin | Role::TaskGroupEnd, _) => Step::About(seen()),
        (Role::BindStream, Some(stream)) if !stream.bound.swap(true, Relaxed) => {
            stream.model.store(handle(call), Relaxed);
            Step::Binds
        }
        (Role::UpdateBegin, Some(stream)) if !stream.bound.swap(true, Relaxed) => {
            let group = call.part(ArgPart::TaskGroup).unwrap_or(0);
            stream.update.store(graphs::of_group(group), Relaxed);
            Step::Binds
        }
        (Role::UpdateEnd, Some(stream)) => Step::About(stream.update.load(Relaxed)),
        (Role::UnbindStream | Role::ExecuteGraph | Role::DestroyGraph | Role::UseGraph, _) => {
            Step::About(graphs::serial_of(handle(call)))
        }
        _ => Step::None,
    };
}

/// The handle of the graph that the call names.
fn handle(call: &Context<'_>) -> u64 {
    call.part(ArgPart::Graph).unwrap_or(0)
}

fn event(call: &Context<'_>) -> Option<&'static EventEntry> {
    call.arg(call.function.event).and_then(objects::event)
}

/// A task is about to be submitted. Answers why nothing may be put around it, if that is so.
pub(crate) fn before_task(span: &mut Span, call: &Context<'_>) -> Option<Untimed> {
    let stream = span.stream?;
    if let Some(serial) = capture::of(stream) {
        span.step = Step::Captured(serial);
        return Some(Untimed::Captured);
    }
    let waits = call.function.role == Role::WaitEvent;
    if waits && event(call).is_some_and(capture::carries) {
        span.step = Step::Joining;
        return Some(Untimed::Captured);
    }
    if stream.bound.load(Relaxed) {
        span.step = Step::Bound;
        return Some(Untimed::Bound);
    }
    None
}

/// The call that submits a task has returned; the task has not been numbered yet.
pub(crate) fn after_task(span: &mut Span, call: &Context<'_>, succeeded: bool) {
    let event = event(call);
    let graph = match (span.step, span.stream) {
        (Step::Captured(serial), _) => Some(captured(span, serial, call, succeeded)),
        (Step::Joining, Some(stream)) => joining(span, stream, event, succeeded),
        (Step::Bound, Some(stream)) => Some(bound(stream, succeeded)),
        _ => {
            if let (Role::RecordEvent, Some(event), true) = (call.function.role, event, succeeded) {
                capture::recorded(event, None);
            }
            replayed(call, succeeded)
        }
    };
    // A task of a call within another one belongs to the task of that one.
    if !matches!(span.task, TaskState::None) {
        span.graph = graph;
    }
}

fn captured(span: &Span, serial: u32, call: &Context<'_>, succeeded: bool) -> u64 {
    let event = event(call);
    let is_own = !matches!(span.task, TaskState::None);
    let mut is_node = succeeded && is_own;
    if let (Role::RecordEvent, Some(event)) = (call.function.role, event) {
        let capturable = !event.uncapturable.load(Relaxed);
        is_node &= capturable;
        let draws_in = capturable && !is_external(event, call);
        if succeeded {
            capture::recorded(event, draws_in.then_some(serial));
        }
    }
    if let (Role::WaitEvent, Some(event)) = (call.function.role, event) {
        is_node &= !adds_nothing(event, call);
    }
    if is_node {
        capture::node(serial)
    } else {
        pair(serial, 0)
    }
}

/// Whether a record or wait links the graph to the outside, instead of streams inside it.
fn is_external(event: &EventEntry, call: &Context<'_>) -> bool {
    /// `ACL_EVENT_RECORD_EXTERNAL` and `ACL_EVENT_WAIT_EXTERNAL`.
    const EXTERNAL: u64 = 1;
    let by_flag = call.part(ArgPart::Flags) == Some(EXTERNAL);
    by_flag || event.external.load(Relaxed)
}

/// Whether a wait on a capturing stream is accepted without becoming a node: there is no record of
/// the event to wait for.
fn adds_nothing(event: &EventEntry, call: &Context<'_>) -> bool {
    let is_unrecorded = event.generation.load(Relaxed) == 0;
    is_unrecorded && !event.resettable.load(Relaxed) && !is_external(event, call)
}

fn joining(
    span: &mut Span,
    stream: &StreamEntry,
    event: Option<&EventEntry>,
    succeeded: bool,
) -> Option<u64> {
    let event = event?;
    if !succeeded {
        return Some(pair(event.capture.load(Relaxed), 0));
    }
    match capture::joined(stream, event) {
        Some(serial) => {
            let is_own = !matches!(span.task, TaskState::None);
            is_own.then(|| capture::node(serial))
        }
        None => {
            // The stream did not join after all, so the wait ran on it, unmeasured.
            if let TaskState::Untimed(reason) = &mut span.task {
                *reason = Untimed::NoEvent;
            }
            None
        }
    }
}

fn bound(stream: &StreamEntry, succeeded: bool) -> u64 {
    match stream.model.load(Relaxed) {
        0 => pair(stream.update.load(Relaxed), 0),
        model => match graphs::of(model) {
            Some(graph) if succeeded => graph.node(),
            Some(graph) => graph.whole(),
            None => pair(0, 0),
        },
    }
}

/// A graph was put on a stream as a task.
fn replayed(call: &Context<'_>, succeeded: bool) -> Option<u64> {
    if call.function.task != Some(TaskKind::Graph) {
        return None;
    }
    let graph = graphs::of(handle(call))?;
    Some(if succeeded {
        graph.replay()
    } else {
        graph.whole()
    })
}

/// The call has returned `result`; its record has not been written yet.
pub(crate) fn after(span: &mut Span, call: &Context<'_>, succeeded: bool, result: u64) {
    let whole = |serial: u32| (serial != 0).then(|| pair(serial, 0));
    let graph = match (span.step, span.stream) {
        (Step::Begins(noted), Some(stream)) => {
            if succeeded {
                capture::begun(stream, noted).and_then(whole)
            } else {
                noted.into_iter().for_each(capture::retire);
                None
            }
        }
        (Step::Ends(serial), Some(stream)) => {
            if succeeded {
                whole(capture::completed(stream, handle(call)))
            } else {
                capture::not_completed(stream, result);
                whole(serial)
            }
        }
        (Step::Binds, Some(stream)) => {
            let about = about_binding(stream);
            if !succeeded {
                unbind(stream);
            }
            whole(about)
        }
        (Step::About(serial), _) => about(span, call, serial, succeeded),
        _ if succeeded && call.function.role == Role::BuildGraph => {
            let serial = GRAPH_SERIALS.next();
            graphs::name(handle(call), serial);
            whole(serial)
        }
        _ => None,
    };
    span.graph = span.graph.or(graph);
    if !succeeded && span.graph.is_none() {
        let refused = capture::seen_for(span.stream, event(call));
        span.graph = refused.and_then(whole);
    }
}

/// Serial of the graph of a bound stream, or of the graph with the tasks that the stream updates.
fn about_binding(stream: &StreamEntry) -> u32 {
    match stream.model.load(Relaxed) {
        0 => stream.update.load(Relaxed),
        model => graphs::serial_of(model),
    }
}

fn unbind(stream: &StreamEntry) {
    stream.model.store(0, Relaxed);
    stream.update.store(0, Relaxed);
    stream.bound.store(false, Relaxed);
}

/// A call about a known graph.
fn about(span: &Span, call: &Context<'_>, serial: u32, succeeded: bool) -> Option<u64> {
    let whole = (serial != 0).then(|| pair(serial, 0));
    if !succeeded {
        return whole;
    }
    match call.function.role {
        Role::UnbindStream | Role::UpdateEnd => span.stream.into_iter().for_each(unbind),
        Role::TaskGroupEnd => {
            graphs::name_group(call.part(ArgPart::TaskGroup).unwrap_or(0), serial);
        }
        Role::ExecuteGraph => {
            return graphs::of(handle(call)).map(graphs::GraphEntry::replay);
        }
        Role::DestroyGraph => graphs::forget(handle(call), serial),
        _ => {}
    }
    whole
}

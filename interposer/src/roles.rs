//! What each role does before and after its call.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{ArgKind, ArgPart, Fact, Function, Role, TaskKind, Untimed};
use ascend_trace_format::filter::Subject;
use ascend_trace_format::record::figure::Work;
use ascend_trace_format::record::{pair, unpair};

use crate::call_context::Context;
use crate::clock::ticks;
use crate::contexts::adopt_context;
use crate::filters::{self, LeftOut};
use crate::objects::{self, ContextEntry, EventEntry, STREAM_SERIALS, StreamEntry};
use crate::span::{Hold, Span, TaskState};
use crate::timing::lane::{self, UntimedSubmission};
use crate::timing::operations::Operation;
use crate::timing::proofs::Proof;
use crate::timing::running_waits::Waiting;
use crate::timing::submit::{self, Extent};
use crate::timing::{
    anchor, api, capture, failure, hardware, harvester, runs, synchronised, teardown,
};
use crate::{graph_roles, kernels, last_task, lifecycle, session, streams, until_exit};

/// Memory copy kinds with a source or destination that is host memory, or may be.
const HOST_TO_DEVICE: u64 = 1;
const DEVICE_TO_HOST: u64 = 2;
const BY_ADDRESSES: u64 = 4;

/// Makes sure of the thread that asks for names of kernels, where one is wanted.
fn ask_for_names(is_wanted: bool) {
    if is_wanted {
        harvester::ensure_running();
    }
}

/// The call is about to be made.
pub(crate) fn before(span: &mut Span, call: &Context<'_>) {
    if call.is(Fact::Profiles) {
        hardware::give_way();
    }
    span.stream = match call.is(Fact::EndsGroup) {
        true => {
            // It submits to any streams.
            lane::note_unknown();
            group_stream(call)
        }
        false => resolve_stream(call),
    };
    if session::is_filtered() && !span.left_out.is_so() && is_stream_left_out(span, call) {
        span.left_out = LeftOut::Filtered;
    }
    span.object = event_word(call);
    end_runs(span, call);
    match call.function.role {
        Role::Task | Role::RecordEvent | Role::WaitEvent | Role::ResetEvent => {
            begin_task(span, call);
        }
        Role::Plain if may_submit(call.function) => {
            span.untimed_submission = untimed_submission(span, call)
        }
        Role::ExecuteGraph => {
            span.untimed_submission = untimed_submission(span, call);
            graph_roles::before(span, call);
        }
        Role::ResetDevice | Role::DestroyContext | Role::Finalize => {
            lifecycle::before_end(call);
        }
        Role::SetDevice => hardware::begin(),
        Role::Initialize => {
            call.of_kind(ArgKind::String)
                .into_iter()
                .for_each(hardware::before_init);
        }
        Role::DestroyEvent => lifecycle::event_goes(call),
        Role::UnloadKernels if session::is_timed() => {
            kernels::before_unload(harvester::is_running());
        }
        Role::SyncStream => {
            if let Some(stream) = span.stream {
                span.hold = Hold::Waiting {
                    lasting: Waiting::begin(&stream.seen),
                };
            }
        }
        Role::SyncDevice => {
            if let Some(context) = call.state.context() {
                span.hold = Hold::Waiting {
                    lasting: Waiting::begin(&context.timing.seen),
                };
            }
        }
        Role::SyncEvent => {
            let event = call.arg(call.function.event).and_then(objects::event);
            if let Some((stream, _)) = event.and_then(|event| event.last_record()) {
                span.hold = Hold::Waiting {
                    lasting: Waiting::begin(&stream.seen),
                };
            }
        }
        Role::DestroyStream | Role::AbortStream => {
            let kept_out = span.stream.filter(|_| session::is_timed());
            if let Some(kept_out) = kept_out.and_then(teardown::before_stream_end) {
                span.hold = Hold::Ends(kept_out);
            }
        }
        _ => graph_roles::before(span, call),
    }
    lifecycle::goes(span, call);
}

/// The tasks of a run are timed together: other calls on its stream, and waits for all streams, come after the end of the run.
fn end_runs(span: &Span, call: &Context<'_>) {
    match call.function.role {
        // Known when it is clear whether the task is part of the run.
        Role::Task | Role::RecordEvent | Role::WaitEvent | Role::ResetEvent => {}
        // An event on a stream that has nothing else to do would change the result.
        Role::QueryStream => {}
        Role::SyncDevice | Role::ResetDevice | Role::DestroyContext | Role::Finalize => {
            runs::end_all(call.state);
        }
        _ => {
            if let Some(stream) = span.stream {
                runs::end_of(stream, call.state);
            }
        }
    }
}

/// The call has returned `result`; its record has not been written yet.
pub(crate) fn after(span: &mut Span, call: &Context<'_>, succeeded: bool, result: u64) {
    graph_roles::after(span, call, succeeded, result);
    count_groups(call, succeeded);
    if !succeeded {
        failure::note(call, span.stream, result);
        match call.function.role {
            Role::DestroyEvent => lifecycle::event_stays(call),
            Role::RecordEvent => record_failed(span, call),
            _ => {}
        }
        lifecycle::stays(span, call);
        return;
    }
    match call.function.role {
        Role::RecordEvent => record_submitted(span, call),
        Role::CreateStream => span.stream = lifecycle::stream_created(call),
        Role::CreateEvent => span.object = lifecycle::event_created(call),
        Role::CreateContext => lifecycle::context_created(call),
        Role::SetDevice => lifecycle::device_set(call),
        Role::SetContext => lifecycle::context_set(call),
        Role::GetContext => lifecycle::context_reported(call),
        Role::GetDefaultStream => lifecycle::default_stream_reported(call),
        Role::ResetEvent => event_reset(call),
        Role::GetStreamId => lifecycle::stream_id_reported(span, call),
        Role::Task if call.function.label.is_some() => {
            ask_for_names(kernels::launched(call, span.begin()));
        }
        Role::Plain => name_given(call),
        _ => {}
    }
}

/// A group of collectives begins or ends. One that failed to end has ended as well.
fn count_groups(call: &Context<'_>, succeeded: bool) {
    let groups = &call.state.groups;
    if call.is(Fact::EndsGroup) {
        groups.end();
        lane::note_unknown();
    } else if call.is(Fact::BeginsGroup) && succeeded {
        groups.begin();
    }
}

/// The first stream of the group that the call ends.
fn group_stream(call: &Context<'_>) -> Option<&'static StreamEntry> {
    let (handle, serial) = call.state.groups.ending()?;
    let stream = objects::stream(handle, call.context_serial())?;
    (stream.serial.load(Relaxed) == serial).then_some(stream)
}

/// The call has been recorded: now the work that the program does not wait for.
pub(crate) fn afterwards(span: &Span, call: &Context<'_>, succeeded: bool, end: u64) {
    if !succeeded {
        return;
    }
    match call.function.role {
        Role::SyncStream => after_stream_sync(span, call, end),
        Role::SyncEvent => after_event_sync(call, end),
        Role::QueryEvent => after_query(call),
        Role::QueryStream => after_stream_query(span, call),
        Role::SyncDevice => after_device_sync(span, call, end),
        Role::DestroyStream => lifecycle::stream_destroyed(span, call),
        Role::DestroyEvent => lifecycle::event_has_gone(call),
        Role::ResetDevice => lifecycle::device_reset(call),
        Role::DestroyContext => lifecycle::context_destroyed(span, call),
        Role::Finalize => lifecycle::finalized(call),
        _ => {}
    }
}

/// The stream that the call works on. A stream that was not seen being made is entered now.
fn resolve_stream(call: &Context<'_>) -> Option<&'static StreamEntry> {
    let position = call.function.stream?;
    let is_input = call
        .function
        .args
        .get(usize::from(position))
        .is_some_and(|arg| arg.kind == ArgKind::Stream && !arg.out);
    if !is_input {
        return None;
    }
    let handle = call.arg(Some(position))?;
    if handle == 0 && call.function.role.meaning().annotates {
        // A mark of the host only, where others mean the default stream.
        return None;
    }
    let serial = call.context_serial();
    let stream = match objects::stream(handle, serial) {
        Some(stream) => stream,
        None if handle != 0 => objects::new_stream(handle)?,
        None => return None,
    };
    if stream.serial.load(Relaxed) == 0 {
        stream.begin(STREAM_SERIALS.next(), serial, call.device());
        streams::tell(stream, false);
    }
    Some(stream)
}

/// Whether filters leave out the stream of the call. A stream without a known number is recorded.
#[cold]
fn is_stream_left_out(span: &Span, call: &Context<'_>) -> bool {
    let is_concerned = session::filters_by(Subject::Stream) && filters::can_leave_out(span.traits);
    let (true, Some(stream), Some(rules)) = (is_concerned, span.stream, session::rules()) else {
        return false;
    };
    let adopted = adopt_context(call.state);
    if let (Some(api), Some(_)) = (api::get(), adopted) {
        submit::learn_id(api, stream);
    }
    let number = u32::try_from(stream.acl_id.load(Relaxed)).ok();
    number.is_some_and(|number| !rules.admits_number(Subject::Stream, Some(number)))
}

/// The event that the call works on, and the record of it that the call makes or means.
fn event_word(call: &Context<'_>) -> Option<u64> {
    let handle = call.arg(call.function.event)?;
    let position = usize::from(call.function.event?);
    if call.function.args.get(position).is_some_and(|arg| arg.out) {
        return None;
    }
    let event = match objects::event(handle) {
        Some(event) if event.serial.load(Relaxed) != 0 => event,
        _ => {
            let event = objects::new_event(handle)?;
            lifecycle::begin_event(event, handle, call, 0);
            event
        }
    };
    Some(pair(event.serial.load(Relaxed), event.awaited_generation()))
}

/// The call may have given a kernel its name.
fn name_given(call: &Context<'_>) {
    let key = call.function.names.and_then(|names| call.arg(names.key));
    if let Some(key) = key {
        kernels::named(key);
    }
}

fn event_reset(call: &Context<'_>) {
    if let Some(event) = call.arg(call.function.event).and_then(objects::event) {
        event.reset();
    }
}

/// Whether a call of which nothing else is known may put something on its stream.
fn may_submit(function: &Function) -> bool {
    function.stream.is_some() && !function.facts.has(Fact::Asks)
}

/// Says that something unmeasured may come onto the stream, unless that is part of the task of a call around.
fn untimed_submission(span: &Span, call: &Context<'_>) -> Option<UntimedSubmission> {
    let stream = span.stream.filter(|_| !call.state.in_task())?;
    runs::end_of(stream, call.state);
    UntimedSubmission::enter(stream)
}

/// Whether the call succeeds and submits nothing, because there is nothing to move.
fn moves_nothing(call: &Context<'_>) -> bool {
    let moves = matches!(
        call.function.task,
        Some(TaskKind::Memcpy | TaskKind::Memset)
    );
    moves
        && [ArgPart::Bulk, ArgPart::Rows]
            .into_iter()
            .any(|part| call.part(part) == Some(0))
}

/// A task is about to be submitted.
fn begin_task(span: &mut Span, call: &Context<'_>) {
    if call.is(Fact::EndsGroup) && span.stream.is_none() {
        return;
    }
    if moves_nothing(call) {
        // Other releases of the runtime may do something there.
        span.untimed_submission = untimed_submission(span, call);
        return;
    }
    let entry = ticks();
    let event = call.arg(call.function.event).and_then(objects::event);
    if let (Role::RecordEvent, Some(event)) = (call.function.role, event) {
        let generation = event.record(span.stream, entry);
        span.object = Some(pair(event.serial.load(Relaxed), generation));
    }
    let untouchable = graph_roles::before_task(span, call);
    if call.state.in_task() {
        // It belongs to the task of the enclosing call, and only that has the turn of its stream.
        if let Some(stream) = span
            .stream
            .filter(|stream| !lane::has_turn(call.state, stream))
        {
            lane::pass(stream);
        }
        return;
    }
    let begun = match (span.stream, untouchable) {
        (None, _) => Err(Untimed::Unknown),
        (_, Some(reason)) => Err(reason),
        _ if span.left_out.is_so() => Err(Untimed::Off),
        (Some(stream), None) => {
            measurable(call, event).and_then(|extent| match hardware::times(stream, call) {
                Some(how) => Err(how),
                None => submit::begin(stream, call.state, extent, entry),
            })
        }
    };
    let begun = begun.map_err(|reason| match (reason, span.stream) {
        (Untimed::Grouped, Some(stream)) => in_group(call, stream),
        (reason, _) => reason,
    });
    if begun
        .as_ref()
        .is_err_and(|reason| *reason == Untimed::HostCopy)
    {
        last_task::before_copy(call.state);
    }
    span.task = match begun {
        Ok(submission) => TaskState::Timed(submission),
        Err(reason) => TaskState::Untimed(reason),
    };
    if let (TaskState::Untimed(_), Some(stream)) = (&span.task, span.stream) {
        runs::end_of(stream, call.state);
        span.untimed_submission = UntimedSubmission::enter(stream);
    }
}

/// Why a call of a group has no time. The end of the group has that of the work on its first stream.
fn in_group(call: &Context<'_>, stream: &StreamEntry) -> Untimed {
    let handle = call.arg(call.function.stream).unwrap_or(0);
    let serial = stream.serial.load(Relaxed);
    match call.state.groups.name(handle, serial) {
        true => Untimed::InGroup,
        false => Untimed::Grouped,
    }
}

/// The event of a record that has returned, and the record's generation.
fn recorded(span: &Span, call: &Context<'_>) -> Option<(&'static EventEntry, u32)> {
    let event = call.arg(call.function.event).and_then(objects::event)?;
    let (serial, generation) = span.object.map(unpair)?;
    (event.serial.load(Relaxed) == serial).then_some((event, generation))
}

fn record_submitted(span: &Span, call: &Context<'_>) {
    if let (Some((event, generation)), Some(stream)) = (recorded(span, call), span.stream) {
        event.was_recorded(stream, generation);
    }
}

/// Waits that follow are for the record before this one.
fn record_failed(span: &Span, call: &Context<'_>) {
    if let Some((event, generation)) = recorded(span, call) {
        event.take_back(generation);
    }
}

/// Whether the task can have a device time at all.
fn measurable(call: &Context<'_>, event: Option<&EventEntry>) -> Result<Extent, Untimed> {
    if !session::is_timed() {
        return Err(Untimed::Off);
    }
    if !until_exit::is_allowed() {
        return Err(Untimed::Lost);
    }
    if !call.function.timed {
        return Err(Untimed::Bound);
    }
    let is_collective = call.function.task == Some(TaskKind::Collective);
    if is_collective && call.state.groups.is_open() && !call.is(Fact::EndsGroup) {
        return Err(Untimed::Grouped);
    }
    if call.function.task == Some(TaskKind::Memcpy) && copies_on_host(call) {
        return Err(Untimed::HostCopy);
    }
    // For events of other kinds that is no wait.
    let awaits =
        |event: &EventEntry| event.resettable.load(Relaxed) && event.awaited_generation() == 0;
    Ok(match call.function.role {
        Role::RecordEvent => Extent::Moment,
        Role::WaitEvent if event.is_some_and(awaits) => Extent::OpenWait,
        _ => match call.function.task.and_then(Work::of) {
            Some(work) => Extent::Work(work, operation(call)),
            None => Extent::Span,
        },
    })
}

/// The operation of a call, for comparison with others.
fn operation(call: &Context<'_>) -> Operation {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(MIX);
    let function = core::ptr::from_ref(call.function) as u64;
    let (mut exact, mut rough) = (function, function);
    let name = call.arg(call.function.label).unwrap_or(0);
    for (arg, word) in call.function.args.iter().zip(call.args) {
        // Addresses, and values such as that of a fill, hardly change the duration.
        let is_left_out = matches!(
            arg.kind,
            ArgKind::Pointer | ArgKind::Handle | ArgKind::Stream | ArgKind::Int
        );
        if arg.kind != ArgKind::Stream {
            exact = mix(exact, *word);
        }
        if !is_left_out {
            rough = mix(rough, *word);
        }
    }
    let in_row = mix(mix(rough, name), 3) >> 32;
    Operation::of((mix(exact, 1) >> 32) as u32, (mix(rough, 2) >> 32) as u32).named(in_row as u32)
}

/// Whether an asynchronous copy will be done by the host after a synchronisation, because its
/// host side is pageable.
fn copies_on_host(call: &Context<'_>) -> bool {
    let (source, destination) = (call.part(ArgPart::Source), call.part(ArgPart::Destination));
    let host_sides = match call.part(ArgPart::Direction) {
        Some(HOST_TO_DEVICE) => [source, None],
        Some(DEVICE_TO_HOST) => [None, destination],
        Some(BY_ADDRESSES) => [source, destination],
        _ => return false,
    };
    let Some(api) = api::get() else { return false };
    // No question about no address: it would fail, and leave that behind.
    let mut addresses = host_sides
        .into_iter()
        .flatten()
        .filter(|address| *address != 0);
    addresses.any(|address| api.is_pageable(address) == Some(true))
}

/// How often a synchronising thread compares the clocks for us.
const ANCHOR_NS: u64 = 10_000_000;

fn after_stream_sync(span: &Span, call: &Context<'_>, end: u64) {
    let Some(stream) = span.stream else { return };
    if !session::is_timed() || call.state.in_callback() {
        return;
    }
    stream.seen.knows(span.begin());
    synchronised::after_stream_sync(
        stream,
        Proof {
            begin: span.begin(),
            end,
        },
    );
    anchor_on(stream, call);
}

/// Compares the clocks in the program's thread, at its expense.
fn compare(api: &api::Api, context: &'static ContextEntry, stream: u64) {
    let begin = ticks();
    anchor::take(api, context, stream, ANCHOR_NS);
    synchronised::spent_since(begin);
}

/// The stream has just run dry, so a record on it is done at once.
fn anchor_on(stream: &'static StreamEntry, call: &Context<'_>) {
    let (Some(context), Some(api)) = (call.state.context(), api::get()) else {
        return;
    };
    let owned = stream.context.load(Relaxed) == context.serial.load(Relaxed);
    let is_left_alone = stream.is_for_models() || capture::of(stream).is_some();
    if owned && context.timing.is_open() && !is_left_alone {
        compare(api, context, stream.handle());
    }
}

fn after_event_sync(call: &Context<'_>, end: u64) {
    if !session::is_timed() || call.state.in_callback() {
        return;
    }
    let event = call.arg(call.function.event).and_then(objects::event);
    if let Some((stream, recorded)) = event.and_then(|event| event.last_record()) {
        event.into_iter().for_each(EventEntry::was_seen);
        synchronised::after_event_sync(
            stream,
            Proof {
                begin: recorded,
                end,
            },
        );
    }
    anchor_on_default(call);
}

fn after_device_sync(span: &Span, call: &Context<'_>, end: u64) {
    if !session::is_timed() || call.state.in_callback() {
        return;
    }
    let Some(context) = call.state.context() else {
        return;
    };
    context.timing.seen.knows(span.begin());
    synchronised::after_context_sync(
        context,
        Proof {
            begin: span.begin(),
            end,
        },
    );
    anchor_on_default(call);
}

/// The program has asked whether an event is done.
fn after_query(call: &Context<'_>) {
    let done = u64::from(!call.is(Fact::ZeroWhenDone));
    // One without a status succeeds once the event is done.
    let is_complete = call
        .part(ArgPart::Status)
        .is_none_or(|status| status == done);
    if is_complete && let Some(event) = call.arg(call.function.event).and_then(objects::event) {
        event.was_seen();
    }
}

/// A run may be under way on the stream. It ends now if the stream is still busy. Else its end is not known.
fn after_stream_query(span: &Span, call: &Context<'_>) {
    let Some(stream) = span.stream else { return };
    match call.part(ArgPart::Status) {
        None | Some(0) => runs::give_up_of(stream),
        Some(_) => runs::end_of(stream, call.state),
    }
}

/// Compares the clocks on the default stream, which the program may never have used.
fn anchor_on_default(call: &Context<'_>) {
    if let (Some(context), Some(api)) = (call.state.context(), api::get())
        && context.timing.is_open()
    {
        compare(api, context, 0);
    }
}

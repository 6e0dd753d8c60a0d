//! Creation and end of processes, contexts, streams and events.

use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::api::{ArgKind, ArgPart, Fact, Role};
use ascend_trace_format::record::{kinds, pair};

use crate::call_context::Context;
use crate::contexts::{begin_context, begin_if_new, refresh_context};
use crate::objects::{
    self, ContextEntry, EVENT_SERIALS, EventEntry, EventKind, STREAM_SERIALS, StreamEntry,
};
use crate::span::{Hold, Span};
use crate::thread::ThreadState;
use crate::thread::upper_layers::{self, Duties};
use crate::timing::{
    api, capture, card, counters, driver, hardware, harvester, host_functions, lane, reference,
    schedule, teardown,
};
use crate::{
    attach, cost, emit, engine, fast_tls, first_records, graphs, kernels, libc_wrappers, libraries,
    loader, meter, ranges, session, streams, syscall_policy, thread, until_exit,
};

/// The library has been loaded.
extern "C" fn loaded() {
    session::note_begun();
    schedule::note();
    if !loader::walk::is_late_now() {
        fast_tls::note_fixed();
    }
    libc_wrappers::prepare();
    take_duties_on();
    thread::prepare_thread_end(thread_ends);
    loader::fork_guard::watch();
    session::join();
    loader::weak::sweep_if_new();
    loader::slots::sweep_if_new();
    libraries::tell_new();
    engine::look();
}

/// The process is ending in an orderly way, and destructors of the runtime's may have run: it is not
/// called any more.
extern "C" fn unloaded() {
    libraries::tell_new();
    at_end(cost::tell_all);
    session::armed::unlist();
}

/// The process is ending in an orderly way, and the runtime still works: its exit handlers were
/// registered before, and run after this. The last available times are read. From then on the tracer
/// calls it only in this thread, inside the program's calls.
extern "C" fn exiting() {
    // In a forked child that has recorded nothing, all there is of this belongs to its parent.
    if !session::is_settled() {
        return;
    }
    at_end(|_| hardware::at_exit());
    harvester::stop();
    at_end(|state| {
        if session::is_timed() {
            emit::rename(state);
            kernels::ask_wanted(state);
            teardown::at_exit();
        }
        cost::tell_all(state);
    });
    if session::is_timed() {
        until_exit::close();
    }
}

fn at_end(action: impl FnOnce(&ThreadState)) {
    // A child without records has nothing to report.
    if !session::is_settled() {
        return;
    }
    thread::with(|state| state.at_work(action));
}

/// What lower layers need of this one.
pub(crate) fn take_duties_on() {
    static DUTIES: Duties = Duties {
        become_child,
        look_for_recorder: attach::look_for_recorder,
        leave: attach::leave,
        exiting,
    };
    upper_layers::take_on(&DUTIES);
}

/// A thread ends.
unsafe extern "C" fn thread_ends(_: *mut c_void) {
    thread::with(|state| {
        state.end(|state, meter| {
            emit::rename(state);
            if let Some(meter) = meter {
                meter.release(state);
            }
        });
    });
}

#[cfg(not(test))]
#[used]
// SAFETY: the loader calls the functions of this section, without arguments that are used here.
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

#[cfg(not(test))]
#[used]
// SAFETY: as above, at the end of the process.
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

#[cfg(test)]
#[test]
fn hooks_for_loading_are_callable_without_a_session() {
    loaded();
    unloaded();
    assert!(!session::is_on());
}

/// This process turns out to be a forked child.
#[cold]
fn become_child(state: &ThreadState) {
    lane::all().for_each(lane::Lane::forget);
    objects::forget_all();
    capture::forget();
    graphs::forget_all();
    kernels::forget();
    counters::forget();
    meter::forget();
    until_exit::forget();
    reference::forget();
    driver::forget();
    card::forget();
    hardware::forget();
    host_functions::forget();
    ranges::forget();
    harvester::forget();
    first_records::announce_again();
    state.forget_parent();
    if !syscall_policy::is_allowed() {
        // Nobody may ask who this is.
        session::turn_off();
        return;
    }
    session::become_child();
}

pub(crate) fn device_set(call: &Context<'_>) {
    let Some(device) = call.of_kind(ArgKind::Device) else {
        return;
    };
    let Some(context) = objects::default_context(device as u32) else {
        return;
    };
    context.references.fetch_add(1, Relaxed);
    begin_if_new(context, device as u32);
    call.state.set_context(Some(context));
}

pub(crate) fn context_created(call: &Context<'_>) {
    let Some(handle) = call.of_kind(ArgKind::Context) else {
        return;
    };
    let Some(context) = objects::new_context(handle) else {
        return;
    };
    context.handle.store(handle, Relaxed);
    context.alias.store(0, Relaxed);
    begin_context(context, call.of_kind(ArgKind::Device).unwrap_or(0) as u32);
    call.state.set_context(Some(context));
}

pub(crate) fn context_set(call: &Context<'_>) {
    let context = call.of_kind(ArgKind::Context).and_then(objects::context);
    call.state.set_context(context);
}

pub(crate) fn context_reported(call: &Context<'_>) {
    if let (Some(context), Some(handle)) = (call.state.context(), call.of_kind(ArgKind::Context))
        && context.is_default()
    {
        objects::name_default_context(context, handle);
    }
}

pub(crate) fn default_stream_reported(call: &Context<'_>) {
    let serial = call.context_serial();
    if let Some(handle) = call.arg(call.function.stream)
        && serial != 0
    {
        // The entry first, so that the alias leads somewhere.
        if objects::stream(0, serial).is_some() {
            objects::name_default_stream(serial, handle);
        }
    }
}

pub(crate) fn stream_created(call: &Context<'_>) -> Option<&'static StreamEntry> {
    if session::is_timed() {
        refresh_context(call.state);
    }
    let stream = objects::new_stream(call.arg(call.function.stream)?)?;
    stream.begin(STREAM_SERIALS.next(), call.context_serial(), call.device());
    stream.was_made.store(true, Relaxed);
    stream.flags.store(flags_of(call, stream), Relaxed);
    stream
        .priority
        .store(call.part(ArgPart::Priority).unwrap_or(0) as u32, Relaxed);
    let id = known_id(stream);
    if let Some(id) = id {
        stream.acl_id.store(id, Relaxed);
        stream.id_known.store(true, Relaxed);
    }
    streams::tell(stream, id.is_some());
    Some(stream)
}

/// The runtime's number of a stream that has just been made: it succeeds for such a stream. A stream that is only used in captures
/// has no other occasion.
fn known_id(stream: &StreamEntry) -> Option<i32> {
    let api = api::get().filter(|_| session::is_timed())?;
    api.stream_id(stream.handle())
}

/// The flags that a stream was made with. Where they are in a configuration, the runtime is asked.
fn flags_of(call: &Context<'_>, stream: &StreamEntry) -> u32 {
    match call.part(ArgPart::Flags) {
        Some(flags) => flags as u32,
        None if call.part(ArgPart::Configuration).is_some() => api::get()
            .and_then(|api| api.stream_flags(stream.handle()))
            .unwrap_or(0),
        None => 0,
    }
}

pub(crate) fn stream_id_reported(span: &Span, call: &Context<'_>) {
    if let (Some(stream), Some(id)) = (span.stream, call.part(ArgPart::StreamId)) {
        stream.acl_id.store(id as i32, Relaxed);
        stream.id_known.store(true, Relaxed);
        streams::tell(stream, true);
    }
}

pub(crate) fn stream_destroyed(span: &Span, call: &Context<'_>) {
    let Some(stream) = span.stream else { return };
    if let Hold::Ends(kept_out) = &span.hold {
        teardown::after_stream_end(stream, kept_out, is_forced(call));
    }
    capture::stream_ended(stream);
    if span.ends_stream {
        objects::stream_has_gone(stream);
    }
}

/// `ACL_EVENT_SYNC`: streams may wait for the event.
const SYNC: u32 = 1;
/// `ACL_EVENT_TIME_LINE`.
const TIME_LINE: u32 = 8;
/// `ACL_EVENT_EXTERNAL`.
const EXTERNAL: u32 = 0x20;
const MADE_EX: u8 = 2;

/// How an event was created, as the trace names it.
fn creation_kind(call: &Context<'_>) -> u8 {
    match (call.is(Fact::ByFlags), call.is(Fact::Unbound)) {
        (true, _) => 1,
        (_, true) => MADE_EX,
        _ => 0,
    }
}

pub(crate) fn event_created(call: &Context<'_>) -> Option<u64> {
    let handle = call.arg(call.function.event)?;
    let event = objects::new_event(handle)?;
    let flags = call.part(ArgPart::Flags).unwrap_or(0) as u32;
    begin_event(event, handle, call, flags);
    Some(pair(event.serial.load(Relaxed), 0))
}

/// An event comes into being, or is used without having been seen being made.
pub(crate) fn begin_event(event: &EventEntry, handle: u64, call: &Context<'_>, flags: u32) {
    let creation = creation_kind(call);
    let kind = EventKind {
        resettable: creation == 1,
        uncapturable: creation == MADE_EX && flags & SYNC == 0,
        external: creation == 1 && flags & EXTERNAL != 0,
        timeline: flags & TIME_LINE != 0
            || call.is(Fact::KeepsTimes)
            || call.function.role != Role::CreateEvent,
    };
    event.begin(
        EVENT_SERIALS.next(),
        kind,
        (call.context_serial(), flags, creation),
    );
    emit::from_inside(&kinds::Event {
        handle,
        ..event.description()
    });
}

/// An event is about to be destroyed. Its handle may be given to another thread's event before the call has
/// returned, so it is free from now on.
pub(crate) fn event_goes(call: &Context<'_>) {
    if let Some(handle) = call.arg(call.function.event) {
        objects::event_is_gone(handle);
    }
}

/// An event could not be destroyed.
pub(crate) fn event_stays(call: &Context<'_>) {
    if let Some(handle) = call.arg(call.function.event) {
        objects::event_is_back(handle);
    }
}

/// An event has been destroyed.
pub(crate) fn event_has_gone(call: &Context<'_>) {
    if let Some(handle) = call.arg(call.function.event) {
        objects::event_has_gone(handle);
    }
}

/// The object of a destroying call is about to end; as for events.
pub(crate) fn goes(span: &mut Span, call: &Context<'_>) {
    match call.function.role {
        Role::DestroyStream => {
            span.ends_stream = span.stream.is_some_and(objects::stream_is_gone);
        }
        Role::DestroyContext => {
            let context = call.of_kind(ArgKind::Context);
            span.ends_context = context.and_then(objects::context_is_gone);
        }
        _ => {}
    }
}

/// It could not be destroyed.
pub(crate) fn stays(span: &Span, call: &Context<'_>) {
    match call.function.role {
        Role::DestroyStream if span.ends_stream => {
            span.stream.into_iter().for_each(objects::stream_is_back);
        }
        Role::DestroyContext if span.ends_context.is_some() => {
            let context = call.of_kind(ArgKind::Context);
            context.into_iter().for_each(objects::context_is_back);
        }
        _ => {}
    }
}

/// A device is about to be reset, a context destroyed, or the runtime finalised: times that would be
/// lost with it are read first.
pub(crate) fn before_end(call: &Context<'_>) {
    if !session::is_timed() {
        return;
    }
    let end = |context: &'static ContextEntry| {
        let current = call.state.context();
        let is_current = current.is_some_and(|current| core::ptr::eq(current, context));
        teardown::before_context_end(context, is_current);
    };
    match call.function.role {
        Role::ResetDevice => {
            hardware::flush();
            let Some(device) = call.of_kind(ArgKind::Device).map(|id| id as u32) else {
                return;
            };
            let Some(default) = objects::default_context(device) else {
                return;
            };
            if is_forced(call) || default.references.load(Relaxed) <= 1 {
                end(default);
            }
            if is_forced(call) {
                let others = objects::contexts().filter(|context| {
                    context.device.load(Relaxed) == device && !core::ptr::eq(*context, default)
                });
                others.for_each(teardown::before_forced_reset);
            }
        }
        Role::DestroyContext => {
            if let Some(context) = call.of_kind(ArgKind::Context).and_then(objects::context) {
                end(context);
            }
        }
        // Finalising without a reset: only finished times are available.
        _ => {
            hardware::flush();
            kernels::before_unload(harvester::is_running());
            teardown::at_exit();
        }
    }
}

fn is_forced(call: &Context<'_>) -> bool {
    call.is(Fact::Forced)
}

fn end_context(call: &Context<'_>, context: &'static ContextEntry) {
    let serial = context.serial.swap(0, Relaxed);
    capture::context_ended(serial);
    if serial != 0 {
        objects::forget_streams_of(serial);
    }
    if call.state.context().is_none() {
        call.state.set_context(None);
    }
}

pub(crate) fn device_reset(call: &Context<'_>) {
    let Some(device) = call.of_kind(ArgKind::Device) else {
        return;
    };
    let Some(context) = objects::default_context(device as u32) else {
        return;
    };
    let before = context.references.load(Relaxed);
    let left = if is_forced(call) {
        0
    } else {
        before.saturating_sub(1)
    };
    context.references.store(left, Relaxed);
    if left == 0 {
        end_context(call, context);
        // Last: it may be another one from here on.
        objects::forget_context(context);
    }
}

pub(crate) fn context_destroyed(span: &Span, call: &Context<'_>) {
    if let (Some(context), Some(handle)) = (span.ends_context, call.of_kind(ArgKind::Context)) {
        end_context(call, context);
        objects::context_has_gone(handle, context);
    }
}

pub(crate) fn finalized(call: &Context<'_>) {
    // A reference count that does not reach zero leaves everything as it was.
    if call.part(ArgPart::Users).is_some_and(|count| count != 0) {
        return;
    }
    for context in objects::contexts() {
        context.timing.close();
        reference::abandon(context);
    }
}

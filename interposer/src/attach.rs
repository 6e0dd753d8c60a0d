//! Joins and leaves the sessions of recorders that attach to this process.
//!
//! Objects were followed until then, and the program's tasks were not. So the session gets the objects that exist, and nothing
//! that was submitted before is known: no task of the tool follows another directly, and the program may have records that it has
//! not seen done.

use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::kinds;

use crate::clock::ticks;
use crate::loader::walk;
use crate::objects;
use crate::session::armed;
use crate::thread::ThreadState;
use crate::timing::{capture, card, counters, driver, harvester, lane, reference};
use crate::{
    emit, first_records, kernels, large_stack, libraries, paused, session, stacks, streams,
    symbol_lookups,
};

/// Joins the session of the recorder that has asked for this process. Without such a recorder, it does nothing.
#[cold]
pub(crate) fn look_for_recorder(state: &ThreadState) {
    let Some(joining) = armed::begin_joining() else {
        return;
    };
    begin_again();
    armed::publish(&joining);
    if state.is_behind() {
        state.leave_session();
    }
    state.at_work(tell_objects);
    tell_lookups();
    armed::end_joining(&joining);
    let takes_times = session::is_timed() && session::sampling() != 0;
    if takes_times && objects::contexts().any(|context| context.timing.is_open()) {
        harvester::ensure_running();
    }
}

/// The recorder is done with this process. The thread that reads times gives the session back when it has read the last ones.
pub(crate) fn leave() {
    if armed::begin_leaving() && !harvester::is_running() {
        armed::end_leaving();
    }
}

/// Nothing is known to the session of what earlier ones knew.
fn begin_again() {
    paused::begin_again();
    first_records::announce_again();
    libraries::begin_again();
    stacks::begin_again();
    counters::begin_again();
    reference::tell_again();
    driver::forget();
    card::forget();
    kernels::ask_again();
    lane::begin_again();
    if walk::is_late() {
        capture::distrust();
    }
    objects::begin_again(ticks());
}

/// Records the objects that exist.
fn tell_objects(_: &ThreadState) {
    for context in objects::contexts() {
        context.timing.begin_again();
        emit::from_inside(&kinds::Context {
            serial: context.serial.load(Relaxed),
            device: context.device.load(Relaxed),
            handle: context.handle.load(Relaxed),
            is_default: context.is_default(),
        });
    }
    for stream in objects::streams() {
        streams::tell(stream, stream.id_known.load(Relaxed));
    }
    for event in objects::events() {
        emit::from_inside(&event.description());
    }
}

/// Records the libraries of AscendCL, and the functions that the program has fetched by name.
fn tell_lookups() {
    large_stack::run(|| {
        libraries::tell_new();
        symbol_lookups::tell_again();
        Some(())
    });
}

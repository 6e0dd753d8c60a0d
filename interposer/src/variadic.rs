//! Functions that take a variable number of arguments. Such a call cannot be wrapped, since its
//! arguments are not known: it is recorded when it begins, without a duration, and passed on.

use ascend_trace_format::api::Function;
use ascend_trace_format::record::Call;

use crate::clock::ticks;
use crate::emit::{self, CallRecord};
use crate::errno::Errno;
use crate::functions::FUNCTIONS;
use crate::register_entry::save_ask_and_go;
use crate::thread::{Admission, AtWork, ThreadState};
use crate::{function_facts, real, session, thread};

/// The body of a wrapper: continues at the result of [`enter`], with unchanged arguments.
#[cfg(target_arch = "x86_64")]
macro_rules! variadic {
    ($id:literal) => {
        core::arch::naked_asm!("push {id}", "jmp ascend_trace_variadic", id = const $id)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! variadic {
    ($id:literal) => {
        core::arch::naked_asm!("mov w16, #{id}", "b ascend_trace_variadic", id = const $id)
    };
}

pub(crate) use variadic;

save_ask_and_go!("ascend_trace_variadic", enter);

/// A wrapper has been entered: records the call and returns the real function.
pub(crate) unsafe extern "C" fn enter(id: u32, words: *const u64) -> usize {
    let id = id as usize;
    let Some(address) = real::address(id) else {
        real::missing(id);
    };
    if let Some(function) = FUNCTIONS.get(id) {
        // SAFETY: the saved registers hold at least as many words as such a function has arguments
        // before the variable ones; the table's generator sees to it.
        let words = unsafe { core::slice::from_raw_parts(words, function.args.len()) };
        thread::with(|state| record(state, id, function, words));
    }
    address
}

fn record(state: &ThreadState, id: usize, function: &'static Function, args: &[u64]) {
    let Some(traits) = function_facts::of(id) else {
        return;
    };
    if !traits.is_followed && session::passes(false) {
        return;
    }
    let _shield = state.shield();
    let _errno = Errno::save();
    match state.admit(thread::stack()) {
        Admission::Straight => {}
        Admission::Inside => return state.count_lost(),
        Admission::Past => return,
    }
    let now = ticks();
    let at_work = AtWork::new(now);
    state.work(&at_work);
    let record = CallRecord {
        function,
        traits,
        call: Call {
            depth: state.depth(),
            device: state.device(),
            ..Call::plain(id as u16, (now, now), args)
        },
    };
    emit::record_call(state, &record);
    state.rest();
}

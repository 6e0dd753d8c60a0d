//! Writing records into the calling thread's channel.

use core::ffi::c_char;

use ascend_trace_format::api::ArgKind;
use ascend_trace_format::record::MAX_STRING;
use ascend_trace_format::record::call::{ArgText, NO_TEXTS};

use crate::given;
use crate::integers::{self, List};
use crate::introduce::{own_name, thread_name};
use crate::thread::ThreadState;
use crate::thread::publish::{publish, publish_query};

pub(crate) use crate::returned::CallRecord;
pub(crate) use crate::thread::publish::{from_inside, put_aside, record};

/// Records a call. Answers whether it was the first one to go into a new segment.
#[inline]
pub(crate) fn call(state: &ThreadState, record: &CallRecord<'_>) -> bool {
    if record.traits.is_query {
        return publish_query(state, &record.call);
    }
    if !record.traits.has_strings {
        return publish(state, &record.call, NO_TEXTS);
    }
    let list = integers::of(record);
    publish(state, &record.call, Some(strings(record, list.as_ref())))
}

/// The arguments of a call that are recorded as texts; `None` for NULL.
fn strings<'a>(
    record: &'a CallRecord<'_>,
    list: Option<&'a List>,
) -> impl Iterator<Item = ArgText<'a>> + Clone {
    let texts = record.function.args.iter().zip(record.call.args);
    texts
        .filter(|(arg, _)| arg.kind.is_text() && !arg.out)
        .map(move |(arg, word)| match arg.kind {
            ArgKind::Integers | ArgKind::Scalar | ArgKind::RootInfo => list.and_then(List::text),
            _ => text(*word),
        })
}

/// The string at an address that the program passed to the runtime, cut to the capacity of a record.
fn text<'a>(address: u64) -> Option<&'a [u8]> {
    let start = address as usize as *const c_char;
    if start.is_null() {
        return None;
    }
    let most = given::readable(start as usize, MAX_STRING);
    if most == 0 {
        return None;
    }
    // SAFETY: the table calls an argument a string only if the runtime reads it up to its NUL; reading
    // stops there or at the limit: at the nearer one.
    let length = unsafe { libc::strnlen(start, most) };
    // SAFETY: `length` bytes were just read.
    Some(unsafe { core::slice::from_raw_parts(start.cast::<u8>(), length) })
}

/// The thread's name may have changed: most are named after they have begun.
pub(crate) fn rename(state: &ThreadState) {
    let name = own_name();
    if state.changes_name(name) {
        state.record(|producer| thread_name(producer, &name));
    }
}

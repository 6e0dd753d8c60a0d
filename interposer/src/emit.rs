//! Writing records into the calling thread's channel.

use core::ffi::c_char;

use ascend_trace_format::api::ArgKind;
use ascend_trace_format::long_text::Reference;
use ascend_trace_format::record::MAX_STRING;
use ascend_trace_format::record::call::{ArgText, NO_TEXTS};

use crate::first_records::{own_name, thread_name};
use crate::integers::{self, List};
use crate::long_texts;
use crate::thread::ThreadState;
use crate::thread::publish::{publish, publish_query};

pub(crate) use crate::call_record::CallRecord;
pub(crate) use crate::thread::publish::{from_inside, put_aside, record};

/// Records a call. Returns whether it was the first one to go into a new segment.
#[inline]
pub(crate) fn record_call(state: &ThreadState, record: &CallRecord<'_>) -> bool {
    if record.traits.is_query {
        return publish_query(state, &record.call);
    }
    if !record.traits.has_strings {
        return publish(state, &record.call, NO_TEXTS);
    }
    let list = integers::of(record);
    let long = long_string_references(state, record);
    publish(
        state,
        &record.call,
        Some(argument_texts(record, list.as_ref(), long.as_ref())),
    )
}

/// Upper bound of the string arguments of a function.
const MOST_STRINGS: usize = 4;

/// References to the strings of a call that are too long for its record, by position.
type References = [Option<Reference>; MOST_STRINGS];

/// The addresses of the strings of a call.
fn string_addresses<'a>(record: &'a CallRecord<'_>) -> impl Iterator<Item = u64> + 'a {
    let args = record.function.args.iter().zip(record.call.args);
    args.filter(|(arg, _)| arg.kind == ArgKind::String && !arg.out)
        .map(|(_, word)| *word)
}

/// Records the long strings of a call; `None` when it has none.
#[inline]
fn long_string_references(state: &ThreadState, record: &CallRecord<'_>) -> Option<References> {
    let mut all = string_addresses(record).map(|word| text(word, MAX_STRING + 1));
    let is_long = all.any(|text| text.is_some_and(|it| it.len() > MAX_STRING));
    is_long.then(|| record_long_strings(state, record))
}

#[cold]
fn record_long_strings(state: &ThreadState, record: &CallRecord<'_>) -> References {
    let mut references = [const { None }; MOST_STRINGS];
    for (place, word) in references.iter_mut().zip(string_addresses(record)) {
        // SAFETY: as in `text`.
        let whole = unsafe { long_texts::whole_c_string(word as usize as *const c_char) };
        *place = whole.and_then(|it| long_texts::reference(state, it));
    }
    references
}

/// The arguments of a call that are recorded as texts; `None` for NULL.
fn argument_texts<'a>(
    record: &'a CallRecord<'_>,
    list: Option<&'a List>,
    long: Option<&'a References>,
) -> impl Iterator<Item = ArgText<'a>> + Clone {
    let args = record.function.args.iter().zip(record.call.args);
    let mut references = long.into_iter().flatten();
    args.filter(|(arg, _)| arg.kind.is_text() && !arg.out)
        .map(move |(arg, word)| match arg.kind {
            ArgKind::String => match references.next() {
                Some(Some(reference)) => Some(reference.bytes()),
                _ => text(*word, MAX_STRING),
            },
            _ => list.and_then(List::text),
        })
}

/// At most the first `most` bytes of the string at an address that the program passed to the runtime.
pub(crate) fn text<'a>(address: u64, most: usize) -> Option<&'a [u8]> {
    // SAFETY: the table calls an argument a string only if the runtime reads it up to its NUL.
    unsafe { long_texts::c_string(address as usize as *const c_char, most) }
}

/// Records the thread's name again if it changed: most threads get a name after their start.
pub(crate) fn rename(state: &ThreadState) {
    let name = own_name();
    if state.changes_name(name) {
        state.record(|producer| thread_name(producer, &name));
    }
}

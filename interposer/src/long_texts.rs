//! Texts that are longer than a record has room for. Their bytes are recorded once, and records refer to them.

use core::ffi::c_char;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::long_text::{KEPT, MOST, Reference};
use ascend_trace_format::record::{MAX_LONG_TEXT, MAX_STRING, Text, kinds};

use crate::first_records::tell;
use crate::readable_memory;
use crate::session;
use crate::thread::ThreadState;

/// Recorded texts, by hash and process. A text that loses its place is recorded again at its next use.
static RECORDED: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];

/// The first bytes of the C string at an address that the program passed: `most` at most.
///
/// # Safety
/// There is a C string at the address, if memory there can be read.
pub(crate) unsafe fn c_string<'a>(start: *const c_char, most: usize) -> Option<&'a [u8]> {
    if start.is_null() {
        return None;
    }
    let most = readable_memory::readable(start as usize, most);
    if most == 0 {
        return None;
    }
    // SAFETY: reading stops at the NUL or at the limit: at the nearer one.
    let length = unsafe { libc::strnlen(start, most) };
    // SAFETY: `length` bytes were just read.
    Some(unsafe { core::slice::from_raw_parts(start.cast::<u8>(), length) })
}

/// The same, as far as texts are read. Nearly all are short, so no more memory is looked at for them.
///
/// # Safety
/// As [`c_string`].
pub(crate) unsafe fn whole_c_string<'a>(start: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: as demanded.
    let text = unsafe { c_string(start, MAX_STRING + 1) }?;
    if text.len() <= MAX_STRING {
        return Some(text);
    }
    // SAFETY: as demanded.
    unsafe { c_string(start, MOST) }
}

/// The reference to a text for a record, after the text has been recorded; `None` when the text itself fits.
#[inline]
pub(crate) fn reference(state: &ThreadState, text: &[u8]) -> Option<Reference> {
    if text.len() <= MAX_STRING {
        return None;
    }
    refer(state, text)
}

#[cold]
#[inline(never)]
fn refer(state: &ThreadState, text: &[u8]) -> Option<Reference> {
    let (reference, hash) = Reference::to(text)?;
    let key = (hash ^ session::process_key()).max(1);
    // The remainder is within bounds.
    let place = RECORDED.get(key as usize % RECORDED.len())?;
    if place.load(Relaxed) != key && is_recorded(state, text, hash) {
        place.store(key, Relaxed);
    }
    Some(reference)
}

/// Records the parts of a text; `false` when one of them is lost.
fn is_recorded(state: &ThreadState, text: &[u8], hash: u64) -> bool {
    let text = text.get(..KEPT).unwrap_or(text);
    let mut is_whole = true;
    for (number, bytes) in text.chunks(MAX_LONG_TEXT).enumerate() {
        let part = kinds::TextPart {
            hash,
            offset: (number * MAX_LONG_TEXT) as u32,
            length: text.len() as u32,
            bytes: Text::new(bytes),
        };
        let mut is_put = false;
        state.record(|producer| is_put = tell(producer, &part));
        is_whole &= is_put;
    }
    is_whole
}

/// The bytes of a text in a record.
pub(crate) fn bytes<'a>(text: &'a [u8], reference: Option<&'a Reference>) -> &'a [u8] {
    reference.map_or(text, Reference::bytes)
}

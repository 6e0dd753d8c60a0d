//! Entries of the log from msPTI: read in place, and recorded at once.

use core::ffi::c_char;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize};

use ascend_trace_format::fnv;
use ascend_trace_format::record::{ActivityKind, LogState, Text, kinds};

use super::{Refusal, buffers};
use crate::clock::ticks;
use crate::objects::keyed;
use crate::table::HandleTable;
use crate::thread::ThreadState;
use crate::timing::counters;
use crate::{emit, long_texts, real, session, thread};

type Next = unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> i32;

/// Tells names of kernels from handles, which are addresses of the program.
const NAMES: u64 = 1 << 63;

/// `msptiActivityGetNextRecord`.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A name that the trace has.
struct Name {
    key: AtomicU64,
    is_reported: AtomicU8,
}

keyed!(Name);

static REPORTED: HandleTable<Name, 16_384> = HandleTable::new(
    [const {
        Name {
            key: AtomicU64::new(0),
            is_reported: AtomicU8::new(0),
        }
    }; 16_384],
);

/// Finds what reading takes, before any entry can come.
pub(super) fn prepare() -> Result<(), Refusal> {
    let next = real::by_name("msptiActivityGetNextRecord").ok_or(Refusal {
        state: LogState::Absent,
        code: 0,
    })?;
    NEXT.store(next, Release);
    Ok(())
}

/// A buffer is full, or was asked for. On a thread of msPTI's, as a rule.
pub(super) extern "C" fn complete(buffer: *mut u8, _size: usize, valid: usize) {
    thread::with(|state| {
        let is_ours = session::is_settled();
        let taken = match state.is_asking() {
            _ if !is_ours => None,
            // msPTI has called back from a call of the tracer's.
            true => {
                take_all(state, buffer, valid);
                Some(())
            }
            false => state.at_work(|state| take_all(state, buffer, valid)),
        };
        if taken.is_none() {
            counters::LOG_BUFFERS_SHORT.add(1);
        }
    });
    buffers::give_back(buffer as usize);
}

fn take_all(state: &ThreadState, buffer: *mut u8, valid: usize) {
    let address = NEXT.load(Acquire);
    if address == 0 || buffer.is_null() {
        return;
    }
    // SAFETY: the address is that of the function with this name and the signature of `Next`.
    let next = unsafe { core::mem::transmute::<usize, Next>(address) };
    let seen = ticks();
    let end = (buffer as usize).saturating_add(valid);
    let mut record = core::ptr::null_mut();
    // SAFETY: the buffer is the one that msPTI hands over, and the record a live local.
    while unsafe { next(buffer, valid, &mut record) } == 0 {
        let place = record as usize;
        if place < buffer as usize || place >= end {
            return;
        }
        // SAFETY: all bytes up to the end of the valid part were written.
        let bytes = unsafe { core::slice::from_raw_parts(record.cast_const(), end - place) };
        take(state, bytes, seen);
    }
}

/// Where the fields of a kind lie.
struct Layout {
    times: usize,
    device: usize,
    correlation: usize,
    name: usize,
}

const fn layout(kind: ActivityKind) -> Layout {
    let (times, device, correlation, name) = match kind {
        ActivityKind::Kernel => (4, 20, 28, 44),
        ActivityKind::Communication => (24, 16, 64, 48),
    };
    Layout {
        times,
        device,
        correlation,
        name,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_ne_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_ne_bytes(*bytes))
}

/// The fields of an entry without its name, and the address of that.
fn read(bytes: &[u8], seen: u64) -> Option<(kinds::Activity, usize)> {
    let kind = ActivityKind::from_code(u8::try_from(half(bytes, 0)?).ok()?)?;
    let layout = layout(kind);
    let name = word(bytes, layout.name)?;
    let correlation = word(bytes, layout.correlation)?;
    let begin = word(bytes, layout.times)?;
    let end = word(bytes, layout.times.checked_add(8)?)?;
    let has_times = begin != 0 && end >= begin;
    let reported = kinds::Activity {
        kind,
        device: half(bytes, layout.device)?,
        stream: half(bytes, layout.device.checked_add(4)?)?,
        correlation,
        begin_ns: if has_times { begin.cast_signed() } else { 0 },
        end_ns: if has_times { end.cast_signed() } else { 0 },
        name: 0,
        seen,
    };
    Some((reported, name as usize))
}

fn take(state: &ThreadState, bytes: &[u8], seen: u64) {
    let Some((activity, name)) = read(bytes, seen) else {
        return;
    };
    counters::LOG_ENTRIES.add(1);
    if activity.begin_ns == 0 {
        counters::TIMELESS_ENTRIES.add(1);
    }
    let name = key_of(state, name);
    emit::record(state, &kinds::Activity { name, ..activity });
}

/// The key of a name, which the trace learns; 0 for none.
fn key_of(state: &ThreadState, address: usize) -> u64 {
    // SAFETY: msPTI keeps names for as long as the buffer is the profiler's.
    let whole = unsafe { long_texts::whole_c_string(address as *const c_char) };
    let Some(text) = whole else {
        return 0;
    };
    let key = NAMES | fnv::hash(text);
    let known = REPORTED.get_or_insert(key);
    if known.is_none_or(|known| known.is_reported.swap(1, AcqRel) == 0) {
        let long = long_texts::reference(state, text);
        let name = Text::new(long_texts::bytes(text, long.as_ref()));
        emit::record(
            state,
            &kinds::Name {
                since: 0,
                key,
                name,
            },
        );
    }
    key
}

/// A child's channel has none of the names.
pub(super) fn forget() {
    REPORTED
        .iter()
        .for_each(|name| name.is_reported.store(0, Release));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_read_where_its_fields_lie() {
        let mut bytes = [0u8; 56];
        bytes[0] = 2;
        bytes[4..12].copy_from_slice(&1_000u64.to_ne_bytes());
        bytes[12..20].copy_from_slice(&3_000u64.to_ne_bytes());
        bytes[20..24].copy_from_slice(&1u32.to_ne_bytes());
        bytes[24..28].copy_from_slice(&7u32.to_ne_bytes());
        bytes[28..36].copy_from_slice(&99u64.to_ne_bytes());
        bytes[44..52].copy_from_slice(&0x1234u64.to_ne_bytes());
        let (reported, name) = read(&bytes, 5).unwrap();
        assert_eq!((reported.begin_ns, reported.end_ns), (1_000, 3_000));
        assert_eq!(
            (reported.device, reported.stream, reported.correlation),
            (1, 7, 99)
        );
        assert_eq!((name, reported.seen), (0x1234, 5));
        assert!(read(&bytes[..50], 5).is_none(), "it is torn");
        bytes[4..20].fill(0);
        assert_eq!(read(&bytes, 5).unwrap().0.begin_ns, 0);
        bytes[0] = 3;
        assert!(read(&bytes, 5).is_none(), "of no kind that was asked for");
    }
}

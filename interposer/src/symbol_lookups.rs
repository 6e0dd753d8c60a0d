//! Functions that were fetched by name, for the report on interception: each is reported once.

use core::ffi::CStr;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use ascend_trace_format::fnv;
use ascend_trace_format::record::{Counter, Lookup, Text, kinds};

use crate::errno::Errno;
use crate::functions::FUNCTIONS;
use crate::thread::ThreadState;
use crate::thread::upper_layers::settle;
use crate::{emit, libraries, session, stubs, thread};

const GIVEN: u8 = 1;
const ABSENT: u8 = 2;

/// The report about each function.
static REPORTED: [AtomicU8; FUNCTIONS.len()] = [const { AtomicU8::new(0) }; FUNCTIONS.len()];

/// Reported names without a wrapper, by the hash of name and report; later ones are not reported.
static UNKNOWN: [AtomicU64; 4096] = [const { AtomicU64::new(0) }; 4096];

/// A function of the table was asked for, and found or not.
pub(crate) fn known(id: usize, name: &CStr, was_found: bool) {
    let (bit, lookup) = if was_found {
        (GIVEN, Lookup::Wrapped)
    } else {
        (ABSENT, Lookup::Absent)
    };
    let Some(reported) = REPORTED.get(id) else {
        return;
    };
    if session::is_on() && reported.fetch_or(bit, Relaxed) & bit == 0 {
        if was_found {
            libraries::tell_offering(name);
        }
        tell(lookup, name.to_bytes());
    }
}

/// Another session has none of the reports. Names without a table entry and without a stub are not kept.
pub(crate) fn tell_again() {
    for (function, reported) in FUNCTIONS.iter().zip(&REPORTED) {
        let bits = reported.load(Relaxed);
        for (bit, lookup) in [(GIVEN, Lookup::Wrapped), (ABSENT, Lookup::Absent)] {
            if bits & bit != 0 {
                tell(lookup, function.name.as_bytes());
            }
        }
    }
    for (name, _) in (0..stubs::STUBS as u16).map_while(|index| stubs::known(index.into())) {
        tell(Lookup::Untyped, name);
    }
}

/// A function was asked for that the table does not have, and got no stub, or is nowhere.
pub(crate) fn unknown(name: &CStr, was_found: bool) {
    let (lookup, mark) = match was_found {
        true => (Lookup::Unknown, 0),
        false => (Lookup::Absent, 1 << 32),
    };
    if is_new(hash(name.to_bytes()) ^ mark) {
        if was_found {
            libraries::tell_offering(name);
        }
        tell(lookup, name.to_bytes());
    }
}

/// A function that the table does not have has a stub from now on.
pub(crate) fn untyped(name: &CStr) {
    libraries::tell_offering(name);
    tell(Lookup::Untyped, name.to_bytes());
}

/// Never 0.
fn hash(name: &[u8]) -> u64 {
    fnv::hash(name) | 1
}

fn is_new(hash: u64) -> bool {
    let first = (hash >> 8) as usize;
    for step in 0..UNKNOWN.len() {
        let Some(place) = UNKNOWN.get(first.wrapping_add(step) % UNKNOWN.len()) else {
            return false;
        };
        match place.compare_exchange(0, hash, AcqRel, Acquire) {
            Ok(_) => return true,
            Err(known) if known == hash => return false,
            Err(_) => {}
        }
    }
    false
}

/// This number of functions without a table entry got no stub.
pub(crate) fn short(count: u64) {
    let what = Counter::StubsShort.code().into();
    from_inside(|state| emit::record(state, &kinds::Counter { what, value: count }));
}

fn tell(outcome: Lookup, name: &[u8]) {
    let name = Text::new(name);
    from_inside(|state| emit::record(state, &kinds::Lookup { outcome, name }));
}

/// Writes records of the tool's own, unless it is off or busy already.
pub(crate) fn from_inside(write: impl FnOnce(&ThreadState)) {
    if !session::is_on() {
        return;
    }
    let _errno = Errno::save();
    thread::with(|state| {
        if !state.is_busy() && settle(state) {
            state.at_work(write);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once() {
        assert!(is_new(hash(b"aclnnFirst")));
        assert!(is_new(hash(b"aclnnSecond")));
        assert!(!is_new(hash(b"aclnnFirst")));
    }
}

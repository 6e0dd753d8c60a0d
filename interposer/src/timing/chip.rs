//! Which chip there is, as far as it matters for how many events may be pending.

use core::ffi::{CStr, c_char};
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use crate::{real, until_exit};

const UNKNOWN: u8 = 0;
/// Times come with the completion of a task; any number of them may be pending.
const FREE: u8 = 1;
/// A record needs one of 512 places of its stream, and the caller spins until one is free; a stream
/// takes 1,024 tasks in all. Each time is copied from the device in the thread that synchronises.
const SLOTTED: u8 = 2;
/// As [`FREE`], and a thread of the runtime's looks at all streams: a query waits for no synchronisation.
const WALKED: u8 = 3;

static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Names that chips with places begin with.
const SLOTTED_NAMES: [&str; 5] = [
    "Ascend310P",
    "Ascend910A",
    "Ascend910ProA",
    "Ascend910ProB",
    "Ascend910PremiumA",
];

/// Names that chips with such a thread begin with. A newer chip may do without one.
const WALKED_NAMES: [&str; 2] = ["Ascend910B", "Ascend910_93"];

/// Asks the runtime once. To be called where a device is in use: the runtime had to ask its driver for the name
/// before that, so this question does not fail.
pub(crate) fn learn() {
    if KIND.load(Relaxed) != UNKNOWN {
        return;
    }
    type Name = unsafe extern "C" fn() -> *const c_char;
    let Some(address) = real::by_name("aclrtGetSocName") else {
        KIND.store(FREE, Relaxed);
        return;
    };
    // SAFETY: the address is that of the function with this name and the signature of `Name`.
    let ask = unsafe { core::mem::transmute::<usize, Name>(address) };
    // SAFETY: as above.
    let reported = until_exit::call(|| unsafe { ask() });
    let Some(name) = reported.filter(|name| !name.is_null()) else {
        return;
    };
    // SAFETY: the runtime returns a C string that it keeps.
    KIND.store(kind_of(unsafe { CStr::from_ptr(name) }.to_bytes()), Relaxed);
}

fn kind_of(name: &[u8]) -> u8 {
    let begins_as = |known: &[&str]| known.iter().any(|it| name.starts_with(it.as_bytes()));
    if name == b"Ascend910" || begins_as(&SLOTTED_NAMES) {
        SLOTTED
    } else if begins_as(&WALKED_NAMES) {
        WALKED
    } else {
        FREE
    }
}

/// Largest number of the tool's events in one queue. Queues have 2,047 places or more on chips without
/// another limit for pending events.
pub(crate) fn most_events() -> u64 {
    match KIND.load(Relaxed) {
        FREE | WALKED => 1024,
        SLOTTED => 128,
        _ => 256,
    }
}

/// Largest number of pairs behind a wait for a record that the program has not submitted yet: it may
/// have to fill most of the queue before it does.
pub(crate) fn most_held() -> u64 {
    match KIND.load(Relaxed) {
        FREE | WALKED => 128,
        _ => 8,
    }
}

/// Whether a stream has few places for events.
pub(crate) fn has_few_places() -> bool {
    KIND.load(Relaxed) == SLOTTED
}

/// Whether a record that is done has its time as soon as a query has found it so. On the others only the program's own
/// synchronisations bring the times, and a question before leaves an error.
pub(crate) fn tells_by_query() -> bool {
    matches!(KIND.load(Relaxed), FREE | WALKED)
}

/// Whether a query about a stream may wait as long as a synchronisation of it lasts.
pub(crate) fn query_may_wait() -> bool {
    !matches!(KIND.load(Relaxed), WALKED | SLOTTED)
}

/// For tests that need to know.
#[cfg(test)]
pub(crate) fn is_free() {
    KIND.store(FREE, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_are_distinguished_by_their_names() {
        for name in [
            "Ascend310P3",
            "Ascend910A",
            "Ascend910ProB",
            "Ascend910PremiumA",
            "Ascend910",
        ] {
            assert_eq!(kind_of(name.as_bytes()), SLOTTED, "{name}");
        }
        for name in ["Ascend910B1", "Ascend910_9391"] {
            assert_eq!(kind_of(name.as_bytes()), WALKED, "{name}");
        }
        for name in ["Ascend950PR_9589", "Ascend310B1"] {
            assert_eq!(kind_of(name.as_bytes()), FREE, "{name}");
        }
    }
}

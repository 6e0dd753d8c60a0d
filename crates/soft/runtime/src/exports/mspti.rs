//! msPTI (`libmspti.so`): the interface of the vendor's profiler. Its functions leave no error text behind.

use crate::ffi::Out;
use crate::mspti;
use crate::mspti::record::ActivityKind;
use crate::mspti::{Callbacks, Complete, Mspti, Request, result};

/// The profiler's handle.
const SUBSCRIBER: usize = 1;

fn mspti() -> &'static Mspti {
    mspti::get()
}

fn of_kind(code: i32, act: impl FnOnce(ActivityKind) -> i32) -> i32 {
    ActivityKind::from_code(code).map_or(result::INVALID_PARAMETER, act)
}

// SAFETY: the names are msPTI's; nothing else in this library defines them. So for all below.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiSubscribe(
    subscriber: Out<usize>,
    _callback: usize,
    _data: usize,
) -> i32 {
    if subscriber.is_null() {
        return result::INVALID_PARAMETER;
    }
    let answer = mspti().subscribe();
    if answer == result::SUCCESS {
        subscriber.put_if_wanted(SUBSCRIBER);
    }
    answer
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiUnsubscribe(subscriber: usize) -> i32 {
    match subscriber {
        SUBSCRIBER => mspti().unsubscribe(),
        _ => result::INVALID_PARAMETER,
    }
}

/// Calls are reported in buffers only.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiEnableCallback(_on: u32, _: usize, _domain: i32, _id: u32) -> i32 {
    result::WITHOUT_PRELOAD
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiEnableDomain(_on: u32, _subscriber: usize, _domain: i32) -> i32 {
    result::WITHOUT_PRELOAD
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityRegisterCallbacks(
    request: Option<Request>,
    complete: Option<Complete>,
) -> i32 {
    match (request, complete) {
        (Some(request), Some(complete)) => mspti().register(Callbacks { request, complete }),
        _ => result::INVALID_PARAMETER,
    }
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityEnable(kind: i32) -> i32 {
    of_kind(kind, |kind| mspti().enable(kind))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityDisable(kind: i32) -> i32 {
    of_kind(kind, |kind| mspti().disable(kind))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityIsEnabled(kind: i32) -> bool {
    ActivityKind::from_code(kind).is_some_and(|kind| mspti().wants(kind))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityFlushAll(_flag: u32) -> i32 {
    mspti().flush()
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityFlushPeriod(milliseconds: u32) -> i32 {
    mspti().set_period(milliseconds)
}

/// Returns the record behind the one that `record` is, or the first one when it is NULL.
// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityGetNextRecord(
    buffer: usize,
    valid: usize,
    record: Out<usize>,
) -> i32 {
    if buffer == 0 || record.is_null() {
        return result::INVALID_PARAMETER;
    }
    let kind_at = |place: usize| {
        Out::<i32>::at(place)
            .get()
            .ok()
            .and_then(ActivityKind::from_code)
    };
    let next = match record.get() {
        Ok(0) => buffer,
        Ok(last) => match kind_at(last) {
            Some(kind) => last + kind.size(),
            None => return result::INVALID_PARAMETER,
        },
        Err(_) => return result::INVALID_PARAMETER,
    };
    if next >= buffer + valid {
        return result::MAX_LIMIT_REACHED;
    }
    record.put_if_wanted(next);
    result::SUCCESS
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn msptiActivityPopExternalCorrelationId(_: i32, id: Out<u64>) -> i32 {
    match id.is_null() {
        true => result::INVALID_PARAMETER,
        false => result::QUEUE_EMPTY,
    }
}

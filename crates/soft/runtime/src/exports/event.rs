//! Events.

use std::sync::atomic::Ordering;

use super::acl;
use crate::code::{INVALID_PARAM, check, fault};
use crate::event::calls as events;
use crate::ffi::Out;
use crate::stream::access;
use crate::{current, event, settings};

/// `aclrtEventRecordedStatus` counts the other way round than the other status enums.
const RECORDED_NOT_READY: u32 = 0;
const RECORDED_COMPLETE: u32 = 1;
const COMPLETE: u32 = 0;
const NOT_READY: u32 = 1;
/// The flag of a plain record or wait.
const DEFAULT: u32 = 0;
/// The flag of one that links a graph to the outside.
const EXTERNAL: u32 = 1;

acl! {
    fn [aclrtCreateEvent; rtEventCreate](event: Out<usize>) {
        event.check()?;
        event.put(events::create()?)
    }

    fn [aclrtCreateEventWithFlag; rtEventCreateWithFlag](event: Out<usize>, flags: u32) {
        event.check()?;
        event.put(events::create_with_flag(flags)?)
    }

    fn [aclrtCreateEventExWithFlag; rtEventCreateExWithFlag](event: Out<usize>, flags: u32) {
        event.check()?;
        event.put(events::create_ex_with_flag(flags)?)
    }

    fn [aclrtDestroyEvent; rtEventDestroy](event: usize) { event::destroy(event) }

    fn [aclrtRecordEvent; rtEventRecord](event: usize, stream: usize) { event::of(event)?.record(stream) }

    fn [aclrtResetEvent; rtEventReset](event: usize, stream: usize) { event::of(event)?.reset_in(stream) }

    fn aclrtStreamWaitEvent(stream: usize, event: usize) {
        let timeout_s = settings::get().op_wait_timeout_s.load(Ordering::Relaxed);
        event::of(event)?.wait_in(stream, timeout_s)
    }

    fn aclrtStreamWaitEventWithTimeout(stream: usize, event: usize, timeout_s: i32) {
        check(timeout_s >= 0, "the timeout is negative")?;
        event::of(event)?.wait_in(stream, timeout_s as u64)
    }

    fn aclrtSetOpWaitTimeout(timeout_s: u32) {
        settings::get().op_wait_timeout_s.store(u64::from(timeout_s), Ordering::Relaxed);
        Ok(())
    }

    fn aclrtQueryEvent(event: usize, status: Out<u32>) {
        status.check()?;
        let done = event::of(event)?.has_no_pending_record()?;
        status.put(if done { COMPLETE } else { NOT_READY })
    }

    fn [aclrtQueryEventStatus; rtEventQueryStatus](event: usize, status: Out<u32>) {
        status.check()?;
        let done = event::of(event)?.is_complete()?;
        status.put(if done { RECORDED_COMPLETE } else { RECORDED_NOT_READY })
    }

    fn aclrtQueryEventWaitStatus(event: usize, status: Out<u32>) {
        status.check()?;
        let done = event::of(event)?.has_no_pending_wait()?;
        status.put(if done { COMPLETE } else { NOT_READY })
    }

    fn [aclrtSynchronizeEvent; rtEventSynchronize](event: usize) { event::of(event)?.synchronize(None) }

    fn [aclrtSynchronizeEventWithTimeout; rtEventSynchronizeWithTimeout](event: usize, timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        event::of(event)?.synchronize(limit)
    }

    fn [aclrtEventElapsedTime; rtEventElapsedTime](ms: Out<f32>, start: usize, end: usize) {
        ms.check()?;
        ms.put(events::elapsed_ms(start, end)?)
    }

    fn aclrtEventGetTimestamp(event: usize, timestamp: Out<u64>) {
        timestamp.check()?;
        timestamp.put(events::timestamp_us(event)?)
    }

    fn aclrtGetEventId(event: usize, id: Out<u32>) {
        id.check()?;
        id.put(event::of(event)?.id()?)
    }

    fn aclrtGetEventAvailNum(count: Out<u32>) {
        count.check()?;
        current::with(|context| count.put(context.device.events_left()))
    }

    fn aclrtRecordEventWithFlag(event: usize, stream: usize, flag: u32) {
        let event = event::of(event)?;
        match flag {
            DEFAULT => event.record(stream),
            EXTERNAL => event.record_externally(stream),
            _ => fault(INVALID_PARAM, "this record flag does not exist"),
        }
    }

    fn aclrtStreamWaitEventWithFlag(stream: usize, event: usize, timeout_s: u32, flag: u32) {
        let event = event::of(event)?;
        match flag {
            DEFAULT => event.wait_in(stream, u64::from(timeout_s)),
            EXTERNAL => event.wait_externally(stream, timeout_s),
            _ => fault(INVALID_PARAM, "this wait flag does not exist"),
        }
    }
}

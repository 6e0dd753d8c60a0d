//! Events, notifies and values.

use super::rt;
use crate::code::{RT_NOT_COMPLETE_EVENT, RT_NOT_SUPPORTED, check, fault};
use crate::event::calls as events;
use crate::ffi::{In, Out};
use crate::memory::submit;
use crate::signal::{self, SignalChange, SignalCondition};
use crate::stream::access;
use crate::{device, event};

/// `rtIpcEventHandle_t`, as it is passed.
#[repr(C)]
pub(crate) struct SharedEvent([u8; 64]);

/// `rtWriteValueInfo_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct WriteValue {
    address: usize,
    /// 4 for 64 bits.
    width: u32,
    value: usize,
}

rt! {
    fn rtWriteValue(info: In<WriteValue>, stream: usize) {
        const BITS_64: u32 = 4;
        let WriteValue { address, width, value } = info.get()?;
        if width != BITS_64 {
            return fault(RT_NOT_SUPPORTED, "values have 64 bits here");
        }
        submit::write(address, In::<u64>::at(value).get()?, 0, stream)
    }

    fn rtsValueWrite(address: usize, number: u64, flag: u32, stream: usize) {
        submit::write(address, number, flag, stream)
    }

    fn rtsValueWait(address: usize, number: u64, flag: u32, stream: usize) {
        submit::wait(address, number, flag, stream)
    }

    fn rtEventCreate(out: Out<usize>) {
        out.check()?;
        out.put(events::create()?)
    }

    fn rtEventCreateWithFlag(out: Out<usize>, flags: u32) {
        out.check()?;
        out.put(events::create_with_flag(flags)?)
    }

    fn rtEventCreateExWithFlag(out: Out<usize>, flags: u32) {
        out.check()?;
        out.put(events::create_ex_with_flag(flags)?)
    }

    fn rtEventDestroy(handle: usize) { event::destroy(handle) }

    fn rtEventDestroySync(handle: usize) {
        event::of(handle)?.synchronize(None)?;
        event::destroy(handle)
    }

    fn rtEventRecord(handle: usize, stream: usize) { event::of(handle)?.record(stream) }

    fn rtEventReset(handle: usize, stream: usize) { event::of(handle)?.reset_in(stream) }

    fn rtEventSynchronize(handle: usize) { event::of(handle)?.synchronize(None) }

    fn rtEventSynchronizeWithTimeout(handle: usize, timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        event::of(handle)?.synchronize(limit)
    }

    fn rtEventQuery(handle: usize) {
        if event::of(handle)?.has_no_pending_record()? {
            return Ok(());
        }
        fault(RT_NOT_COMPLETE_EVENT, "the event is not complete yet")
    }

    fn rtEventQueryStatus(handle: usize, status: Out<u32>) {
        status.check()?;
        status.put(u32::from(event::of(handle)?.is_complete()?))
    }

    fn rtIpcOpenEventHandle(_handle: SharedEvent, _event: Out<usize>) {
        fault(RT_NOT_SUPPORTED, "not supported by the software runtime")
    }

    fn rtEventElapsedTime(ms: Out<f32>, start: usize, end: usize) {
        ms.check()?;
        ms.put(events::elapsed_ms(start, end)?)
    }

    fn rtEventGetTimeStamp(timestamp: Out<u64>, handle: usize) {
        timestamp.check()?;
        timestamp.put(events::timestamp_us(handle)?)
    }

    fn rtNotifyCreate(device: i32, out: Out<usize>) {
        device::of(device)?;
        out.check()?;
        out.put(signal::submit::create(signal::notifies(), 0)?)
    }

    fn rtNotifyCreateWithFlag(device: i32, out: Out<usize>, flags: u32) {
        device::of(device)?;
        out.check()?;
        out.put(signal::submit::create(signal::notifies(), u64::from(flags))?)
    }

    fn rtNotifyDestroy(handle: usize) { signal::destroy(signal::notifies(), handle) }

    fn rtNotifyRecord(handle: usize, stream: usize) {
        signal::of(signal::notifies(), handle)?.submit_change(SignalChange::Set(1), stream)
    }

    fn rtNotifyWait(handle: usize, stream: usize) {
        let notify = signal::of(signal::notifies(), handle)?;
        notify.submit_wait(SignalCondition::Equal(1), true, 0, stream)
    }

    fn rtNotifyWaitWithTimeOut(handle: usize, stream: usize, timeout_s: u32) {
        let notify = signal::of(signal::notifies(), handle)?;
        notify.submit_wait(SignalCondition::Equal(1), true, timeout_s, stream)
    }

    fn rtNotifyReset(handle: usize) {
        check(handle != 0, "the notify is NULL")?;
        signal::of(signal::notifies(), handle)?.clear();
        Ok(())
    }
}

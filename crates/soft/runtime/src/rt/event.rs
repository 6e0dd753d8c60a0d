//! Events, notifies and values.

use super::rt;
use crate::code::{RT_NOT_COMPLETE_EVENT, RT_NOT_SUPPORTED, check, fault};
use crate::event::calls as events;
use crate::ffi::{In, Out};
use crate::memory::submit;
use crate::signal::{self, SignalCondition};
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

    fn rtEventDestroySync(handle: usize) {
        event::of(handle)?.synchronize(None)?;
        event::destroy(handle)
    }

    fn rtEventQuery(handle: usize) {
        if event::of(handle)?.has_no_pending_record()? {
            return Ok(());
        }
        fault(RT_NOT_COMPLETE_EVENT, "the event is not complete yet")
    }

    fn rtIpcOpenEventHandle(_handle: SharedEvent, _event: Out<usize>) {
        fault(RT_NOT_SUPPORTED, "not supported by the software runtime")
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

    fn rtNotifyWait(handle: usize, stream: usize) {
        let notify = signal::find(signal::notifies(), handle)?;
        notify.submit_wait(SignalCondition::Equal(1), true, 0, stream)
    }

    fn rtNotifyReset(handle: usize) {
        check(handle != 0, "the notify is NULL")?;
        signal::find(signal::notifies(), handle)?.clear();
        Ok(())
    }
}

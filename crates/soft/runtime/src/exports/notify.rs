//! Notifies, counting notifies and values in memory.

use super::acl;
use crate::code::{INVALID_PARAM, RT_NOT_SUPPORTED, RT_PARAM_INVALID, fault};
use crate::ffi::{In, Out};
use crate::memory::submit;
use crate::process;
use crate::signal::{self, SignalChange, SignalCondition};
use crate::stream::access;

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RecordInfo {
    mode: u32,
    value: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct WaitInfo {
    mode: u32,
    value: u32,
    timeout_s: u32,
    clears: u8,
    reserved: [u8; 3],
}

acl! {
    fn aclrtCreateNotify(notify: Out<usize>, flags: u64) {
        notify.check()?;
        notify.put(signal::submit::create(signal::notifies(), flags)?)
    }

    fn [aclrtDestroyNotify; rtNotifyDestroy](notify: usize) { signal::destroy(signal::notifies(), notify) }

    fn aclrtGetNotifyId(notify: usize, id: Out<u32>) {
        id.check()?;
        id.put(signal::find(signal::notifies(), notify)?.id())
    }

    fn [aclrtRecordNotify; rtNotifyRecord](notify: usize, stream: usize) {
        signal::find(signal::notifies(), notify)?.submit_change(SignalChange::Set(1), stream)
    }

    fn [aclrtWaitAndResetNotify; rtNotifyWaitWithTimeOut](notify: usize, stream: usize, timeout_s: u32) {
        let notify = signal::find(signal::notifies(), notify)?;
        notify.submit_wait(SignalCondition::Equal(1), true, timeout_s, stream)
    }

    fn aclrtNotifyBatchReset(notifies: In<usize>, count: usize) {
        if count == 0 {
            return fault(RT_PARAM_INVALID, "there is nothing to reset");
        }
        for handle in notifies.array(count)? {
            signal::find(signal::notifies(), handle)?.clear();
        }
        Ok(())
    }

    fn aclrtCntNotifyCreate(notify: Out<usize>, flags: u64) {
        notify.check()?;
        if !process::options().chip.counts_notifies() {
            return fault(RT_NOT_SUPPORTED, "this card has no counting notifies");
        }
        notify.put(signal::submit::create(signal::counting_notifies(), flags)?)
    }

    fn aclrtCntNotifyDestroy(notify: usize) {
        signal::destroy(signal::counting_notifies(), notify)
    }

    fn aclrtCntNotifyGetId(notify: usize, id: Out<u32>) {
        id.check()?;
        id.put(signal::find(signal::counting_notifies(), notify)?.id())
    }

    fn aclrtCntNotifyRecord(notify: usize, stream: usize, info: In<RecordInfo>) {
        let RecordInfo { mode, value } = info.get()?;
        let change = match mode {
            0 => SignalChange::Set(value),
            1 => SignalChange::Add(value),
            2 => SignalChange::Or(value),
            4 => SignalChange::And(value),
            _ => return fault(RT_PARAM_INVALID, "this record mode does not exist"),
        };
        signal::find(signal::counting_notifies(), notify)?.submit_change(change, stream)
    }

    fn aclrtCntNotifyReset(notify: usize, stream: usize) {
        signal::find(signal::counting_notifies(), notify)?
            .submit_change(SignalChange::Set(0), stream)
    }

    fn aclrtCntNotifyWaitWithTimeout(notify: usize, stream: usize, info: In<WaitInfo>) {
        let WaitInfo { mode, value, timeout_s, clears, .. } = info.get()?;
        let condition = match mode {
            0 => SignalCondition::Less(value),
            1 => SignalCondition::Equal(value),
            2 => SignalCondition::Greater(value),
            3 => SignalCondition::GreaterOrEqual(value),
            4 => SignalCondition::Bits(value),
            _ => return fault(RT_PARAM_INVALID, "this wait mode does not exist"),
        };
        signal::find(signal::counting_notifies(), notify)?
            .submit_wait(condition, clears != 0, timeout_s, stream)
    }

    fn aclrtValueWrite(address: usize, number: u64, flag: u32, stream: usize) {
        submit::write(address, number, flag, stream)
    }

    fn aclrtValueWait(address: usize, number: u64, flag: u32, stream: usize) {
        submit::wait(address, number, flag, stream)
    }

    fn aclrtCmoAsync(address: usize, size: usize, kind: u32, stream: usize) {
        if address == 0 || size == 0 || kind > 3 {
            return fault(INVALID_PARAM, "the address, the size or the kind is wrong");
        }
        access::of_context(stream)?.mark()
    }
}

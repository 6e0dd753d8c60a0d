//! Attributes of streams, failure modes, limits, and aborts.

use std::sync::atomic::Ordering;

use super::acl;
use super::device_info::{cores, within};
use crate::code::{INVALID_PARAM, RT_PARAM_INVALID, check, fault};
use crate::context::calls;
use crate::ffi::{In, Out};
use crate::settings;
use crate::stream::failures::FailureMode;
use crate::stream::{access, line};

const FAILURE_MODE: u32 = 1;
const PRIORITY: u32 = 5;

acl! {
    fn aclrtSetStreamFailureMode(stream: usize, mode: u64) {
        check(stream != 0, "a default stream has no failure mode of its own")?;
        access::of_context(stream)?.set_failure_mode(mode)
    }

    fn aclrtSetStreamAttribute(stream: usize, attr: u32, value: In<u64>) {
        let stream = access::of_context(stream)?;
        let value = value.get()?;
        match attr {
            FAILURE_MODE => stream.set_failure_mode(value),
            PRIORITY => {
                stream.priority.store((value as u32).min(7), Ordering::Relaxed);
                Ok(())
            }
            2..=4 => {
                let table = &settings::get().stream_attributes;
                table.set(stream.handle as u64, attr, i64::from(value as u32))
            }
            _ => fault(RT_PARAM_INVALID, "this attribute does not exist"),
        }
    }

    fn aclrtGetStreamAttribute(stream: usize, attr: u32, value: Out<u64>) {
        value.check()?;
        let stream = access::of_any_context(stream)?;
        let found = match attr {
            FAILURE_MODE => u64::from(stream.failure_mode() == FailureMode::Stop),
            PRIORITY => u64::from(stream.priority.load(Ordering::Relaxed)),
            2..=4 => {
                let table = &settings::get().stream_attributes;
                table.get(stream.handle as u64, attr).unwrap_or(0) as u64
            }
            _ => return fault(RT_PARAM_INVALID, "this attribute does not exist"),
        };
        value.put(found)
    }

    fn aclrtSetStreamOverflowSwitch(stream: usize, flag: u32) {
        if flag > 1 {
            return fault(INVALID_PARAM, "the switch is on or off");
        }
        let stream = access::of_context(stream)?;
        let table = &settings::get().stream_attributes;
        table.set(stream.handle as u64, 2, i64::from(flag))
    }

    fn aclrtGetStreamOverflowSwitch(stream: usize, flag: Out<u32>) {
        flag.check()?;
        let stream = access::of_context(stream)?;
        let table = &settings::get().stream_attributes;
        flag.put(table.get(stream.handle as u64, 2).unwrap_or(0) as u32)
    }

    fn aclrtSetStreamResLimit(stream: usize, kind: u32, value: u32) {
        within(kind, value)?;
        let stream = access::of_context(stream)?;
        let table = &settings::get().stream_cores;
        table.set(stream.handle as u64, kind, i64::from(value))
    }

    fn aclrtGetStreamResLimit(stream: usize, kind: u32, value: Out<u32>) {
        value.check()?;
        let all = cores(kind)?;
        let stream = access::of_context(stream)?;
        let set = settings::get().stream_cores.get(stream.handle as u64, kind);
        value.put(set.map_or(all, |set| set as u32))
    }

    fn aclrtResetStreamResLimit(stream: usize) {
        let stream = access::of_context(stream)?;
        settings::get().stream_cores.clear(stream.handle as u64);
        Ok(())
    }

    fn [aclrtUseStreamResInCurrentThread, aclrtUnuseStreamResInCurrentThread](stream: usize) {
        access::of_context(stream).map(drop)
    }

    fn aclrtGetResInCurrentThread(kind: u32, value: Out<u32>) { value.put(cores(kind)?) }

    fn aclrtStreamStop(stream: usize) {
        check(stream != 0, "a default stream cannot be stopped")?;
        access::of_context(stream)?.stop_current();
        Ok(())
    }

    fn aclrtPersistentTaskClean(stream: usize) {
        let stream = access::of_context(stream)?;
        check(stream.flags & line::flag::PERSISTENT != 0, "the stream keeps no tasks")
    }

    fn aclrtDeviceTaskAbort(id: i32, timeout_ms: u32) { calls::abort_tasks(id, timeout_ms) }

    fn aclrtSetOpExecuteTimeOut(timeout_s: u32) { set_op_timeout(u64::from(timeout_s) * 1000) }

    fn aclrtSetOpExecuteTimeOutWithMs(timeout_ms: u32) { set_op_timeout(u64::from(timeout_ms)) }

    fn aclrtSetOpExecuteTimeOutV2(timeout_us: u64, actual_us: Out<u64>) {
        actual_us.put(timeout_us.div_ceil(1000) * 1000)?;
        set_op_timeout(timeout_us.div_ceil(1000))
    }

    fn aclrtGetOpExecuteTimeout(timeout_ms: Out<u32>) {
        timeout_ms.put(settings::get().op_timeout_ms.load(Ordering::Relaxed) as u32)
    }

    fn aclrtGetOpTimeOutInterval(interval_us: Out<u64>) { interval_us.put(1000) }

    fn aclrtProfTrace(data: usize, len: i32, stream: usize) {
        if data == 0 || len <= 0 {
            return fault(INVALID_PARAM, "there is no data");
        }
        access::of_context(stream)?.mark()
    }
}

fn set_op_timeout(timeout_ms: u64) -> crate::code::Outcome {
    settings::get()
        .op_timeout_ms
        .store(timeout_ms, Ordering::Relaxed);
    Ok(())
}

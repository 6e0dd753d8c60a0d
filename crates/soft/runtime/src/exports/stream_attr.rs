//! Attributes of streams, failure modes, limits, and aborts.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::acl;
use super::device_info::{cores, cores_of, within};
use crate::code::{
    INVALID_PARAM, Outcome, RT_INTERNAL, RT_NOT_SUPPORTED, RT_PARAM_INVALID, check, fault, require,
};
use crate::context::calls;
use crate::ffi::{In, Out};
use crate::graph::build;
use crate::stream::failures::FailureMode;
use crate::stream::{access, line};
use crate::{current, process, settings};

const FAILURE_MODE: u32 = 1;
const CUSTOM_TAG: u32 = 3;
const PRIORITY: u32 = 5;
/// The tag of a stream that was given none.
const NO_TAG: u32 = u32::MAX;

acl! {
    fn aclrtSetStreamFailureMode(stream: usize, mode: u64) { set_failure_mode(stream, mode) }

    fn aclrtSetStreamAttribute(stream: usize, attr: u32, value: In<u64>) {
        let wanted = value.get()?;
        let stream = access::of_context(stream)?;
        match attr {
            FAILURE_MODE => set_failure_mode(stream.handle, wanted),
            PRIORITY => {
                require_priorities()?;
                stream.priority.store((wanted as u32).min(7), Ordering::Relaxed);
                Ok(())
            }
            2..=4 => {
                let table = &settings::get().stream_attributes;
                table.set(stream.handle as u64, attr, i64::from(wanted as u32))
            }
            _ => fault(RT_PARAM_INVALID, "this attribute does not exist"),
        }
    }

    fn aclrtGetStreamAttribute(stream: usize, attr: u32, value: Out<u64>) {
        value.check()?;
        let stream = access::of_any_context(stream)?;
        let found = match attr {
            FAILURE_MODE => return value.put(u64::from(stream.failure_mode() == FailureMode::Stop)),
            PRIORITY => {
                require_priorities()?;
                stream.priority.load(Ordering::Relaxed)
            }
            2..=4 => {
                let table = &settings::get().stream_attributes;
                let set = table.get(stream.handle as u64, attr);
                set.map_or(if attr == CUSTOM_TAG { NO_TAG } else { 0 }, |set| set as u32)
            }
            _ => return fault(RT_PARAM_INVALID, "this attribute does not exist"),
        };
        // The member is half as long as that of the failure mode.
        value.cast::<u32>().put(found)
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
        cores(kind)?;
        let stream = access::of_context(stream)?;
        match settings::get().stream_cores.get(stream.handle as u64, kind) {
            Some(set) => value.put(set as u32),
            None => value.put(cores_of(stream.device.id, kind)?),
        }
    }

    fn aclrtResetStreamResLimit(stream: usize) {
        let stream = access::of_context(stream)?;
        settings::get().stream_cores.clear(stream.handle as u64);
        Ok(())
    }

    fn aclrtUseStreamResInCurrentThread(stream: usize) {
        LIMITED_LIKE.set(access::of_any_context(stream)?.handle);
        Ok(())
    }

    fn aclrtUnuseStreamResInCurrentThread(stream: usize) {
        if LIMITED_LIKE.get() == access::of_any_context(stream)?.handle {
            LIMITED_LIKE.set(0);
        }
        Ok(())
    }

    fn aclrtGetResInCurrentThread(kind: u32, value: Out<u32>) {
        value.check()?;
        cores(kind)?;
        let of_stream = settings::get().stream_cores.get(LIMITED_LIKE.get() as u64, kind);
        match of_stream {
            Some(set) => value.put(set as u32),
            None => value.put(cores_of(current::device()?.id, kind)?),
        }
    }

    fn aclrtStreamStop(stream: usize) {
        check(stream != 0, "a default stream cannot be stopped")?;
        access::of_context(stream)?.stop_current();
        Ok(())
    }

    fn aclrtPersistentTaskClean(stream: usize) {
        let stream = access::of_context(stream)?;
        if stream.flags & line::flag::PERSISTENT == 0 {
            return fault(RT_INTERNAL, "the stream keeps no tasks");
        }
        Ok(())
    }

    fn aclrtDeviceTaskAbort(id: i32, timeout_ms: u32) { calls::abort_tasks(id, timeout_ms) }

    fn aclrtActiveStream(active: usize, stream: usize) {
        require(active != 0 && stream != 0, "a stream is NULL")?;
        build::activate([active, stream])
    }

    fn aclrtSwitchStream(
        left: usize,
        _condition: u32,
        right: usize,
        _data_type: u32,
        if_true: usize,
        if_false: usize,
        stream: usize,
    ) {
        require(left != 0 && right != 0, "a value is NULL")?;
        require(if_true != 0 && stream != 0, "a stream is NULL")?;
        require(if_false == 0, "the other stream is reserved")?;
        build::activate([if_true, stream])
    }

    fn aclrtSetOpExecuteTimeOut(timeout_s: u32) {
        set_op_timeout(u64::from(timeout_s) * 1_000_000);
        Ok(())
    }

    fn aclrtSetOpExecuteTimeOutWithMs(timeout_ms: u32) {
        set_op_timeout(u64::from(timeout_ms) * 1000);
        Ok(())
    }

    fn aclrtSetOpExecuteTimeOutV2(timeout_us: u64, actual_us: Out<u64>) {
        actual_us.check()?;
        current::context()?;
        set_op_timeout(timeout_us);
        actual_us.put(op_timeout_ns() / 1000)
    }

    fn aclrtGetOpExecuteTimeout(timeout_ms: Out<u32>) {
        timeout_ms.put((op_timeout_ns() / 1_000_000) as u32)
    }

    fn aclrtGetOpTimeOutInterval(interval_us: Out<u64>) { interval_us.put(OP_INTERVAL_NS / 1000) }

    fn aclrtProfTrace(data: usize, len: i32, stream: usize) {
        if data == 0 || len <= 0 {
            return fault(INVALID_PARAM, "there is no data");
        }
        access::of_context(stream)?.mark()
    }
}

thread_local! {
    /// The stream that the thread has the limits of, or 0.
    static LIMITED_LIKE: Cell<usize> = const { Cell::new(0) };
}

/// NULL is the default stream, which has a mode like the others.
fn set_failure_mode(stream: usize, mode: u64) -> Outcome {
    let stream = access::of_context(stream)?;
    if stream.route.bound().is_some() {
        return fault(RT_NOT_SUPPORTED, "the stream is bound to a graph");
    }
    stream.set_failure_mode(mode)
}

fn require_priorities() -> Outcome {
    if process::options().chip.changes_priorities() {
        return Ok(());
    }
    fault(RT_NOT_SUPPORTED, "the priority of a stream is fixed here")
}

/// Operators may take a multiple of this: 2^32 ticks of a nanosecond.
const OP_INTERVAL_NS: u64 = 1 << 32;
/// The largest multiple, which is the time without a setting: 1,091 s.
const OP_INTERVALS: u64 = 254;

fn set_op_timeout(timeout_us: u64) {
    let intervals = match timeout_us {
        0 => OP_INTERVALS,
        _ => timeout_us
            .saturating_mul(1000)
            .div_ceil(OP_INTERVAL_NS)
            .min(OP_INTERVALS),
    };
    settings::get()
        .op_intervals
        .store(intervals, Ordering::Relaxed);
}

fn op_timeout_ns() -> u64 {
    match settings::get().op_intervals.load(Ordering::Relaxed) {
        0 => OP_INTERVALS * OP_INTERVAL_NS,
        set => set * OP_INTERVAL_NS,
    }
}

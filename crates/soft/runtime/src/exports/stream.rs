//! Streams.

use std::sync::atomic::Ordering;

use super::acl;
use crate::code::{Outcome, RT_STREAM_ABORT, check};
use crate::ffi::{In, Out};
use crate::stream::{access, last_task};
use crate::{current, virtual_time};

/// `aclrtStreamConfigHandle`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct StreamConfig {
    work_address: usize,
    work_size: usize,
    flags: usize,
    priority: u32,
}

/// Makes a stream from a configuration.
pub(crate) fn create_as(stream: &Out<usize>, config: &In<StreamConfig>) -> Outcome {
    stream.check()?;
    let config = config.get()?;
    let flags = u32::try_from(config.flags).unwrap_or(u32::MAX);
    stream.put(access::create(flags, config.priority)?)
}

const STATUS_COMPLETE: u32 = 0;
const STATUS_NOT_READY: u32 = 1;

acl! {
    fn aclrtCreateStream(stream: Out<usize>) {
        stream.check()?;
        stream.put(access::create(0, 0)?)
    }

    fn aclrtCreateStreamWithConfig(stream: Out<usize>, priority: u32, flags: u32) {
        stream.check()?;
        stream.put(access::create(flags, priority)?)
    }

    fn [aclrtCreateStreamV2; rtStreamCreateWithConfig](stream: Out<usize>, config: In<StreamConfig>) {
        create_as(&stream, &config)
    }

    fn aclrtDestroyStreamConfigHandle(config: Out<StreamConfig>) {
        config.check()?;
        config.free()
    }

    fn aclrtSetStreamConfigOpt(config: Out<StreamConfig>, attr: u32, value: In<u64>, size: usize) {
        let mut changed = config.get()?;
        match (attr, size) {
            (0, 8) => changed.work_address = value.get()? as usize,
            (1, 8) => changed.work_size = value.get()? as usize,
            (2, 8) => changed.flags = value.get()? as usize,
            (3, 4) => changed.priority = value.cast::<u32>().get()?,
            _ => return check(false, "the attribute does not exist or has another size"),
        }
        config.put(changed)
    }

    fn [aclrtDestroyStream; rtStreamDestroy](stream: usize) { access::destroy(stream, false) }

    fn [aclrtDestroyStreamForce; rtStreamDestroyForce](stream: usize) { access::destroy(stream, true) }

    fn [aclrtSynchronizeStream; rtStreamSynchronize](stream: usize) {
        let stream = access::of_any_context(stream)?;
        stream.refuse_while_capturing()?;
        stream.synchronize(None)
    }

    fn [aclrtSynchronizeStreamWithTimeout; rtStreamSynchronizeWithTimeout](stream: usize, timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        let stream = access::of_any_context(stream)?;
        stream.refuse_while_capturing()?;
        stream.synchronize(limit)
    }

    fn aclrtStreamQuery(stream: usize, status: Out<u32>) {
        status.check()?;
        let stream = access::of_any_context(stream)?;
        stream.refuse_while_capturing()?;
        virtual_time::settle();
        let idle = stream.is_idle();
        status.put(if idle { STATUS_COMPLETE } else { STATUS_NOT_READY })
    }

    fn [aclrtStreamGetId; rtGetStreamId](stream: usize, id: Out<i32>) {
        id.check()?;
        id.put(access::of_any_context(stream)?.id)
    }

    fn [aclrtStreamGetFlags; rtStreamGetFlags](stream: usize, flags: Out<u32>) {
        flags.check()?;
        flags.put(access::of_any_context(stream)?.flags)
    }

    fn [aclrtStreamGetPriority; rtStreamGetPriority](stream: usize, priority: Out<u32>) {
        priority.check()?;
        priority.put(access::of_any_context(stream)?.priority.load(Ordering::Relaxed))
    }

    fn aclrtGetStreamAvailableNum(count: Out<u32>) {
        count.check()?;
        current::with(|context| count.put(context.device.stream_ids.left()))
    }

    fn [aclrtStreamAbort; rtStreamAbort](stream: usize) {
        check(stream != 0, "a default stream cannot be aborted")?;
        let stream = access::of_context(stream)?;
        stream.refuse_while_capturing()?;
        stream.abort(Some(RT_STREAM_ABORT));
        Ok(())
    }

    fn aclrtGetThreadLastTaskId(task: Out<u32>) {
        task.check()?;
        task.put(last_task::get().0)
    }
}

// SAFETY: as in `acl!`; this one returns a pointer.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclrtCreateStreamConfigHandle() -> *mut StreamConfig {
    Box::into_raw(Box::default())
}

//! Streams, and captures that begin and end on this layer.

use std::sync::atomic::Ordering;

use super::rt;
use crate::code::{Outcome, RT_NOT_COMPLETE, RT_STREAM_ABORT, check, fault};
use crate::event;
use crate::exports::stream::{StreamConfig, create_as};
use crate::ffi::{In, Out};
use crate::graph::{capture, modes};
use crate::stream::{access, last_task};

fn create(out: &Out<usize>, priority: i32, flags: u32) -> Outcome {
    out.check()?;
    check(priority >= 0, "the priority is negative")?;
    out.put(access::create(flags, priority as u32)?)
}

fn synchronize(handle: usize, timeout_ms: i32) -> Outcome {
    let limit = access::timeout(timeout_ms)?;
    let stream = access::of_any_context(handle)?;
    stream.refuse_while_capturing()?;
    stream.synchronize(limit)
}

rt! {
    fn rtStreamCreate(out: Out<usize>, priority: i32) { create(&out, priority, 0) }

    fn [rtStreamCreateWithFlags, rtStreamCreateWithFlagsExternal](
        out: Out<usize>, priority: i32, flags: u32,
    ) {
        create(&out, priority, flags)
    }

    fn rtStreamCreateByGrp(out: Out<usize>, priority: i32, flags: u32, _group: usize) {
        create(&out, priority, flags)
    }

    fn rtStreamCreateWithConfig(out: Out<usize>, config: In<StreamConfig>) {
        create_as(&out, &config)
    }

    fn rtStreamGetFlags(handle: usize, flags: Out<u32>) {
        flags.check()?;
        flags.put(access::of_any_context(handle)?.flags)
    }

    fn rtStreamGetPriority(handle: usize, priority: Out<u32>) {
        priority.check()?;
        let stream = access::of_any_context(handle)?;
        priority.put(stream.priority.load(Ordering::Relaxed))
    }

    fn rtSetStreamOverflowSwitch(handle: usize, flag: u32) {
        check(flag <= 1, "the switch is on or off")?;
        access::of_context(handle)?.mark()
    }

    fn rtGetTaskIdAndStreamID(task: Out<u32>, stream: Out<u32>) {
        task.check()?;
        stream.check()?;
        let (last, on) = last_task::get();
        task.put(last)?;
        stream.put(on)
    }

    fn rtStreamDestroy(handle: usize) { access::destroy(handle, false) }

    fn rtStreamDestroyForce(handle: usize) { access::destroy(handle, true) }

    fn rtStreamAbort(handle: usize) {
        check(handle != 0, "a default stream cannot be aborted")?;
        let stream = access::of_context(handle)?;
        stream.refuse_while_capturing()?;
        stream.abort(Some(RT_STREAM_ABORT));
        Ok(())
    }

    fn rtStreamSynchronize(handle: usize) { synchronize(handle, -1) }

    fn rtStreamSynchronizeWithTimeout(handle: usize, timeout_ms: i32) {
        synchronize(handle, timeout_ms)
    }

    fn rtStreamQuery(handle: usize) {
        let stream = access::of_any_context(handle)?;
        stream.refuse_while_capturing()?;
        if stream.is_idle() {
            return Ok(());
        }
        fault(RT_NOT_COMPLETE, "the stream is not done yet")
    }

    fn rtGetStreamId(handle: usize, id: Out<i32>) {
        id.check()?;
        id.put(access::of_any_context(handle)?.id)
    }

    fn rtStreamWaitEvent(stream: usize, event: usize) { event::of(event)?.wait_in(stream, 0) }

    fn rtStreamWaitEventWithTimeout(stream: usize, event: usize, timeout_s: u32) {
        event::of(event)?.wait_in(stream, u64::from(timeout_s))
    }

    fn rtStreamBeginCapture(stream: usize, mode: u32) { capture::begin(stream, mode) }

    fn rtStreamEndCapture(stream: usize, model: Out<usize>) {
        let ended = capture::end(stream, !model.is_null())?;
        model.put_if_wanted(ended);
        Ok(())
    }

    fn rtStreamGetCaptureInfo(stream: usize, status: Out<u32>, model: Out<usize>) {
        let (found, graph) = capture::info(stream)?;
        status.put_if_wanted(found);
        model.put_if_wanted(graph);
        Ok(())
    }

    fn rtThreadExchangeCaptureMode(mode: Out<u32>) { modes::exchange(&mode) }
}

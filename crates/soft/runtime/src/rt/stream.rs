//! Streams, and captures that begin and end on this layer.

use super::rt;
use crate::code::{Outcome, RT_NOT_COMPLETE, check, fault};
use crate::event;
use crate::ffi::Out;
use crate::graph::capture;
use crate::stream::{access, last_task};

fn create(out: &Out<usize>, priority: i32, flags: u32) -> Outcome {
    out.check()?;
    check(priority >= 0, "the priority is negative")?;
    out.put(access::create(flags, priority as u32)?)
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

    fn rtStreamQuery(handle: usize) {
        let stream = access::of_any_context(handle)?;
        stream.refuse_while_capturing()?;
        if stream.is_idle() {
            return Ok(());
        }
        fault(RT_NOT_COMPLETE, "the stream is not done yet")
    }

    fn rtStreamWaitEvent(stream: usize, event: usize) { event::of(event)?.wait_in(stream, 0) }

    fn rtStreamWaitEventWithTimeout(stream: usize, event: usize, timeout_s: u32) {
        event::of(event)?.wait_in(stream, u64::from(timeout_s))
    }

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
}

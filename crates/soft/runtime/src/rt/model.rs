//! Graphs, captured or built by hand, and the labels in them.

use super::rt;
use crate::code::{Outcome, RT_NOT_SUPPORTED, fault};
use crate::ffi::Out;
use crate::graph::{build, execute, jump, lifetime};
use crate::stream::access;

/// A feature of a card that this runtime does not have.
fn missing() -> Outcome {
    fault(RT_NOT_SUPPORTED, "not supported by the software runtime")
}

rt! {
    fn rtEndGraphEx(model: usize, stream: usize, _flags: u32) { build::end_task(model, stream) }

    fn rtModelLoadComplete(model: usize) { build::end(model) }

    fn rtModelExecute(model: usize, stream: usize, _flags: u32) {
        execute::execute_async(model, stream)
    }

    fn rtModelExecuteSync(model: usize, stream: usize, _flags: u32, timeout_ms: i32) {
        let limit = access::timeout(timeout_ms)?;
        execute::execute_async(model, stream)?;
        access::of_any_context(stream)?.synchronize(limit)
    }

    fn rtModelSetExtId(model: usize, _id: u32) { lifetime::of_context(model).map(drop) }

    fn rtModelAbort(_model: usize) { missing() }

    fn [rtModelExit, rtStreamActive, rtLabelGoto, rtLabelGotoEx](_of: usize, _stream: usize) {
        missing()
    }

    fn [rtModelTaskUpdate, rtLabelSwitchByIndex](
        _stream: usize, _task: u32, _sink: usize, _info: usize,
    ) { missing() }

    fn rtLaunchSqeUpdateTask(_stream: u32, _task: u32, _src: usize, _len: u64, _on: usize) {
        missing()
    }

    fn rtStreamSwitchEx(_l: usize, _c: u32, _r: usize, _to: usize, _stream: usize, _t: u32) {
        missing()
    }

    fn rtStreamSwitchN(
        _l: usize,
        _n: u32,
        _r: usize,
        _to: usize,
        _each: u32,
        _stream: usize,
        _t: u32,
    ) {
        missing()
    }

    fn rtLabelCreateV2(out: Out<usize>, _model: usize) {
        out.check()?;
        out.put(jump::create_label()?)
    }

    fn rtLabelListCpy(_labels: usize, _count: u32, _dst: usize, _room: u32) { missing() }
}

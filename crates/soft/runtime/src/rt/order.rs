//! Tasks that have a place in the order of a stream and do nothing that a host could see: hints for caches,
//! barriers, doorbells of network cards, marks of profilers, and states of overflow, which are always zero.

use super::rt;
use crate::code::Outcome;
use crate::memory::copy;
use crate::memory::transfer::Fill;
use crate::stream::access;

fn mark(stream: usize) -> Outcome {
    access::of_context(stream)?.mark()
}

fn no_overflow(output: usize, size: u64, stream: usize) -> Outcome {
    let fill = Fill::bytes(output, size as usize, 0, size as usize)?;
    copy::fill_async(fill, stream)
}

rt! {
    fn [rtNopTask, rtCleanDeviceSatStatus](stream: usize) { mark(stream) }

    fn [rtBarrierTaskLaunch, rtCmoTaskLaunch](_info: usize, stream: usize, _flags: u32) {
        mark(stream)
    }

    fn rtCmoAddrTaskLaunch(_info: usize, _room: u64, _code: u32, stream: usize, _flags: u32) {
        mark(stream)
    }

    fn rtCmoAsync(_src: usize, _len: usize, _kind: u32, stream: usize) { mark(stream) }

    fn rtRDMASend(_queue: u32, _entry: u32, stream: usize) { mark(stream) }

    fn rtRDMADBSend(_bell: u32, _info: u64, stream: usize) { mark(stream) }

    fn [rtUbDbSend, rtUbDirectSend](_info: usize, stream: usize) { mark(stream) }

    fn rtProfilerTrace(_id: u64, _notify: bool, _flags: u32, stream: usize) { mark(stream) }

    fn rtProfilerTraceEx(_id: u64, _model: u64, _tag: u16, stream: usize) { mark(stream) }

    fn rtGetDeviceSatStatus(output: usize, size: u64, stream: usize) {
        no_overflow(output, size, stream)
    }

    fn [rtNpuGetFloatStatus, rtNpuGetFloatDebugStatus](
        output: usize, size: u64, _mode: u32, stream: usize,
    ) {
        no_overflow(output, size, stream)
    }

    fn [rtNpuClearFloatStatus, rtNpuClearFloatDebugStatus](_mode: u32, stream: usize) {
        mark(stream)
    }
}

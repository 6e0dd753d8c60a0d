//! Copies, fills and reductions in the order of a stream.

use super::memory::in_rows;
use super::rt;
use crate::code::Outcome;
use crate::exports::memory_async::{Descriptor, batch, batch_async};
use crate::ffi::{In, Out};
use crate::memory::transfer::{Fill, KINDS_2D_ASYNC, Transfer};
use crate::memory::{copy, submit};

fn copy_async(dst: usize, room: u64, src: usize, len: u64, stream: usize) -> Outcome {
    let transfer = Transfer {
        dst_pitch: room as usize,
        ..Transfer::linear(dst, src, len as usize)
    };
    copy::copy_async(Some(transfer), stream)
}

/// The addresses are in a descriptor that `aclrtSetMemcpyDesc` has written.
fn copy_described(descriptor: &In<Descriptor>, room: u64, len: u64, stream: usize) -> Outcome {
    let Descriptor { src, dst, .. } = descriptor.get()?;
    copy_async(dst, room, src, len, stream)
}

rt! {
    fn [rtMemcpyAsync, rtMemcpyAsyncWithoutCheckKind, rtMemcpyHostTask](
        dst: usize, room: u64, src: usize, len: u64, _kind: u32, stream: usize,
    ) {
        copy_async(dst, room, src, len, stream)
    }

    fn [rtMemcpyAsyncEx, rtMemcpyAsyncWithCfgV2](
        dst: usize, room: u64, src: usize, len: u64, _kind: u32, stream: usize, _config: usize,
    ) {
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemcpyAsyncWithCfg(
        dst: usize,
        room: u64,
        src: usize,
        len: u64,
        _kind: u32,
        stream: usize,
        _quality: u32,
    ) {
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemcpyD2DAddrAsync(
        dst: In<usize>,
        room: u64,
        dst_offset: u64,
        src: In<usize>,
        len: u64,
        src_offset: u64,
        stream: usize,
    ) {
        // The addresses are read from memory of the device, which is memory of this library.
        let dst = dst.get()?.wrapping_add(dst_offset as usize);
        let src = src.get()?.wrapping_add(src_offset as usize);
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemcpyAsyncPtr(
        addresses: In<Descriptor>,
        room: u64,
        len: u64,
        _kind: u32,
        stream: usize,
        _quality: u32,
    ) {
        copy_described(&addresses, room, len, stream)
    }

    fn rtMemcpyAsyncPtrV2(
        addresses: In<Descriptor>,
        room: u64,
        len: u64,
        _kind: u32,
        stream: usize,
        _config: usize,
    ) {
        copy_described(&addresses, room, len, stream)
    }

    fn rtMemcpy2dAsync(
        dst: usize,
        dst_pitch: u64,
        src: usize,
        src_pitch: u64,
        width: u64,
        rows: u64,
        kind: u32,
        stream: usize,
    ) {
        let rows = in_rows((dst, dst_pitch), (src, src_pitch), (width, rows));
        copy::copy_async(rows.in_rows(kind, &KINDS_2D_ASYNC)?, stream)
    }

    fn rtsMemcpyBatchAsync(
        dsts: In<usize>,
        rooms: In<usize>,
        srcs: In<usize>,
        lens: In<usize>,
        count: usize,
        _attrs: usize,
        _indexes: usize,
        _attr_count: usize,
        failed_at: Out<usize>,
        stream: usize,
    ) {
        batch_async(&batch(&dsts, &rooms, &srcs, &lens, count, &failed_at)?, stream)
    }

    fn rtMemsetAsync(dst: usize, room: u64, value: u32, len: u64, stream: usize) {
        copy::fill_async(Fill::bytes(dst, room as usize, value as i32, len as usize)?, stream)
    }

    fn rtReduceAsync(
        dst: usize,
        _room: u64,
        src: usize,
        len: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
    ) {
        submit::reduction(dst, src, len, kind, data_type, stream)
    }

    fn [rtReduceAsyncV2, rtReduceAsyncWithCfgV2](
        dst: usize,
        _room: u64,
        src: usize,
        len: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
        _overflow: usize,
    ) {
        submit::reduction(dst, src, len, kind, data_type, stream)
    }

    fn rtReduceAsyncWithCfg(
        dst: usize,
        _room: u64,
        src: usize,
        len: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
        _quality: u32,
    ) {
        submit::reduction(dst, src, len, kind, data_type, stream)
    }
}

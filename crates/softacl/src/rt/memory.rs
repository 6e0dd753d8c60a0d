//! Memory: allocation, copies, fills and reductions.

use super::rt;
use crate::code::Outcome;
use crate::ffi::Out;
use crate::memory::copy::{self, Fill, Transfer};
use crate::memory::reduce;
use crate::{memory, stream};

fn copy_async(dst: usize, room: u64, src: usize, len: u64, stream: usize) -> Outcome {
    let transfer = Transfer {
        dst_pitch: room as usize,
        ..Transfer::linear(dst, src, len as usize)
    };
    copy::copy_async(transfer, &stream::of_context(stream)?)
}

rt! {
    fn rtMalloc(address: Out<usize>, size: u64, _kind: u32, _module: u16) {
        address.check()?;
        address.put(memory::allocate_device(size as usize, 0)?)
    }

    fn rtFree(address: usize) { memory::free_device(address) }

    fn rtMallocHost(address: Out<usize>, size: u64, _module: u16) {
        address.check()?;
        address.put(memory::allocate_host(size as usize)?)
    }

    fn rtFreeHost(address: usize) { memory::free_host(address) }

    fn rtMemcpy(dst: usize, room: u64, src: usize, len: u64, _kind: u32) {
        let transfer = Transfer {
            dst_pitch: room as usize,
            ..Transfer::linear(dst, src, len as usize)
        };
        copy::copy_now(transfer)
    }

    fn rtMemcpyAsync(dst: usize, room: u64, src: usize, len: u64, _kind: u32, stream: usize) {
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemcpyAsyncWithoutCheckKind(
        dst: usize,
        room: u64,
        src: usize,
        len: u64,
        _kind: u32,
        stream: usize,
    ) {
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemcpyAsyncEx(
        dst: usize,
        room: u64,
        src: usize,
        len: u64,
        _kind: u32,
        stream: usize,
        _config: usize,
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

    fn rtMemcpyAsyncWithCfgV2(
        dst: usize,
        room: u64,
        src: usize,
        len: u64,
        _kind: u32,
        stream: usize,
        _config: usize,
    ) {
        copy_async(dst, room, src, len, stream)
    }

    fn rtMemset(dst: usize, room: u64, value: u32, len: u64) {
        copy::fill_now(Fill::bytes(dst, room as usize, value as i32, len as usize)?)
    }

    fn rtMemsetAsync(dst: usize, room: u64, value: u32, len: u64, stream: usize) {
        let stream = stream::of_context(stream)?;
        copy::fill_async(Fill::bytes(dst, room as usize, value as i32, len as usize)?, &stream)
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
        reduce::submit(dst, src, len, kind, data_type, stream)
    }

    fn rtReduceAsyncV2(
        dst: usize,
        _room: u64,
        src: usize,
        len: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
        _overflow: usize,
    ) {
        reduce::submit(dst, src, len, kind, data_type, stream)
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
        reduce::submit(dst, src, len, kind, data_type, stream)
    }

    fn rtReduceAsyncWithCfgV2(
        dst: usize,
        _room: u64,
        src: usize,
        len: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
        _config: usize,
    ) {
        reduce::submit(dst, src, len, kind, data_type, stream)
    }
}

//! Memory: allocation, copies and fills.

use super::acl;
use crate::ffi::Out;
use crate::memory;
use crate::memory::transfer::{Fill, KINDS_2D, KINDS_2D_ASYNC, Transfer};
use crate::memory::{allocate, copy};

acl! {
    fn [aclrtMalloc, aclrtMallocCached, aclrtMallocAlign32](
        address: Out<usize>, size: usize, policy: u32,
    ) {
        address.check()?;
        address.put(allocate::on_device(size, policy)?)
    }

    fn [aclrtFree; rtFree](address: usize) { memory::free_device(address) }

    fn aclrtMallocHost(address: Out<usize>, size: usize) {
        address.check()?;
        address.put(allocate::on_host(size)?)
    }

    fn [aclrtFreeHost; rtFreeHost](address: usize) { memory::free_host(address) }

    fn aclrtMemcpy(dst: usize, room: usize, src: usize, len: usize, kind: u32) {
        copy::copy_now(Transfer::within(dst, room, src, len, kind)?)
    }

    fn aclrtMemcpyAsync(
        dst: usize,
        room: usize,
        src: usize,
        len: usize,
        kind: u32,
        stream: usize,
    ) {
        copy::copy_async(Transfer::within(dst, room, src, len, kind)?, stream)
    }

    fn aclrtMemcpy2d(
        dst: usize,
        dst_pitch: usize,
        src: usize,
        src_pitch: usize,
        width: usize,
        rows: usize,
        kind: u32,
    ) {
        let transfer = Transfer { dst, src, dst_pitch, src_pitch, width, rows };
        copy::copy_now(transfer.in_rows(kind, &KINDS_2D)?)
    }

    fn aclrtMemcpy2dAsync(
        dst: usize,
        dst_pitch: usize,
        src: usize,
        src_pitch: usize,
        width: usize,
        rows: usize,
        kind: u32,
        stream: usize,
    ) {
        let transfer = Transfer { dst, src, dst_pitch, src_pitch, width, rows };
        copy::copy_async(transfer.in_rows(kind, &KINDS_2D_ASYNC)?, stream)
    }

    fn aclrtMemset(dst: usize, room: usize, value: i32, len: usize) {
        copy::fill_now(Fill::bytes(dst, room, value, len)?)
    }

    fn aclrtMemsetAsync(dst: usize, room: usize, value: i32, len: usize, stream: usize) {
        copy::fill_async(Fill::bytes(dst, room, value, len)?, stream)
    }

    fn aclrtMemsetD32(dst: usize, room: usize, value: u32, count: usize) {
        copy::fill_now(Fill::words(dst, room, value, count)?)
    }

    fn aclrtMemsetD32Async(dst: usize, room: usize, value: u32, count: usize, stream: usize) {
        copy::fill_async(Fill::words(dst, room, value, count)?, stream)
    }
}

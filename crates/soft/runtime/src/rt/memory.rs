//! Memory: allocation, and copies and fills that the host waits for.

use super::rt;
use crate::code::Outcome;
use crate::exports::memory_async::{batch, batch_now};
use crate::ffi::{In, Out};
use crate::memory::transfer::{Fill, KINDS_2D_ASYNC, Transfer};
use crate::memory::{allocate, copy};
use crate::{current, memory};

fn linear(dst: usize, room: u64, src: usize, len: u64) -> Transfer {
    Transfer {
        dst_pitch: room as usize,
        ..Transfer::linear(dst, src, len as usize)
    }
}

/// A copy of rows, each of a width at a distance.
pub(super) fn in_rows(
    (dst, dst_pitch): (usize, u64),
    (src, src_pitch): (usize, u64),
    (width, rows): (u64, u64),
) -> Transfer {
    Transfer {
        dst,
        src,
        dst_pitch: dst_pitch as usize,
        src_pitch: src_pitch as usize,
        width: width as usize,
        rows: rows as usize,
    }
}

fn synchronize() -> Outcome {
    current::context()?.synchronize_device(None)
}

rt! {
    fn rtMalloc(address: Out<usize>, size: u64, _kind: u32, _module: u16) {
        address.check()?;
        address.put(allocate::on_device(size as usize, 0)?)
    }

    fn rtMallocHost(address: Out<usize>, size: u64, _module: u16) {
        address.check()?;
        address.put(allocate::on_host(size as usize)?)
    }

    fn [rtMemcpy, rtMemcpyEx](dst: usize, room: u64, src: usize, len: u64, _kind: u32) {
        copy::copy_now((len > 0).then(|| linear(dst, room, src, len)))
    }

    fn rtMemcpy2d(
        dst: usize,
        dst_pitch: u64,
        src: usize,
        src_pitch: u64,
        width: u64,
        rows: u64,
        kind: u32,
    ) {
        let rows = in_rows((dst, dst_pitch), (src, src_pitch), (width, rows));
        copy::copy_now(rows.in_rows(kind, &KINDS_2D_ASYNC)?)
    }

    fn rtsMemcpyBatch(
        dsts: In<usize>,
        srcs: In<usize>,
        lens: In<usize>,
        count: usize,
        _attrs: usize,
        _indexes: usize,
        _attr_count: usize,
        failed_at: Out<usize>,
    ) {
        batch_now(&batch(&dsts, &lens, &srcs, &lens, count, &failed_at)?)
    }

    fn rtFreeWithDevSync(address: usize) {
        synchronize()?;
        memory::free_device(address)
    }

    fn rtFreeHostWithDevSync(address: usize) {
        synchronize()?;
        memory::free_host(address)
    }

    fn rtMemset(dst: usize, room: u64, value: u32, len: u64) {
        copy::fill_now(Fill::bytes(dst, room as usize, value as i32, len as usize)?)
    }
}

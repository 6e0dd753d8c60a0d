//! The less common forms of copies: conditions, batches, offsets, reductions, and pools.

use super::acl;
use crate::code::{Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, check, fault, require};
use crate::engine::task::Work;
use crate::ffi::{In, Out};
use crate::graph::modes;
use crate::memory::transfer::{CheckedTransfer, Transfer};
use crate::memory::{allocate, copy, submit};
use crate::stream::access;
use crate::{current, memory, process, stream};

/// What `aclrtSetMemcpyDesc` writes into the program's descriptor.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Descriptor {
    pub(crate) src: usize,
    pub(crate) dst: usize,
    len: usize,
    reserved: usize,
}

acl! {
    fn aclrtMemcpyAsyncWithCondition(
        dst: usize,
        room: usize,
        src: usize,
        len: usize,
        kind: u32,
        stream: usize,
    ) {
        copy::copy_async(Transfer::within(dst, room, src, len, kind)?, stream)
    }

    fn aclrtMemcpyAsyncWithOffset(
        dst: In<usize>,
        room: usize,
        dst_offset: usize,
        src: In<usize>,
        len: usize,
        src_offset: usize,
        _kind: u32,
        stream: usize,
    ) {
        if len == 0 {
            return Ok(());
        }
        // The addresses are read from memory of the device, which is memory of this library.
        let (dst, src) = (dst.get()?.wrapping_add(dst_offset), src.get()?.wrapping_add(src_offset));
        let transfer = Transfer { dst_pitch: room, ..Transfer::linear(dst, src, len) };
        copy::copy_async(Some(transfer), stream)
    }

    fn aclrtGetMemcpyDescSize(kind: u32, size: Out<usize>) {
        size.check()?;
        check_kind(kind)?;
        size.put(size_of::<Descriptor>())
    }

    fn aclrtSetMemcpyDesc(
        descriptor: Out<Descriptor>,
        kind: u32,
        src: usize,
        dst: usize,
        len: usize,
        config: usize,
    ) {
        descriptor.check()?;
        check_kind(kind)?;
        require(len > 0, "the length is 0")?;
        require(config == 0, "the last argument is reserved")?;
        Transfer::linear(dst, src, len).checked()?;
        descriptor.put(Descriptor { src, dst, len, reserved: 0 })
    }

    fn aclrtMemcpyAsyncWithDesc(descriptor: In<Descriptor>, kind: u32, stream: usize) {
        let Descriptor { src, dst, len, .. } = descriptor.get()?;
        check_kind(kind)?;
        require(stream != 0, "the stream is NULL")?;
        copy::copy_async(Some(Transfer::linear(dst, src, len)), stream)
    }

    fn aclrtMemcpyBatch(
        dsts: In<usize>,
        rooms: In<usize>,
        srcs: In<usize>,
        lens: In<usize>,
        count: usize,
        _attrs: usize,
        _indexes: usize,
        _attr_count: usize,
        failed_at: Out<usize>,
    ) {
        failed_at.check()?;
        batch_now(&batch(&dsts, &rooms, &srcs, &lens, count, &failed_at)?)
    }

    fn aclrtMemcpyBatchV2(
        dsts: In<usize>,
        rooms: In<usize>,
        srcs: In<usize>,
        lens: In<usize>,
        count: usize,
        _attrs: usize,
        _indexes: usize,
        _attr_count: usize,
    ) {
        batch_now(&batch(&dsts, &rooms, &srcs, &lens, count, &Out::nowhere())?)
    }

    fn aclrtMemcpyBatchAsync(
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
        failed_at.check()?;
        batch_async(&batch(&dsts, &rooms, &srcs, &lens, count, &failed_at)?, stream)
    }

    fn aclrtMemcpyBatchAsyncV2(
        dsts: In<usize>,
        rooms: In<usize>,
        srcs: In<usize>,
        lens: In<usize>,
        count: usize,
        _attrs: usize,
        _indexes: usize,
        _attr_count: usize,
        stream: usize,
    ) {
        batch_async(&batch(&dsts, &rooms, &srcs, &lens, count, &Out::nowhere())?, stream)
    }

    fn aclrtReduceAsync(
        dst: usize,
        src: usize,
        bytes: u64,
        kind: u32,
        data_type: i32,
        stream: usize,
        _reserved: usize,
    ) {
        submit::reduction(dst, src, bytes, kind, data_type, stream)
    }

    fn aclrtMemManagedPrefetchAsync(
        address: usize,
        size: u64,
        _location: u64,
        flags: u32,
        stream: usize,
    ) {
        require(address != 0 && size > 0, "the range is empty")?;
        require(flags == 0, "the flags are reserved")?;
        memory::check_range(address, size as usize, memory::place_of(address))?;
        access::of_context(stream)?.mark()
    }

    fn aclrtMemPoolMallocAsync(address: Out<usize>, size: usize, pool: usize, stream: usize) {
        address.check()?;
        super::vmm::known(pool)?;
        require(stream != 0, "the stream is NULL")?;
        if size == 0 {
            return Ok(());
        }
        let stream = access::of_context(stream)?;
        refuse_in_graphs(&stream)?;
        address.put(allocate::on_device(size, 0)?)?;
        stream.mark()
    }

    fn aclrtMemPoolFreeAsync(address: usize, stream: usize) {
        require(address != 0, "the pointer is NULL")?;
        let stream = access::of_context(stream)?;
        refuse_in_graphs(&stream)?;
        let known = stream.device.memory.block_of(address, 1).is_some();
        check(known, "this is no device allocation")?;
        stream.submit(|_| Work::Free { address }).map(drop)
    }
}

/// The kind of a described copy must exist.
fn check_kind(kind: u32) -> Outcome {
    require(kind <= 7, "this kind of copy does not exist")
}

/// A replay would allocate or free again.
fn refuse_in_graphs(stream: &stream::Stream) -> Outcome {
    if stream.route.target().is_some() {
        return fault(RT_NOT_SUPPORTED, "a graph cannot allocate or free memory");
    }
    Ok(())
}

/// The checked parts of a batch, none when all have 0 bytes. The caller gets the index of the first bad one.
pub(crate) fn batch(
    dsts: &In<usize>,
    rooms: &In<usize>,
    srcs: &In<usize>,
    lens: &In<usize>,
    count: usize,
    failed_at: &Out<usize>,
) -> Outcome<Vec<CheckedTransfer>> {
    require(count > 0, "the batch is empty")?;
    let lens = lens.array(count)?;
    if lens.iter().all(|&len| len == 0) {
        failed_at.put_if_wanted(usize::MAX);
        return Ok(Vec::new());
    }
    let (dsts, rooms, srcs) = (dsts.array(count)?, rooms.array(count)?, srcs.array(count)?);
    let fits = rooms.iter().zip(&lens).all(|(room, len)| len <= room);
    require(fits, "a length exceeds its destination")?;
    current::context()?;
    let mut parts = Vec::with_capacity(count);
    for index in 0..count {
        let linear = Transfer::linear(dsts[index], srcs[index], lens[index]);
        let part = Transfer {
            dst_pitch: rooms[index],
            ..linear
        }
        .checked()
        .and_then(|part| {
            if part.is_one_way() {
                Ok(part)
            } else {
                fault(RT_NOT_SUPPORTED, "not a batch copy")
            }
        });
        parts.push(part.inspect_err(|_| failed_at.put_if_wanted(index))?);
    }
    Ok(parts)
}

pub(crate) fn batch_now(parts: &[CheckedTransfer]) -> Outcome {
    parts
        .iter()
        .try_for_each(|part| copy::copy_at_once(part.transfer))
}

pub(crate) fn batch_async(parts: &[CheckedTransfer], stream: usize) -> Outcome {
    if parts.is_empty() {
        return Ok(());
    }
    let stream = access::of_context(stream)?;
    if parts.iter().any(CheckedTransfer::touches_pageable) {
        modes::permit_blocking_copy(&stream)?;
        stream.synchronize(None)?;
        return batch_now(parts);
    }
    let options = process::options();
    let latencies = options.copy_ns * (parts.len() as u64 - 1);
    // The parts of a batch share one latency.
    let total: u64 = parts.iter().map(|part| part.duration_ns(options)).sum();
    let transfers = parts.iter().map(|part| part.transfer).collect();
    let Some(duration_ns) = total.checked_sub(latencies) else {
        return fault(RT_PARAM_INVALID, "the batch is too long");
    };
    stream
        .submit(|_| Work::Transfer {
            transfers,
            duration_ns,
        })
        .map(drop)
}

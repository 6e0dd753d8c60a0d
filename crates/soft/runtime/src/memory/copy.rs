//! Copies and fills: at once, and as tasks.

use std::sync::Arc;

use super::transfer::{Fill, Transfer};
use super::{MemoryKind, host_uses_memory, place_of};
use crate::clock::{self, wait_until};
use crate::code::{Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, fault};
use crate::engine::task::Work;
use crate::graph::modes;
use crate::stream::{Stream, access};
use crate::{current, process};

/// A copy in the calling thread, which neither uses nor waits for any stream. Without bytes, nothing is asked of the
/// device.
pub(crate) fn copy_now(transfer: Option<Transfer>) -> Outcome {
    let Some(transfer) = transfer else {
        return Ok(());
    };
    let ends = (place_of(transfer.dst), place_of(transfer.src));
    if ends == (MemoryKind::Pageable, MemoryKind::Pageable) {
        // No device has a part in it.
        transfer.checked()?;
        transfer.run();
        return Ok(());
    }
    modes::permit_unsafe()?;
    copy_at_once(transfer)
}

/// The copy itself, independent of captures.
pub(crate) fn copy_at_once(transfer: Transfer) -> Outcome {
    current::context()?;
    let checked = transfer.checked()?;
    if transfer.dst != transfer.src {
        host_uses_memory();
        let begin = clock::now();
        transfer.run();
        wait_until(begin + checked.duration_ns(process::options()));
    }
    Ok(())
}

/// A copy as a task of the stream with that handle; a copy without bytes is no task. With pageable host memory it is not
/// asynchronous: it waits for the stream and then copies in the calling thread.
pub(crate) fn copy_async(transfer: Option<Transfer>, stream: usize) -> Outcome {
    match transfer {
        Some(transfer) => copy_in(transfer, &access::of_context(stream)?),
        None => Ok(()),
    }
}

fn copy_in(transfer: Transfer, stream: &Arc<Stream>) -> Outcome {
    let checked = transfer.checked()?;
    if checked.is_host_to_host() {
        return fault(
            RT_NOT_SUPPORTED,
            "a copy from host to host cannot be a task",
        );
    }
    if checked.touches_pageable() {
        modes::permit_blocking_copy(stream)?;
        stream.synchronize(None)?;
        return copy_at_once(transfer);
    }
    let duration_ns = checked.duration_ns(process::options());
    stream
        .submit(|_| Work::copy(transfer, duration_ns))
        .map(drop)
}

const NOT_OURS: Outcome = fault(RT_PARAM_INVALID, "the memory was not allocated through acl");

pub(crate) fn fill_now(fill: Option<Fill>) -> Outcome {
    let Some(fill) = fill else {
        return Ok(());
    };
    current::context()?;
    if process::options().strict && fill.place() == MemoryKind::Pageable {
        return NOT_OURS;
    }
    modes::permit_unsafe()?;
    host_uses_memory();
    let begin = clock::now();
    fill.run();
    wait_until(begin + fill.duration_ns(process::options()));
    Ok(())
}

/// Nothing to fill is no task.
pub(crate) fn fill_async(fill: Option<Fill>, stream: usize) -> Outcome {
    let Some(fill) = fill else {
        return Ok(());
    };
    let stream = access::of_context(stream)?;
    let duration_ns = fill.duration_ns(process::options());
    if fill.place() == MemoryKind::Pageable {
        return NOT_OURS;
    }
    stream.submit(|_| Work::fill(fill, duration_ns)).map(drop)
}

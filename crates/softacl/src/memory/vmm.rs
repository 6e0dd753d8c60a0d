//! Reserved addresses and physical memory, joined by the program.
//!
//! Physical memory is an anonymous file, so that two addresses can show the same bytes.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex};

use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_INVALID_HANDLE, RT_OUT_OF_MEMORY, RT_PARAM_INVALID, check,
    fault,
};
use crate::runtime;
use crate::sync::lock;

/// Sizes are multiples of a huge page.
pub(crate) const GRANULARITY: usize = 2 << 20;

pub(crate) struct Physical {
    handle: usize,
    file: OwnedFd,
    size: usize,
    pub(crate) device: u32,
}

#[derive(Default)]
pub(crate) struct Mappings(Mutex<State>);

#[derive(Default)]
struct State {
    /// Reserved start to size and to the start of the arena's allocation.
    reserved: BTreeMap<usize, (usize, usize)>,
    mapped: BTreeMap<usize, (usize, Arc<Physical>)>,
}

const NO_MEMORY: Fault = Fault {
    code: RT_OUT_OF_MEMORY,
    why: "no memory is left",
};

pub(crate) fn create(size: usize) -> Outcome<usize> {
    check(
        size > 0 && size.is_multiple_of(GRANULARITY),
        "the size is not a multiple of the granularity",
    )?;
    let runtime = runtime::get();
    let device = runtime.context()?.device.id;
    let name = c"softacl".as_ptr();
    // SAFETY: a constant name; the result is checked before it is owned. The C library's function for
    // it is younger than the hosts we run on.
    let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) };
    let Ok(fd @ 0..) = libc::c_int::try_from(fd) else {
        return Err(NO_MEMORY);
    };
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: a plain call on an open descriptor.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) } != 0 {
        return Err(NO_MEMORY);
    }
    let made = runtime.physical.insert_with(|handle| Physical {
        handle,
        file,
        size,
        device,
    });
    made.map(|physical| physical.handle).ok_or(NO_MEMORY)
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Physical>> {
    const UNKNOWN: Fault = Fault {
        code: RT_INVALID_HANDLE,
        why: "this is no physical memory",
    };
    if handle == 0 {
        return fault(INVALID_PARAM, "the handle is NULL");
    }
    runtime::get().physical.get(handle).ok_or(UNKNOWN)
}

/// The memory itself goes when nothing maps it any more.
pub(crate) fn free(handle: usize) -> Outcome {
    of(handle)?;
    runtime::get().physical.remove(handle);
    Ok(())
}

pub(crate) fn reserve(size: usize) -> Outcome<usize> {
    check(
        size > 0 && size.is_multiple_of(GRANULARITY),
        "the size is not a multiple of the granularity",
    )?;
    let runtime = runtime::get();
    let arena = &runtime.context()?.device.memory;
    let start = size
        .checked_add(GRANULARITY)
        .and_then(|span| arena.allocate(span, 0));
    let start = start.ok_or(NO_MEMORY)?;
    let aligned = start.next_multiple_of(GRANULARITY);
    lock(&runtime.mappings.0)
        .reserved
        .insert(aligned, (size, start));
    Ok(aligned)
}

pub(crate) fn release(address: usize) -> Outcome {
    let runtime = runtime::get();
    let mut state = lock(&runtime.mappings.0);
    let Some(&(size, start)) = state.reserved.get(&address) else {
        return fault(RT_PARAM_INVALID, "the address was not reserved");
    };
    let in_use = state.mapped.range(address..address + size).next().is_some();
    check(!in_use, "memory is still mapped here")?;
    state.reserved.remove(&address);
    drop(state);
    super::free_device(start)
}

pub(crate) fn map(address: usize, size: usize, offset: usize, handle: usize) -> Outcome {
    let physical = of(handle)?;
    let fits = offset
        .checked_add(size)
        .is_some_and(|end| end <= physical.size);
    check(
        size > 0 && size.is_multiple_of(GRANULARITY) && fits,
        "the size does not fit the memory",
    )?;
    check(offset == 0, "the offset is reserved")?;
    let runtime = runtime::get();
    let mut state = lock(&runtime.mappings.0);
    let room = state.reserved.range(..=address).next_back();
    let inside = room.is_some_and(|(start, (len, _))| address + size <= start + len);
    check(
        inside && address.is_multiple_of(GRANULARITY),
        "the range is not reserved",
    )?;
    let taken = state.mapped.range(..address + size).next_back();
    let taken = taken.is_some_and(|(start, (len, _))| start + len > address);
    check(!taken, "memory is mapped here already")?;
    place(address, size, libc::MAP_SHARED, physical.file.as_raw_fd())?;
    state.mapped.insert(address, (size, physical));
    Ok(())
}

pub(crate) fn unmap(address: usize) -> Outcome {
    let mut state = lock(&runtime::get().mappings.0);
    let Some((size, _)) = state.mapped.remove(&address) else {
        return fault(RT_PARAM_INVALID, "nothing is mapped at this address");
    };
    // The range stays accessible: a late task must not crash the process.
    place(
        address,
        size,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        -1,
    )
}

/// The memory that is mapped at an address.
pub(crate) fn mapped_at(address: usize) -> Outcome<usize> {
    let state = lock(&runtime::get().mappings.0);
    let below = state.mapped.range(..=address).next_back();
    match below.filter(|(start, (size, _))| address < *start + size) {
        Some((_, (_, physical))) => Ok(physical.handle),
        None => fault(RT_PARAM_INVALID, "nothing is mapped at this address"),
    }
}

fn place(address: usize, size: usize, flags: i32, file: i32) -> Outcome {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let target = address as *mut libc::c_void;
    // SAFETY: the range was checked to lie in a reservation of the device's arena.
    let made = unsafe { libc::mmap(target, size, access, flags | libc::MAP_FIXED, file, 0) };
    if made == libc::MAP_FAILED {
        Err(NO_MEMORY)
    } else {
        Ok(())
    }
}

//! Reserved addresses and physical memory, joined by the program.
//!
//! Physical memory is an anonymous file, so that two addresses can show the same bytes.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::code::{Fault, Outcome, RT_OUT_OF_MEMORY, RT_PARAM_INVALID, check, fault};
use crate::device::{self, Device};
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static MAPPINGS: PerProcess<Mappings> = PerProcess::new(Mappings::default);
static PHYSICAL: PerProcess<Registry<Physical>> =
    PerProcess::new(|| Registry::new(HandleKind::Physical));

pub(crate) fn mappings() -> &'static Mappings {
    MAPPINGS.get()
}

/// Sizes are multiples of a huge page.
pub(crate) const GRANULARITY: usize = 2 << 20;

pub(crate) struct Physical {
    handle: usize,
    file: OwnedFd,
    size: usize,
    pub(crate) device: u32,
}

/// Memory goes back to its device when neither the program nor a mapping holds it.
impl Drop for Physical {
    fn drop(&mut self) {
        let devices = device::all();
        if let Some(device) = devices.get(self.device as usize) {
            device.memory.give_up(self.size);
        }
    }
}

#[derive(Default)]
pub(crate) struct Mappings {
    state: Mutex<MappingsState>,
    /// How many ranges are reserved: most programs have none, and their copies need not look.
    count: AtomicUsize,
}

#[derive(Default)]
struct MappingsState {
    /// By first address.
    reserved: BTreeMap<usize, Reservation>,
    /// Ranges that were released, by their size. They stay accessible: a late task must not crash the process.
    released: BTreeMap<usize, Vec<usize>>,
    mapped: BTreeMap<usize, (usize, Arc<Physical>)>,
}

/// Addresses without memory.
struct Reservation {
    size: usize,
    device: u32,
}

impl Mappings {
    /// The device that a reserved address belongs to.
    pub(crate) fn device_of(&self, address: usize) -> Option<u32> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let state = lock(&self.state);
        let (start, room) = state.reserved.range(..=address).next_back()?;
        (address < start + room.size).then_some(room.device)
    }

    /// Is there memory at every address of a range?
    pub(crate) fn cover(&self, address: usize, len: usize) -> bool {
        let state = lock(&self.state);
        let Some(end) = address.checked_add(len) else {
            return false;
        };
        let mut reached = address;
        loop {
            let below = state.mapped.range(..=reached).next_back();
            match below.map(|(start, (size, _))| start + size) {
                Some(next) if next > reached => reached = next,
                _ => return false,
            }
            if reached >= end {
                return true;
            }
        }
    }
}

const NO_ADDRESSES: Fault = Fault {
    code: RT_OUT_OF_MEMORY,
    why: "no addresses are left",
};

const NO_MEMORY: Fault = Fault {
    code: RT_OUT_OF_MEMORY,
    why: "no memory is left",
};

pub(super) fn check_size(size: usize) -> Outcome {
    check(
        size > 0 && size.is_multiple_of(GRANULARITY),
        "the size is not a multiple of the granularity",
    )
}

pub(super) fn create(size: usize, device: &'static Device) -> Outcome<usize> {
    let file = anonymous_file(size)?;
    if !device.memory.take(size) {
        return Err(NO_MEMORY);
    }
    let made = PHYSICAL.get().insert_with(|handle| Physical {
        handle,
        file,
        size,
        device: device.id,
    });
    made.map(|physical| physical.handle).ok_or(NO_MEMORY)
}

fn anonymous_file(size: usize) -> Outcome<OwnedFd> {
    let name = c"softacl".as_ptr();
    // SAFETY: a constant name; the result is checked before it is owned. The C library's function for
    // it is younger than the hosts we run on.
    let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name, libc::MFD_CLOEXEC) };
    let Ok(fd @ 0..) = libc::c_int::try_from(fd) else {
        return Err(NO_MEMORY);
    };
    // SAFETY: the descriptor was just made and has no other owner.
    let file = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: a plain call on an open descriptor.
    if unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) } != 0 {
        return Err(NO_MEMORY);
    }
    Ok(file)
}

pub(crate) fn of(handle: usize) -> Outcome<Arc<Physical>> {
    PHYSICAL
        .get()
        .named(handle, "the handle is NULL", "this is no physical memory")
}

/// The memory itself goes when nothing maps it any more.
pub(crate) fn free(handle: usize) -> Outcome {
    of(handle)?;
    PHYSICAL.get().remove(handle);
    Ok(())
}

/// Reserved bytes for at least `size` bytes.
pub(super) fn rounded(size: usize) -> Outcome<usize> {
    check(size > 0, "the size is 0")?;
    let size = size.checked_next_multiple_of(GRANULARITY);
    size.ok_or(NO_ADDRESSES)
}

/// Reserves addresses of a device.
pub(super) fn reserve(size: usize, device: u32) -> Outcome<usize> {
    let mappings = mappings();
    let mut state = lock(&mappings.state);
    let start = match state.released.get_mut(&size).and_then(Vec::pop) {
        Some(start) => start,
        None => addresses(size)?,
    };
    state.reserved.insert(start, Reservation { size, device });
    mappings
        .count
        .store(state.reserved.len(), Ordering::Release);
    Ok(start)
}

/// A fresh range that starts at a multiple of the granularity.
fn addresses(size: usize) -> Outcome<usize> {
    let span = size.checked_add(GRANULARITY).ok_or(NO_ADDRESSES)?;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), span, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(NO_ADDRESSES);
    }
    Ok((start as usize).next_multiple_of(GRANULARITY))
}

pub(crate) fn release(address: usize) -> Outcome {
    let mappings = mappings();
    let mut state = lock(&mappings.state);
    let Some(size) = state.reserved.get(&address).map(|room| room.size) else {
        return fault(RT_PARAM_INVALID, "the address was not reserved");
    };
    let in_use = state.mapped.range(address..address + size).next().is_some();
    check(!in_use, "memory is still mapped here")?;
    empty(address, size)?;
    state.reserved.remove(&address);
    state.released.entry(size).or_default().push(address);
    mappings
        .count
        .store(state.reserved.len(), Ordering::Release);
    Ok(())
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
    let mut state = lock(&mappings().state);
    let room = state.reserved.range(..=address).next_back();
    let inside = room.is_some_and(|(start, room)| address + size <= start + room.size);
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
    let mut state = lock(&mappings().state);
    let Some((size, _)) = state.mapped.remove(&address) else {
        return fault(RT_PARAM_INVALID, "nothing is mapped at this address");
    };
    empty(address, size)
}

/// Gives the contents of a range up. It stays accessible: a late task must not crash the process.
fn empty(address: usize, size: usize) -> Outcome {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    place(address, size, flags, -1)
}

/// The memory that is mapped at an address.
pub(crate) fn mapped_at(address: usize) -> Outcome<usize> {
    let state = lock(&mappings().state);
    let below = state.mapped.range(..=address).next_back();
    match below.filter(|(start, (size, _))| address < *start + size) {
        Some((_, (_, physical))) => Ok(physical.handle),
        None => fault(RT_PARAM_INVALID, "nothing is mapped at this address"),
    }
}

fn place(address: usize, size: usize, flags: i32, file: i32) -> Outcome {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let target = address as *mut libc::c_void;
    // SAFETY: the range was checked to be in a reservation of this library.
    let made = unsafe { libc::mmap(target, size, access, flags | libc::MAP_FIXED, file, 0) };
    if made == libc::MAP_FAILED {
        Err(NO_MEMORY)
    } else {
        Ok(())
    }
}

//! Device and pinned host memory, and what kind of memory an address is.

pub(crate) mod allocate;
pub(crate) mod arena;
pub(crate) mod copy;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod submit;
pub(crate) mod transfer;
pub(crate) mod value;
pub(crate) mod vmm;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, check, fault};
use crate::{device, process, virtual_time};

use crate::per_process::PerProcess;
use crate::sync::RwLock;
use arena::Arena;

static HOST: PerProcess<HostMemory> =
    PerProcess::new(|| HostMemory::new(process::options().memory));

pub(crate) fn host() -> &'static HostMemory {
    HOST.get()
}

/// Where an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    Device(u32),
    Pinned,
    Pageable,
}

impl MemoryKind {
    pub(crate) const fn is_host(self) -> bool {
        !matches!(self, Self::Device(_))
    }
}

/// Host memory that a device can reach: allocated by us or registered by the program.
pub(crate) struct HostMemory {
    pub(crate) pinned: Arena,
    registered: RwLock<BTreeMap<usize, usize>>,
    registrations: AtomicUsize,
}

impl HostMemory {
    pub(crate) fn new(capacity: u64) -> Self {
        Self {
            pinned: Arena::new(capacity).hostile(process::is_adversarial()),
            registered: RwLock::default(),
            registrations: AtomicUsize::new(0),
        }
    }

    pub(crate) fn is_registered(&self, address: usize) -> bool {
        self.registrations.load(Ordering::Acquire) != 0
            && self
                .registered
                .read()
                .range(..=address)
                .next_back()
                .is_some_and(|(start, size)| address < start + size)
    }

    /// False when a part of the range is registered already.
    pub(crate) fn register(&self, start: usize, size: usize) -> bool {
        let mut ranges = self.registered.write();
        let below = ranges.range(..start + size).next_back();
        if below.is_some_and(|(first, length)| first + length > start) {
            return false;
        }
        ranges.insert(start, size);
        self.registrations.store(ranges.len(), Ordering::Release);
        true
    }

    pub(crate) fn unregister(&self, start: usize) -> bool {
        let mut ranges = self.registered.write();
        let known = ranges.remove(&start).is_some();
        self.registrations.store(ranges.len(), Ordering::Release);
        known
    }
}

pub(crate) fn place_of(address: usize) -> MemoryKind {
    if let Some(device) = device::all()
        .iter()
        .find(|device| device.memory.contains(address))
    {
        return MemoryKind::Device(device.id);
    }
    if let Some(device) = vmm::mappings().device_of(address) {
        return MemoryKind::Device(device);
    }
    let host = host();
    if host.pinned.contains(address) || host.is_registered(address) {
        MemoryKind::Pinned
    } else {
        MemoryKind::Pageable
    }
}

/// Checks that a range which touches memory of this library is inside one live allocation.
pub(crate) fn check_range(address: usize, len: usize, place: MemoryKind) -> Outcome {
    let known = match place {
        MemoryKind::Device(id) => {
            let memory = &device::all()[id as usize].memory;
            memory.block_of(address, len).is_some() || vmm::mappings().cover(address, len)
        }
        MemoryKind::Pinned if host().pinned.contains(address) => {
            host().pinned.block_of(address, len).is_some()
        }
        _ => true,
    };
    check(known, "the range is not inside one allocation")
}

/// Marks allocations that host and device share.
const MANAGED: u32 = u32::MAX;

pub(crate) fn is_managed(address: usize) -> bool {
    let mut arenas = device::all().iter().map(|device| &device.memory);
    arenas.any(|arena| {
        arena
            .block_of(address, 1)
            .is_some_and(|block| block.policy == MANAGED)
    })
}

/// The calling thread is about to use or free memory itself. With a hostile order in virtual time, the
/// engine has played all tasks before that do not wait: the result of a race is then the same in each
/// run.
pub(crate) fn host_uses_memory() {
    if process::is_adversarial() {
        virtual_time::settle();
    }
}

pub(crate) fn free_device(address: usize) -> Outcome {
    if address == 0 {
        return fault(INVALID_PARAM, "the pointer is NULL");
    }
    host_uses_memory();
    free_in_order(address)
}

/// The same as a task, which has its place in the order.
pub(crate) fn free_in_order(address: usize) -> Outcome {
    let freed = device::all()
        .iter()
        .any(|device| device.memory.release(address));
    if freed {
        Ok(())
    } else {
        fault(RT_PARAM_INVALID, "this is no device allocation")
    }
}

pub(crate) fn free_host(address: usize) -> Outcome {
    if address == 0 {
        return fault(INVALID_PARAM, "the pointer is NULL");
    }
    host_uses_memory();
    let freed = host().pinned.release(address);
    if freed {
        Ok(())
    } else {
        fault(RT_PARAM_INVALID, "this is no pinned host allocation")
    }
}

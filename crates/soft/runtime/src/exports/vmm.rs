//! Virtual memory management and memory pools.

use super::acl;
use crate::code::{
    Fault, INVALID_PARAM, RT_INVALID_HANDLE, RT_OUT_OF_MEMORY, check, fault, require,
};
use crate::ffi::{In, Out};
use crate::handles::{HandleKind, Registry};
use crate::memory::{allocate, vmm};
use crate::per_process::PerProcess;
use crate::{current, settings};

static POOLS: PerProcess<Registry<usize>> = PerProcess::new(|| Registry::new(HandleKind::Pool));

/// `aclrtPhysicalMemProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PhysicalProperties {
    handle_type: u32,
    allocation_type: u32,
    memory: u32,
    device: u32,
    place: u32,
    reserved: u64,
}

acl! {
    fn aclrtReserveMemAddress(
        address: Out<usize>,
        size: usize,
        alignment: usize,
        _wanted: usize,
        flags: u64,
    ) {
        address.check()?;
        require(size > 0, "the size is 0")?;
        require(flags <= 1, "the page type does not exist")?;
        check(alignment == 0, "the alignment is reserved")?;
        address.put(allocate::addresses(size)?)
    }

    fn aclrtReleaseMemAddress(address: usize) {
        require(address != 0, "the pointer is NULL")?;
        vmm::release(address)
    }

    fn aclrtMallocPhysical(
        handle: Out<usize>,
        size: usize,
        properties: In<PhysicalProperties>,
        flags: u64,
    ) {
        const DEVICE: u32 = 1;
        handle.check()?;
        let wanted = properties.get()?;
        require(size > 0, "the size is 0")?;
        require(flags == 0, "the flags are reserved")?;
        let pinned = wanted.handle_type == 0 && wanted.allocation_type == 0;
        require(pinned, "this kind of memory does not exist")?;
        require(!matches!(wanted.place, 2 | 3), "there is no physical memory of this kind")?;
        // Ordinary host memory, which no device has.
        let is_hosts = matches!(wanted.memory, 2 | 3 | 6 | 7);
        require(wanted.place != DEVICE || !is_hosts, "a device has no memory of this kind")?;
        handle.put(allocate::physical(size)?)
    }

    fn aclrtFreePhysical(handle: usize) { vmm::free(handle) }

    fn aclrtMapMem(address: usize, size: usize, offset: usize, handle: usize, flags: u64) {
        require(address != 0 && handle != 0, "the address or the handle is NULL")?;
        require(size > 0, "the size is 0")?;
        require(flags == 0, "the flags are reserved")?;
        vmm::map(address, size, offset, handle)
    }

    fn aclrtUnmapMem(address: usize) {
        require(address != 0, "the pointer is NULL")?;
        vmm::unmap(address)
    }

    fn aclrtMemSetAccess(address: usize, size: usize, access: usize, count: usize) {
        if access == 0 {
            return fault(INVALID_PARAM, "there is no description");
        }
        check(size > 0 && count > 0, "the range or the description is empty")?;
        vmm::mapped_at(address).map(drop)
    }

    fn aclrtMemGetAllocationGranularity(
        properties: In<PhysicalProperties>,
        option: u32,
        granularity: Out<usize>,
    ) {
        granularity.check()?;
        properties.get()?;
        check(option <= 1, "this option does not exist")?;
        granularity.put(vmm::GRANULARITY)
    }

    fn aclrtMemGetAllocationPropertiesFromHandle(
        handle: usize,
        properties: Out<PhysicalProperties>,
    ) {
        /// High-bandwidth memory of a device, in huge pages.
        const HBM_HUGE: u32 = 4;
        const ON_DEVICE: u32 = 1;
        properties.put(PhysicalProperties {
            handle_type: 0,
            allocation_type: 0,
            memory: HBM_HUGE,
            device: vmm::of(handle)?.device,
            place: ON_DEVICE,
            reserved: 0,
        })
    }

    fn aclrtMemRetainAllocationHandle(address: usize, handle: Out<usize>) {
        require(address != 0, "the pointer is NULL")?;
        handle.check()?;
        handle.put(vmm::mapped_at(address)?)
    }

    fn aclrtMemPoolCreate(pool: Out<usize>, properties: In<[u8; 56]>) {
        pool.check()?;
        properties.get()?;
        current::context()?;
        const NONE_LEFT: Fault = Fault { code: RT_OUT_OF_MEMORY, why: "no pool is left" };
        pool.put(*POOLS.get().insert_with(|handle| handle).ok_or(NONE_LEFT)?)
    }

    fn aclrtMemPoolDestroy(pool: usize) {
        known(pool)?;
        settings::get().pool_attributes.clear(pool as u64);
        POOLS.get().remove(pool);
        Ok(())
    }

    fn aclrtMemPoolTrimTo(pool: usize, _keep: usize) { known(pool) }

    fn aclrtMemPoolSetAttr(pool: usize, attr: u32, value: In<u64>) {
        known(pool)?;
        settings::get().pool_attributes.set(pool as u64, attr, value.get()? as i64)
    }

    fn aclrtMemPoolGetAttr(pool: usize, attr: u32, value: Out<u64>) {
        known(pool)?;
        let set = settings::get().pool_attributes.get(pool as u64, attr);
        value.put(set.unwrap_or(0) as u64)
    }
}

pub(super) fn known(pool: usize) -> crate::code::Outcome {
    if pool == 0 {
        return fault(INVALID_PARAM, "the pool is NULL");
    }
    match POOLS.get().get(pool) {
        Some(_) => Ok(()),
        None => fault(RT_INVALID_HANDLE, "this is no memory pool"),
    }
}

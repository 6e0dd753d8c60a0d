//! Registered host memory, and questions about memory.

use super::acl;
use crate::code::{
    RT_ALREADY_REGISTERED, RT_NOT_REGISTERED, RT_PARAM_INVALID, check, fault, require,
};
use crate::ffi::Out;
use crate::memory::{self, MemoryKind, allocate};
use crate::{current, device};

const HOST: u32 = 0;
const DEVICE: u32 = 1;
const UNREGISTERED: u32 = 2;
const MANAGED: u32 = 3;

/// `aclrtPtrAttributes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PointerAttributes {
    device: u32,
    place: u32,
    page_size: u32,
    reserved: [u32; 4],
}

acl! {
    fn [aclrtMallocWithCfg, aclrtMallocForTaskScheduler](
        address: Out<usize>, size: usize, policy: u32, _config: usize,
    ) {
        address.check()?;
        address.put(allocate::on_device(size, policy)?)
    }

    fn aclrtMallocHostWithCfg(address: Out<usize>, size: u64, _config: usize) {
        address.check()?;
        address.put(allocate::on_host(size as usize)?)
    }

    fn aclrtMemAllocManaged(address: Out<usize>, size: u64, flag: u32) {
        address.check()?;
        require(flag == 1, "only ACL_RT_MEM_ATTACH_GLOBAL exists")?;
        address.put(allocate::managed(size as usize)?)
    }

    fn aclrtFreeWithDevSync(address: usize) {
        current::context()?.synchronize_device(None)?;
        memory::free_device(address)
    }

    fn aclrtFreeHostWithDevSync(address: usize) {
        current::context()?.synchronize_device(None)?;
        memory::free_host(address)
    }

    fn aclrtHostRegister(address: usize, size: u64, kind: u32, device: Out<usize>) {
        require(address != 0, "the pointer is NULL")?;
        device.check()?;
        require(size > 0, "the range is empty")?;
        check(matches!(kind, 0 | 4 | 8), "this kind of registration does not exist")?;
        register(address, size)?;
        device.put(address)
    }

    fn aclrtHostRegisterV2(address: usize, size: u64, flags: u32) {
        const FLAGS: u32 = 0x1000_000e;
        require(address != 0, "the pointer is NULL")?;
        require(size > 0, "the range is empty")?;
        check(flags != 0 && flags & !FLAGS == 0, "this flag does not exist")?;
        register(address, size)
    }

    fn aclrtHostUnregister(address: usize) {
        require(address != 0, "the pointer is NULL")?;
        if memory::host().unregister(address) {
            return Ok(());
        }
        fault(RT_NOT_REGISTERED, "the memory is not registered")
    }

    fn aclrtHostGetDevicePointer(host: usize, device: Out<usize>, flag: u32) {
        require(host != 0, "the pointer is NULL")?;
        device.check()?;
        require(flag == 0, "the flag is reserved")?;
        check(memory::place_of(host) == MemoryKind::Pinned, "the device cannot reach this memory")?;
        device.put(host)
    }

    fn aclrtGetMemInfo(attr: u32, free: Out<usize>, total: Out<usize>) {
        free.check()?;
        total.check()?;
        check(attr <= 17, "this kind of memory does not exist")?;
        let arena = &current::context()?.device.memory;
        total.put(arena.capacity())?;
        free.put(arena.capacity() - arena.used())
    }

    fn aclrtPointerGetAttributes(address: usize, attributes: Out<PointerAttributes>) {
        require(address != 0, "the pointer is NULL")?;
        attributes.check()?;
        let (device, place) = match memory::place_of(address) {
            MemoryKind::Device(device) if memory::is_managed(address) => (device, MANAGED),
            MemoryKind::Device(device) => (device, DEVICE),
            MemoryKind::Pinned => (0, HOST),
            MemoryKind::Pageable => (0, UNREGISTERED),
        };
        attributes.put(PointerAttributes { device, place, page_size: 4096, reserved: [0; 4] })
    }

    fn aclrtMemGetAddressRange(address: usize, base: Out<usize>, size: Out<usize>) {
        require(address != 0, "the pointer is NULL")?;
        let arenas = device::all().iter().map(|device| &device.memory);
        let Some(block) = arenas.filter_map(|arena| arena.block_of(address, 1)).next() else {
            return fault(RT_PARAM_INVALID, "the address is in no device allocation");
        };
        base.put_if_wanted(block.start);
        size.put_if_wanted(block.size);
        Ok(())
    }

    fn [aclrtMemFlush, aclrtMemInvalidate](address: usize, size: usize) { cached(address, size) }
}

fn register(address: usize, size: u64) -> crate::code::Outcome {
    current::context()?;
    check(
        address.is_multiple_of(4096),
        "the range is not aligned to a page",
    )?;
    let Some(_end) = address.checked_add(size as usize) else {
        return fault(RT_PARAM_INVALID, "the range is too long");
    };
    if memory::host().register(address, size as usize) {
        return Ok(());
    }
    fault(
        RT_ALREADY_REGISTERED,
        "a part of the range is registered already",
    )
}

/// Caches need no work here; the arguments are still checked.
fn cached(address: usize, size: usize) -> crate::code::Outcome {
    require(address != 0, "the pointer is NULL")?;
    require(size > 0, "the size is 0")?;
    memory::check_range(address, size, memory::place_of(address))
}

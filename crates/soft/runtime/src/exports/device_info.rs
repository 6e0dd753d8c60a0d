//! What devices are and can do, and settings that only have to be remembered.

use super::acl;
use crate::code::{
    FEATURE_UNSUPPORTED, INVALID_PARAM, RT_PARAM_INVALID, RT_SYSPARAM_NOT_SET, check, fault,
    require,
};
use crate::ffi::{Out, Text};
use crate::sync::lock;
use crate::{current, device, process, settings};

pub(crate) const CUBE_CORES: u32 = 24;
const VECTOR_CORES: u32 = 48;

const OWN_PEER: &str = "a device is no peer of itself";
const NO_OPTION: &str = "this option does not exist";
/// `ACL_OPT_ENABLE_KERNEL_EARLY_START`; contexts have those up to the strong consistency.
const LAST_OPTION: u32 = 3;
const LAST_OPTION_OF_CONTEXTS: u32 = 2;

/// `aclrtUtilizationInfo`: cubes, vectors, processors and memory, in percent.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Utilization {
    rates: [i32; 4],
    extended: usize,
}

/// The number of a device's memory bytes and other attributes, as a 910B has them.
fn attribute(id: u32, number: u32) -> Option<i64> {
    let device = device::all().get(id as usize)?;
    Some(match number {
        1 => 6,
        101 | 102 => i64::from(CUBE_CORES),
        201 => i64::from(VECTOR_CORES),
        204 => 192 << 10,
        301 => device.memory.capacity() as i64,
        302 => 192 << 20,
        402 => i64::from(device.physical),
        401 | 403..=408 | 501 => 0,
        409 => 3,
        601 => 2201,
        _ => return None,
    })
}

acl! {
    fn aclrtGetDeviceInfo(id: u32, attr: u32, value: Out<i64>) {
        value.check()?;
        device::of(id as i32)?;
        match attribute(id, attr) {
            Some(found) => value.put(found),
            None => fault(RT_PARAM_INVALID, "this attribute is not known"),
        }
    }

    fn aclGetDeviceCapability(id: u32, info: i32, value: Out<i64>) {
        value.check()?;
        device::of(id as i32)?;
        let known = [Some(101), Some(201), Some(302)];
        let number = usize::try_from(info).ok().and_then(|at| known.get(at).copied().flatten());
        match number.and_then(|number| attribute(id, number)) {
            Some(found) => value.put(found),
            None => fault(INVALID_PARAM, "this capability is not known"),
        }
    }

    fn aclrtGetDeviceCapability(id: i32, feature: u32, value: Out<i32>) {
        value.check()?;
        device::of(id)?;
        check(feature == 1 || feature == 21, "this feature is not known")?;
        value.put(0)
    }

    fn aclrtDeviceGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        current::context()?;
        least.put_if_wanted(7);
        greatest.put_if_wanted(0);
        Ok(())
    }

    fn aclrtGetDeviceUtilizationRate(id: i32, utilization: Out<Utilization>) {
        /// What cannot be found out.
        const UNKNOWN: i32 = -1;
        let request = utilization.get()?;
        require(request.extended == 0, "the last member is reserved")?;
        let rate = device::of(id).map_or(UNKNOWN, |_| 0);
        let rates = [rate, rate, rate, UNKNOWN];
        utilization.put(Utilization { rates, ..request })
    }

    fn aclrtSetTsDevice(scheduler: u32) {
        /// `ACL_TS_ID_AICORE` and `ACL_TS_ID_AIVECTOR`.
        const KNOWN: u32 = 2;
        require(scheduler < KNOWN, "this task scheduler does not exist")
    }

    fn aclrtQueryDeviceStatus(id: i32, status: Out<u32>) {
        device::of(id)?;
        status.put(0)
    }

    fn aclrtGetDevicesTopo(id: u32, other: u32, link: Out<u64>) {
        /// All devices hang on the same switch.
        const HCCS: u64 = 1;
        device::of(id as i32)?;
        device::of(other as i32)?;
        link.put(HCCS)
    }

    fn aclrtDeviceGetUuid(id: i32, uuid: Out<[u8; 16]>) {
        let device = device::of(id)?;
        let mut bytes = *b"softacl-device-0";
        bytes[15] = b'0'.wrapping_add(device.physical as u8);
        uuid.put(bytes)
    }

    fn aclrtDeviceGetPCIBusId(id: i32, name: Out<[u8; 13]>, len: i32) {
        let device = device::of(id)?;
        name.check()?;
        check(len >= 13, "the buffer is too small")?;
        let mut bytes = *b"0000:00:00.0\0";
        let hex = |digit: u32| char::from_digit(digit % 16, 16).map_or(b'0', |digit| digit as u8);
        bytes[5] = hex((device.physical + 1) / 16);
        bytes[6] = hex(device.physical + 1);
        name.put(bytes)
    }

    fn aclrtDeviceGetByPCIBusId(name: Text, id: Out<i32>) {
        let name = name.get()?;
        let bus = name.split(':').nth(1).and_then(|bus| u32::from_str_radix(bus, 16).ok());
        let found = device::all().iter().find(|device| Some(device.physical + 1) == bus);
        match found {
            Some(device) => id.put(device.id as i32),
            None => fault(RT_PARAM_INVALID, "there is no device at this address"),
        }
    }

    fn [aclrtDeviceGetBareTgid; rtDeviceGetBareTgid](pid: Out<i32>) { pid.put(std::process::id() as i32) }

    fn aclrtGetLogicDevIdByPhyDevId(physical: i32, logic: Out<i32>) { logic.put(known(physical)?) }

    fn aclrtGetPhyDevIdByLogicDevId(logic: i32, physical: Out<i32>) { physical.put(known(logic)?) }

    fn [aclrtGetLogicDevIdByUserDevId; rtGetLogicDevIdByUserDevId](user: i32, logic: Out<i32>) {
        logic.put(device::of(user)?.physical as i32)
    }

    fn aclrtGetPhyDevIdByUserDevId(user: i32, physical: Out<i32>) {
        physical.put(device::of(user)?.physical as i32)
    }

    fn aclrtGetUserDevIdByLogicDevId(logic: i32, user: Out<i32>) { user.put(user_of(logic)?) }

    fn aclrtGetUserDevIdByPhyDevId(physical: i32, user: Out<i32>) { user.put(user_of(physical)?) }

    fn aclrtDeviceCanAccessPeer(can: Out<i32>, id: i32, peer: i32) {
        require(id != peer, OWN_PEER)?;
        device::of(peer)?;
        device::of(id)?;
        check(!can.is_null(), "the result is NULL")?;
        can.put(1)
    }

    fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) {
        if flags != 0 {
            return fault(FEATURE_UNSUPPORTED, "the flags are reserved");
        }
        let own = current::context()?.device.id as i32;
        require(peer != own, OWN_PEER)?;
        device::of(peer)?;
        let mut peers = lock(&settings::get().peers);
        if !peers.contains(&(own, peer)) {
            peers.push((own, peer));
        }
        Ok(())
    }

    fn aclrtDeviceDisablePeerAccess(peer: i32) {
        let own = current::context()?.device.id as i32;
        require(peer != own, OWN_PEER)?;
        device::of(peer)?;
        let mut peers = lock(&settings::get().peers);
        let before = peers.len();
        peers.retain(|&pair| pair != (own, peer));
        check(peers.len() < before, "peer access was not enabled")
    }

    fn aclrtDevicePeerAccessStatus(id: i32, peer: i32, status: Out<i32>) {
        status.check()?;
        device::of(id)?;
        device::of(peer)?;
        status.put(i32::from(lock(&settings::get().peers).contains(&(id, peer))))
    }

    fn aclrtSetDeviceSatMode(mode: u32) {
        check(mode <= 1, "this mode does not exist")?;
        *lock(&settings::get().saturation) = mode;
        Ok(())
    }

    fn aclrtGetDeviceSatMode(mode: Out<u32>) { mode.put(*lock(&settings::get().saturation)) }

    fn aclrtSetSysParamOpt(option: u32, value: i64) {
        require(option <= LAST_OPTION, NO_OPTION)?;
        settings::get().params.set(u64::MAX, option, value)
    }

    fn aclrtGetSysParamOpt(option: u32, value: Out<i64>) {
        value.check()?;
        require(option <= LAST_OPTION, NO_OPTION)?;
        let set = settings::get().params.get(u64::MAX, option);
        value.put(set.unwrap_or(0))
    }

    fn aclrtCtxSetSysParamOpt(option: u32, value: i64) {
        require(option <= LAST_OPTION_OF_CONTEXTS, NO_OPTION)?;
        let context = current::context()?;
        let params = &settings::get().params;
        params.set(context.handle as u64, option, value)?;
        // A context's values hold for threads without a context as well.
        params.set(u64::MAX, option, value)
    }

    fn aclrtCtxGetSysParamOpt(option: u32, value: Out<i64>) {
        value.check()?;
        require(option <= LAST_OPTION_OF_CONTEXTS, NO_OPTION)?;
        param(current::context()?.handle as u64, option, &value)
    }

    fn aclrtDeviceSetLimit(limit: u32, value: usize) {
        require(limit <= 4, "this limit does not exist")?;
        require(u32::try_from(value).is_ok(), "the limit is too large")?;
        let device = current::context()?.device.id;
        settings::get().device_limits.set(u64::from(device), limit, value as i64)
    }

    fn aclrtDeviceGetLimit(limit: u32, value: Out<usize>) {
        value.check()?;
        require(limit <= 4, "this limit does not exist")?;
        let device = current::context()?.device.id;
        let set = settings::get().device_limits.get(u64::from(device), limit);
        value.put(set.unwrap_or(32 << 10) as usize)
    }

    fn aclrtSetDeviceResLimit(id: i32, kind: u32, value: u32) {
        let device = device::of(id)?.id;
        within(kind, value)?;
        settings::get().cores.set(u64::from(device), kind, i64::from(value))
    }

    fn aclrtGetDeviceResLimit(id: i32, kind: u32, value: Out<u32>) {
        value.check()?;
        value.put(cores_of(device::of(id)?.id, kind)?)
    }

    fn aclrtResetDeviceResLimit(id: i32) {
        let device = device::of(id)?.id;
        settings::get().cores.clear(u64::from(device));
        Ok(())
    }
}

fn param(scope: u64, option: u32, value: &Out<i64>) -> crate::code::Outcome {
    value.check()?;
    match settings::get().params.get(scope, option) {
        Some(set) => value.put(set),
        None => fault(RT_SYSPARAM_NOT_SET, "the option was not set"),
    }
}

/// How many cores of a kind there are.
pub(super) fn cores(kind: u32) -> crate::code::Outcome<u32> {
    check(kind <= 1, "this kind of resource does not exist")?;
    Ok(if kind == 0 { CUBE_CORES } else { VECTOR_CORES })
}

/// How many cores of a kind the program has left itself on a device.
pub(super) fn cores_of(device: u32, kind: u32) -> crate::code::Outcome<u32> {
    let all = cores(kind)?;
    let set = settings::get().cores.get(u64::from(device), kind);
    Ok(set.map_or(all, |set| set as u32))
}

pub(super) fn within(kind: u32, value: u32) -> crate::code::Outcome {
    let all = cores(kind)?;
    check(
        value > 0 && value <= all,
        "the device does not have that many",
    )
}

fn known(physical: i32) -> crate::code::Outcome<i32> {
    let count = process::options().devices as i32;
    if (0..count).contains(&physical) {
        return Ok(physical);
    }
    fault(
        crate::code::RT_INVALID_DEVICE,
        "there is no device with this number",
    )
}

fn user_of(physical: i32) -> crate::code::Outcome<i32> {
    let found = device::all()
        .iter()
        .find(|device| device.physical as i32 == physical);
    found.map_or_else(
        || fault(crate::code::RT_INVALID_DEVICE, "the device is not visible"),
        |device| Ok(device.id as i32),
    )
}

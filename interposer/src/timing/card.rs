//! Which card a device is: its physical number, and its place on the PCI bus. Programs that see only some cards have other
//! numbers for their devices.

use core::ffi::c_char;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::figure::Figure;
use ascend_trace_format::record::kinds;

use crate::first_records::variable_value;
use crate::{emit, real, until_exit};

/// Devices that are followed.
const DEVICES: usize = 64;
/// Bytes of `0000:c1:00.0` and of longer forms.
const ADDRESS_BYTES: usize = 32;

static ASKED: [AtomicBool; DEVICES] = [const { AtomicBool::new(false) }; DEVICES];

type PhysicalNumber = unsafe extern "C" fn(i32, *mut i32) -> i32;
type BusAddress = unsafe extern "C" fn(i32, *mut c_char, i32) -> i32;

/// Records the card of a device, once. For the tool's own thread: a refused question leaves an error in the thread that asks.
pub(crate) fn learn(device: u32) {
    let is_new = ASKED
        .get(device as usize)
        .is_some_and(|asked| !asked.swap(true, Relaxed));
    if !is_new {
        return;
    }
    report(Figure::CardNumber, device, physical_number(device));
    report(Figure::CardAddress, device, bus_address(device));
}

/// Records a value plus 1, since a counter of 0 means no value.
fn report(figure: Figure, device: u32, value: Option<u32>) {
    if let (Some(what), Some(value)) = (figure.code(device), value) {
        emit::from_inside(&kinds::Counter {
            what,
            value: u64::from(value).wrapping_add(1),
        });
    }
}

fn physical_number(device: u32) -> Option<u32> {
    let Some(address) = real::by_name("aclrtGetPhyDevIdByUserDevId") else {
        return visible_number(variable_value("ASCEND_RT_VISIBLE_DEVICES")?, device);
    };
    // SAFETY: the address is that of the function with this name; `PhysicalNumber` repeats its signature from the table.
    let function = unsafe { core::mem::transmute::<usize, PhysicalNumber>(address) };
    let mut number = -1;
    // SAFETY: the number is a live local.
    let code = until_exit::call(|| unsafe { function(device as i32, &mut number) })?;
    u32::try_from(number).ok().filter(|_| code == 0)
}

/// The number of a device in a list such as `4,5`.
fn visible_number(list: &[u8], device: u32) -> Option<u32> {
    let item = list.split(|byte| *byte == b',').nth(device as usize)?;
    core::str::from_utf8(item).ok()?.trim().parse().ok()
}

fn bus_address(device: u32) -> Option<u32> {
    let address = real::by_name("aclrtDeviceGetPCIBusId")?;
    // SAFETY: the address is that of the function with this name; `BusAddress` repeats its signature from the table.
    let function = unsafe { core::mem::transmute::<usize, BusAddress>(address) };
    let mut text = [0u8; ADDRESS_BYTES];
    let (place, room) = (text.as_mut_ptr().cast(), ADDRESS_BYTES as i32);
    // SAFETY: the text is a live local of the length given.
    let code = until_exit::call(|| unsafe { function(device as i32, place, room) })?;
    let length = text.iter().position(|byte| *byte == 0)?;
    (code == 0)
        .then(|| packed_address(text.get(..length)?))
        .flatten()
}

/// The bits of `0000:c1:00.0`: 16 of the domain, 8 of the bus, 5 of the device and 3 of its function.
fn packed_address(text: &[u8]) -> Option<u32> {
    let text = core::str::from_utf8(text).ok()?;
    let (place, function) = text.split_once('.')?;
    let mut parts = place.split(':');
    let mut part = |bits: u32| -> Option<u32> {
        let number = u32::from_str_radix(parts.next()?, 16).ok()?;
        (number < 1 << bits).then_some(number)
    };
    let (domain, bus, device) = (part(16)?, part(8)?, part(5)?);
    let function = u32::from_str_radix(function, 16)
        .ok()
        .filter(|it| *it < 8)?;
    Some(domain << 16 | bus << 8 | device << 3 | function)
}

/// A child has its own runtime, which may show other cards.
pub(crate) fn forget() {
    for asked in &ASKED {
        asked.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_bus_are_packed() {
        assert_eq!(packed_address(b"0000:c1:00.0"), Some(0xc100));
        assert_eq!(packed_address(b"0001:81:1f.7"), Some(0x0001_81ff));
        for wrong in [
            &b""[..],
            b"0000:c1:00",
            b"0000:c1.0",
            b"0000:1c1:00.0",
            b"0000:c1:20.0",
            b"x:c1:00.0",
        ] {
            assert_eq!(packed_address(wrong), None);
        }
    }

    #[test]
    fn a_device_has_the_number_at_its_place_in_the_list() {
        assert_eq!(visible_number(b"4,5, 7", 2), Some(7));
        assert_eq!(visible_number(b"4,5", 2), None);
        assert_eq!(visible_number(b"", 0), None);
    }
}

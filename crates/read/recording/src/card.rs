//! The card that a device of a process is.

use std::fmt;

use ascend_trace_format::record::figure::Figure;

use crate::entities::ProcessId;
use crate::trace::Trace;

/// Facts about the hardware behind a device's number, as far as the runtime reported them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Card {
    /// Physical number on the host.
    pub number: Option<u32>,
    /// Place on the PCI bus.
    pub address: Option<PciAddress>,
}

/// Place on the PCI bus: 16 bits of the domain, 8 of the bus, 5 of the device and 3 of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PciAddress(u32);

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bits) = self;
        let (domain, bus) = (bits >> 16, bits >> 8 & 0xff);
        let (device, function) = (bits >> 3 & 0x1f, bits & 7);
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

impl Trace {
    /// The card of a device of a process.
    pub fn card(&self, process: ProcessId, device: u32) -> Card {
        let key = self.process(process).serial;
        // A value is recorded as one more.
        let value = |figure: Figure| {
            let counter = self.counters.get(&(key, figure.code(device)?))?;
            u32::try_from(counter.checked_sub(1)?).ok()
        };
        Card {
            number: value(Figure::CardNumber),
            address: value(Figure::CardAddress).map(PciAddress),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_bus_has_its_usual_form() {
        assert_eq!(PciAddress(0xc100).to_string(), "0000:c1:00.0");
        assert_eq!(PciAddress(0x0001_81ff).to_string(), "0001:81:1f.7");
    }
}

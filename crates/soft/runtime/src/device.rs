//! Devices: their clocks and memory, and the numbers they hand out. What contexts they have, `context::held` knows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use crate::clock::DeviceClock;
use crate::code::{Fault, Outcome, RT_INVALID_DEVICE};
use crate::memory::arena::Arena;
use crate::per_process::PerProcess;
use crate::process;
use crate::sync::{Mutex, lock};
use softacl_options::{Options, for_device};

static DEVICES: PerProcess<Vec<Device>> = PerProcess::new(Device::visible);

/// Every device that the process may use, by number.
pub(crate) fn all() -> &'static [Device] {
    DEVICES.get()
}

pub(crate) fn of(id: i32) -> Outcome<&'static Device> {
    let index = usize::try_from(id).ok();
    index.and_then(|index| all().get(index)).ok_or(Fault {
        code: RT_INVALID_DEVICE,
        why: "there is no device with this number",
    })
}

pub(crate) struct Device {
    /// The number by which the program knows it.
    pub(crate) id: u32,
    pub(crate) physical: u32,
    pub(crate) clock: DeviceClock,
    pub(crate) memory: Arena,
    pub(crate) stream_ids: Numbers,
    event_ids: Arc<Numbers>,
    pub(crate) notify_ids: Arc<Numbers>,
    /// A submission has woken the thread that recycles.
    pub(crate) wants_recycling: AtomicBool,
    /// Where cores of different kinds synchronise.
    core_sync: OnceLock<Option<usize>>,
}

impl Device {
    fn visible() -> Vec<Self> {
        let options = process::options();
        visible(options)
            .enumerate()
            .map(|(id, physical)| Self::new(id as u32, physical, options))
            .collect()
    }

    fn new(id: u32, physical: u32, options: &Options) -> Self {
        Self {
            id,
            physical,
            clock: DeviceClock {
                offset_ns: for_device(&options.clock_offset_ns, physical as usize),
                drift_ppt: for_device(&options.drift_ppt, physical as usize),
                ticks: options
                    .tick_ns
                    .map_or(u64::from(options.chip.ticks_per_ms()), |_| 1),
                nanoseconds: options.tick_ns.unwrap_or(1_000_000),
            },
            memory: Arena::new(options.memory).hostile(process::is_adversarial()),
            stream_ids: Numbers::new(options.streams),
            event_ids: Arc::new(Numbers::new(options.events)),
            notify_ids: Arc::new(Numbers::new(options.notifies)),
            wants_recycling: AtomicBool::new(false),
            core_sync: OnceLock::new(),
        }
    }

    /// Takes an event id, which is given back with its last user.
    pub(crate) fn event_lease(&self) -> Option<Arc<Lease>> {
        Lease::take(&self.event_ids)
    }

    pub(crate) const CORE_SYNC_BYTES: usize = 4096;

    /// Memory of the device that its cores synchronise with each other in.
    pub(crate) fn core_sync_address(&self) -> Option<usize> {
        *self
            .core_sync
            .get_or_init(|| self.memory.allocate(Self::CORE_SYNC_BYTES, 0))
    }

    pub(crate) fn events_left(&self) -> u32 {
        self.event_ids.left()
    }
}

/// Physical numbers of the devices that the process may use. `ASCEND_RT_VISIBLE_DEVICES` selects some,
/// ascending; entries after its first invalid one are ignored.
fn visible(options: &Options) -> impl Iterator<Item = u32> + use<> {
    let count = options.devices;
    let chosen = match std::env::var("ASCEND_RT_VISIBLE_DEVICES") {
        Ok(list) if !list.trim().is_empty() => select(&list, count),
        _ => (0..count).collect(),
    };
    chosen.into_iter()
}

fn select(list: &str, count: u32) -> Vec<u32> {
    let mut chosen: Vec<u32> = Vec::new();
    for item in list.split(',') {
        match item.trim().parse() {
            Ok(id) if id < count && chosen.last().is_none_or(|&last| last < id) => chosen.push(id),
            _ => break,
        }
    }
    chosen
}

/// Small numbers that are handed out and given back; the lowest comes first.
pub(crate) struct Numbers {
    limit: u32,
    state: Mutex<(u32, BinaryHeap<Reverse<u32>>)>,
}

impl Numbers {
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit,
            state: Mutex::new((0, BinaryHeap::new())),
        }
    }

    pub(crate) fn take(&self) -> Option<u32> {
        let (next, returned) = &mut *lock(&self.state);
        if let Some(Reverse(number)) = returned.pop() {
            return Some(number);
        }
        (*next < self.limit).then(|| {
            *next += 1;
            *next - 1
        })
    }

    pub(crate) fn give_back(&self, number: u32) {
        lock(&self.state).1.push(Reverse(number));
    }

    pub(crate) fn left(&self) -> u32 {
        let (next, returned) = &*lock(&self.state);
        self.limit - next + returned.len() as u32
    }
}

/// A number that goes back by itself.
pub(crate) struct Lease {
    number: u32,
    source: Arc<Numbers>,
}

impl Lease {
    pub(crate) fn take(source: &Arc<Numbers>) -> Option<Arc<Self>> {
        let number = source.take()?;
        Some(Arc::new(Self {
            number,
            source: Arc::clone(source),
        }))
    }

    pub(crate) const fn id(&self) -> u32 {
        self.number
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.source.give_back(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbers, select};

    #[test]
    fn visible_devices_end_at_the_first_invalid_entry() {
        assert_eq!(select("1,3", 4), [1, 3]);
        assert_eq!(select("0,x,1", 4), [0]);
        assert_eq!(select("2,1", 4), [2]);
        assert_eq!(select("9", 4), [] as [u32; 0]);
    }

    #[test]
    fn the_lowest_number_is_used_again_first() {
        let numbers = Numbers::new(3);
        assert_eq!(
            (numbers.take(), numbers.take(), numbers.take()),
            (Some(0), Some(1), Some(2))
        );
        numbers.give_back(2);
        numbers.give_back(0);
        assert_eq!((numbers.take(), numbers.left()), (Some(0), 1));
        assert_eq!((numbers.take(), numbers.take()), (Some(2), None));
    }
}

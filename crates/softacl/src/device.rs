//! Devices: reference counts, the default context, and the numbers they hand out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::clock::DeviceClock;
use crate::code::{
    Fault, Outcome, RT_DEVICE_NOT_SET, RT_DEVICE_TASK_ABORT, RT_INVALID_DEVICE, fault,
};
use crate::context::Context;
use crate::memory::Arena;
use crate::observers::{self, device_state};
use crate::per_process::PerProcess;
use crate::sync::lock;
use crate::{current, process};
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
    state: Mutex<DeviceState>,
}

#[derive(Default)]
struct DeviceState {
    references: u64,
    primary: Option<Arc<Context>>,
    /// Explicit contexts, by handle.
    contexts: Vec<Arc<Context>>,
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
            memory: Arena::new(options.memory),
            stream_ids: Numbers::new(options.streams),
            event_ids: Arc::new(Numbers::new(options.events)),
            notify_ids: Arc::new(Numbers::new(options.notifies)),
            wants_recycling: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Takes an event id, which is given back when its last user is gone.
    pub(crate) fn event_lease(&self) -> Option<Arc<Lease>> {
        Lease::take(&self.event_ids)
    }

    pub(crate) fn events_left(&self) -> u32 {
        self.event_ids.left()
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state
            .primary
            .iter()
            .chain(&state.contexts)
            .all(|context| context.is_idle())
    }

    /// Learns which tasks of all streams are complete.
    pub(crate) fn recycle(&self) {
        let state = lock(&self.state);
        for context in state.primary.iter().chain(&state.contexts) {
            context.recycle();
        }
    }

    pub(crate) fn primary_is_active(&self) -> bool {
        lock(&self.state).primary.is_some()
    }

    pub(crate) fn adopt(&self, context: &Arc<Context>) {
        lock(&self.state).contexts.push(Arc::clone(context));
    }

    pub(crate) fn disown(&self, handle: usize) {
        lock(&self.state)
            .contexts
            .retain(|context| context.handle != handle);
    }

    fn acquire(&'static self) -> Outcome<Arc<Context>> {
        let mut state = lock(&self.state);
        if let Some(context) = state.primary.clone() {
            state.references += 1;
            return Ok(context);
        }
        let context = Context::create(self, true)?;
        state.primary = Some(Arc::clone(&context));
        state.references += 1;
        drop(state);
        context.announce();
        Ok(context)
    }

    fn contexts(&self) -> Vec<Arc<Context>> {
        let state = lock(&self.state);
        state
            .primary
            .iter()
            .chain(&state.contexts)
            .cloned()
            .collect()
    }

    /// Gives up one reference, or all; returns the default context when it has to go.
    fn release(&self, force: bool) -> Outcome<Option<Arc<Context>>> {
        let mut state = lock(&self.state);
        if state.references == 0 {
            return fault(
                RT_DEVICE_NOT_SET,
                "the device is not set or was reset already",
            );
        }
        state.references = if force { 0 } else { state.references - 1 };
        Ok(if state.references == 0 {
            state.primary.take()
        } else {
            None
        })
    }
}

/// `aclrtSetDevice`: the device's default context becomes the thread's.
pub(crate) fn set(id: i32) -> Outcome {
    process::require_usable()?;
    let device = of(id)?;
    observers::device_changes(device.id, device_state::SET_PRE);
    let context = device.acquire()?;
    current::set(Some(context));
    observers::device_changes(device.id, device_state::SET_POST);
    Ok(())
}

/// `aclrtResetDevice` and its forced form. The last one waits for the default context's streams
/// and releases them.
pub(crate) fn reset(id: i32, force: bool) -> Outcome {
    let device = of(id)?;
    observers::device_changes(device.id, device_state::RESET_PRE);
    let released = device.release(force)?;
    if let Some(context) = released {
        context.release();
        current::forget_dead();
    }
    observers::device_changes(device.id, device_state::RESET_POST);
    Ok(())
}

/// `aclrtDeviceTaskAbort`: drops the tasks of every stream; waiting threads are told.
pub(crate) fn abort_tasks(id: i32, timeout_ms: u32) -> Outcome {
    const PRE: u32 = 0;
    const POST: u32 = 1;
    let device = of(id)?;
    observers::device_aborts(device.id, PRE, timeout_ms);
    for context in device.contexts() {
        context.abort(RT_DEVICE_TASK_ABORT);
    }
    observers::device_aborts(device.id, POST, timeout_ms);
    Ok(())
}

/// Physical numbers of the devices that the process may use. `ASCEND_RT_VISIBLE_DEVICES` selects
/// some, ascending; what follows its first invalid entry is ignored.
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

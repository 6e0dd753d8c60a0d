//! Physical memory and its addresses. The memory is in use until its handle and all of its addresses are given back.

use std::collections::HashMap;

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::{CallId, ProcessId, Trace};

use super::MOST;
use super::changes::{MemoryChange, MemoryChangeKind, MemoryId};

/// The effect of a call on addresses of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressChange {
    /// Memory with this handle gets an address.
    Mapped(u64),
    Unmapped,
}

/// A change of memory in use, or of addresses: then the change has the address and the time only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallEffect {
    pub(super) change: MemoryChange,
    addresses: Option<AddressChange>,
}

impl CallEffect {
    /// A change of memory in use.
    pub(super) fn of_memory(change: MemoryChange) -> Self {
        let addresses = None;
        Self { change, addresses }
    }

    pub(super) fn of(trace: &Trace, id: CallId, is_wanted: bool) -> Option<Self> {
        let call = trace.call(id);
        let function = trace.function(call.function);
        let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
        let mapped = word(ArgPart::MappedAt).zip(word(ArgPart::MappedPhysical));
        let mapped = mapped.map(|(address, handle)| (address, AddressChange::Mapped(handle)));
        let unmapped = word(ArgPart::Unmapped).map(|it| (it, AddressChange::Unmapped));
        let Some((address, addresses)) = mapped.or(unmapped) else {
            let change = MemoryChange::of(trace, id, is_wanted)?;
            let addresses = None;
            return Some(Self { change, addresses });
        };
        let kind = match addresses {
            AddressChange::Unmapped => MemoryChangeKind::Freed,
            AddressChange::Mapped(_) => MemoryChangeKind::Allocated {
                place: None,
                size: None,
            },
        };
        let memory = (kind, MemoryId::Address(address));
        (call.result() == Some(0)).then(|| Self {
            change: MemoryChange::with(trace, id, memory, is_wanted),
            addresses: Some(addresses),
        })
    }
}

/// Physical memory in use.
#[derive(Clone, Copy, Debug, Default)]
struct PhysicalState {
    addresses: u32,
    /// The handle was given back.
    is_released: bool,
}

/// The addresses of physical memory.
#[derive(Debug, Default)]
pub(super) struct PhysicalMappings {
    /// The handle of the memory at an address.
    handles: HashMap<(ProcessId, u64), u64>,
    memory: HashMap<(ProcessId, u64), PhysicalState>,
}

impl PhysicalMappings {
    /// Takes the next effect of a call. Returns the change of the memory in use, if there is one.
    pub(super) fn apply(&mut self, effect: CallEffect) -> Option<MemoryChange> {
        let CallEffect { change, addresses } = effect;
        let process = change.site.process;
        match (addresses, change.id, change.kind) {
            (Some(AddressChange::Mapped(handle)), MemoryId::Address(address), _) => {
                // A call inside the call reports it as well.
                if self.handles.len() < MOST
                    && self.handles.insert((process, address), handle) != Some(handle)
                {
                    self.memory.entry((process, handle)).or_default().addresses += 1;
                }
                None
            }
            (Some(_), id, _) => {
                let handle = self.handles.remove(&(process, id.address()?))?;
                let state = self.memory.get_mut(&(process, handle))?;
                state.addresses = state.addresses.saturating_sub(1);
                let is_over = state.is_released && state.addresses == 0;
                is_over.then(|| {
                    self.memory.remove(&(process, handle));
                    MemoryChange {
                        id: MemoryId::Physical(handle),
                        ..change
                    }
                })
            }
            (None, MemoryId::Physical(handle), MemoryChangeKind::Freed) => {
                let state = self.memory.get_mut(&(process, handle));
                if let Some(state) = state.filter(|it| it.addresses > 0) {
                    state.is_released = true;
                    return None;
                }
                self.memory.remove(&(process, handle));
                Some(change)
            }
            _ => Some(change),
        }
    }
}

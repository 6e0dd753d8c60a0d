//! Handles given to C programs: numbers that look like addresses but are never dereferenced.
//!
//! A handle names a slot and the slot's generation, so a stale or invented handle gives an error code
//! instead of undefined behaviour.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::code::{Fault, INVALID_PARAM, Outcome, RT_INVALID_HANDLE, fault};
use crate::sync::RwLock;

const INDEX_BITS: u32 = 20;
const GENERATION_BITS: u32 = 20;

/// Type of a handle's object; part of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleKind {
    Context = 1,
    Stream = 2,
    Event = 3,
    Notify = 4,
    CountingNotify = 5,
    Physical = 6,
    Pool = 7,
    Binary = 8,
    Function = 9,
    Arguments = 10,
    Graph = 11,
    GraphTask = 12,
    TaskGroup = 13,
    Label = 14,
    LabelList = 15,
    /// Tensors, scalars, arrays, lists and executors of operators.
    Operand = 16,
    Communicator = 17,
}

pub(crate) struct Registry<T> {
    kind: HandleKind,
    slots: RwLock<Slots<T>>,
}

struct Slots<T> {
    entries: Vec<HandleEntry<T>>,
    /// Oldest first, so that a freed handle value stays unused as long as possible.
    free: VecDeque<usize>,
}

struct HandleEntry<T> {
    generation: usize,
    value: Option<Arc<T>>,
}

impl<T> Registry<T> {
    pub(crate) const fn new(kind: HandleKind) -> Self {
        let slots = Slots {
            entries: Vec::new(),
            free: VecDeque::new(),
        };
        Self {
            kind,
            slots: RwLock::new(slots),
        }
    }

    /// Stores what `make` builds from its own handle; `None` when all slots are taken.
    pub(crate) fn insert_with(&self, make: impl FnOnce(usize) -> T) -> Option<Arc<T>> {
        let mut slots = self.slots.write();
        // A few slots are always kept back from reuse so that stale handles are caught.
        let reuse = slots.free.len() > 64 || slots.entries.len() == 1 << INDEX_BITS;
        let index = if reuse {
            slots.free.pop_front()?
        } else {
            slots.grow()
        };
        let generation = slots.entries[index].generation;
        let value = Arc::new(make(self.encode(index, generation)));
        slots.entries[index].value = Some(Arc::clone(&value));
        Some(value)
    }

    pub(crate) fn get(&self, handle: usize) -> Option<Arc<T>> {
        let (index, generation) = self.decode(handle)?;
        let slots = self.slots.read();
        let entry = slots.entries.get(index)?;
        if entry.generation == generation {
            entry.value.clone()
        } else {
            None
        }
    }

    /// The object that a call names. The texts describe the fault for NULL and for an unknown handle.
    pub(crate) fn named(
        &self,
        handle: usize,
        null: &'static str,
        unknown: &'static str,
    ) -> Outcome<Arc<T>> {
        if handle == 0 {
            return fault(INVALID_PARAM, null);
        }
        self.get(handle).ok_or(Fault {
            code: RT_INVALID_HANDLE,
            why: unknown,
        })
    }

    pub(crate) fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let (index, generation) = self.decode(handle)?;
        let mut slots = self.slots.write();
        let entry = slots.entries.get_mut(index)?;
        if entry.generation != generation {
            return None;
        }
        let value = entry.value.take()?;
        entry.generation = (generation + 1) & ((1 << GENERATION_BITS) - 1);
        slots.free.push_back(index);
        Some(value)
    }

    fn encode(&self, index: usize, generation: usize) -> usize {
        ((self.kind as usize) << (INDEX_BITS + GENERATION_BITS) | generation << INDEX_BITS | index)
            << 4
    }

    fn decode(&self, handle: usize) -> Option<(usize, usize)> {
        let bits = handle >> 4;
        let rightful =
            handle & 15 == 0 && bits >> (INDEX_BITS + GENERATION_BITS) == self.kind as usize;
        let index = bits & ((1 << INDEX_BITS) - 1);
        let generation = bits >> INDEX_BITS & ((1 << GENERATION_BITS) - 1);
        rightful.then_some((index, generation))
    }
}

impl<T> Slots<T> {
    fn grow(&mut self) -> usize {
        self.entries.push(HandleEntry {
            generation: 0,
            value: None,
        });
        self.entries.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::{HandleKind, Registry};

    #[test]
    fn a_removed_handle_stays_dead_when_its_slot_is_used_again() {
        let registry = Registry::new(HandleKind::Event);
        let first = *registry.insert_with(|handle| handle).unwrap();
        registry.remove(first).unwrap();
        for _ in 0..200 {
            let handle = *registry.insert_with(|handle| handle).unwrap();
            assert_ne!(handle, first);
            registry.remove(handle).unwrap();
        }
        assert!(registry.get(first).is_none());
        assert!(registry.remove(first).is_none());
    }

    #[test]
    fn handles_of_another_kind_and_invented_values_are_unknown() {
        let streams = Registry::new(HandleKind::Stream);
        let events = Registry::new(HandleKind::Event);
        let stream = *streams.insert_with(|handle| handle).unwrap();
        events.insert_with(|handle| handle).unwrap();
        assert!(events.get(stream).is_none());
        for value in [1, 8, 0xdead_beef, stream + 1, usize::MAX] {
            assert!(streams.get(value).is_none());
        }
        assert!(streams.get(stream).is_some());
    }
}

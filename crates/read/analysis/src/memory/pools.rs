//! Memory that a program's own allocators have reserved, next to the blocks that they gave out.

use std::collections::BTreeMap;

use ascend_trace_recording::ThreadId;

use super::changes::{MemoryChange, MemoryChangeKind, MemoryId, MemoryPlace};
use super::sizes::LiveSizes;

/// The most bytes at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolPeak {
    pub(super) bytes: u64,
    pub(super) at: i64,
    pub(super) step: Option<String>,
    /// The thread that made the change. None if there was no change yet.
    pub(super) thread: Option<ThreadId>,
    pub(super) module: Option<String>,
}

/// The memory of an allocator on a device.
#[derive(Clone, Debug, Default)]
pub(super) struct PoolState {
    pub(super) reserved: u64,
    pub(super) allocated: u64,
    pub(super) reserved_peak: PoolPeak,
    pub(super) allocated_peak: PoolPeak,
    /// Reserved when most was allocated.
    pub(super) reserved_at_peak: u64,
    /// The most that was reserved and not allocated.
    pub(super) unused_peak: PoolPeak,
}

/// Memory of the runtime that an allocator may split into blocks.
#[derive(Clone, Copy, Debug)]
struct Segment {
    bytes: u64,
    /// The allocator that had a block in it.
    owner: Option<MemoryPlace>,
}

/// The memory of an allocator on a device, after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLevel {
    /// The place of its blocks.
    pub place: MemoryPlace,
    pub reserved: u64,
    pub allocated: u64,
}

/// The allocators of a process.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    segments: BTreeMap<u64, Segment>,
    blocks: LiveSizes,
    pools: BTreeMap<MemoryPlace, PoolState>,
}

impl Pools {
    /// Takes the next change. Returns the allocator that has more or less memory after it.
    pub fn take(&mut self, change: &MemoryChange) -> Option<PoolLevel> {
        let place = self.apply(change, None)?;
        let state = self.pools.get(&place)?;
        Some(PoolLevel {
            place,
            reserved: state.reserved,
            allocated: state.allocated,
        })
    }

    /// Whether an allocator had a block in the memory that the runtime gave out at an address.
    pub fn has_blocks(&self, address: u64) -> bool {
        let segment = self.segments.get(&address);
        segment.is_some_and(|it| it.owner.is_some())
    }

    /// Takes the next change, in this step. Returns the allocator that it is about.
    pub(super) fn apply(
        &mut self,
        change: &MemoryChange,
        step: Option<&str>,
    ) -> Option<MemoryPlace> {
        match change.id {
            MemoryId::Address(address) => {
                let place = self.segment(address, change.kind)?;
                self.pools.get_mut(&place)?.note(change, step);
                Some(place)
            }
            MemoryId::Block(address) => self.block(address, change, step),
            MemoryId::Physical(_) => None,
        }
    }

    /// A segment begins or ends. Returns the allocator that had it.
    fn segment(&mut self, address: u64, kind: MemoryChangeKind) -> Option<MemoryPlace> {
        let old = match kind {
            MemoryChangeKind::Refused { .. } => None,
            MemoryChangeKind::Freed => self.segments.remove(&address),
            MemoryChangeKind::Allocated { place, size } => {
                let is_of_device = matches!(place, Some(MemoryPlace::Device(_)));
                let bytes = size.filter(|_| is_of_device);
                let new = bytes.map(|bytes| Segment { bytes, owner: None });
                match new {
                    Some(new) => self.segments.insert(address, new),
                    None => self.segments.remove(&address),
                }
            }
        }?;
        let owner = old.owner?;
        let state = self.pools.get_mut(&owner)?;
        state.reserved = state.reserved.saturating_sub(old.bytes);
        Some(owner)
    }

    fn block(
        &mut self,
        address: u64,
        change: &MemoryChange,
        step: Option<&str>,
    ) -> Option<MemoryPlace> {
        let steps = self.blocks.apply(change);
        let mut changed = None;
        for (place, by) in steps.into_iter().flatten() {
            let state = self.pools.entry(place).or_default();
            state.allocated = state.allocated.saturating_add_signed(by);
            changed = Some(place);
        }
        let place = changed?;
        let state = self.pools.entry(place).or_default();
        let segment = self.segments.range_mut(..=address).next_back();
        let segment = segment.filter(|(at, it)| address - **at < it.bytes);
        if let Some((_, segment)) = segment.filter(|(_, it)| it.owner.is_none()) {
            segment.owner = Some(place);
            state.reserved = state.reserved.saturating_add(segment.bytes);
        }
        // The allocator knows it better: it may map memory in other ways.
        if let Some(reserved) = change.reserved {
            state.reserved = reserved;
        }
        state.note(change, step);
        Some(place)
    }

    /// Reserved and not allocated on a device. `None` if no allocator reported blocks there.
    pub(super) fn unused(&self, device: u8) -> Option<u64> {
        let own = self.pools.iter();
        let own = own.filter(|(place, _)| place.device() == Some(device));
        own.map(|(_, it)| it.unused()).reduce(u64::saturating_add)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (MemoryPlace, &PoolState)> {
        self.pools.iter().map(|(place, it)| (*place, it))
    }

    /// The peaks of all allocators.
    pub(super) fn peaks(&mut self) -> impl Iterator<Item = &mut PoolPeak> {
        let states = self.pools.values_mut();
        states.flat_map(|it| [&mut it.reserved_peak, &mut it.allocated_peak])
    }
}

impl PoolState {
    pub(super) fn unused(&self) -> u64 {
        self.reserved.saturating_sub(self.allocated)
    }

    fn note(&mut self, change: &MemoryChange, step: Option<&str>) {
        let unused = self.unused();
        if self.allocated_peak.reach(self.allocated, change, step) {
            self.reserved_at_peak = self.reserved;
        }
        self.reserved_peak.reach(self.reserved, change, step);
        self.unused_peak.reach(unused, change, step);
    }
}

impl PoolPeak {
    /// Returns whether this is more than ever before.
    fn reach(&mut self, bytes: u64, change: &MemoryChange, step: Option<&str>) -> bool {
        let is_peak = bytes > self.bytes;
        if is_peak {
            *self = Self {
                bytes,
                at: change.at,
                step: step.map(str::to_owned),
                thread: Some(change.thread),
                module: None,
            };
        }
        is_peak
    }
}

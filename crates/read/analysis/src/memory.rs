//! Memory that a program allocates: how much is in use and when, and for which place in the program.
//!
//! Memory counts by its address, or by the handle of physical memory. Memory that a framework reserves counts as one allocation. Blocks that
//! it reports in this memory are a separate place. A reset of the device frees nothing.

mod active_modules;
mod blocks;
mod changes;
mod curves;
mod growth;
mod in_use;
mod mappings;
mod places;
mod pools;
mod rows;
mod sizes;
mod step_ranges;
mod usage;

pub use changes::{
    AllocationSite, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryId, MemoryKey,
    MemoryPlace, changes_memory,
};
pub(crate) use curves::CurveSet;
pub use curves::{MemoryBounds, MemoryCurve, MemoryCurves, MemoryCurvesFold};
pub(crate) use growth::MemoryGrowth;
pub use in_use::{Allocations, LargestAllocation, MemoryInUse, SiteMemory};
pub use pools::{PoolLevel, Pools};
pub use rows::{HeldMemory, MemoryUsage, PlaceMemory, PoolMemory, RefusedAllocation, StepMemory};
pub use sizes::{LiveSizes, PlaceChange};
pub use step_ranges::{StepRange, StepRanges};
pub use usage::MemoryUsageFold;

/// Allocations that are followed at a time; with more, nothing is known.
const MOST: usize = 1 << 20;

//! Memory that a program allocates: how much is in use and when, and for which place in the program.
//!
//! Only calls that return an address count. A pool of a framework counts as one allocation, and a reset of the device
//! frees nothing.

mod changes;
mod in_use;
mod places;
mod rows;
mod step_ranges;
mod usage;

pub use changes::{AllocationSite, MemoryChange, MemoryChangeKind, MemoryChanges, MemoryPlace};
pub use in_use::{Allocations, LargestAllocation, MemoryInUse, SiteMemory};
pub use rows::{HeldMemory, MemoryUsage, PlaceMemory, RefusedAllocation, StepMemory};
pub use step_ranges::{StepRange, StepRanges};
pub use usage::MemoryUsageFold;

/// Allocations that are followed at a time; with more, nothing is known.
const MOST: usize = 1 << 20;

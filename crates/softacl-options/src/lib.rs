//! The option list of the software AscendCL runtime: what it may contain, and the chips it names.
//!
//! A crate of its own, so that a tool which passes a list on can check it without the runtime.

mod chip;
mod options;

pub use chip::{Chip, Recycling};
pub use options::{Driver, Failure, KEYS, Mspti, Options, Order, for_device};

//! The option list of the software AscendCL runtime: its options, and the chips it names.
//!
//! A separate crate, so that a tool which passes a list on can check it without the runtime.

mod chip;
mod options;

pub use chip::{Chip, RecyclingMode};
pub use options::{DriverClock, InjectedFailure, KEYS, MsptiMode, Options, TaskOrder, for_device};

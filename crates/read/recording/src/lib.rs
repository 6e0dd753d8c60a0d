//! The trace: as rows in a file, and as a queryable whole in memory.
//!
//! [`mod@file`] is the codec of the `.atrace` file, [`rows`] its rows, [`trace`] the data of readers,
//! `load` converts rows to a trace, `clock` converts device time to host time.

mod card;
mod category;
mod clock;
pub mod cost;
mod counters;
mod direction;
pub mod entities;
mod entries;
pub mod file;
mod graph_calls;
mod inner;
mod load;
pub mod long_texts;
pub mod loss;
mod names;
mod operands;
mod other_threads;
mod range_message;
pub mod recording;
pub mod rows;
pub mod stacks;
pub mod summary;
pub mod text;
mod time_range;
pub mod trace;
pub mod units;

pub use card::{Card, PciAddress};
pub use category::Category;
pub use clock::hosts::{AlignedTime, ClockComparison, HostClock};
pub use cost::{Cost, Costs};
pub use direction::Direction;
pub use entries::TaskPart;
pub use file::{OpenError, Warning};
pub use graph_calls::is_capture_code;
pub use loss::Loss;
pub use operands::Operand;
pub use other_threads::OtherThread;
pub use recording::{Recording, Summary};
pub use rows::{Ending, GraphRef};
pub use stacks::{CallSite, StackId};
pub use time_range::TimeRange;
pub use trace::*;

//! Random programs that copy between streams, what such a program puts in order, and mistakes in them.
//!
//! The tests of softacl include these files, so they need nothing but the standard library.

mod dice;
mod mistakes;
mod order;
mod program;

pub use dice::Dice;
pub use mistakes::{MISTAKES, RacyMistake};
pub use order::{OpConflict, changed_orders, conflicts};
pub use program::{BLOCK, EVENTS, INPUT, INPUT_BYTES, OUTPUT, RacyOp, STREAMS, correct, observed};

//! Functions of AscendCL that the hook table does not have: their declarations are not known, so
//! they have no wrapper. Each gets a *stub* instead, of a table of stubs in the program text: it saves
//! every register and as much of the stack as arguments are likely to take, calls the function with
//! a copy of it, and records when the call began and ended and what it returned.
//!
//! A stub calls the function, it does not change the return address that the program has left: so
//! exceptions, backtraces and processors that check return addresses find what they expect. No code
//! is made while the program runs, and a call takes no lock and no memory.

mod body;
mod entry;
mod frame;
mod install;
mod planning;
mod reach;
pub(crate) mod shapes;
mod submit;
mod table;

pub use install::{Refusal, install, set_target};

pub(crate) use table::known;

/// Functions that can have a stub.
pub const STUBS: usize = 8192;

/// Bytes of stack arguments that a stub passes on.
pub const STACK_BYTES: usize = 512;

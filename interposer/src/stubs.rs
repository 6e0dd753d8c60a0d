//! Functions of AscendCL that the hook table does not have: their declarations are not known, so they
//! have no wrapper. Each gets a *stub* instead, from a table of stubs in the program text: it saves
//! every register and the part of the stack that arguments are likely to take, calls the function with
//! a copy of it, and records begin, end and result of the call.
//!
//! A stub calls the function, it does not change the return address that the program has left: so
//! exceptions, backtraces and processors that check return addresses work as expected. No code is made
//! while the program runs, and a call takes no lock and no memory.

mod body;
mod entry;
mod frame;
mod install;
mod parameters;
mod planning;
mod reach;
pub(crate) mod shapes;
mod submit;
mod table;

pub use install::{Refusal, install, set_target};

pub(crate) use reach::{readable, readable_from};
pub(crate) use table::known;

/// The begin of the stub at an address, and its function.
pub(crate) fn at(address: usize) -> Option<(usize, usize)> {
    let index = entry::index_within(address)?;
    Some((entry::address(index), table::get(index)?.function()))
}

/// Functions that can have a stub.
pub const STUBS: usize = 8192;

/// Bytes of stack arguments that the stub of a planning function passes on. These have up to some
/// fifty arguments.
pub const STACK_BYTES: usize = 512;

/// The same for all others. None of the runtime's has as many as twenty arguments, and copying unused
/// words is the largest part of a stub's cost.
pub const FEW_STACK_BYTES: usize = 256;

#[cfg(test)]
mod tests {
    use super::frame::INTEGERS;
    use super::*;
    use crate::functions::FUNCTIONS;

    /// A function without a table entry is treated like those of the table.
    #[test]
    fn functions_have_far_fewer_arguments_than_a_stub_passes_on() {
        for function in FUNCTIONS.iter() {
            let is_planning = function.name.ends_with("GetWorkspaceSize");
            let bytes = if is_planning {
                STACK_BYTES
            } else {
                FEW_STACK_BYTES
            };
            let words = function.args.len().saturating_sub(INTEGERS);
            assert!(words * size_of::<u64>() * 2 <= bytes, "{}", function.name);
        }
    }
}

//! Shared definitions of the interposer, the collector and the reader: the record of a traced call in
//! shared memory, the layout of that memory, and the vocabulary of the hook table.
//!
//! This crate runs inside traced programs, so it has no dependencies, no `std` and no unsafe code.

#![no_std]
#![forbid(unsafe_code)]

pub mod api;
pub mod armed;
mod coded;
pub mod engine;
pub mod filter;
pub mod fnv;
pub mod long_text;
pub mod range;
pub mod rank;
pub mod record;
pub mod role;
pub mod session;
pub mod time;
pub mod version;
pub mod window;

#[cfg(test)]
extern crate std;

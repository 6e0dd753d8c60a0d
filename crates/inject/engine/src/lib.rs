//! The core of an engine: it catches calls by patching functions where they begin, so also those
//! that never pass the dynamic linker.
//!
//! A [`Patcher`] does the patching; each library of that kind has one. This crate decides which
//! functions may be patched, in what order, and the reason for each refusal, because libraries that
//! patch code return success in cases in which the program crashes afterwards:
//!
//! * a function that begins with a jump is followed to its target ([`forwarder`]), which is patched
//!   in its place unless several functions lead there (`plan`);
//! * code that jumps back to the place of the patch, or does not reach its end, or calls from
//!   inside it, is not patched ([`code`]);
//! * nothing is patched while another thread runs, or is stopped inside the place of the patch
//!   (`threads`);
//! * no patch is ever removed.

#![expect(
    unsafe_code,
    reason = "reads and changes the code of the running program"
)]
#![warn(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

pub mod code;
pub mod forwarder;
mod image;
mod install;
mod plan;
mod protection;
mod threads;

pub use install::{Patcher, install};

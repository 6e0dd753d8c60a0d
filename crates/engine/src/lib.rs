//! The core of an engine: it catches calls by patching functions where they begin, so also those
//! that never pass the dynamic linker.
//!
//! Patching itself is done by a [`Patcher`], of which there is one per library of that kind. What
//! may be patched, in what order, and what is refused for which reason is decided here, because
//! libraries that patch code answer "done" in cases in which the program crashes afterwards:
//!
//! * a function that begins with a jump is followed to its target ([`forwarder`]), which is patched
//!   in its place unless several functions lead there (`plan`);
//! * code that jumps back to where the patch would be, or does not reach its end, or calls from
//!   there, is left alone ([`code`]);
//! * nothing is patched while another thread runs, or stands where the patch would be (`threads`);
//! * nothing is ever put back.

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

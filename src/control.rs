//! Control of a running recording from another process: `ascend-trace ctl`.
//!
//! The recorder listens on a socket next to its session file, in the user's private folder. A thread of the recorder serves
//! it; the program and the collector wait for nothing there.

pub(crate) mod client;
mod peers;
mod place;
pub(crate) mod protocol;
mod server;

pub(crate) use server::{ControlServer, ControlledRecording};

//! The command line and the collector: glue between the shared memory that traced programs write
//! to, the trace file, and the crates that read it.

mod cli;
mod collector;
mod error;
mod launch;
mod log;
mod output;
mod quote;
mod recording;
mod table;
#[expect(unreachable_pub, reason = "generated for every crate that needs it")]
mod tables;
mod unpack;
mod viewing;

pub use cli::run;

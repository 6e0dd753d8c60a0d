//! The command line: what starts programs, and glue between the collector, the trace file and the crates that
//! read it.

mod cli;
mod error;
mod launch;
mod log;
mod output;
mod quote;
mod recording;
mod table;
mod unpack;
mod viewing;

pub use cli::run;

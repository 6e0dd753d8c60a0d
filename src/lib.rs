//! The command line: what starts programs, and glue between the collector, the trace file and the crates that
//! read it.

mod cli;
mod error;
mod hang;
mod launch;
mod log;
mod metrics;
mod output;
mod processes;
mod quote;
mod recorded;
mod recording;
mod symbols;
mod table;
mod unpack;
mod viewing;

pub use cli::run;

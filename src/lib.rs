//! The command line: what starts programs, and glue between the collector, the trace file and the crates that
//! read it.

mod armed_process;
mod cli;
mod control;
mod error;
mod hang;
mod inject;
mod launch;
mod log;
mod metrics;
mod output;
mod processes;
mod quote;
mod recorder;
mod running_recording;
mod server_place;
mod stack_symbols;
mod text_table;
mod unpack;
mod view_source;

pub use cli::{commands, run};

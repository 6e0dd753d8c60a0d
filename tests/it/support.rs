//! Shared code of the topics: compiling programs, running them bare and traced, reading the results.

pub(crate) mod accuracy;
pub(crate) mod chrome;
pub(crate) mod compile;
pub(crate) mod files;
pub(crate) mod hanging;
pub(crate) mod named;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod run;
pub(crate) mod screen;
pub(crate) mod stuck;
pub(crate) mod tables;
pub(crate) mod tmux;
pub(crate) mod truth;

pub(crate) use compile::{example, program};
pub(crate) use process::{Outcome, feed, run, tool};
pub(crate) use run::{Recording, Run};
pub(crate) use tables::{CsvRow, Tables};

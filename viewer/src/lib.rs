//! The terminal timeline: what every stream did, who waited for whom, and how long.
//!
//! The `keymap` maps an `event` to an `action`; `update` changes the state (`app`); `view` draws it.
//! All of this is pure; only `term` touches the terminal. The viewer opens no files and prints nothing:
//! the trace comes from a [`TraceSource`].

mod action;
mod app;
mod arrangement;
mod blame;
mod blamed;
mod choices;
mod config;
mod critical;
mod event;
mod failures;
mod flame;
mod fuzzy;
mod identity;
mod inside;
mod item;
mod job;
mod keymap;
mod lanes;
mod layout;
mod list;
mod marks;
mod meters;
mod names;
mod nodes;
mod overall;
mod overview;
mod pair;
mod parse;
mod part;
mod place;
mod pointer;
mod prompt;
mod pyramid;
mod query;
mod quest;
mod ranges;
mod rank;
mod rates;
mod reply;
mod results;
mod run;
mod search;
mod selected;
#[doc(hidden)]
pub mod shares;
mod source;
mod term;
mod text;
mod theme;
mod tracks;
mod unused;
mod update;
mod view;
mod viewport;
mod worst;

#[cfg(test)]
mod tests;

pub use config::{Config, ConfigError};
pub use job::{ExportJob, Job, JobNews, JobProgress};
pub use marks::Bookmark;
pub use overview::RecordingOverview;
pub use pair::{ComparisonResult, TraceComparer};
pub use part::{DerivedData, LoadedExtent};
pub use quest::BackgroundQuery;
pub use run::{
    ViewError, ViewOptions, ViewOutcome, check_terminal, check_terminal_for_two, run, run_pair,
};
pub use source::{ProgramLog, RecorderCounts, RecordingState, SourceProgress, TraceSource};
pub use theme::{ColorMode, TerminalBackground};

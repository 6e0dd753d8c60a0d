//! The terminal timeline: what every stream did, who waited for whom, and how long.
//!
//! The `keymap` maps an `event` to an `action`; `update` changes the state (`app`); `view` draws it.
//! All of this is pure; only `term` touches the terminal. The viewer opens no files and prints nothing:
//! the trace comes from a [`TraceSource`].

mod action;
mod app;
mod arrangement;
mod background_query;
mod blame;
mod blamed_stalls;
mod cached_results;
mod command_choices;
mod config;
mod critical;
mod derived_data;
mod display_names;
mod event;
mod failures;
mod find_condition;
mod flame;
mod fuzzy;
mod idle_streams;
mod item;
mod job;
mod keymap;
mod lanes;
mod layout;
mod list;
mod longest_stalls;
mod marks;
mod meters;
mod nodes;
mod overview;
mod pair;
mod panels;
mod parse_time;
mod picture;
mod pointer;
mod prompt;
mod pyramid;
mod range_contents;
mod ranges;
mod rank;
mod rates;
mod recording_totals;
mod run;
mod search;
mod selection;
#[doc(hidden)]
pub mod shares;
mod source;
mod stable_id;
mod term;
mod terminal_reply;
mod text;
mod theme;
mod tracks;
mod update;
mod view;
mod view_position;
mod viewport;

#[cfg(test)]
mod tests;

pub use background_query::BackgroundQuery;
pub use config::{Config, ConfigError};
pub use derived_data::{DerivedData, LoadedExtent};
pub use job::{ExportJob, Job, JobNews, JobProgress};
pub use marks::Bookmark;
pub use overview::RecordingOverview;
pub use pair::{ComparisonResult, TraceComparer};
pub use picture::{Picture, PictureFormat};
pub use run::{
    StillError, StillOptions, ViewError, ViewOptions, ViewOutcome, check_terminal,
    check_terminal_for_two, run, run_pair, still,
};
pub use source::{
    ProgramLog, RecorderCounts, RecordingOrder, RecordingState, SourceProgress, TraceSource,
};
pub use theme::{ColorMode, TerminalBackground};

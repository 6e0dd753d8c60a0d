//! How long a recorded program would have run if operations, waits or calls were others.
//!
//! The recording becomes a tape for each thread and stream (`tape`, `records`), which takes some ten
//! bytes for a call or task, and links between them (`links`). A simulation reads all tapes once
//! (`solve`): the begin and the end of each call and task is the latest of the times that it had to
//! wait for, plus its duration. Threads make their calls in order, and the time between two calls is
//! kept; streams run their tasks in order; a task begins after the one before it and after its
//! submission; a wait ends after its record; a call that blocks ends after its target, plus the time
//! that it took to return. Durations are chosen so that the simulation gives back the recording. Then
//! some of them are changed (`change`), and simulated again (`predict`), with any number of changes at
//! once.

mod change;
mod collect;
mod compact_recording;
mod costs;
mod event_log;
mod item_numbers;
mod limited_waits;
mod links;
mod other_threads;
mod outside;
mod pause_causes;
mod positions;
mod predict;
mod records;
mod report;
mod solve;
mod suggestions;
mod sync_ledger;
mod sync_rewrite;
mod tenths;
mod typical;
mod untimed;
mod wait_index;

pub use crate::checks::{OrderCheck, Verdicts};
pub use change::{Change, Narrow};
pub use costs::judge as judge_costs;
pub use other_threads::BusyThread;
pub use outside::Handover;
pub(crate) use pause_causes::{EndOfPause, PauseCauses, PauseReader};
pub use predict::{BusyShare, Prediction};
pub use report::{PeriodicThread, Report, WhatIf};
pub use sync_ledger::Sync;

//! How long a recorded program would have run if operations, waits or calls were others.
//!
//! The recording becomes a graph of timestamps (`graph`): the begin and the end of each call and task. Each is the
//! latest of what it had to wait for, plus a time that it took itself. Threads make their calls in order, and the time
//! between two calls is kept; streams run their tasks in order; a task begins after the one before it and after its
//! submission; a wait ends after its record; a call that blocks ends after what it waits for, plus the time that it took
//! to return. What each took itself is chosen so that the graph gives back the recording (`model`). Then some of it
//! is changed (`change`), and the graph is solved again (`predict`).

mod change;
mod collect;
mod graph;
mod index;
mod ledger;
mod model;
mod predict;
mod report;
mod typical;

pub use change::{Change, Narrow};
pub use ledger::Sync;
pub use predict::{Busy, Prediction};
pub use report::{Report, WhatIf};

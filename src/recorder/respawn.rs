//! A recording that outlives its recorder (`record --respawn`).
//!
//! The process that the user starts is the parent of the program and of the recorder, and does nothing else. If the recorder
//! is lost, it starts another one with a new file. Programs find the present recorder by a link, as those of a server do.

mod recorder_process;
mod role;
mod supervised;
mod supervisor;

use super::RecordOptions;
use crate::error::Failure;
pub(crate) use role::Continuation;
use role::RecorderRole;

/// Records a program: as its parent, or as the recorder that this has started. Returns the exit status.
pub(crate) fn record(plan: RecordOptions) -> Result<i32, Failure> {
    match RecorderRole::own() {
        Some(role) => supervised::record(plan, role).map(|()| 0),
        None => supervisor::record(&plan),
    }
}

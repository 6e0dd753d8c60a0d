//! The first part of the reading thread's work: a recording that is short is read as a whole, and what is
//! derived from it is kept up while it grows.

use ascend_trace_model::{Follower, OpenError};
use ascend_trace_viewer::Derived;

use super::mail::{Extent, Part};
use super::pace::{IDLE_TICK, Pace};
use super::reader::Reader;

/// Recordings with more calls and tasks are read part by part.
const WHOLE_ROWS: usize = 400_000;
/// The same of one that grows: the view gets a copy of it with each look.
const GROWING_ROWS: usize = 150_000;
/// A file that has so many may have more than is kept of one of its length.
const DENSE_ROWS: usize = 50_000;
/// Rows that are read between two looks at what the view wants.
const STEP_ROWS: u64 = 50_000;

/// Why a recording is not followed on.
pub(super) enum After {
    /// It is too long.
    Long,
    /// It has ended, or the view has.
    Done,
}

/// What the view has been given.
#[derive(Default)]
struct Given {
    /// There is more than that.
    is_old: bool,
    /// As a recording that has ended.
    ended: bool,
}

impl Reader {
    /// Follows a recording until it ends or is too long.
    pub(super) fn follow(&self, mut follower: Follower) -> Result<After, OpenError> {
        let mut derived = Derived::default();
        let mut pace = Pace::new();
        let mut given = Given {
            is_old: true,
            ended: false,
        };
        loop {
            pace.begin();
            let progress = match follower.poll_within(STEP_ROWS) {
                Ok(progress) => progress,
                Err(error) => {
                    self.give_whole(&follower, &mut derived, true);
                    return Err(error);
                }
            };
            self.mail().open().position = follower.position();
            let trace = follower.trace();
            let rows = trace.calls().len() + trace.tasks().len();
            let ended = progress.complete || self.is_stopped();
            let grows = !progress.more && !ended;
            if rows > WHOLE_ROWS
                || (rows > GROWING_ROWS && grows)
                || (rows > DENSE_ROWS && !follower.warnings().is_empty())
            {
                return Ok(After::Long);
            }
            given.is_old |= progress.rows > 0 || ended != given.ended;
            if given.is_old && !progress.more && self.mail().is_taken() {
                self.give_whole(&follower, &mut derived, ended);
                given = Given {
                    is_old: false,
                    ended,
                };
                if progress.complete {
                    return Ok(After::Done);
                }
            }
            if !progress.more {
                pace.end();
            }
            let time = match ended {
                true => pace.rest().max(IDLE_TICK),
                false => pace.rest(),
            };
            if self.wishes().wait(self.wishes().now(), time).stop {
                return Ok(After::Done);
            }
        }
    }

    fn give_whole(&self, follower: &Follower, derived: &mut Derived, ended: bool) {
        let trace = follower.trace();
        derived.update(trace);
        let mut own = derived.clone();
        if ended {
            own.finish(trace);
        }
        let part = Part {
            trace: trace.clone(),
            derived: own,
            extent: Extent::Whole(follower.warnings().to_vec()),
        };
        let end = trace.end();
        self.mail().give(part, |letters| {
            letters.ended = end.map(|(_, status)| Some(status));
        });
    }
}

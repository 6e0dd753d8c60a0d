//! The places of tasks without a time that follow each other on a stream: a *row*.
//!
//! A task of a row ran after its launch and after the task before it, for its usual duration. Where the row has less room than its
//! tasks usually take, each takes less, in proportion. A task that was launched late is cut at the end of the room: a
//! launch is a fact, and a usual duration is not.
//!
//! Three readers place rows, and differ in their knowledge of the room:
//! - [`placement`](super::placement) reads windows with all estimates. It knows both ends of the room, and gives each task the
//!   error that the other tasks leave open.
//! - `whatif/untimed` reads tapes that have the releases of waits. It uses the mean of an operation, knows the sum of a stream's
//!   work better than each place, and takes rows without an end as well.
//! - `stats/training/followed` reads once, with the estimates up to then. It knows nothing after the task, so each row
//!   has one task and no end.

use ascend_trace_recording::TimeRange;

/// A task of a row, as far as a reader knows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowTask {
    pub(crate) launched: i64,
    /// Its usual duration.
    pub(crate) usual: i64,
    /// When the wait of the task was over, if it is one and that is known.
    pub(crate) released: Option<i64>,
}

/// The time of a stream in which a row ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowRoom {
    reached: i64,
    until: i64,
    /// The usual time of all tasks, and the part of it that the room has.
    usual: i64,
    lasted: i64,
    /// The part that is left for later tasks.
    left: i64,
}

impl RowRoom {
    /// For tasks that usually take `usual` together.
    pub(crate) fn new(room: TimeRange, usual: i64) -> Self {
        let lasted = usual.min(room.duration());
        Self {
            reached: room.begin,
            until: room.end,
            usual,
            lasted,
            left: lasted,
        }
    }

    /// The room of one task after the end of the one before it, with no known end.
    pub(crate) fn open(from: i64, usual: i64) -> Self {
        Self {
            reached: from,
            until: i64::MAX,
            usual,
            lasted: usual,
            left: usual,
        }
    }

    /// The end of the last task.
    pub(crate) fn reached(&self) -> i64 {
        self.reached
    }

    /// The time of the next task. Each must come once, in order.
    pub(crate) fn take(&mut self, task: RowTask) -> TimeRange {
        let length = scaled(task.usual, self.lasted, self.usual);
        self.left -= length;
        let begin = self.reached.max(task.launched).min(self.until);
        // The rest of the work has room after each wait.
        let released = task.released.map(|it| it.min(self.until - self.left));
        let end = begin.saturating_add(length);
        self.reached = end.max(released.unwrap_or(end)).min(self.until);
        TimeRange::new(begin, self.reached)
    }
}

/// The part of a time that is `part` of `whole`.
pub(crate) fn scaled(time: i64, part: i64, whole: i64) -> i64 {
    if part == whole {
        return time;
    }
    (i128::from(time) * i128::from(part) / i128::from(whole.max(1))) as i64
}

//! What the view knows of a quest that is under way.

use std::time::Duration;

use ascend_trace_analysis::Stats;
use ascend_trace_analysis::checks::Finding;
use ascend_trace_analysis::stats::StallGroup;

use crate::list::Which;
use crate::quest::{Course, Told};
use crate::text::duration;

/// A quest that the source was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Hunt {
    pub(crate) number: u64,
    /// What is looked for.
    pub(crate) what: String,
    pub(crate) course: Course,
    /// Where it was when it was last heard of.
    pub(crate) reached: i64,
    pub(crate) since: Duration,
}

impl Hunt {
    /// How far it is, and when it will have been everywhere.
    pub(crate) fn words(&self, span: (i64, i64), now: Duration) -> String {
        let share = self.course.share(span, self.reached);
        let elapsed = now.saturating_sub(self.since).as_nanos() as f64;
        let left = match share {
            // It is too early to tell.
            ..0.03 => String::new(),
            _ => {
                let left = elapsed * (1.0 - share) / share;
                format!(", at most {} left", duration(left as i64))
            }
        };
        let over = match self.course.wrapped {
            true => ", from the other end now",
            false => "",
        };
        let percent = share * 100.0;
        format!(
            "looking for {}: {percent:.0} %{left}{over}  esc: stop",
            self.what
        )
    }
}

/// The longest stalls of all of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    pub(crate) which: Which,
    pub(crate) least: i64,
    /// Tasks and calls when they were found.
    pub(crate) counts: (u64, u64),
    pub(crate) hidden: usize,
    pub(crate) stalls: Vec<Told>,
}

/// Stalls of all of a recording, by who is to blame.
#[derive(Clone, Debug)]
pub(crate) struct BlamedAll {
    pub(crate) least: i64,
    /// Tasks and calls when they were found.
    pub(crate) counts: (u64, u64),
    pub(crate) hidden: usize,
    pub(crate) groups: Vec<StallGroup>,
}

/// What checks found in all of a recording.
#[derive(Clone, Debug)]
pub(crate) struct FindingsAll {
    /// Tasks and calls when they looked.
    pub(crate) counts: (u64, u64),
    pub(crate) findings: Vec<Finding>,
}

/// Tables of a range of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Summed {
    pub(crate) range: (i64, i64),
    /// Tasks and calls when they were made.
    pub(crate) counts: (u64, u64),
    pub(crate) stats: Stats,
}

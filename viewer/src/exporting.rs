//! An export that is under way.

use std::time::Duration;

use crate::text::{duration, fit};

/// What the source is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Write a file, of all or of a range.
    Begin(String, Option<(i64, i64)>),
    Stop,
}

/// What a source has to say of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportNews {
    /// So much of so much is written.
    Reached(u64, u64),
    /// It is done: what there is to say.
    Done(String),
    /// It is not, and this is why.
    Failed(String),
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exporting {
    pub(crate) name: String,
    pub(crate) since: Duration,
    pub(crate) reached: (u64, u64),
}

impl Exporting {
    pub(crate) fn words(&self, now: Duration) -> String {
        let (done, all) = self.reached;
        let name = fit(&self.name, 40);
        if done == 0 || all == 0 {
            return format!("writing {name}  esc: stop");
        }
        let share = (done as f64 / all as f64).min(1.0);
        let elapsed = now.saturating_sub(self.since).as_nanos() as f64;
        let left = (elapsed * (1.0 - share) / share) as i64;
        let percent = share * 100.0;
        format!(
            "writing {name}: {percent:.0} %, {} left  esc: stop",
            duration(left)
        )
    }
}

//! The steps of each process.

use std::collections::BTreeMap;

use ascend_trace_recording::{ThreadId, TimeRange};
use serde::Serialize;

/// How it is known where steps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The hook inside Python reported them.
    Framework,
    /// The program named ranges like steps.
    Named,
    /// A pattern picked out ranges or marks.
    Pattern,
    /// Each launches the same graph.
    Graph,
    /// A sequence of operations repeats.
    Sequence,
}

impl Origin {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Framework => "framework",
            Self::Named => "named",
            Self::Pattern => "pattern",
            Self::Graph => "graph",
            Self::Sequence => "sequence",
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    pub begin: i64,
    pub end: i64,
    pub name: String,
}

impl Cut {
    pub const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }
}

/// The steps of one process, by begin. They do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lap {
    pub origin: Origin,
    /// The thread that has them.
    pub thread: ThreadId,
    pub cuts: Vec<Cut>,
}

/// The steps of a recording, by the number of the process in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub laps: BTreeMap<u32, Lap>,
}

impl Plan {
    pub fn is_empty(&self) -> bool {
        self.laps.is_empty()
    }

    /// Whether a step lasts until the end of the recording, at any time.
    pub(super) fn goes_on(&self) -> bool {
        let mut last = self.laps.values().filter_map(|lap| lap.cuts.last());
        last.any(|cut| cut.end == i64::MAX)
    }

    /// Ends such steps, now that it is known where the recording ends.
    pub(super) fn end(&mut self, end: i64) {
        self.laps.retain(|_, lap| {
            if let Some(last) = lap.cuts.pop_if(|cut| cut.end == i64::MAX) {
                let ended = Cut { end, ..last };
                lap.cuts.extend(Some(ended).filter(|it| it.begin < end));
            }
            !lap.cuts.is_empty()
        });
    }
}

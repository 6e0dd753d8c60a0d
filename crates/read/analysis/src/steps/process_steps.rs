//! The steps of each process.

use std::collections::BTreeMap;

use ascend_trace_recording::{ThreadId, TimeRange};
use schemars::JsonSchema;
use serde::Serialize;

/// How it is known where steps are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
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
pub struct FoundStep {
    /// Its time, on the clock that [`LoopSteps::clock`] names.
    pub begin: i64,
    pub end: i64,
    /// When the host asked for its work.
    pub asked: TimeRange,
    pub name: String,
}

/// The source of the times of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepClock {
    /// A step lasts from the begin of its first task to that of the next step.
    Device,
    /// A step is a time of the host: of a range, or where tasks have no times.
    Host,
}

/// The loop of a process, which may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopId {
    /// Number of the process in the recording.
    pub process: u32,
    /// Number of the loop in the process.
    pub number: u32,
}

impl LoopId {
    /// The first loop of a process.
    pub const fn first(process: u32) -> Self {
        Self { process, number: 0 }
    }
}

impl FoundStep {
    pub const fn range(&self) -> TimeRange {
        TimeRange::new(self.begin, self.end)
    }
}

/// The steps of one loop, by begin. They do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopSteps {
    pub origin: Origin,
    pub clock: StepClock,
    /// Steps that are left out, since no task shows when they began or ended on the device.
    pub left_out: u64,
    /// The thread that has them.
    pub thread: ThreadId,
    pub cuts: Vec<FoundStep>,
}

/// The steps of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingSteps {
    pub laps: BTreeMap<LoopId, LoopSteps>,
}

impl RecordingSteps {
    pub fn is_empty(&self) -> bool {
        self.laps.is_empty()
    }

    /// Whether a process has steps.
    pub(super) fn has(&self, process: u32) -> bool {
        self.laps.contains_key(&LoopId::first(process))
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
                let asked = TimeRange::new(last.asked.begin, end);
                let ended = FoundStep { end, asked, ..last };
                lap.cuts.extend(Some(ended).filter(|it| it.begin < end));
            }
            !lap.cuts.is_empty()
        });
    }
}

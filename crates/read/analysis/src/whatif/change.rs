//! Changes to simulate.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::compact_recording::Facts;
use super::records::{CallShape, TaskShape};
use crate::TaskRole;

/// New target of a call that blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Narrow {
    /// The stream with the last copy to or from the host; without one, the stream that the thread used last.
    Stream,
    /// The last copy to or from the host of each stream; without any, the last event record.
    Event,
    /// Nothing.
    None,
}

impl Narrow {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Event => "event",
            Self::None => "none",
        }
    }
}

/// A change of the program. Factors are parts of the duration in the recording.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Tasks of these names take another time.
    Operation {
        names: BTreeSet<String>,
        factor: f64,
    },
    /// Copies take another time, on devices and on the host.
    Copy { factor: f64 },
    /// Calls that submit tasks, and the time from there to the earliest begin of a task, take another time.
    Launch { factor: f64 },
    /// Waits of a stream hold nothing. Without a device, of the streams of this id on all devices.
    NoWaits { device: Option<u32>, stream_id: i64 },
    /// Calls of these functions wait for less.
    Sync {
        functions: BTreeSet<String>,
        narrow: Narrow,
    },
}

/// Changes, looked up.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    /// By the number of the name.
    operations: Vec<f64>,
    copy: f64,
    launch: f64,
    /// By stream.
    no_waits: Vec<bool>,
    /// By function.
    syncs: Vec<Option<Narrow>>,
    /// The calls of a group wait for less.
    group: Option<(u32, Narrow)>,
    /// Calls of this function copy nothing themselves.
    pinned: Option<u32>,
}

impl Changes {
    pub(super) fn of(facts: &Facts, changes: &[Change]) -> Self {
        let mut found = Self {
            operations: vec![1.0; facts.operations.len()],
            copy: 1.0,
            launch: 1.0,
            no_waits: vec![false; facts.streams.len()],
            syncs: vec![None; facts.functions.len()],
            group: None,
            pinned: None,
        };
        for change in changes {
            match change {
                Change::Operation { names, factor } => {
                    let all = facts.operations.iter().zip(&mut found.operations);
                    let own = all.filter(|it| names.contains(it.0));
                    own.for_each(|it| *it.1 *= factor);
                }
                Change::Copy { factor } => found.copy *= factor,
                Change::Launch { factor } => found.launch *= factor,
                Change::NoWaits { device, stream_id } => {
                    for (stream, has_none) in facts.streams.iter().zip(&mut found.no_waits) {
                        let place = stream.place;
                        let is_on = device.is_none_or(|it| it == place.device);
                        *has_none |= is_on && place.stream_id == *stream_id;
                    }
                }
                Change::Sync { functions, narrow } => {
                    let all = facts.functions.iter().zip(&mut found.syncs);
                    let own = all.filter(|it| functions.contains(&it.0.0));
                    own.for_each(|it| *it.1 = Some(*narrow));
                }
            }
        }
        found
    }

    /// The calls of a group wait for less.
    pub(super) fn of_group(facts: &Facts, group: u32, narrow: Narrow) -> Self {
        let group = Some((group, narrow));
        let unchanged = Self::of(facts, &[]);
        Self { group, ..unchanged }
    }

    /// Calls of this function copy nothing themselves.
    pub(super) fn of_pinned(facts: &Facts, function: u32) -> Self {
        let pinned = Some(function);
        let unchanged = Self::of(facts, &[]);
        Self {
            pinned,
            ..unchanged
        }
    }

    /// By how much the own time of a task changes.
    pub(super) fn task(&self, task: &TaskShape) -> f64 {
        if task.class != TaskRole::Work {
            return 1.0;
        }
        let copy = if task.is_copy { self.copy } else { 1.0 };
        let operation = self.operations.get(task.operation as usize);
        operation.copied().unwrap_or(1.0) * copy
    }

    /// Factor for the time of a call that does not wait any more.
    pub(super) fn call(&self, call: &CallShape) -> f64 {
        let copy = if call.copies { self.copy } else { 1.0 };
        let launch = if call.submits { self.launch } else { 1.0 };
        match call.copies && self.pinned == Some(call.function) {
            true => 0.0,
            false => copy * launch,
        }
    }

    pub(super) fn launch(&self) -> f64 {
        self.launch
    }

    /// Whether the waits of a stream hold nothing.
    pub(super) fn has_no_waits(&self, stream: usize) -> bool {
        self.no_waits.get(stream).copied().unwrap_or(false)
    }

    /// What calls of a function wait for instead.
    pub(super) fn sync(&self, function: u32) -> Option<Narrow> {
        self.syncs.get(function as usize).copied().flatten()
    }

    /// The calls that wait for something else, as a group of the ledger.
    pub(super) fn group(&self) -> Option<(u32, Narrow)> {
        self.group
    }
}

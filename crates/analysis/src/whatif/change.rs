//! What is changed.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::collect::{Call, Facts, Task};
use crate::Class;

/// What a call that blocks waits for instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// These calls do, by their numbers in the recording.
    Calls { calls: Vec<u32>, narrow: Narrow },
}

/// Changes, looked up.
#[derive(Debug)]
pub(super) struct Changes {
    /// By the number of the name.
    operations: Vec<f64>,
    copy: f64,
    launch: f64,
    /// By stream.
    no_waits: Vec<bool>,
    /// By function.
    syncs: Vec<Option<Narrow>>,
    /// By the number of the call.
    calls: FxHashMap<u32, Narrow>,
}

impl Changes {
    pub(super) fn of(facts: &Facts, changes: &[Change]) -> Self {
        let mut found = Self {
            operations: vec![1.0; facts.operations.len()],
            copy: 1.0,
            launch: 1.0,
            no_waits: vec![false; facts.streams.len()],
            syncs: vec![None; facts.functions.len()],
            calls: FxHashMap::default(),
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
                    for ((place, _), has_none) in facts.streams.iter().zip(&mut found.no_waits) {
                        let is_on = device.is_none_or(|it| it == place.device);
                        *has_none |= is_on && place.stream_id == *stream_id;
                    }
                }
                Change::Sync { functions, narrow } => {
                    let all = facts.functions.iter().zip(&mut found.syncs);
                    let own = all.filter(|it| functions.contains(&it.0.0));
                    own.for_each(|it| *it.1 = Some(*narrow));
                }
                Change::Calls { calls, narrow } => {
                    found.calls.extend(calls.iter().map(|it| (*it, *narrow)));
                }
            }
        }
        found
    }

    /// By how much the own time of a task changes.
    pub(super) fn task(&self, task: &Task) -> f64 {
        if task.class != Class::Work {
            return 1.0;
        }
        let copy = if task.is_copy { self.copy } else { 1.0 };
        self.operations[task.name as usize] * copy
    }

    /// By how much the own time of a call changes: what it takes once it waits for nothing.
    pub(super) fn call(&self, call: &Call) -> f64 {
        let copy = if call.copies { self.copy } else { 1.0 };
        let launch = if call.submits { self.launch } else { 1.0 };
        copy * launch
    }

    pub(super) fn launch(&self) -> f64 {
        self.launch
    }

    pub(super) fn holds_nothing(&self, task: &Task) -> bool {
        let is_wait = matches!(task.class, Class::EventWait | Class::SignalWait);
        is_wait && self.no_waits[task.stream as usize]
    }

    /// What a call waits for instead.
    pub(super) fn sync(&self, number: u32, call: &Call) -> Option<Narrow> {
        let own = self.calls.get(&number).copied();
        own.or(self.syncs[call.function as usize])
    }
}

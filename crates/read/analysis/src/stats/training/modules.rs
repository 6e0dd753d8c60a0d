//! Operations by the module that asked for them.

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Range, Task, Trace};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::super::Durations;
use super::super::histogram::Histogram;
use crate::Class;

/// The tasks of one name that a module asked for, of all processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleStats {
    /// `forward`, `backward` or `optimizer`; `null` outside of them.
    pub phase: Option<String>,
    /// The innermost module, such as `layers.0.norm (LayerNorm)`; `null` for work outside of modules.
    pub module: Option<String>,
    pub operation: String,
    /// All of them; `time.count` could be timed.
    pub count: u64,
    pub time: Durations,
}

/// Phase, module and operation.
type Key = (Option<String>, Option<String>, String);

#[derive(Debug, Default)]
pub(super) struct Modules {
    sums: FxHashMap<Key, (u64, Histogram)>,
}

impl Modules {
    /// Adds a task to the innermost module of the ranges around it, given from the inside out.
    pub(super) fn task(&mut self, trace: &Trace, task: &Task, place: &[&Range]) {
        if Class::of(trace, task) != Class::Work {
            return;
        }
        let innermost = |kinds: &[RangeKind]| {
            let is_one = |range: &&&Range| range.kind().is_some_and(|it| kinds.contains(&it));
            place.iter().find(is_one).map(|range| range.name.clone())
        };
        let phase = innermost(&[RangeKind::Phase]);
        let module = innermost(&[RangeKind::Module, RangeKind::Backward]);
        if phase.is_none() && module.is_none() {
            return;
        }
        let operation = trace.task_name(task).to_owned();
        let (count, time) = self.sums.entry((phase, module, operation)).or_default();
        *count += 1;
        if let Some(it) = task.time {
            time.add(it.end - it.begin);
        }
    }

    /// Longest first.
    pub(super) fn rows(self) -> Vec<ModuleStats> {
        let rows = self.sums.into_iter().map(|(key, (count, time))| {
            let (phase, module, operation) = key;
            ModuleStats {
                phase,
                module,
                operation,
                count,
                time: time.durations(),
            }
        });
        let mut rows: Vec<_> = rows.collect();
        let key = |row: &ModuleStats| {
            let (phase, module) = (row.phase.clone(), row.module.clone());
            (-row.time.total_ns, phase, module, row.operation.clone())
        };
        rows.sort_by_cached_key(key);
        rows
    }
}

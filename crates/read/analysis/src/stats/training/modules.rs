//! Operations by the module that asked for them.

use ascend_trace_format::range::RangeKind;
use ascend_trace_recording::{Range, Task, Trace};
use rustc_hash::FxHashMap;

use super::super::Durations;
use super::super::columns::times;
use super::super::histogram::Histogram;
use crate::TaskRole;
use crate::columns::declare::*;

table_row! {
/// The tasks of one name that a module asked for, of all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleStats {
    pub phase: Option<String> => column("phase", Word, |it: &Self| it.phase.as_ref().into(), "`forward`, `backward` or `optimizer`; `null` outside of them").text("phase");
    pub module: Option<String> => column("module", Word, |it: &Self| it.module.as_ref().into(), "the innermost module, such as `layers.0.norm (LayerNorm)`; `null` for work outside of modules").text("module");
    pub operation: String => column("operation", Text, |it: &Self| (&it.operation).into(), "the operation").text("operation");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "all of them").text("count");
    ..times!();
    pub time: Durations;
}
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
        if TaskRole::of(trace, task) != TaskRole::Work {
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

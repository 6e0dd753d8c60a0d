//! Runs: tasks of a stream that follow each other and have one time together. The time of a run says for how long all of its
//! tasks ran, if they are of one class. It says nothing of a single one.

use ascend_trace_format::api::Untimed;
use ascend_trace_recording::{TaskId, TaskRun, Trace};

use super::{ClassKey, Estimate};

/// An incomplete run.
#[derive(Clone, Copy, Debug)]
struct OpenRun {
    key: ClassKey,
    run: TaskRun,
    /// The number of the next task on the stream, and how many are to come.
    next: u32,
    left: u32,
}

/// Finds the runs with tasks of one class. The tasks of a stream come in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunClasses {
    streams: Vec<Option<OpenRun>>,
}

impl RunClasses {
    /// Takes in the next task of a stream. Returns the run that it ends, if all of its tasks are of the class `key`.
    pub(crate) fn take(&mut self, trace: &Trace, id: TaskId, key: ClassKey) -> Option<TaskRun> {
        let task = trace.task(id);
        let stream = task.stream.index();
        let open = match self.streams.get_mut(stream) {
            Some(open) => open,
            None if task.untimed != Untimed::InRun => return None,
            None => {
                self.streams.resize_with(stream + 1, Option::default);
                &mut self.streams[stream]
            }
        };
        let next = task.sequence.saturating_add(1);
        if let Some(run) = trace.run(id) {
            let left = run.tasks.saturating_sub(1);
            *open = Some(OpenRun {
                key,
                run,
                next,
                left,
            })
            .filter(|_| left > 0);
            return None;
        }
        let is_next = |it: &OpenRun| {
            task.untimed == Untimed::InRun && it.key == key && it.next == task.sequence
        };
        let before = open.take().filter(is_next)?;
        let left = before.left - 1;
        if left == 0 {
            return Some(before.run);
        }
        *open = Some(OpenRun {
            next,
            left,
            ..before
        });
        None
    }
}

/// Sums of the runs of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RunSums {
    pub(super) tasks: u64,
    total: i64,
    least: i64,
    most: i64,
}

impl RunSums {
    pub(super) fn add(&mut self, run: &TaskRun) {
        self.join(&Self {
            tasks: run.tasks.into(),
            total: run.total,
            least: run.least,
            most: run.most,
        });
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.tasks += other.tasks;
        self.total = self.total.saturating_add(other.total);
        self.least = self.least.saturating_add(other.least);
        self.most = self.most.saturating_add(other.most);
    }

    /// For how long their tasks ran, by their own measurements.
    pub(super) fn measured(&self) -> Estimate {
        Estimate {
            value: self.total as f64,
            low: self.least as f64,
            high: self.most as f64,
        }
    }
}

//! Task groups, and updates of them that are under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::body::Node;
use crate::code::{Fault, Outcome, RT_INTERNAL, RT_TASK_TYPE, fault};
use crate::engine::task::Work;
use crate::sync::{Mutex, lock};

/// A complete task group.
pub(crate) struct TaskGroup {
    pub(super) handle: usize,
    pub(super) nodes: Vec<Arc<Node>>,
    pub(super) is_updated: AtomicBool,
}

/// The brackets of an update, while they are open.
pub(crate) struct GroupUpdate {
    pub(super) group: Arc<TaskGroup>,
    pub(super) works: Mutex<Vec<Arc<Work>>>,
    pub(super) is_spoilt: AtomicBool,
}

pub(super) const fn is_kernel(work: &Work) -> bool {
    matches!(work, Work::Kernel(_) | Work::Operator(_))
}

pub(super) const WRONG_TYPE: Fault = Fault {
    code: RT_TASK_TYPE,
    why: "a task group holds kernels only",
};

impl GroupUpdate {
    pub(super) fn add(&self, work: Work) -> Outcome {
        if !is_kernel(&work) {
            self.spoil();
            return Err(WRONG_TYPE);
        }
        let mut works = lock(&self.works);
        if works.len() == self.group.nodes.len() {
            self.spoil();
            return fault(RT_INTERNAL, "the task group has no further task");
        }
        works.push(Arc::new(work));
        Ok(())
    }

    /// The update cannot succeed any more.
    pub(super) fn spoil(&self) {
        self.is_spoilt.store(true, Ordering::Release);
    }
}

//! The id of a thread's last task, as the program should see it.

/// Facts about a thread's last task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastTask {
    /// It has submitted nothing yet.
    None,
    /// The runtime returns it: no record of the tool came after it.
    Reported,
    /// It was this one, and a record of the tool came after it.
    Kept(Task),
    /// The same while the host copies, with the runtime's earlier result: the copy may be a task, or
    /// none.
    Copying { kept: Task, reported: Task },
}

/// A task as the runtime names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) id: u32,
    /// Only the layer below returns it.
    pub(crate) stream: Option<u32>,
}

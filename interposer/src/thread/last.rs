//! The id of a thread's last task, as the program is to know it.

/// What is known of a thread's last task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// It has submitted nothing yet.
    None,
    /// The runtime tells it: nothing of ours came after it.
    Told,
    /// It was this one, and something of ours came after it.
    Kept(Task),
    /// The same while the host copies, with what the runtime told before that: the copy may be a task, or none.
    Copying { kept: Task, told: Task },
}

/// A task as the runtime names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) id: u32,
    /// Only the layer below tells it.
    pub(crate) stream: Option<u32>,
}

//! The engine: one thread that plays every stream of every device.
//!
//! The times of a task are computed: it begins at the latest of the end of the task before it, the ends
//! of its dependencies, and its submission plus the submit latency; it ends after the duration that its
//! kind has by the documented model. The thread performs the effect when all earlier tasks of the
//! stream are complete, and publishes completion no earlier than the computed end. So the times are
//! exact for any delay of the thread. Only the end of a host function or a blocking callback is
//! measured, since it is the program's code.
//!
//! A stream that has something to do is in exactly one of these places: the inbox (new work), the heap
//! (until a time), or with its wait target (an event record, a running host function). Looking at a
//! stream too often does no harm: `advance` finds the same state again.
//!
//! Tasks (`task`), a stream's progress in its queue (`lane`), the streams to look at (`inbox`) and the
//! threads of host functions (`host`) are known to those who submit. Playing is above the contexts
//! (`player`, `advance`, `steps`, `replay`, `trouble`; `adversary` and `starved` with
//! `order=adversarial`).

mod advance;
mod adversary;
pub(crate) mod bell;
pub(crate) mod host;
pub(crate) mod inbox;
pub(crate) mod lane;
pub(crate) mod player;
mod replay;
mod starved;
mod steps;
pub(crate) mod task;
pub(crate) mod trouble;

//! The events around one task, which wait to be read.

use ascend_trace_format::record::figure::Work;

use crate::timing::host_functions::Hosted;
use crate::timing::operations::{Operation, SkippedTasks};

/// The events around one task.
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    /// 0 when the task begins with the end of the pair before it.
    pub(crate) start: u64,
    /// The same as `start` for an event record, which takes no time.
    pub(crate) end: u64,
    /// The work that the device does by itself; `None` for a wait or a mark.
    pub(crate) work: Option<Work>,
    /// The function of the program that it runs on the host.
    pub(crate) hosted: Option<Hosted>,
    pub(crate) operation: Operation,
    /// The tasks of its stream without events before it.
    pub(crate) skipped: SkippedTasks,
    /// The price that its stream has paid for it, in nanoseconds: see [`crate::timing::budget`].
    pub(crate) paid: u32,
    /// A second record behind the end event, 0 for none: see [`crate::timing::record_time`].
    pub(crate) behind: u64,
    /// The task's number on its stream; `None` when the submission failed and only the events are
    /// to be had back.
    pub(crate) sequence: Option<u32>,
    /// The number of tasks between its events: more than 1 for a run.
    pub(crate) tasks: u32,
    /// Ticks before the start event.
    pub(crate) entry: u64,
    /// Ticks between the start event and the task.
    pub(crate) begin: u64,
    /// Ticks after the end event, and after the one behind it.
    pub(crate) closed: u64,
    pub(crate) closed_behind: u64,
    /// The latest device time that had been read before the start event: its own are later.
    pub(crate) floor: i64,
}

impl Pair {
    /// Ticks before its start event; those of its begin without a separate start event.
    pub(crate) fn armed_from(self) -> u64 {
        if self.start == 0 {
            self.begin
        } else {
            self.entry
        }
    }

    /// Its events, each once.
    pub(crate) fn events(self) -> impl Iterator<Item = u64> {
        let start = Some(self.start).filter(|start| *start != 0 && *start != self.end);
        let behind = Some(self.behind).filter(|behind| *behind != 0);
        start.into_iter().chain([self.end]).chain(behind)
    }

    /// Whether all of its events had been submitted before `known`, in ticks. When it was begun is not
    /// enough: a thread may lose its processor before its events, while another synchronises the stream.
    pub(crate) fn was_submitted_before(self, known: u64) -> bool {
        // The event after the program's own record comes after what that proves.
        self.closed_behind < known && self.entry.saturating_add(1) < known
    }

    /// The one that is reached last.
    pub(crate) fn last(self) -> u64 {
        match self.behind {
            0 => self.end,
            behind => behind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that is hardly used has room for four of them, and a program may have thousands of streams.
    #[test]
    fn a_pair_is_no_larger_than_fifteen_words() {
        assert!(size_of::<Pair>() <= 120, "{}", size_of::<Pair>());
    }

    #[test]
    fn only_completed_submissions_are_proven_done() {
        let pair = Pair {
            start: 1,
            end: 2,
            work: Some(Work::Kernel),
            operation: Operation::NONE,
            skipped: SkippedTasks::NONE,
            hosted: None,
            paid: 0,
            behind: 3,
            sequence: Some(0),
            tasks: 1,
            entry: 100,
            begin: 110,
            closed: 120,
            closed_behind: 130,
            floor: 0,
        };
        // Another thread synchronised while this one was between its events.
        for known in [0, 100, 101, 105, 115, 125, 130] {
            assert!(!pair.was_submitted_before(known), "{known}");
        }
        assert!(pair.was_submitted_before(131));
        // The program's record at 100, with a call that took no tick.
        let quick = Pair {
            closed_behind: 100,
            ..pair
        };
        assert!(!quick.was_submitted_before(101));
        assert!(quick.was_submitted_before(102));
    }
}

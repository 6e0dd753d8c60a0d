//! The parts of a training step's time, and its bounds.

use std::cmp::Reverse;

use serde::Serialize;

/// What most of a step's time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The device computed.
    DeviceBound,
    /// The device communicated, and did not compute.
    CommunicationBound,
    /// It waited for the loader, or for copies.
    DataBound,
    /// It waited for the program to ask for something.
    HostBound,
}

impl Verdict {
    /// The word for it in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DeviceBound => "device-bound",
            Self::CommunicationBound => "communication-bound",
            Self::DataBound => "data-bound",
            Self::HostBound => "host-bound",
        }
    }
}

/// One step of one process. Its length is the sum of `compute_ns`, `exposed_communication_ns`, `exposed_copy_ns` and
/// `idle_ns`; and `idle_ns` that of the five after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepStats {
    /// Number of the process in the recording: several processes may have the same pid.
    pub process: u32,
    pub pid: u32,
    /// The process's rank; `null` where none is known.
    pub rank: Option<u64>,
    /// The thread that has the steps.
    pub tid: u32,
    pub name: String,
    pub begin_ns: i64,
    pub length_ns: i64,
    /// What most of it went to; `null` where most tasks have no time.
    pub verdict: Option<Verdict>,
    /// Another verdict is possible within `error_ns`.
    pub is_close: bool,
    /// The times of devices are estimates. This is by how much they may be off, the errors of all tasks together.
    pub error_ns: i64,
    /// Tasks that ran in it, and those submitted in it that have no time.
    pub tasks: u64,
    pub untimed: u64,
    /// How long a device of the process computed.
    pub compute_ns: i64,
    /// How long it communicated; and without computing.
    pub communication_ns: i64,
    pub exposed_communication_ns: i64,
    /// How long something was copied; and without computing or communicating.
    pub copy_ns: i64,
    pub exposed_copy_ns: i64,
    /// How long nothing of that was done.
    pub idle_ns: i64,
    /// Idle while the program waited for its loader.
    pub loading_ns: i64,
    /// Idle before the next operator was planned: the program, and its interpreter.
    pub python_ns: i64,
    /// Idle while it was planned.
    pub planning_ns: i64,
    /// Idle between its planning and its submission, which may be another thread's.
    pub queue_ns: i64,
    /// Idle from the begin of its submission until it ran.
    pub launch_ns: i64,
}

impl StepStats {
    /// Its verdicts, and the share of the step that supports each.
    pub fn shares(&self) -> [(Verdict, i64); 4] {
        [
            (Verdict::DeviceBound, self.compute_ns),
            (Verdict::CommunicationBound, self.exposed_communication_ns),
            (Verdict::DataBound, self.loading_ns + self.exposed_copy_ns),
            (Verdict::HostBound, self.idle_ns - self.loading_ns),
        ]
    }

    /// How much of the step speaks for its verdict.
    pub fn share_ns(&self) -> i64 {
        let shares = self.shares().into_iter();
        let own = shares.filter(|(verdict, _)| Some(*verdict) == self.verdict);
        own.map(|(_, time)| time).sum()
    }

    /// Whether the verdict leads by less than two errors: one share becomes smaller, and another one larger.
    pub(super) fn is_a_close_one(&self) -> bool {
        let others = self.shares().into_iter();
        let others = others.filter(|(verdict, _)| Some(*verdict) != self.verdict);
        let second = others.map(|(_, time)| time).max().unwrap_or(0);
        self.verdict.is_some() && self.share_ns() - second < 2 * self.error_ns
    }

    pub(super) fn judge(&self) -> Option<Verdict> {
        let shares = self.shares();
        let most = shares
            .iter()
            .max_by_key(|(verdict, time)| (*time, Reverse(*verdict)));
        most.filter(|_| self.untimed <= self.tasks)
            .map(|(verdict, _)| *verdict)
    }
}

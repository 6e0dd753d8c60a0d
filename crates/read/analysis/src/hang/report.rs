//! The report: what moved last, who waits for what, and what never came. All times are nanoseconds, and points in time
//! are those of the host's clock.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::CallSite;

/// Whether a program hangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The program ended by itself.
    #[default]
    Ended,
    /// Something moved until the end of the recording.
    Moving,
    /// Nothing has moved for some time, and nothing shows that this cannot end.
    Quiet,
    /// It waits for something that will not happen.
    Hangs,
}

impl Verdict {
    /// The word for it in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Moving => "moving",
            Self::Quiet => "quiet",
            Self::Hangs => "hangs",
        }
    }
}

/// End of a chain of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RootKind {
    /// An event was not recorded after a wait for it had been submitted.
    Unrecorded,
    /// A notify or a value was not set.
    Unset,
    /// Streams or threads wait for each other.
    Cycle,
    /// A callback that no thread of the program runs.
    Callback,
    /// A thread or a process has ended that others wait for.
    Ended,
    /// A collective that a rank has not come to.
    Rank,
    /// A queue that is full behind a wait for something that was not submitted.
    QueueFull,
    /// The device, or the tasks of a stream, failed or were stopped.
    Failed,
    /// A task that the device has begun, or can begin, and that has not ended.
    Running,
    /// A thread that is in no call.
    Outside,
    /// The recording does not say.
    Unknown,
}

impl RootKind {
    /// The word for it in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unrecorded => "unrecorded",
            Self::Unset => "unset",
            Self::Cycle => "cycle",
            Self::Callback => "callback",
            Self::Ended => "ended",
            Self::Rank => "rank",
            Self::QueueFull => "queue-full",
            Self::Failed => "failed",
            Self::Running => "running",
            Self::Outside => "outside",
            Self::Unknown => "unknown",
        }
    }
}

/// Subject of a sentence in the report. Fields that do not apply are `null`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Subject {
    /// Number of the process in the recording, and its pid.
    pub process: u32,
    pub pid: u32,
    pub tid: Option<u32>,
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    /// Serial of the event in its process.
    pub event: Option<u32>,
    /// Number of the call, as in `calls.csv`.
    pub call: Option<u32>,
}

/// What never came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Culprit {
    pub kind: RootKind,
    /// Nothing that was submitted or is running can end the wait.
    pub certain: bool,
    #[serde(flatten)]
    pub subject: Subject,
    /// The rank that has not come.
    pub rank: Option<u64>,
    /// Return code of a call.
    pub code: Option<i64>,
    /// Since when it has been so, where that is known.
    pub since_ns: Option<i64>,
    pub what: String,
    /// What to do about it, or to look at.
    pub advice: String,
    /// Threads that wait for it, by tid.
    pub threads: Vec<u32>,
    /// Streams that wait for it.
    pub streams: Vec<i64>,
    /// A thread ended such waits before. It is in no call, and its state is not known.
    #[serde(skip)]
    pub(super) may_recur: bool,
}

/// One step from a thread or a stream to the target of its wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    #[serde(flatten)]
    pub subject: Subject,
    pub what: String,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenCall {
    pub name: String,
    /// Number of the call; `null` while the recording goes on.
    pub call: Option<u32>,
    /// How many calls it was made in.
    pub depth: u8,
    pub begin_ns: i64,
    /// How long it has lasted.
    pub length_ns: i64,
    pub device: Option<u32>,
    pub stream_id: Option<i64>,
    pub event: Option<u32>,
    /// Where in the program, if stacks were recorded.
    #[serde(flatten)]
    pub at: Option<CallSite>,
}

/// One of the last calls of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LastCall {
    pub name: String,
    pub call: u32,
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Its return code; `null` if it did not return.
    pub code: Option<i64>,
    pub stream_id: Option<i64>,
    pub event: Option<u32>,
    /// Where in the program, if stacks were recorded.
    #[serde(flatten)]
    pub at: Option<CallSite>,
}

/// A thread at the end of the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ThreadState {
    pub process: u32,
    pub pid: u32,
    /// `null` where none is known.
    pub rank: Option<u64>,
    pub tid: u32,
    /// Name of the thread.
    pub thread: String,
    /// Outermost first; empty for a thread outside AscendCL.
    pub open_calls: Vec<OpenCall>,
    /// It asks again and again whether something is done.
    pub polls: bool,
    /// Since when it does so; `null` if it does not.
    pub polls_since_ns: Option<i64>,
    /// It has ended, as the system says while the program runs on this host.
    pub ended: bool,
    /// The state in the kernel of a thread outside AscendCL, while the program runs on this host.
    pub kernel: Option<String>,
    /// The latest last.
    pub last_calls: Vec<LastCall>,
    /// From its call to what never came.
    pub chain: Vec<Link>,
    /// Place in [`Report::culprits`].
    pub culprit: Option<usize>,
}

/// A stream with tasks that are not known to be done, or that a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamState {
    pub process: u32,
    pub pid: u32,
    pub device: u32,
    pub stream_id: i64,
    /// Tasks from its head on.
    pub pending: u64,
    /// The task before which nothing is known to hold it up; empty where none is known.
    pub head: String,
    /// The target of the head's wait, or that it runs.
    pub waits_for: String,
    /// When the call that submitted the head began.
    pub submitted_ns: i64,
    /// Place in [`Report::culprits`].
    pub culprit: Option<usize>,
}

/// A communicator of a process, and the process's progress in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommState {
    pub process: u32,
    pub pid: u32,
    /// The process's number in it, and how many ranks there are.
    pub rank: u64,
    pub size: u64,
    /// The same text at all its ranks; nothing where it is not known.
    pub identity: Option<String>,
    /// The call that made it; without an end where that has not returned.
    pub begin_ns: i64,
    pub end_ns: Option<i64>,
    /// Collectives of all ranks that were submitted.
    pub count: u64,
    /// The last of them.
    pub last: Option<String>,
    /// The first one that has not ended and that a stream has reached, by number from 1.
    pub waits_in: Option<u64>,
}

/// Why a program hangs, or that it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    pub verdict: Verdict,
    /// The end of the known time.
    pub end_ns: i64,
    /// When something moved last.
    pub moved_ns: i64,
    /// From then to the end.
    pub quiet_ns: i64,
    /// The longest time before in which nothing moved.
    pub longest_pause_ns: i64,
    /// `null` where the recording has no end.
    pub exit_status: Option<i32>,
    /// The most likely first.
    pub culprits: Vec<Culprit>,
    pub threads: Vec<ThreadState>,
    pub streams: Vec<StreamState>,
    /// In the order in which they were made.
    pub communicators: Vec<CommState>,
    /// Missing data of the recording that the report would need.
    pub missing: Vec<String>,
}

impl Report {
    /// Whether threads of several processes are in it.
    pub fn has_several_processes(&self) -> bool {
        let first = self.threads.first().map(|it| it.process);
        self.threads.iter().any(|it| Some(it.process) != first)
    }
}

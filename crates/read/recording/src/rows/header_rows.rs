//! The leading chunks of a file, which are JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TimeRange;

/// How and where the trace was recorded: the first chunk of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionRow {
    /// Version of the tool that recorded.
    pub tool_version: String,
    /// The command that was run, word by word.
    pub command: Vec<String>,
    pub host: String,
    /// Architecture of the recording host, as in `std::env::consts::ARCH`.
    pub architecture: String,
    /// `events` or `off`.
    pub timing: String,
    /// The part of a stream's time that events may take, of 10,000; none without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// `installed` or `softacl`.
    pub runtime: String,
    /// How many tasks a stream takes before a submission waits for room, where the recorder knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Wall-clock time of `start_ns`, RFC 3339 with the host's offset.
    pub start_time: String,
    /// `CLOCK_MONOTONIC` at the start of the recording.
    pub start_ns: i64,
    /// `CLOCK_REALTIME` at the same moment, nanoseconds since 1970.
    pub start_realtime_ns: i64,
    /// `CLOCK_BOOTTIME` at the same moment; 0 where it is not known.
    pub start_boottime_ns: i64,
    /// What the kernel calls the time since the host was started; empty where it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub boot_id: String,
    /// Rules of `--only` and `--skip`, such as `only call=aclrt*`. Empty if all calls are recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Of a recorder that has attached to a running program: the program's pid. Earlier calls and tasks are not in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<u32>,
    /// The library came into that program while it ran. Calls through addresses of functions that the program had
    /// fetched before are not in the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub injected: bool,
    /// Of a recording that keeps only its last part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptRow>,
    /// Of a recording that goes on in further files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<PartRow>,
    /// Of a recorder that was started in the place of a lost one (`--respawn`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<ContinuedRow>,
    /// Of a recorder that ran inside another recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outer: Option<OuterRow>,
    /// Of several recordings in one file: their hosts. The first one's clock is that of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRow>,
}

/// The place of a file in a recording that has several (`--roll`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PartRow {
    /// From 1.
    pub number: u32,
}

/// The recorder before this one. The calls between its end and the begin of this recording are in no file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContinuedRow {
    /// Its trace file, or the first of them.
    pub file: String,
    /// Host time at which its end was noticed.
    pub lost_ns: i64,
    /// How it ended.
    pub reason: String,
}

/// The recording around this one, as it was when this one began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OuterRow {
    /// The pid of its recorder.
    pub pid: u32,
    /// Its trace file, or the file of it that was written then; none for standard output.
    pub trace: Option<String>,
}

/// The part of a recording that is in its file. Of the time before it, the file has only data that later calls depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeptRow {
    /// Host time at which it begins.
    pub since_ns: i64,
    /// Of a file that was written while the recording went on: what happened, and when. Its program had not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<SnapshotRow>,
}

/// Why a snapshot was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SnapshotRow {
    pub at_ns: i64,
    pub reason: String,
}

impl SessionRow {
    /// Why and when this file was written while its recording went on.
    pub fn snapshot(&self) -> Option<&SnapshotRow> {
        self.kept.as_ref()?.snapshot.as_ref()
    }

    /// The part of a file's time that its recording is about.
    pub(crate) fn kept_span(&self, span: TimeRange) -> TimeRange {
        let since = self.kept.as_ref().map_or(span.begin, |it| it.since_ns);
        TimeRange {
            begin: span.begin.max(since).min(span.end),
            end: span.end,
        }
    }
}

/// A host of a file that was made of several recordings, and how its times became those of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HostRow {
    pub host: String,
    /// `reference`, `collectives` or `wall-clock`.
    pub aligned_by: String,
    /// What was added to its times, in the middle between its first and its last collective.
    pub offset_ns: i64,
    /// How much more was added with each second.
    pub rate_ppb: i64,
    /// By how much a time from the first collective to the last may be off against the first host; none where only the
    /// time of day is known.
    pub bar_ns: Option<i64>,
    /// The same for all that was recorded.
    pub widest_bar_ns: Option<i64>,
    /// Collectives that it is aligned by.
    pub collectives: u64,
    /// The host that it has them with, if that is not the first one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub through: String,
    /// What else there is to say, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Its processes, by number.
    pub processes: Vec<u32>,
}

/// A function of the hook table, as the recording tool knew it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionRow {
    pub name: String,
    pub category: String,
    /// `ascend_trace_format::api::Role` by name.
    pub role: String,
    /// Kind of the task it submits, or empty.
    pub task: String,
    /// `no`, `yes` or `sometimes`.
    pub blocks: String,
    /// `ascend_trace_format::api::RetKind` by name.
    pub ret: String,
    pub stream: Option<u8>,
    pub event: Option<u8>,
    pub bytes: Option<u8>,
    /// Position of the argument that says what the task is: a string, or what a [`NameRow`](super::NameRow) names.
    pub label: Option<u8>,
    /// Positions of further arguments by what they are: `ascend_trace_format::api::ArgPart` by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, u8>,
    /// `ascend_trace_format::api::Fact`s by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    pub args: Vec<ArgRow>,
}

/// One argument of a [`FunctionRow`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgRow {
    pub name: String,
    /// `ascend_trace_format::api::ArgKind` by name.
    pub kind: String,
    pub out: bool,
    pub enumeration: String,
    /// It is a tensor, or a list of tensors, that the operator writes.
    #[serde(default, rename = "written", skip_serializing_if = "is_no")]
    pub is_written: bool,
}

/// The tables that make a trace readable without any header: the second chunk of the file, and
/// chunks of further functions and constants before the rows that need them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TablesRow {
    /// Number of the first of these functions.
    #[serde(skip_serializing_if = "is_zero")]
    pub first: u16,
    /// Indexed by the function number of a call, less `first`.
    pub functions: Vec<FunctionRow>,
    /// Enumeration name → value → constant. `aclError` holds the return codes.
    pub enumerations: BTreeMap<String, BTreeMap<i64, String>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u16) -> bool {
    *number == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_no(flag: &bool) -> bool {
    !*flag
}

impl TablesRow {
    /// Whether these tables and `further` ones leave no function out between them.
    pub(crate) fn reaches(&self, further: &Self) -> bool {
        let end = usize::from(self.first) + self.functions.len();
        self.first <= further.first && usize::from(further.first) <= end
    }

    /// Adds tables that follow these in the file. Functions with lost tables have no name.
    pub fn extend(&mut self, further: Self) {
        let first = usize::from(further.first.saturating_sub(self.first));
        if self.functions.len() < first {
            self.functions.resize(first, FunctionRow::default());
        }
        self.functions.splice(
            first..self.functions.len().min(first + further.functions.len()),
            further.functions,
        );
        for (name, constants) in further.enumerations {
            self.enumerations.entry(name).or_default().extend(constants);
        }
    }
}

//! Result of a recording, for the summary at its end.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use ascend_trace_format::api::{Untimed, is_answer};
use ascend_trace_recording::rows::{CallRow, Ending, Row};
use ascend_trace_ring::NestedRecorder;

use super::dictionary::Dictionary;
use super::storage::StorageResult;

/// Collected amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingCounts {
    /// Calls of the programs, and calls that libraries made inside those.
    pub calls: u64,
    pub nested: u64,
    /// Calls that returned an error, and the first one: its function and its return code.
    pub failed: u64,
    pub first_failure: Option<(String, String)>,
    pub tasks: u64,
    pub timed: u64,
    /// Tasks that ran while nothing was measured, by the user's wish.
    pub untimed_by_choice: u64,
    /// Calls that the filters left out.
    pub filtered: u64,
    pub lost_calls: u64,
    pub lost_times: u64,
    pub lost_others: u64,
    /// Calls that did not return, by process: those that were open at its end, and those that were left.
    pub endings: BTreeMap<u32, [u64; 2]>,
    /// Records that made no sense.
    pub unreadable: u64,
    /// Processes that made a call.
    pub callers: HashSet<u32>,
    /// The one that made the last call: asking the set for every call would cost more than the rest.
    pub last_caller: Option<u32>,
}

impl RecordingCounts {
    pub fn add(&mut self, row: &Row, process: u32) {
        match row {
            Row::Call(call) => {
                if call.depth == 0 {
                    self.calls += 1;
                } else {
                    self.nested += 1;
                }
                let [open, left] = match call.ending {
                    Ending::Returned => [0, 0],
                    Ending::Left => [0, 1],
                    Ending::Open => [1, 0],
                };
                if open + left > 0 {
                    let endings = self.endings.entry(process).or_default();
                    *endings = [endings[0] + open, endings[1] + left];
                }
                if self.last_caller != Some(process) {
                    self.last_caller = Some(process);
                    self.callers.insert(process);
                }
                if let Some(task) = call.task {
                    self.tasks += 1;
                    self.untimed_by_choice += u64::from(task.untimed == Untimed::Off.code());
                }
            }
            Row::TaskTime(time) => self.timed += u64::from(time.untimed == Untimed::Timed.code()),
            _ => {}
        }
    }
}

impl RecordingCounts {
    /// Notes a call that returned an error. The code of a wait that has reached its time limit is no error.
    #[cold]
    pub(super) fn note_failure(&mut self, call: &CallRow, dictionary: &Dictionary) {
        let is_first = self.failed == 0;
        self.failed += u64::from(dictionary.is_failure(call) && !is_answer(call.ret));
        if is_first && self.failed > 0 {
            self.first_failure = dictionary.failure(call);
        }
    }
}

/// How a recording went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingOutcome {
    /// None for standard output.
    pub path: Option<PathBuf>,
    /// All files that stay, if the recording has several.
    pub files: Vec<PathBuf>,
    /// Processes that the interposer was loaded into.
    pub attached: u32,
    /// Recorders inside this recording. The processes that they started are in their traces.
    pub nested: Vec<NestedRecorder>,
    /// Processes that recorded anything.
    pub processes: usize,
    /// Processes that outlived the program; the recording has ended for them.
    pub still_running: usize,
    /// The window of the recording has begun: in a process, by the clock, or by a request.
    pub has_begun: bool,
    /// When the recording ended, if that was before the program.
    pub stopped_ns: Option<i64>,
    /// What became of the file; `None` if the thread that writes it failed.
    pub stored: Option<StorageResult>,
    pub counts: RecordingCounts,
    /// Report of an engine that patches functions, if one was used.
    pub engine: Option<String>,
    /// Messages about the hardware log, if it was requested.
    pub log: Vec<String>,
}

impl RecordingOutcome {
    /// Of a recording with a failed collecting thread: its content is not known.
    pub fn failed(path: Option<PathBuf>) -> Self {
        Self {
            path,
            files: Vec::new(),
            attached: 0,
            nested: Vec::new(),
            processes: 0,
            still_running: 0,
            has_begun: true,
            stopped_ns: None,
            stored: None,
            counts: RecordingCounts::default(),
            engine: None,
            log: Vec::new(),
        }
    }
}

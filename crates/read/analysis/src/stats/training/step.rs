//! The parts of a training step's time, and its bounds.

use std::cmp::Reverse;

use schemars::JsonSchema;

use crate::columns::declare::*;
use crate::steps::LoopId;

/// What most of a step's time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
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

table_row! {
/// One step of one process. Its length is the sum of `compute_ns`, `exposed_communication_ns`, `exposed_copy_ns` and
/// `idle_ns`; and `idle_ns` that of the five after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process").exported("process");
    pub loop_number: u32 => column("loop_number", Id, |it: &Self| it.loop_number.into(), "number of the loop in the process, from 0; in `stats` it is 0");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").exported("pid");
    pub rank: Option<u64> => column("rank", Unsigned, |it: &Self| it.rank.into(), "its rank, or `null`").exported("rank");
    pub tid: u32 => column("tid", Id, |it: &Self| it.tid.into(), "the thread that has the steps").exported("tid");
    pub name: String => column("name", Word, |it: &Self| (&it.name).into(), "name of the step: `#1`, `#2` for steps without a name").shown("step", 0).exported("name");
    pub begin_ns: i64 => column("begin_ns", Moment, |it: &Self| it.begin_ns.into(), "when it began").text("begin").exported("begin_ns");
    pub length_ns: i64 => column("length_ns", Duration, |it: &Self| it.length_ns.into(), "its duration").shown("duration", 0).exported("length_ns");
    pub compute_ns: i64 => column("compute_ns", Duration, |it: &Self| it.compute_ns.into(), "time in which the device computed").shown("computing", 0).exported("compute_ns");
    => column("", Duration, |it: &Self| it.communication_ns.into(), "time in which it communicated").text("communication");
    pub exposed_communication_ns: i64 => column("exposed_communication_ns", Duration, |it: &Self| it.exposed_communication_ns.into(), "communication without computing").shown("not overlapped", 100).exported("exposed_communication_ns");
    pub exposed_copy_ns: i64 => column("exposed_copy_ns", Duration, |it: &Self| it.exposed_copy_ns.into(), "copies without computing or communication").shown("copies not overlapped", 120).exported("exposed_copy_ns");
    pub idle_ns: i64 => column("idle_ns", Duration, |it: &Self| it.idle_ns.into(), "the rest of `length_ns`, with the next five as its parts").text("free").exported("idle_ns");
    pub loading_ns: i64 => column("loading_ns", Duration, |it: &Self| it.loading_ns.into(), "idle while the program waited for its loader").shown("loading", 0).exported("loading_ns");
    pub python_ns: i64 => column("python_ns", Duration, |it: &Self| it.python_ns.into(), "idle before the next operator was planned").shown(HOST, 70).exported("python_ns");
    pub planning_ns: i64 => column("planning_ns", Duration, |it: &Self| it.planning_ns.into(), "idle while it was planned").shown("planning", 130).exported("planning_ns");
    pub queue_ns: i64 => column("queue_ns", Duration, |it: &Self| it.queue_ns.into(), "idle until its submission, perhaps by another thread").shown("queue", 140).exported("queue_ns");
    pub launch_ns: i64 => column("launch_ns", Duration, |it: &Self| it.launch_ns.into(), "idle from the begin of its submission until it ran").shown("launch", 110).exported("launch_ns");
    pub communication_ns: i64 => column("communication_ns", Duration, |it: &Self| it.communication_ns.into(), "all communication, also while the device computed").exported("communication_ns");
    pub copy_ns: i64 => column("copy_ns", Duration, |it: &Self| it.copy_ns.into(), "all copies").exported("copy_ns");
    pub tasks: u64 => column("tasks", Count, |it: &Self| it.tasks.into(), "tasks that ran in it, as far as it is known when").view("tasks", 150).exported("tasks");
    pub untimed: u64 => column("untimed", Count, |it: &Self| it.untimed.into(), "tasks submitted in it that have no time: they take the usual time of such tasks, where it is known").exported("untimed");
    pub verdict: Option<Verdict> => column("verdict", Word, |it: &Self| it.verdict.map(Verdict::name).into(), "`device-bound`, `communication-bound`, `data-bound`, `host-bound`; `null` if most tasks have no time").exported("verdict");
    pub is_close: bool => column("is_close", Flag, |it: &Self| it.is_close.into(), "whether another verdict is possible within the error");
    pub error_ns: i64 => column("error_ns", Duration, |it: &Self| it.error_ns.into(), "how far the times of devices may be off, the errors of all tasks together").text("±").if_any(Self::has_large_error).exported("error_ns");
    => column("", Share, |it: &Self| it.share(), "share of the step that supports the verdict").shown("by %", 0);
    => column("", Word, |it: &Self| it.verdict_words().into(), "the verdict, and whether it is close").shown("bound by", 0);
    /// The word for `python_ns` in texts: [`ascend_trace_recording::Process::host_word`].
    pub host_word: &'static str;
}
}

/// The title of the column with the time of the program. Tables write [`StepStats::host_word`].
pub const HOST: &str = "program";

impl StepStats {
    fn share(&self) -> Value<'static> {
        let known = self
            .verdict
            .map(|_| Value::share(self.share_ns(), self.length_ns));
        known.unwrap_or(Value::Unknown)
    }

    /// Whether the error is seen in the time of the device's work, which may be a small part of the step.
    const fn has_large_error(&self) -> bool {
        let worked = self.compute_ns + self.exposed_communication_ns + self.exposed_copy_ns;
        self.error_ns * 20 > worked
    }

    fn verdict_words(&self) -> String {
        let word = self.verdict.map_or("too few times", Verdict::name);
        match self.is_close {
            true => format!("{word}, close"),
            false => word.to_owned(),
        }
    }

    pub(crate) const fn loop_id(&self) -> LoopId {
        LoopId {
            process: self.process,
            number: self.loop_number,
        }
    }

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

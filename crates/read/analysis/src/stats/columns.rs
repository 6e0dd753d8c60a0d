//! The columns of operations, their parts, graphs and functions.

use super::{Durations, TaskDurations};
use crate::columns::declare::*;

/// The columns for the durations in the field `time`.
#[rustfmt::skip]
macro_rules! times {
    () => {
        [
            column("time.count", Count, |it: &Self| it.time.count.into(), "how many there are").json::<u64>(),
            column("time.total_ns", Duration, |it: &Self| it.time.total_ns.into(), "their sum").json::<i64>().shown("total", 0),
            column("time.mean_ns", Duration, |it: &Self| it.time.mean_ns.into(), "the mean, rounded down").json::<i64>().shown("mean", 60),
            column("time.p50_ns", Duration, |it: &Self| it.time.p50_ns.into(), "half of them take no longer").json::<i64>().shown("p50", 100),
            column("time.p90_ns", Duration, |it: &Self| it.time.p90_ns.into(), "90 % of them take no longer").json::<i64>().text("p90"),
            column("time.p99_ns", Duration, |it: &Self| it.time.p99_ns.into(), "99 % of them take no longer").json::<i64>().shown("p99", 70),
            column("time.max_ns", Duration, |it: &Self| it.time.max_ns.into(), "the longest").json::<i64>().shown("max", 0),
        ]
    };
}

/// The same for tasks, all of which the field `$tasks` counts.
#[rustfmt::skip]
macro_rules! task_times {
    ($tasks:ident) => {
        [
            column("time.count", Count, |it: &Self| it.time.count.into(), "tasks that have a time").json::<u64>().text("timed").if_any(|it: &Self| it.time.count < it.$tasks),
            column("time.unclear", Count, |it: &Self| it.time.unclear.into(), "tasks among these with an error of more than half of their duration").json::<u64>().text("unclear").if_any(|it| it.time.unclear > 0),
            column("time.total_ns", Duration, |it: &Self| it.time.total_ns.into(), "the sum of the measured durations").json::<i64>(),
            column("", Duration, |it: &Self| it.time.total(), "the estimate and its error").shown("total", 0),
            column("time.estimated_total_ns", Duration, |it: &Self| it.time.estimated_total_ns.into(), "how long all tasks took, those without a time included; `null` where nothing is known").json::<Option<i64>>(),
            column("time.total_error_ns", Duration, |it: &Self| it.time.total_error_ns.into(), "how far the estimate may be off").json::<Option<i64>>(),
            column("time.unestimated", Count, |it: &Self| it.time.unestimated.into(), "tasks that are not in the estimate, because nothing is known of them").json::<u64>(),
            column("time.mean_ns", Duration, |it: &Self| it.time.mean_ns.into(), "the estimate for one task, or `null`").json::<Option<i64>>().shown("mean", 60),
            column("time.p50_ns", Duration, |it: &Self| it.time.p50_ns.into(), "half of the tasks that are not `unclear` take no longer; `null` without such tasks").json::<Option<i64>>().shown("p50", 100),
            column("time.p90_ns", Duration, |it: &Self| it.time.p90_ns.into(), "the same for 90 % of them").json::<Option<i64>>().text("p90"),
            column("time.p99_ns", Duration, |it: &Self| it.time.p99_ns.into(), "the same for 99 % of them").json::<Option<i64>>().shown("p99", 70),
            column("time.max_ns", Duration, |it: &Self| it.time.max_ns.into(), "the longest of them").json::<Option<i64>>().shown("max", 0),
        ]
    };
}

impl TaskDurations {
    fn total(&self) -> Value<'static> {
        let known = self.estimated_total_ns.zip(self.total_error_ns);
        known.map_or(Value::Unknown, |it| Value::estimate(it, self.unestimated))
    }
}

pub(super) use times;

table_row! {
/// The tasks of one name and kind.
#[derive(Clone, Debug, PartialEq)]
pub struct OperationStats {
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the tasks; `graph` and its number for replays").shown("operation", 0);
    pub kind: &'static str => column("kind", Word, |it: &Self| it.kind.into(), "kind of task, as in `tasks.csv`").shown("kind", 100);
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "all tasks of this name").shown("count", 0);
    ..task_times!(count);
    pub share: Option<f64> => column("share", Share, |it: &Self| it.share.into(), "share of the estimated time of all operations, 0 to 1; `null` for records and waits, and where no time is known").shown("share %", 70);
    pub time: TaskDurations;
}
}

table_row! {
/// A kernel of an operator, or a node of a graph that is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct PartStats {
    pub operation: String => column("operation", Text, |it: &Self| (&it.operation).into(), "the operation, as in `operations[]`").text("operation");
    pub node: Option<u32> => column("node", Id, |it: &Self| it.node.into(), "number of the node in its graph, or `null`").text("node");
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the kernel or of the node").text("part");
    pub kind: &'static str => column("kind", Word, |it: &Self| it.kind.into(), "`kernel` or `communication`").text("kind");
    => column("", Count, |it: &Self| it.time.count.into(), "how many there are").text("count");
    ..times!();
    pub time: Durations;
}
}

table_row! {
/// The calls of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiStats {
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "name of the function").shown("function", 0);
    pub category: String => column("category", Word, |it: &Self| (&it.category).into(), "its part of the interface");
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "all calls").shown("count", 0);
    pub errors: u64 => column("errors", Count, |it: &Self| it.errors.into(), "calls that returned an error code").shown("errors", 0);
    pub nested: u64 => column("nested", Count, |it: &Self| it.nested.into(), "calls that a library of the runtime made inside another call; the time of the outer call contains their time");
    ..times!();
    pub time: Durations;
}
}

table_row! {
/// One graph.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphStats {
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").text("process");
    pub pid: u32 => column("pid", Id, |it: &Self| it.pid.into(), "its process id").text("pid");
    pub graph: u32 => column("graph", Id, |it: &Self| it.graph.into(), "counts the graphs of the process from 1").text("graph");
    pub making: &'static str => column("making", Word, |it: &Self| it.making.into(), "`captured`, or `built` by hand");
    pub outcome: &'static str => column("outcome", Word, |it: &Self| it.outcome.into(), "`ready`, `failed`, or `open`: not ended");
    pub code: Option<i64> => column("code", Id, |it: &Self| it.code.into(), "return code of the end of its capture, if that failed");
    => column("", Word, |it: &Self| it.outcome_with_code().into(), "the outcome and the code").text("outcome");
    pub reason_call: Option<String> => column("reason_call", Text, |it: &Self| it.reason_call.as_ref().into(), "the function that made the capture fail");
    pub refused: u64 => column("refused", Count, |it: &Self| it.refused.into(), "calls that its capture refused");
    pub streams: Vec<i64> => column("streams", Nested, |it: &Self| Value::list(&it.streams, |it| (*it).into()), "numbers of its streams in the order in which they joined");
    => column("", Word, |it: &Self| it.stream_words().into(), "the same").text("streams");
    pub nodes: u64 => column("nodes", Count, |it: &Self| it.nodes.into(), "how many nodes it has").text("nodes");
    pub replays: u64 => column("replays", Count, |it: &Self| it.replays.into(), "all replays").text("replays");
    ..task_times!(replays);
    pub reason: Option<String> => column("reason", Text, |it: &Self| it.reason.as_ref().into(), "why its capture failed").text("reason");
    pub time: TaskDurations;
}
}

impl GraphStats {
    fn outcome_with_code(&self) -> String {
        match self.code {
            Some(code) => format!("{} {code}", self.outcome),
            None => self.outcome.to_owned(),
        }
    }

    fn stream_words(&self) -> String {
        let streams = self.streams.iter().map(i64::to_string);
        streams.collect::<Vec<_>>().join(" ")
    }
}

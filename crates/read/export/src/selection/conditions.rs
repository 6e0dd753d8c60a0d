//! `--only KEY=VALUE[,VALUE]...`: what calls and tasks have to be like.

use ascend_trace_analysis::graphs::{single_task_label, task_label};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Call, StreamId, Task, Trace};

use super::pattern::NamePattern;

/// Conditions on calls and tasks. An empty list says nothing; of the values in a list any one will
/// do; all lists have to agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlyConditions {
    pids: Vec<u32>,
    ranks: Vec<String>,
    devices: Vec<u32>,
    streams: Vec<i64>,
    /// Of tasks.
    kinds: Vec<TaskKind>,
    names: Vec<NamePattern>,
    /// Of calls.
    calls: Vec<NamePattern>,
    threads: Vec<u32>,
    processes: Vec<u32>,
}

/// Fault of a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OnlyError {
    #[error(
        "a condition is KEY=VALUE[,VALUE]..., with a key of: device, stream, kind, name, call, tid, \
         process, pid, rank"
    )]
    Form,
    #[error("`{0}` is not a number")]
    Number(String),
    #[error("`{text}` is not a kind of task: {known}")]
    Kind { text: String, known: String },
}

impl OnlyConditions {
    /// Adds a condition such as `stream=1,2` or `name=*MatMul*`.
    pub fn add(&mut self, condition: &str) -> Result<(), OnlyError> {
        let (key, values) = condition.split_once('=').ok_or(OnlyError::Form)?;
        let values = values.split(',').map(str::trim);
        for value in values {
            match key.trim() {
                "pid" => self.pids.push(number(value)?),
                "rank" => self.ranks.push(value.to_owned()),
                "device" => self.devices.push(number(value)?),
                "stream" => self.streams.push(number(value)?),
                "kind" => self.kinds.push(kind(value)?),
                "name" => self.names.push(NamePattern::new(value)),
                "call" => self.calls.push(NamePattern::new(value)),
                "tid" => self.threads.push(number(value)?),
                "process" => self.processes.push(number(value)?),
                _ => return Err(OnlyError::Form),
            }
        }
        Ok(())
    }

    /// Whether there is a condition that only tasks can meet.
    pub(super) fn names_tasks(&self) -> bool {
        !self.kinds.is_empty() || !self.names.is_empty()
    }

    /// Whether something of a call, on this stream, is where it has to be.
    pub(super) fn place(&self, trace: &Trace, call: &Call, stream: Option<StreamId>) -> bool {
        let process = trace.process(trace.thread(call.thread).process);
        let stream = stream.map(|id| trace.stream(id));
        let device = || match stream {
            Some(stream) => Some(stream.device),
            None => call.device.map(u32::from),
        };
        any(&self.processes, |serial| *serial == process.serial)
            && any(&self.pids, |pid| *pid == process.pid)
            && any(&self.ranks, |rank| *rank == process.rank)
            && any(&self.devices, |it| Some(*it) == device())
            && any(&self.streams, |it| {
                stream.is_some_and(|stream| stream.number() == *it)
            })
    }

    pub(super) fn task(&self, trace: &Trace, task: &Task) -> bool {
        any(&self.kinds, |kind| *kind == task.kind)
            && any(&self.names, |name| {
                name.matches(&task_label(trace, task))
                    || name.matches(&single_task_label(trace, task))
            })
    }

    pub(super) fn call(&self, trace: &Trace, call: &Call) -> bool {
        any(&self.threads, |tid| *tid == trace.thread(call.thread).tid)
            && any(&self.calls, |name| {
                name.matches(&trace.function(call.function).name)
            })
    }
}

fn any<T>(list: &[T], meets: impl FnMut(&T) -> bool) -> bool {
    list.is_empty() || list.iter().any(meets)
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, OnlyError> {
    text.parse().map_err(|_| OnlyError::Number(text.to_owned()))
}

fn kind(text: &str) -> Result<TaskKind, OnlyError> {
    TaskKind::from_name(text).ok_or_else(|| {
        let known: Vec<_> = TaskKind::ALL.iter().map(|kind| kind.name()).collect();
        OnlyError::Kind {
            text: text.to_owned(),
            known: known.join(", "),
        }
    })
}

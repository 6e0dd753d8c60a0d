//! `communication.json`: each collective with its times, by step.

use std::collections::BTreeMap;

use ascend_trace_analysis::collectives::{Collective, Peer};
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::{ProcessId, Task, TaskTime, Trace};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// A collective that ran.
struct RunCollective {
    /// Process and handle of its communicator.
    comm: (ProcessId, u64),
    begin: i64,
    length: i64,
    name: String,
    is_between_two: bool,
    step: Option<u64>,
}

#[derive(Default)]
pub(super) struct CommunicationFile {
    base: i64,
    entries: Vec<RunCollective>,
}

/// The collectives of a step.
#[derive(Default)]
struct StepCollectives {
    collective: Map<String, Value>,
    p2p: Map<String, Value>,
}

impl CommunicationFile {
    pub(super) fn new(base: i64) -> Self {
        let entries = Vec::new();
        Self { base, entries }
    }

    pub(super) fn take(&mut self, trace: &Trace, task: &Task, time: TaskTime, step: Option<u64>) {
        let call = trace.call(task.call);
        let Some(collective) = Collective::of(trace, call) else {
            return;
        };
        self.entries.push(RunCollective {
            comm: (trace.thread(call.thread).process, collective.comm),
            begin: time.begin,
            length: time.end - time.begin,
            name: task_label(trace, task).into_owned(),
            is_between_two: matches!(collective.peer, Some((Peer::Source | Peer::Destination, _))),
            step,
        });
    }

    /// The document. Communicators are numbered by their first use, and the collectives of each in their order: so the
    /// names are the same on all ranks.
    pub(super) fn finish(mut self) -> Value {
        self.entries
            .sort_by(|a, b| (a.begin, a.comm, &a.name).cmp(&(b.begin, b.comm, &b.name)));
        let mut groups: FxHashMap<(ProcessId, u64), (usize, u64)> = FxHashMap::default();
        let mut steps: BTreeMap<Option<u64>, StepCollectives> = BTreeMap::new();
        for entry in self.entries {
            let known = groups.len();
            let (group, count) = groups.entry(entry.comm).or_insert((known, 0));
            let name = format!("{}_{count}@group_{group}", entry.name);
            *count += 1;
            // How much of it was waiting for others, and which links it went over, is not known here.
            let times = json!({
                "Start Timestamp(us)": (entry.begin - self.base) as f64 / 1e3,
                "Elapse Time(ms)": entry.length as f64 / 1e6,
            });
            let members =
                json!({"Communication Time Info": times, "Communication Bandwidth Info": {}});
            let step = steps.entry(entry.step).or_default();
            match entry.is_between_two {
                true => step.p2p.insert(name, members),
                false => step.collective.insert(name, members),
            };
        }
        let steps = steps.into_iter().map(|(number, step)| {
            let name = number.map_or_else(|| "step".to_owned(), |it| format!("step{it}"));
            let members = json!({"collective": step.collective, "p2p": step.p2p});
            (name, members)
        });
        Value::Object(steps.collect())
    }
}

//! What a graph looks like: for people, and for tests that compare two runs.
//!
//! One object per node, in the order of submission. Everything but the ids follows from the calls
//! alone, so that two runs of a program can be compared.

use std::fmt::Write as _;
use std::sync::Arc;

use super::body::{Action, Node};
use super::{Graph, State};
use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, fault};
use crate::engine::task::Work;
use crate::ffi::complain;
use crate::sync::lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Summary,
    Verbose,
}

/// The kind of a node.
pub(super) fn kind(node: &Node) -> &'static str {
    match &node.action {
        Action::Record { .. } => "EVENT_RECORD",
        Action::Wait { .. } => "EVENT_WAIT",
        Action::Reset { .. } | Action::FlagReset(_) => "EVENT_RESET",
        Action::ExternalRecord(_) | Action::FlagRecord(_) => "EXTERNAL_RECORD",
        Action::ExternalWait(_) | Action::FlagWait(_) => "EXTERNAL_WAIT",
        Action::Task(work) => task_kind(&lock(work)),
    }
}

const fn task_kind(work: &Work) -> &'static str {
    match work {
        Work::Transfer { .. } => "MEMCPY_ASYNC",
        Work::Fill { .. } => "MEMSET_ASYNC",
        Work::Reduce(_) => "REDUCE_ASYNC",
        Work::Kernel(_) | Work::Operator(_) => "KERNEL",
        Work::Record(_) => "EVENT_RECORD",
        Work::Wait { .. } => "EVENT_WAIT",
        Work::Change { .. } => "NOTIFY_RECORD",
        Work::Pass(_) => "NOTIFY_WAIT",
        Work::WriteValue { .. } => "VALUE_WRITE",
        Work::WaitValue(_) => "VALUE_WAIT",
        Work::HostFunction(_) => "HOST_FUNC",
        Work::Report(_) => "CALLBACK",
        Work::Free { .. } | Work::Patch(_) | Work::Graph(_) | Work::Marker => "NOP",
    }
}

/// A JSON string without its quotes.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => safe.extend(['\\', c]),
            c if u32::from(c) < 0x20 => {
                let _ = write!(safe, "\\u{:04x}", u32::from(c));
            }
            c => safe.push(c),
        }
    }
    safe
}

fn describe(graph: &Graph, state: &State, index: usize, detail: Detail) -> String {
    let node: &Arc<Node> = &state.nodes[index];
    let kind = kind(node);
    let work = node.work();
    let name = work.as_deref().and_then(Work::name);
    let mut text = format!(
        "{{\"name\":\"{}\",\"ph\":\"X\",\"pid\":\"model {}\",\"tid\":\"stream {}\",\"ts\":{index},\
         \"dur\":1,\"args\":{{\"model_id\":{},\"stream_id\":{},\"lane\":{},\"task_id\":{},\
         \"node\":{index},\"type\":\"{kind}\"",
        escaped(name.unwrap_or(kind)),
        graph.id,
        state.lanes[node.lane].stream.id,
        graph.id,
        state.lanes[node.lane].stream.id,
        node.lane,
        node.seq,
    );
    // Writing to a String cannot fail.
    if let Action::Wait { record, .. } = &node.action {
        let _ = write!(text, ",\"waits_for\":{record}");
    }
    if node.is_disabled() {
        text.push_str(",\"disabled\":true");
    }
    if detail == Detail::Verbose {
        if let Some(event) = node.action.event() {
            let _ = write!(
                text,
                ",\"event\":{},\"flags\":{}",
                event.handle, event.flags
            );
        }
        if let Some(group) = node.group.get() {
            let _ = write!(text, ",\"task_group\":{group}");
        }
    }
    text.push_str("}}");
    text
}

impl Graph {
    fn json(&self, detail: Detail) -> String {
        let state = lock(&self.state);
        let nodes: Vec<String> = (0..state.nodes.len())
            .map(|index| describe(self, &state, index, detail))
            .collect();
        format!("[\n{}\n]\n", nodes.join(",\n"))
    }
}

/// Writes the graph to a file.
pub(crate) fn write(graph: usize, path: Option<String>, flags: u32) -> Outcome {
    let graph = super::of_context(graph)?;
    let Some(path) = path else {
        return fault(INVALID_PARAM, "the path is NULL");
    };
    let detail = match flags {
        0 => Detail::Summary,
        1 => Detail::Verbose,
        _ => return fault(RT_PARAM_INVALID, "this flag does not exist"),
    };
    match std::fs::write(path, graph.json(detail)) {
        Ok(()) => Ok(()),
        Err(_) => fault(RT_PARAM_INVALID, "the file cannot be written"),
    }
}

/// Writes the graph to the log, which is there on demand only.
pub(crate) fn print(graph: usize) -> Outcome {
    let graph = super::of_context(graph)?;
    if crate::runtime::get().options.verbose {
        complain(&graph.json(Detail::Verbose));
    }
    Ok(())
}

//! Prints a graph: for people, and for tests that compare two runs.
//!
//! Chrome trace events, one per task, stream by stream: a place on the time axis represents a task's
//! place in its stream. Everything but the ids depends only on the calls, so that two runs of a program
//! can be compared.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::body::{Node, NodeAction};
use super::lifetime;
use super::state::{Graph, GraphState};
use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, fault};
use crate::engine::task::Work;
use crate::ffi::complain;
use crate::process;
use crate::sync::lock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DebugDetail {
    Summary,
    Verbose,
}

/// The kind of a node.
pub(super) fn kind(node: &Node) -> &'static str {
    match &node.action {
        NodeAction::Record { .. } => "EVENT_RECORD",
        NodeAction::Wait { .. } => "EVENT_WAIT",
        NodeAction::Reset { .. } | NodeAction::FlagReset(_) => "EVENT_RESET",
        NodeAction::ExternalRecord(_) | NodeAction::FlagRecord(_) => "EXTERNAL_RECORD",
        NodeAction::ExternalWait(_) | NodeAction::FlagWait(_) => "EXTERNAL_WAIT",
        NodeAction::Label => "LABEL_SET",
        NodeAction::Switch(_) => "LABEL_SWITCH_BY_INDEX",
        NodeAction::Task(work) => task_kind(&lock(work)),
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
        Work::Collective(_) => "COLLECTIVE",
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

/// Which of the graph's records each node is about: the number that pairs a record with its waits.
fn pairs(state: &GraphState) -> HashMap<usize, usize> {
    let is_record = |node: &Arc<Node>| matches!(node.action, NodeAction::Record { .. });
    let records = state.nodes.iter().enumerate();
    let records = records.filter(|(_, node)| is_record(node));
    records
        .enumerate()
        .map(|(number, (node, _))| (node, number))
        .collect()
}

fn describe(
    graph: &Graph,
    state: &GraphState,
    pairs: &HashMap<usize, usize>,
    place: (usize, usize),
    detail: DebugDetail,
) -> String {
    let (index, position) = place;
    let node: &Arc<Node> = &state.nodes[index];
    let kind = kind(node);
    let work = node.work();
    let mut name = escaped(work.as_deref().and_then(Work::name).unwrap_or(kind));
    let record = match &node.action {
        NodeAction::Record { .. } => Some(index),
        NodeAction::Wait { record, .. } | NodeAction::Reset { record, .. } => Some(*record),
        _ => None,
    };
    // Writing to a String cannot fail.
    if let Some(number) = record.and_then(|record| pairs.get(&record)) {
        let _ = write!(name, "_{number}");
    }
    let stream = state.lanes[node.lane].stream.id;
    let mut text = format!(
        "{{\"name\":\"{name}\",\"pid\":\"{} aclGraph\",\"tid\":\"stream{stream}\",\"ts\":{},\
         \"dur\":14.5,\"ph\":\"X\",\"args\":{{\"Model Id\":{},\"Stream Id\":{stream},\"Task Id\":{},\
         \"Task Type\":\"{kind}\"",
        std::process::id(),
        position * 15,
        graph.id,
        node.seq,
    );
    if node.is_disabled() {
        text.push_str(",\"Disabled\":true");
    }
    if detail == DebugDetail::Verbose {
        if let Some(event) = node.action.event() {
            let (handle, flags) = (event.handle, event.flags);
            let _ = write!(text, ",\"Event\":{handle},\"Event Flags\":{flags}");
        }
        if let Some(group) = node.group.get() {
            let _ = write!(text, ",\"Task Group\":{group}");
        }
    }
    text.push_str("}}");
    text
}

impl Graph {
    fn json(&self, detail: DebugDetail) -> String {
        let state = lock(&self.state);
        let pairs = pairs(&state);
        let nodes = state
            .listed()
            .flat_map(|lane| lane.nodes.iter().enumerate());
        let lines: Vec<String> = nodes
            .map(|(position, &index)| describe(self, &state, &pairs, (index, position), detail))
            .collect();
        match lines.is_empty() {
            true => "[\n]".to_owned(),
            false => format!("[\n{}\n]", lines.join(",\n")),
        }
    }
}

/// Writes the graph to a file.
pub(crate) fn write(graph: usize, path: Option<String>, flags: u32) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    let Some(path) = path else {
        return fault(INVALID_PARAM, "the path is NULL");
    };
    let detail = match flags {
        0 => DebugDetail::Summary,
        _ => DebugDetail::Verbose,
    };
    match std::fs::write(path, graph.json(detail)) {
        Ok(()) => Ok(()),
        Err(_) => fault(RT_PARAM_INVALID, "the file cannot be written"),
    }
}

/// Writes the graph to the log, which exists only on demand.
pub(crate) fn print(graph: usize) -> Outcome {
    let graph = lifetime::of_context(graph)?;
    if process::options().verbose {
        complain(&graph.json(DebugDetail::Verbose));
    }
    Ok(())
}

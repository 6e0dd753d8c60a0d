//! Graphs: the captures on a thread, and their details.

use ascend_trace_analysis::graphs::{Explanation, Graph, Outcome};
use ascend_trace_recording::{CallId, ThreadId, TimeRange, Trace};
use ratatui::text::{Line, Span};

use crate::app::App;
use crate::item::CallOrTask;
use crate::nodes::ReplayNode;
use crate::text::{duration, fit};

use super::facts::{SpanGroup, flow, since_start, span};
use super::{Scene, describe};

/// Nodes that are listed.
const LISTED: usize = 200;

/// A capture on the thread that began it.
#[derive(Clone, Debug)]
pub(super) struct CaptureRange {
    pub(super) span: TimeRange,
    pub(super) failed: bool,
    /// Its text, the longest form first.
    pub(super) texts: Vec<String>,
}

/// The captures that a thread began, as far as they have ended.
pub(super) fn captures(app: &App, trace: &Trace, thread: ThreadId) -> Vec<CaptureRange> {
    let own = |graph: &&Graph| {
        let begin = graph.begin.map(|call| trace.call(call).thread);
        begin == Some(thread)
    };
    let captures = app
        .document
        .graphs
        .all()
        .iter()
        .filter(own)
        .filter_map(|graph| {
            let verb = graph.making.verb();
            let name = format!("{verb} graph {}", graph.serial);
            let texts = match graph.outcome {
                Outcome::Failed(code) => vec![
                    format!("{name} FAILED {code}"),
                    format!("graph {} FAILED", graph.serial),
                    "FAILED".to_owned(),
                ],
                Outcome::Open | Outcome::Ready => vec![
                    format!("{name}: {} nodes", graph.nodes.len()),
                    name,
                    verb.to_owned(),
                ],
            };
            Some(CaptureRange {
                span: graph.making_span(trace)?,
                failed: matches!(graph.outcome, Outcome::Failed(_)),
                texts,
            })
        });
    captures.collect()
}

/// The relation of a call to a graph.
pub(super) fn of(scene: &Scene<'_>, call: CallId, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let graphs = &scene.app.document.graphs;
    let Some((index, number)) = graphs.of_call(trace, call) else {
        return Vec::new();
    };
    let graph = &graphs.all()[index];
    let refusals = graphs.refusals(trace, graph);
    let mut lines = Vec::new();
    if let Some(refusal) = refusals.iter().find(|refusal| refusal.call == call) {
        lines.extend(sentence(scene, "refused: ", &refusal.text, room));
    }
    lines.extend(flow(summary(scene, graph, call, number), room));
    if let Some(why) = graphs.failure(trace, graph) {
        lines.extend(failure(scene, &why, room));
    }
    lines.extend(flow(nodes(scene, graph, number), room));
    lines
}

/// A node in a replay, and all others of its graph.
pub(super) fn of_node(scene: &Scene<'_>, node: ReplayNode, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let task = trace.task(node.task);
    let item = CallOrTask::Task(node.task);
    let stream = describe::stream(trace, task.stream);
    let replay = CallOrTask::Task(node.replay).label(trace).into_owned();
    let mut lines = vec![Line::from(vec![
        Span::styled("■ ", theme.shape(item.category(trace), item.look(trace))),
        Span::styled(item.name(trace).to_owned(), theme.strong()),
        Span::raw(format!(
            "  {} node {} of {replay}, captured on {stream}",
            task.kind.name(),
            node.number
        )),
    ])];
    let captured = since_start(scene, trace.call(task.call).begin);
    let logged = scene.world.trace.parts(node.replay);
    let time = match logged.iter().any(|part| part.node == Some(node.number)) {
        true => Span::raw(format!(
            "{}  {} from the hardware log",
            duration(node.end.saturating_sub(node.begin)),
            span(scene, node.begin, node.end)
        )),
        false if logged.is_empty() => Span::styled(
            "a replay is one task: its nodes have no times, and are drawn in their order",
            theme.dim(),
        ),
        false => Span::styled("it is not in the hardware log", theme.dim()),
    };
    let times = vec![
        vec![time],
        vec![Span::raw(format!("captured {captured}"))],
        vec![
            Span::styled("[ after ", theme.accent()),
            Span::raw("its replay, its capture"),
        ],
    ];
    lines.extend(flow(times, room));
    let arguments = describe::arguments(trace, trace.call(task.call)).into_iter();
    let arguments = arguments.map(|(name, value)| {
        let name = Span::styled(format!("{name}="), theme.dim());
        vec![name, Span::raw(fit(&value, room / 2))]
    });
    lines.extend(flow(arguments.collect(), room));
    if let Some((index, _)) = scene.app.document.graphs.replayed(trace, node.replay) {
        let graph = &scene.app.document.graphs.all()[index];
        lines.extend(flow(nodes(scene, graph, node.number), room));
    }
    lines
}

/// Which graph, what became of it, and which node or replay of it.
fn summary(scene: &Scene<'_>, graph: &Graph, call: CallId, number: u32) -> Vec<SpanGroup> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let is_replay = graph.replays.iter().any(|replay| replay.call == call);
    let what = match (number, is_replay) {
        (0, _) => format!("graph {}", graph.serial),
        (_, true) => format!("replay {number} of graph {}", graph.serial),
        (_, false) => format!("node {number} of graph {}", graph.serial),
    };
    let outcome = match graph.outcome {
        Outcome::Failed(code) => {
            let name = trace.error_name(code).unwrap_or_default();
            Span::styled(format!("failed with {code} {name}"), theme.bad())
        }
        outcome => Span::styled(outcome.name(), theme.good()),
    };
    let streams = graph.streams().into_iter();
    let streams: Vec<_> = streams
        .map(|id| trace.stream(id).number().to_string())
        .collect();
    let counts = format!(
        "{} nodes on streams {}, {} replays",
        graph.nodes.len(),
        streams.join(" "),
        graph.replays.len()
    );
    vec![
        vec![Span::styled(what, theme.accent())],
        vec![outcome],
        vec![Span::raw(counts)],
    ]
}

fn failure(scene: &Scene<'_>, why: &Explanation, room: usize) -> Vec<Line<'static>> {
    sentence(scene, "why: ", &why.text, room)
}

/// A text in as many lines as it needs.
fn sentence(scene: &Scene<'_>, label: &str, text: &str, room: usize) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let mut lines = Vec::new();
    let mut line = label.to_owned();
    for word in text.split(' ') {
        if line.chars().count() + word.chars().count() + 1 > room && !line.trim().is_empty() {
            lines.push(Line::styled(std::mem::take(&mut line), theme.bad()));
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(Line::styled(line, theme.bad()));
    lines
}

/// The nodes with what each waits for; the one that is looked at stands out.
fn nodes(scene: &Scene<'_>, graph: &Graph, number: u32) -> Vec<SpanGroup> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let dependencies = graph.dependencies(trace);
    let of_call = |call: CallId| graph.node(number).is_some_and(|node| node.call == call);
    let listed = graph.nodes.iter().zip(dependencies).take(LISTED);
    let mut groups: Vec<SpanGroup> = listed
        .map(|(node, after)| {
            let name = trace.task_name(trace.task(node.task));
            let stream = describe::stream(trace, node.stream);
            let text = format!("{} {name}", node.number);
            let style = match of_call(node.call) {
                true => theme.strong(),
                false => theme.dim(),
            };
            let after: Vec<_> = after.iter().map(u32::to_string).collect();
            let after = match after.is_empty() {
                true => String::new(),
                false => format!(" after {}", after.join(" ")),
            };
            vec![
                Span::styled(text, style),
                Span::styled(format!(" ({stream}{after})"), theme.faint()),
            ]
        })
        .collect();
    if graph.nodes.len() > LISTED {
        let more = graph.nodes.len() - LISTED;
        groups.push(vec![Span::raw(format!("and {more} more"))]);
    }
    groups
}

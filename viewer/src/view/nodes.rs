//! Parts of tasks, below them: the nodes of a graph below its replays, and the kernels of operators.
//! Nodes without known times are drawn in their order and without background, unlike slices.

use ascend_trace_analysis::graphs::part_label;
use ascend_trace_recording::{StreamId, TaskId, TaskPart, TimeRange};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::app::Selection;
use crate::item::{CallOrTask, Category, TrackKey};
use crate::nodes::{ReplayNode, ReplayNodes};

use super::Scene;
use super::cells::{TrackCell, cells};
use super::drawn_content::DrawnContent;
use super::line::{BoxLine, NamedBox};
use super::track::UNKNOWN;

/// Nodes that share cells.
const MANY: &str = "⣀";

pub(crate) fn draw(
    scene: &Scene<'_>,
    stream: StreamId,
    area: Rect,
    drawn: &mut DrawnContent,
    buffer: &mut Buffer,
) {
    let cells = cells(scene, TrackKey::Stream(stream), area.width);
    let mut line = BoxLine {
        viewport: scene.app.camera.viewport,
        area,
        drawn,
        buffer,
        filled: 0,
    };
    let mut last = None;
    for (column, cell) in (0..).zip(&cells) {
        match *cell {
            TrackCell::Part { item, .. } if last != Some(item) => {
                last = Some(item);
                replay(scene, item, &mut line);
            }
            // Replays that a cell cannot show separately.
            TrackCell::Many {
                main: Category::Graph,
                ..
            } => crowd(scene, column, column + 1, &mut line),
            _ if *cell != TrackCell::Idle && !is_loaded(scene, column, area.width) => {
                dots(scene, UNKNOWN, column, column + 1, &mut line);
            }
            _ => {}
        }
    }
}

/// Whether it is known what ran in a column.
fn is_loaded(scene: &Scene<'_>, column: u16, width: u16) -> bool {
    let range = scene
        .app
        .camera
        .viewport
        .cell_time(i64::from(column), width);
    scene.world.overview.is_loaded(range)
}

fn replay(scene: &Scene<'_>, item: CallOrTask, line: &mut BoxLine<'_>) {
    let (app, trace) = (scene.app, scene.world.trace);
    let CallOrTask::Task(task) = item else { return };
    let parts = trace.parts(task);
    if !parts.is_empty() {
        return draw_parts(scene, task, &parts, line);
    }
    let Some(nodes) = ReplayNodes::of(&app.document.graphs, trace, task) else {
        if item.category(trace) == Category::Graph {
            let (first, end) = line.columns(item.span(trace));
            dots(scene, UNKNOWN, first, end, line);
        }
        return;
    };
    let (first, end) = line.columns(item.span(trace));
    let Some(room) = end.checked_sub(first).filter(|room| *room > 0) else {
        return crowd(scene, first, first + 1, line);
    };
    let length = item.length(trace).max(1);
    let all = line.viewport.cell(
        length.saturating_add(line.viewport.begin()),
        line.area.width,
    );
    if all < 2 * nodes.len() as i64 {
        return crowd(scene, first, first + room, line);
    }
    // Only those on screen: a graph may have thousands.
    let from = line.viewport.time(i64::from(first), line.area.width);
    let place = nodes.at(from).and_then(|node| nodes.place(node.number));
    let shown = (place.unwrap_or(0)..nodes.len()).map_while(|place| nodes.node(place));
    let last = line.viewport.end();
    for node in shown.take_while(|node| node.begin <= last) {
        draw_node(scene, node, line);
    }
}

fn draw_node(scene: &Scene<'_>, node: ReplayNode, line: &mut BoxLine<'_>) {
    let (app, trace) = (scene.app, scene.world.trace);
    let item = CallOrTask::Task(node.task);
    let name = item.name(trace);
    let style = match app.camera.selected == Some(Selection::Node(node)) {
        true => app.theme.chosen(),
        false => {
            let style = app.theme.shape(item.category(trace), item.look(trace));
            style.add_modifier(Modifier::UNDERLINED)
        }
    };
    line.draw(NamedBox {
        span: TimeRange::new(node.begin, node.end),
        names: (format!("{} {name}", node.number), name),
        filled: style,
        mark: style,
    });
}

/// Draws parts with known times. Of overlapping parts, the one that began first is in front.
fn draw_parts(scene: &Scene<'_>, task: TaskId, parts: &[TaskPart<'_>], line: &mut BoxLine<'_>) {
    let (app, trace) = (scene.app, scene.world.trace);
    let span = CallOrTask::Task(task).span(trace);
    let (first, last) = line.columns(span);
    let all = span.duration().max(1);
    let all = all.saturating_add(line.viewport.begin());
    if line.viewport.cell(all, line.area.width) < 2 * parts.len() as i64 {
        return crowd(scene, first, last.max(first + 1), line);
    }
    let from = parts.partition_point(|part| part.end < line.viewport.begin());
    let until = line.viewport.end();
    for part in parts
        .iter()
        .skip(from)
        .take_while(|part| part.begin <= until)
    {
        let label = part_label(trace, &app.document.graphs, task, part);
        let name: &str = &label;
        let number = part.node.filter(|node| *node > 0);
        let is_chosen = matches!(app.camera.selected, Some(Selection::Node(node))
            if node.replay == task && Some(node.number) == number);
        let style = match is_chosen {
            true => app.theme.chosen(),
            false => app.theme.filled(Category::Kernel, ""),
        };
        line.draw(NamedBox {
            span: TimeRange::new(part.begin, part.end),
            names: (
                number.map_or_else(|| name.to_owned(), |number| format!("{number} {name}")),
                name,
            ),
            filled: style,
            mark: app.theme.shape(Category::Kernel, ""),
        });
    }
}

fn crowd(scene: &Scene<'_>, first: u16, end: u16, line: &mut BoxLine<'_>) {
    dots(scene, MANY, first, end, line);
}

fn dots(scene: &Scene<'_>, symbol: &str, first: u16, end: u16, line: &mut BoxLine<'_>) {
    let style = scene.app.theme.shape(Category::Graph, "");
    for column in first.max(line.filled)..end.min(line.area.width) {
        let place = (line.area.x + column, line.area.y);
        if let Some(cell) = line.buffer.cell_mut(place) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
    line.filled = line.filled.max(end);
}

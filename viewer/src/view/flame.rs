//! The calls of a thread by nesting: a box for each name, as wide as its time on screen.

use ascend_trace_analysis::calls::{CallNode, Frame};
use ascend_trace_recording::Category;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::App;
use crate::display_names;
use crate::flame::{FlameBox, FlameGraph};
use crate::text::{count, duration, fit, share, short_name, width};

use super::Scene;

/// Lines without boxes: the title above, the node under the cursor below.
const OTHERS: u16 = 3;

/// Where the boxes are.
fn inner(area: Rect) -> Rect {
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(OTHERS),
        ..area
    }
}

/// The node that is drawn in a cell.
pub(crate) fn node_at(app: &App, area: Rect, at: Position) -> Option<usize> {
    let flame = app.panels.flame.as_ref()?;
    let inner = inner(area);
    if !inner.contains(at) {
        return None;
    }
    let level = at.y - inner.y + flame.first_level(inner.height);
    let x = at.x - inner.x;
    let boxes = flame.boxes(inner.width).into_iter();
    let mut own = boxes.filter(|it| it.level == level && it.x <= x && x < it.x + it.width);
    own.next().map(|it| it.node)
}

pub(crate) fn draw(scene: &Scene<'_>, flame: &FlameGraph, area: Rect, buffer: &mut Buffer) {
    title(scene, flame, area, buffer);
    let inner = inner(area);
    let first = flame.first_level(inner.height);
    for it in flame.boxes(inner.width) {
        if let Some(down) = it.level.checked_sub(first)
            && down < inner.height
        {
            let line = Rect {
                x: inner.x + it.x,
                y: inner.y + down,
                width: it.width,
                height: 1,
            };
            draw_box(scene, flame, it, line, buffer);
        }
    }
    let at = Rect {
        y: area.bottom().saturating_sub(2),
        height: 1,
        ..area
    };
    buffer.set_line(
        at.x + 1,
        at.y,
        &cursor(scene, flame),
        at.width.saturating_sub(2),
    );
}

fn title(scene: &Scene<'_>, flame: &FlameGraph, area: Rect, buffer: &mut Buffer) {
    let theme = scene.app.theme;
    let rule = "─".repeat(usize::from(area.width));
    buffer.set_stringn(area.x, area.y, rule, usize::from(area.width), theme.faint());
    let thread = display_names::thread(scene.world.trace, flame.thread);
    let window = duration(scene.app.camera.viewport.length());
    let note = match flame.is_whole {
        true => format!(" in the {window} on screen "),
        false => " only of the loaded part, so far ".to_owned(),
    };
    let spans = vec![
        Span::styled("─ ", theme.faint()),
        Span::styled(format!("calls of {thread} "), theme.accent()),
        Span::styled(note, theme.dim()),
    ];
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

fn draw_box(scene: &Scene<'_>, flame: &FlameGraph, it: FlameBox, line: Rect, buffer: &mut Buffer) {
    let node = &flame.tree.nodes()[it.node];
    let name = flame.name(scene.world.trace, it.node);
    let style = match it.node == flame.cursor {
        true => scene.app.theme.chosen(),
        false => style(scene, node, name),
    };
    let room = usize::from(line.width);
    let length = duration(node.inside_ns);
    let text = match room {
        0..4 => String::new(),
        _ if width(name) + width(&length) + 2 <= room => format!("{name} {length}"),
        _ => fit(&format!("{} {length}", short_name(name)), room - 1),
    };
    let blank = " ".repeat(room.saturating_sub(width(&text) + 1));
    let mark = if it.x == 0 { " " } else { "▏" };
    buffer.set_stringn(line.x, line.y, format!("{mark}{text}{blank}"), room, style);
}

fn style(scene: &Scene<'_>, node: &CallNode, name: &str) -> Style {
    let theme = scene.app.theme;
    match &node.frame {
        Frame::Thread => theme.bar(),
        Frame::Range(_) => theme.range(name),
        Frame::Call(id) => {
            let function = scene.world.trace.function(*id);
            let category = Category::of_call(function, function.task.is_some());
            theme.filled(category, name)
        }
    }
}

/// Details of the node under the cursor.
fn cursor(scene: &Scene<'_>, flame: &FlameGraph) -> Line<'static> {
    let theme = scene.app.theme;
    let nodes = flame.tree.nodes();
    let node = &nodes[flame.cursor];
    let part = |time: i64, of: i64| share(time as f64 / of.max(1) as f64);
    let name = flame.name(scene.world.trace, flame.cursor).to_owned();
    let of_window = part(node.inside_ns, scene.app.camera.viewport.length());
    let own = duration(flame.tree.own_ns(flame.cursor));
    let text = match node.frame {
        Frame::Thread => format!(
            "  {} in calls and ranges, {of_window} of the screen",
            duration(node.inside_ns)
        ),
        _ => format!(
            "  {}x  {} on screen, {of_window} of it, {} of its parent  self {own}  total {}, longest {}",
            count(node.count),
            duration(node.inside_ns),
            part(node.inside_ns, nodes[node.parent].inside_ns),
            duration(node.total_ns),
            node.longest
                .map_or_else(String::new, |it| duration(it.end - it.begin)),
        ),
    };
    Line::from(vec![
        Span::styled(fit(&name, 40), theme.strong()),
        Span::raw(text),
    ])
}

//! Arrows between lanes: who released whom.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Edge, EdgeKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::{App, Selected};
use crate::item::Item;
use crate::layout::Layout;

use super::Scene;
use super::route::{End, Field, Ink, glyph, route};
use super::track::{IDLE, STALL};

/// Edges that are looked at for the arrows of the window.
const LOOKED_AT: usize = 2_000;
/// One arrow for so many columns is still readable.
const COLUMNS_PER_ARROW: usize = 6;

/// Draws the arrows of the window, then those of the selection over them. Answers how many of the
/// window had to be left out; `None` when there are too many to count.
pub(crate) fn draw(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) -> Option<usize> {
    let (edges, hidden) = match scene.app.all_arrows {
        true => of_window(scene, layout.lanes.width),
        false => (Vec::new(), Some(0)),
    };
    paint(scene, layout, &edges, false, buffer);
    paint(scene, layout, &of_selection(scene), true, buffer);
    hidden
}

/// The edges of the selected item.
fn of_selection(scene: &Scene<'_>) -> Vec<Edge> {
    let trace = scene.world.trace;
    let dependencies = &scene.app.dependencies;
    let Some(Selected::Item(item)) = scene.app.selected else {
        return Vec::new();
    };
    let mut edges = dependencies.incoming(trace, item.node());
    edges.extend(dependencies.outgoing(trace, item.node()));
    edges
}

/// The record-to-wait edges in view: of too many those whose waits held their stream longest.
fn of_window(scene: &Scene<'_>, width: u16) -> (Vec<Edge>, Option<usize>) {
    let trace = scene.world.trace;
    let range = (scene.app.viewport.begin(), scene.app.viewport.end());
    let visible = scene
        .app
        .dependencies
        .in_window(trace, range.0, range.1, LOOKED_AT);
    let mut edges = visible.edges;
    edges.retain(|edge| edge.kind == EdgeKind::RecordToWait);
    let readable = (usize::from(width) / COLUMNS_PER_ARROW).max(1);
    let hidden = edges.len().saturating_sub(readable);
    if hidden > 0 {
        edges.sort_by_key(|edge| std::cmp::Reverse(Item::from(edge.to).length(trace)));
        edges.truncate(readable);
    }
    match visible.complete {
        true => (edges, Some(hidden)),
        false => (Vec::new(), None),
    }
}

fn paint(scene: &Scene<'_>, layout: &Layout, edges: &[Edge], chosen: bool, buffer: &mut Buffer) {
    let area = layout.lanes;
    let field = Field {
        width: area.width,
        height: area.height,
        spaced: layout.track_height(&scene.app.rows) > 1,
    };
    let mut lines: BTreeMap<(u16, u16), u8> = BTreeMap::new();
    let mut heads = BTreeMap::new();
    for edge in edges {
        let Some((from, to)) = ends(scene, layout, edge) else {
            continue;
        };
        for segment in route(field, from, to) {
            let place = (segment.x, segment.y);
            match segment.ink {
                Ink::Line(directions) => *lines.entry(place).or_default() |= directions,
                Ink::Head(symbol) => {
                    heads.insert(place, symbol);
                }
            }
        }
    }
    for (place, directions) in lines {
        put(
            scene.app,
            area,
            place,
            glyph(directions, chosen),
            chosen,
            buffer,
        );
    }
    for (place, symbol) in heads {
        put(scene.app, area, place, symbol, chosen, buffer);
    }
}

/// Lines pass over free ground and over the insides of slices, but under texts and edges.
fn put(app: &App, area: Rect, (x, y): (u16, u16), symbol: &str, chosen: bool, buffer: &mut Buffer) {
    const LINES: &str = "│─┌┐└┘├┤┬┴┼▼▲►◄";
    let Some(cell) = buffer.cell_mut((area.x + x, area.y + y)) else {
        return;
    };
    let under = cell.symbol();
    if matches!(under, " " | STALL | IDLE) || LINES.contains(under) {
        cell.set_symbol(symbol).set_style(app.theme.arrow(chosen));
    }
}

fn ends(scene: &Scene<'_>, layout: &Layout, edge: &Edge) -> Option<(End, End)> {
    let trace = scene.world.trace;
    let (leave, arrive) = edge.moments(trace).or_else(|| {
        // A task whose time is still to come is drawn at its launch.
        let moment = Item::from(edge.to).span(trace).0;
        Some((moment, moment))
    })?;
    let end = |item: Item, moment: i64| {
        let column = scene.app.viewport.cell(moment, layout.lanes.width);
        line_of(scene, layout, item).map(|line| End { column, line })
    };
    let from = end(edge.from.into(), leave)?;
    let mut to = end(edge.to.into(), arrive)?;
    // What ends exactly at the border of a cell was drawn in the one before.
    if edge.kind != EdgeKind::LaunchToTask && to.column == from.column + 1 {
        let before = scene
            .app
            .viewport
            .cell(arrive.saturating_sub(1), layout.lanes.width);
        to.column = to.column.min(before.max(from.column));
    }
    Some((from, to))
}

/// The line an item is drawn in, relative to the lanes; far outside if it is scrolled away.
fn line_of(scene: &Scene<'_>, layout: &Layout, item: Item) -> Option<i64> {
    let app = scene.app;
    let key = item.track(scene.world.trace);
    let index = app.rows.iter().position(|row| row.track() == Some(key))?;
    let mut visible = layout.visible(&app.rows, app.scroll);
    let line = visible.find(|it| it.0 == index).map(|it| it.2);
    Some(match line {
        Some(line) => i64::from(line - layout.lanes.y),
        None if index < app.scroll => -4,
        None => i64::from(layout.lanes.height) + 4,
    })
}

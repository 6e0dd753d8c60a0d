//! Arrows between lanes: who released whom.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Edge, EdgeKind, EdgeTimes};
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};

use crate::app::Selection;
use crate::arrangement::LaneGroup;
use crate::item::{CallOrTask, TrackKey};
use crate::lanes::ViewRow;
use crate::layout::ScreenLayout;
use crate::theme::Theme;

use super::Scene;
use super::drawn_content::DrawnContent;
use super::route::{ArrowArea, ArrowCell, ArrowEnd, ArrowTurn, CellInk, glyph, route};
use super::track::{IDLE, RECORD, RETURNING, STALL};

/// Edges that are looked at for the arrows of the window.
const LOOKED_AT: usize = 2_000;
/// Free lines that are tried for an arrow, the nearest ones.
const FREE_LINES: usize = 3;
/// Cells by which an arrow may be longer to be covered by one less.
const DETOUR: usize = 6;
/// Columns per arrow that keep arrows readable.
const COLUMNS_PER_ARROW: usize = 6;

/// Draws the arrows of the window, then those of the selection over them. Returns how many of the
/// window had to be left out; `None` when there are too many to count.
pub(crate) fn draw(
    scene: &Scene<'_>,
    layout: &ScreenLayout,
    drawn: &DrawnContent,
    buffer: &mut Buffer,
) -> Option<usize> {
    let mut canvas = ArrowCanvas {
        scene,
        layout,
        free: free_lines(scene, layout),
        drawn,
        buffer,
    };
    let (mut edges, hidden) = match scene.app.camera.all_arrows {
        true => of_window(scene, layout.lanes.width),
        false => (Vec::new(), Some(0)),
    };
    let chosen = &scene.links.edges;
    edges.retain(|edge| !chosen.contains(edge));
    let others = match chosen.is_empty() {
        true => ArrowStyle::Usual,
        false => ArrowStyle::Behind,
    };
    canvas.paint(&edges, others);
    canvas.paint(chosen, ArrowStyle::Chosen);
    canvas.records(chosen);
    hidden
}

/// How arrows are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrowStyle {
    Usual,
    /// Those of the selection.
    Chosen,
    /// The others while something is selected that has arrows.
    Behind,
}

impl ArrowStyle {
    fn style(self, theme: Theme) -> Style {
        match self {
            Self::Usual => theme.arrow(false),
            Self::Chosen => theme.arrow(true).remove_modifier(Modifier::DIM),
            Self::Behind => theme.faint(),
        }
    }
}

/// The record-to-wait edges in view: if they are too many, those with the longest waits.
fn of_window(scene: &Scene<'_>, width: u16) -> (Vec<Edge>, Option<usize>) {
    let trace = scene.world.trace;
    let range = scene.app.camera.viewport.range();
    let visible =
        scene
            .app
            .document
            .dependencies
            .in_window(trace, range.begin, range.end, LOOKED_AT);
    let mut edges = visible.edges;
    edges.retain(|edge| edge.kind == EdgeKind::RecordToWait);
    let readable = (usize::from(width) / COLUMNS_PER_ARROW).max(1);
    let hidden = edges.len().saturating_sub(readable);
    if hidden > 0 {
        edges.sort_by_key(|edge| std::cmp::Reverse(CallOrTask::from(edge.to).length(trace)));
        edges.truncate(readable);
    }
    match visible.complete {
        true => (edges, Some(hidden)),
        false => (Vec::new(), None),
    }
}

struct ArrowCanvas<'a, 'b> {
    scene: &'a Scene<'a>,
    layout: &'a ScreenLayout,
    /// Lines for arrows alone.
    free: Vec<i64>,
    drawn: &'a DrawnContent,
    buffer: &'b mut Buffer,
}

impl ArrowCanvas<'_, '_> {
    fn paint(&mut self, edges: &[Edge], manner: ArrowStyle) {
        let free = std::mem::take(&mut self.free);
        let field = ArrowArea {
            width: self.layout.lanes.width,
            height: self.layout.lanes.height,
            free: &free,
        };
        let mut lines: BTreeMap<(u16, u16), u8> = BTreeMap::new();
        let mut heads = BTreeMap::new();
        for edge in edges {
            let Some((from, to)) = ends(self.scene, self.layout, edge) else {
                continue;
            };
            for segment in self.clearest(field, from, to) {
                let place = (segment.x, segment.y);
                match segment.ink {
                    CellInk::Line(directions) => *lines.entry(place).or_default() |= directions,
                    CellInk::Head(symbol) => {
                        heads.insert(place, symbol);
                    }
                }
            }
        }
        self.free = free;
        for (place, directions) in lines {
            let symbol = glyph(directions, manner == ArrowStyle::Chosen);
            self.put(place, symbol, manner, false);
        }
        for (place, symbol) in heads {
            self.put(place, symbol, manner, true);
        }
    }

    /// Of the ways an arrow can go, the one that is covered least; a longer one only for much less.
    fn clearest(&self, field: ArrowArea<'_>, from: ArrowEnd, to: ArrowEnd) -> Vec<ArrowCell> {
        let beside = [ArrowTurn::AtTarget, ArrowTurn::AtSource].into_iter();
        let turns_far = from.column.abs_diff(to.column) > 1;
        let free = field.free.iter().filter(|_| turns_far).copied();
        let mut free: Vec<i64> = free.collect();
        free.sort_by_key(|line| (line - from.top).abs() + (line - to.top).abs());
        let free = free.into_iter().take(FREE_LINES).map(ArrowTurn::In);
        let ways = beside.chain(free).map(|turn| route(field, from, to, turn));
        let cost = |way: &Vec<ArrowCell>| {
            let cells = way.iter().map(|it| self.cover((it.x, it.y)));
            cells.sum::<usize>() * DETOUR + way.len()
        };
        ways.min_by_key(cost).unwrap_or_default()
    }

    /// How much a cell would hide of an arrow, or an arrow of it.
    fn cover(&self, (x, y): (u16, u16)) -> usize {
        let area = self.layout.lanes;
        let cell = self.buffer.cell((area.x + x, area.y + y));
        match cell.map(Cell::symbol) {
            _ if self.is_text((x, y)) => 3,
            Some(" ") if cell.is_some_and(|it| it.bg == Color::Reset) => 0,
            Some(STALL | RETURNING | IDLE) => 1,
            _ => 2,
        }
    }

    fn is_text(&self, (x, y): (u16, u16)) -> bool {
        let line = self.layout.lanes.y + y;
        self.drawn.is_text(line, x)
    }

    /// Lines pass over free ground and over waits, but under slices, and all under texts. Heads are hidden by texts
    /// only.
    fn put(&mut self, (x, y): (u16, u16), symbol: &str, manner: ArrowStyle, head: bool) {
        const LINES: &str = "│─┌┐└┘├┤┬┴┼▼▲►◄┃━┏┓┗┛┣┫┳┻╋";
        if self.is_text((x, y)) {
            return;
        }
        let area = self.layout.lanes;
        let Some(cell) = self.buffer.cell_mut((area.x + x, area.y + y)) else {
            return;
        };
        let under = cell.symbol();
        // Nodes have no background.
        let drawn = Modifier::REVERSED | Modifier::UNDERLINED;
        let is_slice = cell.bg != Color::Reset || cell.modifier.intersects(drawn);
        let is_open = match (manner, under) {
            // Only the selection's lines go over the insides of slices.
            (ArrowStyle::Usual | ArrowStyle::Behind, " ") => !is_slice,
            (_, " " | STALL | RETURNING | IDLE) => true,
            _ => LINES.contains(under) && !is_slice,
        };
        if head || is_open {
            cell.set_symbol(symbol)
                .set_style(manner.style(self.scene.app.theme));
        }
    }

    /// Shows the records at the begins of the selection's arrows, also where other slices share their
    /// cells.
    fn records(&mut self, edges: &[Edge]) {
        let trace = self.scene.world.trace;
        for edge in edges.iter().filter(|it| it.kind == EdgeKind::RecordToWait) {
            let record = CallOrTask::from(edge.from);
            let ends = ends(self.scene, self.layout, edge);
            let Some((from, _)) = ends.filter(|_| record.length(trace) == 0) else {
                continue;
            };
            let style = match self.scene.app.camera.selected {
                Some(Selection::Item(item)) if item == record => self.scene.app.theme.chosen(),
                _ => self.scene.app.theme.linked(),
            };
            self.sign((from.column, from.top), RECORD, style);
        }
    }

    fn sign(&mut self, (column, line): (i64, i64), symbol: &str, style: Style) {
        let area = self.layout.lanes;
        let (Ok(x), Ok(y)) = (u16::try_from(column), u16::try_from(line)) else {
            return;
        };
        if x >= area.width || y >= area.height {
            return;
        }
        if let Some(cell) = self.buffer.cell_mut((area.x + x, area.y + y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

fn ends(scene: &Scene<'_>, layout: &ScreenLayout, edge: &Edge) -> Option<(ArrowEnd, ArrowEnd)> {
    let trace = scene.world.trace;
    let EdgeTimes { leave, arrive } = edge.times(trace).or_else(|| {
        // A task with a time that may still arrive is drawn at its launch.
        let moment = CallOrTask::from(edge.to).span(trace).begin;
        Some(EdgeTimes {
            leave: moment,
            arrive: moment,
        })
    })?;
    let end = |item: CallOrTask, moment: i64| {
        let column = scene.app.camera.viewport.cell(moment, layout.lanes.width);
        let (top, bottom) = lines_of(scene, layout, item)?;
        Some(ArrowEnd {
            column,
            top,
            bottom,
        })
    };
    let from = end(edge.from.into(), leave)?;
    let mut to = end(edge.to.into(), arrive)?;
    // A slice that ends exactly at the border of a cell was drawn in the cell before.
    if edge.kind != EdgeKind::LaunchToTask && to.column == from.column + 1 {
        let before = scene
            .app
            .camera
            .viewport
            .cell(arrive.saturating_sub(1), layout.lanes.width);
        to.column = to.column.min(before.max(from.column));
    }
    Some((from, to))
}

/// The lines an item is drawn in, relative to the lanes; far outside if it is scrolled away.
fn lines_of(scene: &Scene<'_>, layout: &ScreenLayout, item: CallOrTask) -> Option<(i64, i64)> {
    let app = scene.app;
    let key = item.track(scene.world.trace);
    let index = row_of(scene, key)?;
    let mut visible = layout.visible(&app.camera.rows, app.camera.scroll);
    let found = visible.find(|it| it.0 == index);
    Some(match found {
        Some((_, row, line)) => {
            let top = i64::from(line - layout.lanes.y);
            let more = layout
                .heights(&app.camera.rows)
                .bar_of(row)
                .saturating_sub(1);
            (top, top + i64::from(more))
        }
        None if index < layout.pinned + app.camera.scroll => (-4, -4),
        None => {
            let below = i64::from(layout.lanes.height) + 4;
            (below, below)
        }
    })
}

/// Lines in which nothing is drawn but arrows, relative to the lanes.
fn free_lines(scene: &Scene<'_>, layout: &ScreenLayout) -> Vec<i64> {
    let rows = &scene.app.camera.rows;
    let heights = layout.heights(rows);
    let mut free = Vec::new();
    for (index, row, line) in layout.visible(rows, scene.app.camera.scroll) {
        let drawn = match row {
            heading if heading.is_heading() => 0,
            _ => heights.bar_of(row),
        };
        let lines = line + drawn..line + heights.of(rows, index);
        let lines = lines.filter(|line| *line < layout.lanes.bottom());
        free.extend(lines.map(|line| i64::from(line - layout.lanes.y)));
    }
    free
}

/// The row of a lane, or the one that it is folded into.
fn row_of(scene: &Scene<'_>, key: TrackKey) -> Option<usize> {
    let (app, trace) = (scene.app, scene.world.trace);
    let is_own = |row: &ViewRow| match (*row, key) {
        (ViewRow::Track(track), _) => track == key,
        (ViewRow::Folded(LaneGroup::Device(process, device)), TrackKey::Stream(id)) => {
            let stream = trace.stream(id);
            stream.process == process && stream.device == device
        }
        (ViewRow::Folded(LaneGroup::Threads(process)), TrackKey::Thread(id, _)) => {
            trace.thread(id).process == process
        }
        _ => false,
    };
    app.camera.rows.iter().position(is_own)
}

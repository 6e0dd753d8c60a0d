//! One lane of the timeline: slices, marks, stalls and their names.

mod names;
mod stretches;
mod uncertain;

use ascend_trace_analysis::Stall;
use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::app::{App, Selection};
use crate::item::{CallOrTask, Category, TrackKey};
use crate::text::width;
use crate::tracks::SliceTrack;

use super::Scene;
use super::cells::{FULL, TrackCell, cells};
use super::drawn_content::DrawnContent;
use super::open_calls;
pub(crate) use uncertain::UNCERTAIN;

/// Block characters that fill a cell from the left, by eighths.
const BLOCKS: [&str; 9] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Dots for many slices in one cell, by how full it is.
pub(super) const DOTS: [&str; 9] = [" ", "⡀", "⣀", "⣄", "⣤", "⣦", "⣶", "⣷", "⣿"];
/// The ground of a stall.
pub(crate) const STALL: &str = "░";
/// The ground of a call that has nothing more to wait for and has not returned.
pub(crate) const RETURNING: &str = "╍";
/// Background of an idle stretch with a known cause.
pub(crate) const IDLE: &str = "╌";
/// The ground of a thread while it captures.
pub(crate) const CAPTURING: &str = "┈";
/// A part that has not been read.
pub(super) const UNKNOWN: &str = "·";
/// A task that is drawn at its launch.
pub(super) const LAUNCHED: &str = "▹";
/// An event record.
pub(super) const RECORD: &str = "◆";
/// Where a call failed.
pub(crate) const FAILED: &str = "!";

/// Draws a track into as many lines as there are.
pub(crate) fn draw(
    scene: &Scene<'_>,
    key: TrackKey,
    area: Rect,
    drawn: &mut DrawnContent,
    buffer: &mut Buffer,
) {
    let cells = cells(scene, key, area.width);
    for (place, line) in area.rows().enumerate() {
        let mut painter = LanePainter {
            scene,
            track: scene.app.document.tracks.get(key),
            key,
            line,
            is_first: place == 0,
            buffer,
            drawn,
            cells: &cells,
        };
        painter.draw();
        open_calls::draw(scene, key, (line, place == 0), &cells, drawn, buffer);
    }
}

struct LanePainter<'a, 'b> {
    scene: &'a Scene<'a>,
    /// Nothing when no slice of it is loaded.
    track: Option<&'a SliceTrack>,
    key: TrackKey,
    line: Rect,
    /// Whether it is the lane's first line, which has all that has no length.
    is_first: bool,
    buffer: &'b mut Buffer,
    drawn: &'b mut DrawnContent,
    cells: &'a [TrackCell],
}

impl LanePainter<'_, '_> {
    fn app(&self) -> &App {
        self.scene.app
    }

    fn draw(&mut self) {
        for column in 0..self.line.width {
            self.cell(column);
        }
        self.names();
        if self.is_first {
            self.idle_stretches();
            self.captures();
            self.launches();
        }
        self.failures();
    }

    fn put(&mut self, column: u16, symbol: &str, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((self.line.x + column, self.line.y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }

    fn at(&self, column: u16) -> TrackCell {
        self.cells
            .get(usize::from(column))
            .copied()
            .unwrap_or(TrackCell::Idle)
    }

    fn category(&self, item: CallOrTask) -> Category {
        item.category(self.scene.world.trace)
    }

    fn is_selected(&self, item: CallOrTask) -> bool {
        self.app().camera.selected == Some(Selection::Item(item))
    }

    fn filled(&self, item: CallOrTask) -> Style {
        let trace = self.scene.world.trace;
        let theme = self.app().theme;
        match self.is_selected(item) {
            true => theme.chosen(),
            false if item.failed(trace) => theme.failed(),
            false if self.scene.links.has(item) => theme
                .filled(self.category(item), item.look(trace))
                .add_modifier(Modifier::BOLD),
            false => theme.filled(self.category(item), item.look(trace)),
        }
    }

    fn shape(&self, item: CallOrTask) -> Style {
        let trace = self.scene.world.trace;
        let theme = self.app().theme;
        match self.is_selected(item) {
            true => theme.chosen_shape(),
            false if item.failed(trace) => theme.bad(),
            false if self.scene.links.has(item) => theme.linked(),
            false if self.app().document.worst.has_item(item) => theme.worst(),
            false => theme.shape(self.category(item), item.look(trace)),
        }
    }

    /// The returning time of a call is not part of its wait.
    fn returning(&self, item: CallOrTask, part: &Stall) -> Style {
        let is_worst =
            self.app().document.worst.has_item(item) && !self.app().document.worst.has(part);
        match is_worst && !self.is_selected(item) && !self.scene.links.has(item) {
            true => self.app().theme.stall(),
            false => self.shape(item),
        }
    }

    fn block(&self, item: CallOrTask) -> Style {
        let trace = self.scene.world.trace;
        match self.is_selected(item) || item.failed(trace) {
            true => self.shape(item),
            false => (self.app().theme).block(self.category(item), item.look(trace)),
        }
    }

    fn is_stall(&self, item: CallOrTask) -> bool {
        self.category(item).is_stall()
    }

    /// Notes a slice for the legend.
    fn note(&mut self, item: CallOrTask) {
        let trace = self.scene.world.trace;
        let look = item.look(trace);
        self.drawn.slice(item.category(trace), look);
    }

    fn cell(&mut self, column: u16) {
        match self.at(column) {
            TrackCell::Idle | TrackCell::Unknown => {}
            TrackCell::Part { item, .. } | TrackCell::Mark { item, .. } => self.note(item),
            TrackCell::Two { left, right, .. } => {
                self.note(left);
                self.note(right);
            }
            TrackCell::Many { main, .. } => self.drawn.slice(main, ""),
        }
        match self.at(column) {
            TrackCell::Idle => {}
            TrackCell::Unknown => {
                let style = self.app().theme.faint();
                self.put(column, UNKNOWN, style);
            }
            TrackCell::Part { item, from, to } => self.part(column, item, from, to),
            TrackCell::Two { left, at, right } => self.two(column, left, at, right),
            TrackCell::Mark { .. } if !self.is_first => {}
            TrackCell::Mark { item, more } => {
                let style = self.shape(item);
                let symbol = mark(self.category(item), more);
                self.put(column, symbol, style);
            }
            TrackCell::Many { fill, main } => {
                let style = self.app().theme.shape(main, "");
                self.put(column, DOTS[usize::from(fill.min(FULL))], style);
            }
        }
    }

    fn part(&mut self, column: u16, item: CallOrTask, from: u8, to: u8) {
        if self.is_stall(item) {
            let style = self.shape(item);
            self.drawn.worst |= self.app().document.worst.has_item(item);
            return self.put(column, STALL, style);
        }
        if self.is_uncertain(column, item, (from, to)) {
            let style = self.uncertain(item);
            return self.put(column, UNCERTAIN, style);
        }
        let (symbol, style) = match (from, to) {
            (0, FULL) if self.begins_beside(column, item) => ("▏", self.filled(item)),
            (0, FULL) => (
                self.app().theme.pattern(self.category(item)),
                self.filled(item),
            ),
            // Nearer to the left edge, or to the right one: there the block is the ground.
            _ if from <= FULL - to => (BLOCKS[usize::from(to - from)], self.block(item)),
            _ => {
                let empty = BLOCKS[usize::from(FULL - (to - from))];
                (empty, self.block(item).add_modifier(Modifier::REVERSED))
            }
        };
        self.put(column, symbol, style);
    }

    /// Whether another slice ends right where this one begins.
    fn begins_beside(&self, column: u16, item: CallOrTask) -> bool {
        let before = column.checked_sub(1).map(|column| self.at(column));
        matches!(before, Some(TrackCell::Part { item: other, to: FULL, .. }) if other != item && !self.is_stall(other))
    }

    fn two(&mut self, column: u16, left: CallOrTask, at: u8, right: CallOrTask) {
        match (self.is_stall(left), self.is_stall(right)) {
            (true, true) => return self.part(column, left, 0, FULL),
            (true, false) => return self.part(column, right, at, FULL),
            (false, true) => return self.part(column, left, 0, at),
            (false, false) => {}
        }
        let unsure = |item, part| self.is_uncertain(column, item, part);
        match (unsure(left, (0, at)), unsure(right, (at, FULL))) {
            (false, false) => {}
            (false, true) => return self.part(column, left, 0, at),
            (true, _) => return self.part(column, right, at, FULL),
        }
        let (left_fill, right_fill) = (self.filled(left), self.filled(right));
        if left_fill == right_fill {
            return self.put(column, "│", left_fill);
        }
        let trace = self.scene.world.trace;
        let looks = |item: CallOrTask| (item.category(trace), item.look(trace));
        let style = match (self.is_selected(left), self.is_selected(right)) {
            (false, false) => self.app().theme.between(looks(left), looks(right)),
            (true, _) => Style::new()
                .fg(left_fill.bg.unwrap_or_default())
                .patch(ground(right_fill)),
            (_, true) => self.shape(left).patch(ground(right_fill)),
        };
        self.put(column, BLOCKS[usize::from(at)], style);
    }

    /// Writes a text, which arrows may not cross.
    fn write(&mut self, column: u16, text: &str, style: Style) {
        let room = usize::from(self.line.width.saturating_sub(column));
        let end = column + width(text).min(room) as u16;
        self.drawn.text(self.line.y, column..end);
        self.buffer
            .set_stringn(self.line.x + column, self.line.y, text, room, style);
    }

    /// Marks failed calls, even very short ones among many others.
    fn failures(&mut self) {
        if !self.app().document.failures.has(self.key) {
            return;
        }
        let theme = self.app().theme;
        let (viewport, width) = (self.app().camera.viewport, self.line.width);
        for column in 0..width {
            let range = viewport.cell_time(i64::from(column), width);
            if !self.app().document.failures.is_any(self.key, range) {
                continue;
            }
            let style = match self.at(column) {
                TrackCell::Part { item, .. } if self.is_selected(item) => theme.chosen(),
                _ => theme.failed(),
            };
            self.put(column, FAILED, style);
            self.drawn.failed = true;
        }
    }

    /// Marks tasks that have no time where they were launched.
    fn launches(&mut self) {
        let trace = self.scene.world.trace;
        let viewport = self.app().camera.viewport;
        let range = viewport.range();
        let Some(track) = self.track.filter(|it| it.launch_count(trace, range) > 0) else {
            return;
        };
        for column in 0..self.line.width {
            let time = viewport.cell_time(i64::from(column), self.line.width);
            let window = TimeRange::new(time.begin, time.end - 1);
            let first = track.launches(trace, window).next();
            if let Some(item) = first.filter(|_| self.at(column) == TrackCell::Idle) {
                let style = self.shape(item);
                self.put(column, LAUNCHED, style);
            }
        }
    }
}

fn ground(style: Style) -> Style {
    Style { fg: None, ..style }
}

/// The sign of a task that takes no time.
fn mark(category: Category, more: bool) -> &'static str {
    match (category, more) {
        (_, true) => "❖",
        (Category::Record, false) => RECORD,
        (Category::Wait, false) => "◇",
        (_, false) => "▪",
    }
}

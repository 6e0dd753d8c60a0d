//! One line of the timeline: slices, marks, stalls and their names.

use std::ops::Range;

use ascend_trace_analysis::{Cause, Stall};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::app::{App, Selected, is_gap};
use crate::blame;
use crate::item::{Category, Item, TrackKey};
use crate::search::Match;
use crate::text::{duration, fit, short_name, width};
use crate::tracks::Track;

use super::Scene;
use super::cells::{Cell, FULL, cells};
use super::drawn::Drawn;
use super::{graphs, open};

/// Block characters that fill a cell from the left, by eighths.
const BLOCKS: [&str; 9] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
/// Dots for many slices in one cell, by how full it is.
pub(super) const DOTS: [&str; 9] = [" ", "⡀", "⣀", "⣄", "⣤", "⣦", "⣶", "⣷", "⣿"];
/// The ground of a stall.
pub(crate) const STALL: &str = "░";
/// The ground of a call that has nothing more to wait for and has not returned.
pub(crate) const RETURNING: &str = "╍";
/// The ground of an idle stretch whose cause is known.
pub(crate) const IDLE: &str = "╌";
/// The ground of a thread while it captures.
pub(crate) const CAPTURING: &str = "┈";
/// What has not been read.
pub(super) const UNKNOWN: &str = "·";
/// A task that is drawn at its launch.
pub(super) const LAUNCHED: &str = "▹";
/// An event record.
pub(super) const RECORD: &str = "◆";
/// Where a call failed.
pub(crate) const FAILED: &str = "!";

/// Draws a track into a line.
pub(crate) fn draw(
    scene: &Scene<'_>,
    key: TrackKey,
    line: Rect,
    drawn: &mut Drawn,
    buffer: &mut Buffer,
) {
    let cells = cells(scene, key, line.width);
    let mut painter = Painter {
        scene,
        track: scene.app.tracks.get(key),
        key,
        line,
        buffer,
        drawn,
        cells: &cells,
    };
    for column in 0..line.width {
        painter.cell(column);
    }
    painter.names();
    painter.idle_stretches();
    painter.captures();
    painter.launches();
    painter.failures();
    open::draw(scene, key, line, &cells, drawn, buffer);
}

struct Painter<'a, 'b> {
    scene: &'a Scene<'a>,
    /// Nothing when no slice of it is loaded.
    track: Option<&'a Track>,
    key: TrackKey,
    line: Rect,
    buffer: &'b mut Buffer,
    drawn: &'b mut Drawn,
    cells: &'a [Cell],
}

impl Painter<'_, '_> {
    fn app(&self) -> &App {
        self.scene.app
    }

    fn put(&mut self, column: u16, symbol: &str, style: Style) {
        if let Some(cell) = self.buffer.cell_mut((self.line.x + column, self.line.y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }

    fn at(&self, column: u16) -> Cell {
        self.cells
            .get(usize::from(column))
            .copied()
            .unwrap_or(Cell::Idle)
    }

    fn category(&self, item: Item) -> Category {
        item.category(self.scene.world.trace)
    }

    fn is_selected(&self, item: Item) -> bool {
        self.app().selected == Some(Selected::Item(item))
    }

    fn filled(&self, item: Item) -> Style {
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

    fn shape(&self, item: Item) -> Style {
        let trace = self.scene.world.trace;
        let theme = self.app().theme;
        match self.is_selected(item) {
            true => theme.chosen_shape(),
            false if item.failed(trace) => theme.bad(),
            false if self.scene.links.has(item) => theme.linked(),
            false if self.app().worst.has_item(item) => theme.worst(),
            false => theme.shape(self.category(item), item.look(trace)),
        }
    }

    /// The time in which a call had only to return is none of its wait.
    fn returning(&self, item: Item, part: &Stall) -> Style {
        let is_worst = self.app().worst.has_item(item) && !self.app().worst.has(part);
        match is_worst && !self.is_selected(item) && !self.scene.links.has(item) {
            true => self.app().theme.stall(),
            false => self.shape(item),
        }
    }

    fn block(&self, item: Item) -> Style {
        let trace = self.scene.world.trace;
        match self.is_selected(item) || item.failed(trace) {
            true => self.shape(item),
            false => (self.app().theme).block(self.category(item), item.look(trace)),
        }
    }

    fn is_stall(&self, item: Item) -> bool {
        self.category(item).is_stall()
    }

    /// Notes a slice for the legend.
    fn note(&mut self, item: Item) {
        let trace = self.scene.world.trace;
        let look = item.look(trace);
        self.drawn.slice(item.category(trace), look);
    }

    fn cell(&mut self, column: u16) {
        match self.at(column) {
            Cell::Idle | Cell::Unknown => {}
            Cell::Part { item, .. } | Cell::Mark { item, .. } => self.note(item),
            Cell::Two { left, right, .. } => {
                self.note(left);
                self.note(right);
            }
            Cell::Many { main, .. } => self.drawn.slice(main, ""),
        }
        match self.at(column) {
            Cell::Idle => {}
            Cell::Unknown => {
                let style = self.app().theme.faint();
                self.put(column, UNKNOWN, style);
            }
            Cell::Part { item, from, to } => self.part(column, item, from, to),
            Cell::Two { left, at, right } => self.two(column, left, at, right),
            Cell::Mark { item, more } => {
                let style = self.shape(item);
                let symbol = mark(self.category(item), more);
                self.put(column, symbol, style);
            }
            Cell::Many { fill, main } => {
                let style = self.app().theme.shape(main, "");
                self.put(column, DOTS[usize::from(fill.min(FULL))], style);
            }
        }
    }

    fn part(&mut self, column: u16, item: Item, from: u8, to: u8) {
        if self.is_stall(item) {
            let style = self.shape(item);
            self.drawn.worst |= self.app().worst.has_item(item);
            return self.put(column, STALL, style);
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
    fn begins_beside(&self, column: u16, item: Item) -> bool {
        let before = column.checked_sub(1).map(|column| self.at(column));
        matches!(before, Some(Cell::Part { item: other, to: FULL, .. }) if other != item && !self.is_stall(other))
    }

    fn two(&mut self, column: u16, left: Item, at: u8, right: Item) {
        match (self.is_stall(left), self.is_stall(right)) {
            (true, true) => return self.part(column, left, 0, FULL),
            (true, false) => return self.part(column, right, at, FULL),
            (false, true) => return self.part(column, left, 0, at),
            (false, false) => {}
        }
        let (left_fill, right_fill) = (self.filled(left), self.filled(right));
        if left_fill == right_fill {
            return self.put(column, "│", left_fill);
        }
        let trace = self.scene.world.trace;
        let looks = |item: Item| (item.category(trace), item.look(trace));
        let style = match (self.is_selected(left), self.is_selected(right)) {
            (false, false) => self.app().theme.between(looks(left), looks(right)),
            (true, _) => Style::new()
                .fg(left_fill.bg.unwrap_or_default())
                .patch(ground(right_fill)),
            (_, true) => self.shape(left).patch(ground(right_fill)),
        };
        self.put(column, BLOCKS[usize::from(at)], style);
    }

    /// Writes the names of slices that have room for them.
    fn names(&mut self) {
        let mut column = 0;
        while column < self.line.width {
            let Cell::Part {
                item,
                from: 0,
                to: FULL,
            } = self.at(column)
            else {
                column += 1;
                continue;
            };
            let first = column;
            let goes_on = |cell| {
                cell == Cell::Part {
                    item,
                    from: 0,
                    to: FULL,
                }
            };
            while column < self.line.width && goes_on(self.at(column)) {
                column += 1;
            }
            match self.is_stall(item) {
                true => self.stall_name(item, first, column - first),
                false => self.name(item, first, column - first),
            }
        }
    }

    fn name(&mut self, item: Item, first: u16, room: u16) {
        let trace = self.scene.world.trace;
        let label = item.label(trace);
        let name = short_name(&label);
        let way = item.direction(trace);
        let full = way.map_or_else(|| name.to_owned(), |way| format!("{name} {way}"));
        let long = format!("{full} {}", duration(item.length(trace)));
        let room = usize::from(room).saturating_sub(2);
        let text = match (room, way) {
            (0..3, _) => return,
            _ if width(&long) <= room => long,
            _ if width(&full) <= room => full,
            (_, Some(way)) => way.to_owned(),
            _ => fit(name, room),
        };
        let mut style = self.filled(item);
        let found = self
            .app()
            .search
            .as_ref()
            .is_some_and(|it| it.is_match(trace, Match::Item(item)));
        if found {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        self.write(first + 1, &text, style);
    }

    /// Shows the parts of a wait, and says what it waited for.
    fn stall_name(&mut self, item: Item, first: u16, room: u16) {
        let trace = self.scene.world.trace;
        let parts: Vec<Stall> = self.app().stalls_of(trace, item).copied().collect();
        if parts.is_empty() {
            let label = item.label(trace);
            let name = short_name(&label);
            let length = duration(item.length(trace));
            let forms = vec![format!("{name} {length}"), name.to_owned(), length];
            return self.stall_text(item, first, room, &forms);
        }
        let viewport = self.app().viewport;
        let end = i64::from(first + room);
        for part in parts {
            let from = viewport.cell(part.begin, self.line.width);
            let to = viewport.cell(part.end, self.line.width);
            let to = if part.end == item.span(trace).1 {
                end
            } else {
                to
            };
            let from = from.clamp(i64::from(first), end) as u16;
            let room = to.clamp(from.into(), end) as u16 - from;
            if part.cause == Cause::ReturnLatency {
                let style = self.returning(item, &part);
                (from..from + room).for_each(|column| self.put(column, RETURNING, style));
            }
            let forms = blame::words(self.app().known(), trace, &part);
            self.stall_text(item, from, room, &forms);
        }
    }

    fn stall_text(&mut self, item: Item, first: u16, room: u16, forms: &[String]) {
        let room = usize::from(room).saturating_sub(4);
        if let Some(text) = forms.iter().find(|text| width(text) <= room) {
            let style = match self.is_selected(item) {
                true => self.app().theme.chosen(),
                false => self.shape(item).add_modifier(Modifier::BOLD),
            };
            self.write(first + 1, &format!(" {text} "), style);
        }
    }

    fn write(&mut self, column: u16, text: &str, style: Style) {
        let room = usize::from(self.line.width.saturating_sub(column));
        let end = column + width(text).min(room) as u16;
        self.drawn.text(self.line.y, column..end);
        self.buffer
            .set_stringn(self.line.x + column, self.line.y, text, room, style);
    }

    /// Marks idle stretches of a stream and says why it was idle.
    fn idle_stretches(&mut self) {
        if !matches!(self.key, TrackKey::Stream(_)) {
            return;
        }
        let mut column = 0;
        while column < self.line.width {
            let first = column;
            while column < self.line.width && self.at(column) == Cell::Idle {
                column += 1;
            }
            if column - first >= 2 {
                self.idle_stretches_in(first..column);
            }
            column = column.max(first + 1);
        }
    }

    /// Marks the gaps of a stream in columns without slices, each where it is: before the stream existed
    /// and after it ended there is none.
    fn idle_stretches_in(&mut self, columns: Range<u16>) {
        let app = self.app();
        let Some(lane) = self.key.lane() else {
            return;
        };
        let (viewport, width) = (app.viewport, self.line.width);
        let moment = |column: u16| viewport.time(i64::from(column), width);
        let (begin, end) = (moment(columns.start), moment(columns.end));
        let stalls = app.stalls.in_window(lane, begin, end).iter();
        let gaps: Vec<Stall> = stalls.filter(|stall| is_gap(stall)).copied().collect();
        for stall in gaps {
            let column = |time: i64| {
                let column = viewport.cell(time, width);
                column.clamp(columns.start.into(), columns.end.into()) as u16
            };
            let last = column(stall.end.saturating_sub(1)).saturating_add(1);
            self.idle_stretch(stall, column(stall.begin)..last.min(columns.end));
        }
    }

    fn idle_stretch(&mut self, stall: Stall, columns: Range<u16>) {
        let app = self.app();
        let is_worst = app.worst.has(&stall);
        let style = match app.selected == Some(Selected::Gap(stall)) {
            true => app.theme.chosen_shape(),
            false if is_worst => app.theme.worst(),
            false => app.theme.idle(),
        };
        let forms = blame::words(app.known(), self.scene.world.trace, &stall);
        self.drawn.worst |= is_worst;
        for column in columns.clone() {
            self.put(column, IDLE, style);
        }
        let room = columns.len();
        let text = forms.into_iter().find(|text| width(text) + 6 <= room);
        if let Some(text) = text {
            let left = (room - width(&text) - 2) / 2;
            self.write(columns.start + left as u16, &format!(" {text} "), style);
        }
    }

    /// Marks where the thread was capturing, between its calls.
    fn captures(&mut self) {
        let TrackKey::Thread(thread, 0) = self.key else {
            return;
        };
        let viewport = self.app().viewport;
        let (begin, end) = (viewport.begin(), viewport.end());
        let trace = self.scene.world.trace;
        for capture in graphs::captures(self.app(), trace, thread) {
            if capture.span.1 < begin || capture.span.0 > end {
                continue;
            }
            let column = |time: i64| {
                let column = viewport.cell(time, self.line.width);
                column.clamp(0, i64::from(self.line.width)) as u16
            };
            self.capture(column(capture.span.0), column(capture.span.1), &capture);
        }
    }

    /// Fills what is idle of a capture, and names it in the longest stretch.
    fn capture(&mut self, first: u16, end: u16, capture: &graphs::Capture) {
        let style = match capture.failed {
            true => self.app().theme.bad(),
            false => self.app().theme.accent(),
        };
        let (mut longest, mut stretch) = (first..first, first..first);
        for column in first..end {
            if self.at(column) != Cell::Idle {
                stretch = column + 1..column + 1;
                continue;
            }
            self.put(column, CAPTURING, style);
            stretch.end = column + 1;
            if stretch.len() > longest.len() {
                longest = stretch.clone();
            }
        }
        let room = longest.len();
        let text = capture.texts.iter().find(|text| width(text) + 4 <= room);
        if let Some(text) = text {
            let left = (room - width(text) - 2) / 2;
            self.write(longest.start + left as u16, &format!(" {text} "), style);
        }
    }

    /// Marks where calls failed: however short they were, and however many others were there.
    fn failures(&mut self) {
        if !self.app().failures.has(self.key) {
            return;
        }
        let theme = self.app().theme;
        let (viewport, width) = (self.app().viewport, self.line.width);
        let moment = |column: u16| viewport.time(i64::from(column), width);
        for column in 0..width {
            let range = (moment(column), moment(column + 1));
            if !self.app().failures.is_any(self.key, range) {
                continue;
            }
            let style = match self.at(column) {
                Cell::Part { item, .. } if self.is_selected(item) => theme.chosen(),
                _ => theme.failed(),
            };
            self.put(column, FAILED, style);
            self.drawn.failed = true;
        }
    }

    /// Marks tasks that have no time where they were launched.
    fn launches(&mut self) {
        let trace = self.scene.world.trace;
        let viewport = self.app().viewport;
        let range = (viewport.begin(), viewport.end());
        let Some(track) = self.track.filter(|it| it.launch_count(trace, range) > 0) else {
            return;
        };
        for column in 0..self.line.width {
            let moment = |column| viewport.time(i64::from(column), self.line.width);
            let window = (moment(column), moment(column + 1) - 1);
            let first = track.launches(trace, window).next();
            if let Some(item) = first.filter(|_| self.at(column) == Cell::Idle) {
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

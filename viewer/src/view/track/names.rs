//! The names of slices, and what waits were for.

use ascend_trace_analysis::{Cause, Stall};
use ratatui::style::Modifier;

use crate::blame;
use crate::item::CallOrTask;
use crate::search::SearchMatch;
use crate::text::{duration, fit, short_name, width};
use crate::view::facts::speed;

use super::{FULL, LanePainter, RETURNING, TrackCell};

impl LanePainter<'_, '_> {
    /// Writes the names of slices that have room for them.
    pub(super) fn names(&mut self) {
        let mut column = 0;
        while column < self.line.width {
            let TrackCell::Part {
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
                cell == TrackCell::Part {
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

    fn name(&mut self, item: CallOrTask, first: u16, room: u16) {
        let trace = self.scene.world.trace;
        let (columns, is_certain) = self.place_of_name(item, first..first + room);
        let room = columns.len().saturating_sub(2);
        let Some(text) = self.text_of(item, room) else {
            return;
        };
        let mut style = match is_certain {
            true => self.filled(item),
            false => self.uncertain(item).add_modifier(Modifier::BOLD),
        };
        let found = self
            .app()
            .camera
            .search
            .as_ref()
            .is_some_and(|it| it.is_match(trace, SearchMatch::Item(item)));
        if found {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        self.write(columns.start + 1, &text, style);
    }

    /// Text of a slice in this line. The second line has the rest of a long text.
    fn text_of(&self, item: CallOrTask, room: usize) -> Option<String> {
        let trace = self.scene.world.trace;
        let label = item.label(trace);
        let way = item.direction(trace);
        let length = self.time_of(item);
        let going = |name: &str| way.map_or_else(|| name.to_owned(), |way| format!("{name} {way}"));
        let (full, short) = (going(&label), going(short_name(&label)));
        let long = format!("{full} {length}");
        let shortened = format!("{short} {length}");
        if !self.is_first {
            let text = match width(&shortened) <= room {
                true => speed(trace, item)?,
                false => length,
            };
            return (width(&text) <= room).then_some(text);
        }
        let mut forms = [long, shortened, full, short].into_iter();
        if room < 3 {
            return None;
        }
        let form = forms.find(|form| width(form) <= room);
        let form = form.or_else(|| way.map(str::to_owned));
        Some(form.unwrap_or_else(|| fit(short_name(&label), room)))
    }

    /// Shows the parts of a wait, and names its target.
    fn stall_name(&mut self, item: CallOrTask, first: u16, room: u16) {
        let trace = self.scene.world.trace;
        let parts: Vec<Stall> = self.app().stalls_of(trace, item).copied().collect();
        if parts.is_empty() && self.is_first {
            let label = item.label(trace);
            let name = short_name(&label);
            let length = duration(item.length(trace));
            let forms = vec![
                format!("{label} {length}"),
                label.to_string(),
                format!("{name} {length}"),
                name.to_owned(),
                length,
            ];
            return self.stall_text(item, first, room, &forms);
        }
        let viewport = self.app().camera.viewport;
        let end = i64::from(first + room);
        for part in parts {
            let from = viewport.cell(part.begin, self.line.width);
            let to = viewport.cell(part.end, self.line.width);
            let to = if part.end == item.span(trace).end {
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
            if self.is_first {
                let forms = blame::words(self.app().known(), trace, &part);
                self.stall_text(item, from, room, &forms);
            }
        }
    }

    fn stall_text(&mut self, item: CallOrTask, first: u16, room: u16, forms: &[String]) {
        let room = usize::from(room).saturating_sub(4);
        if let Some(text) = forms.iter().find(|text| width(text) <= room) {
            let style = match self.is_selected(item) {
                true => self.app().theme.chosen(),
                false => self.shape(item).add_modifier(Modifier::BOLD),
            };
            self.write(first + 1, &format!(" {text} "), style);
        }
    }
}

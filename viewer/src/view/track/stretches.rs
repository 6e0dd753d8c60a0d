//! Stretches of a line without slices: why a stream was idle, where a thread captured.

use std::ops::Range;

use ascend_trace_analysis::Stall;

use crate::app::{Selection, is_gap};
use crate::blame;
use crate::item::TrackKey;
use crate::text::width;
use crate::view::graphs;

use super::{CAPTURING, IDLE, LanePainter, TrackCell};

impl LanePainter<'_, '_> {
    /// Marks idle stretches of a stream and says why it was idle.
    pub(super) fn idle_stretches(&mut self) {
        if !matches!(self.key, TrackKey::Stream(_)) {
            return;
        }
        let mut column = 0;
        while column < self.line.width {
            let first = column;
            while column < self.line.width && self.at(column) == TrackCell::Idle {
                column += 1;
            }
            if column - first >= 2 {
                self.idle_stretches_in(first..column);
            }
            column = column.max(first + 1);
        }
    }

    /// Marks the gaps of a stream in columns without slices, each in its place: before the stream
    /// existed and after it ended it has no gaps.
    fn idle_stretches_in(&mut self, columns: Range<u16>) {
        let app = self.app();
        let Some(lane) = self.key.lane() else {
            return;
        };
        let (viewport, width) = (app.camera.viewport, self.line.width);
        let moment = |column: u16| viewport.time(i64::from(column), width);
        let (begin, end) = (moment(columns.start), moment(columns.end));
        let stalls = app.document.stalls.in_window(lane, begin, end).iter();
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
        let is_worst = app.document.worst.has(&stall);
        let style = match app.camera.selected == Some(Selection::Gap(stall)) {
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
    pub(super) fn captures(&mut self) {
        let TrackKey::Thread(thread, 0) = self.key else {
            return;
        };
        let viewport = self.app().camera.viewport;
        let trace = self.scene.world.trace;
        for capture in graphs::captures(self.app(), trace, thread) {
            if !viewport.overlaps(capture.span) {
                continue;
            }
            let column = |time: i64| {
                let column = viewport.cell(time, self.line.width);
                column.clamp(0, i64::from(self.line.width)) as u16
            };
            self.capture(
                column(capture.span.begin),
                column(capture.span.end),
                &capture,
            );
        }
    }

    /// Fills the idle time of a capture, and names it in the longest stretch.
    fn capture(&mut self, first: u16, end: u16, capture: &graphs::CaptureRange) {
        let style = match capture.failed {
            true => self.app().theme.bad(),
            false => self.app().theme.accent(),
        };
        let (mut longest, mut stretch) = (first..first, first..first);
        for column in first..end {
            if self.at(column) != TrackCell::Idle {
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
}

//! The parts of slices in which a task may not have run.

use std::ops::Range;

use ascend_trace_recording::TimeRange;
use ratatui::style::Style;

use crate::item::CallOrTask;
use crate::viewport::STEPS;

use super::{FULL, LanePainter};

/// A part of a slice in which its task may not have run.
pub(crate) const UNCERTAIN: &str = "▚";

impl LanePainter<'_, '_> {
    /// Whether a task may not have run in most of its part of a cell, which goes from one step to another.
    pub(super) fn is_uncertain(&self, column: u16, item: CallOrTask, (from, to): (u8, u8)) -> bool {
        let open = item.open_part(self.scene.world.trace);
        if open.is_empty() {
            return false;
        }
        let step = |time| {
            let step = self.app().camera.viewport.step(time, self.line.width);
            step.saturating_sub(i64::from(column) * STEPS)
        };
        // Its begin is in this cell or before, so its end decides.
        let (from, to) = (i64::from(from), i64::from(to));
        let certain = to - step(open.end).clamp(from, to);
        2 * certain < to - from
    }

    /// The look of such a part.
    pub(super) fn uncertain(&self, item: CallOrTask) -> Style {
        self.block(item)
    }

    /// The columns for the name of a slice that fills some: those in which it certainly ran, if there is room in them, and
    /// whether it did.
    pub(super) fn place_of_name(
        &self,
        item: CallOrTask,
        columns: Range<u16>,
    ) -> (Range<u16>, bool) {
        /// The shortest text, with a cell on either side.
        const LEAST: usize = 5;
        let is_open = |column: &u16| self.is_uncertain(*column, item, (0, FULL));
        let first = columns.clone().take_while(is_open).count() as u16;
        let certain = columns.start + first..columns.end;
        match certain.len() >= LEAST || first == 0 {
            true => (certain, true),
            false => (columns.start..columns.start + first, false),
        }
    }

    /// The time that a slice stands for, as a text: of a task with an open part, the best estimate.
    pub(super) fn time_of(&self, item: CallOrTask) -> String {
        let trace = self.scene.world.trace;
        let measured = crate::text::duration(item.length(trace));
        if item.is_placed(trace) {
            return format!("≈{measured}");
        }
        let CallOrTask::Task(id) = item else {
            return measured;
        };
        let open: TimeRange = item.open_part(trace);
        let placed = match open.is_empty() {
            true => None,
            false => self.app().document.estimates.task(trace, trace.task(id)),
        };
        placed.map_or(measured, |it| {
            format!("≈{}", crate::text::duration(it.time.duration()))
        })
    }
}

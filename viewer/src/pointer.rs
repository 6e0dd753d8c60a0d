//! The mouse: where it is, what its button holds, and when that was pressed.

use std::time::Duration;

use ascend_trace_recording::TimeRange;
use ratatui::layout::Position;

use crate::viewport::Viewport;

/// Two presses in this time, at one place, are a double click.
const DOUBLE: Duration = Duration::from_millis(400);

/// State of the mouse.
#[derive(Debug, Default)]
pub(crate) struct MouseState {
    /// Target of the pressed button.
    pub(crate) drag: Option<DragTarget>,
    /// Where it is while no button is held, if nothing has happened since it went there.
    pub(crate) hover: Option<Position>,
    pressed: Option<(Duration, Position)>,
}

/// Target of a pressed button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DragTarget {
    /// The lanes: from this column, and with this range on screen.
    Lanes { from: u16, range: Viewport },
    /// The end of a range that began at `from`.
    Range { from: i64, to: i64 },
    /// The visible part of the recording: pressed in this column, at this number of nanoseconds from
    /// its begin.
    Window {
        from: u16,
        held: i64,
        has_moved: bool,
    },
}

impl MouseState {
    /// Stores a press, and returns whether it is the second one of a double click. A third one begins
    /// again.
    pub(crate) fn press(&mut self, now: Duration, at: Position) -> bool {
        let is_near = |other: Position| other.y == at.y && other.x.abs_diff(at.x) <= 1;
        let is_second = self
            .pressed
            .is_some_and(|(then, other)| now.saturating_sub(then) <= DOUBLE && is_near(other));
        self.pressed = (!is_second).then_some((now, at));
        is_second
    }

    /// The range being chosen, in order of time.
    pub(crate) fn chosen(&self) -> Option<TimeRange> {
        match self.drag {
            Some(DragTarget::Range { from, to }) => Some(TimeRange::between(from, to)),
            _ => None,
        }
    }

    /// Ends dragging and pointing.
    pub(crate) fn forget(&mut self) {
        self.drag = None;
        self.hover = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presses(presses: &[(u64, u16, u16)]) -> Vec<bool> {
        let mut pointer = MouseState::default();
        let presses = presses.iter();
        presses
            .map(|(at, x, y)| pointer.press(Duration::from_millis(*at), Position::new(*x, *y)))
            .collect()
    }

    #[test]
    fn two_presses_at_one_place_in_a_short_time_are_one_double_click() {
        assert_eq!(presses(&[(0, 5, 5), (300, 5, 5)]), [false, true]);
        assert_eq!(presses(&[(0, 5, 5), (300, 6, 5)]), [false, true]);
        assert_eq!(presses(&[(0, 5, 5), (500, 5, 5)]), [false, false]);
        assert_eq!(presses(&[(0, 5, 5), (100, 8, 5)]), [false, false]);
        assert_eq!(presses(&[(0, 5, 5), (100, 5, 6)]), [false, false]);
        assert_eq!(
            presses(&[(0, 5, 5), (100, 5, 5), (200, 5, 5), (300, 5, 5)]),
            [false, true, false, true]
        );
    }
}

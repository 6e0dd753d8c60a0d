//! The visible place, and the history of places.

use super::{App, ViewPosition};

impl App {
    /// The visible place.
    pub(crate) fn place(&self) -> ViewPosition {
        ViewPosition {
            selected: self.selected,
            lane: self.lane,
            viewport: self.viewport,
            scroll: self.scroll,
            follow: self.follow,
        }
    }

    pub(crate) fn restore(&mut self, place: ViewPosition) {
        self.selected = place.selected;
        self.lane = place.lane;
        self.viewport = place.viewport;
        self.scroll = place.scroll;
        self.follow = place.follow;
        self.group = None;
        self.walk = None;
    }
}

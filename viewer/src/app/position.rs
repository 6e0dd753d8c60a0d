//! The visible place, and the history of places.

use super::{App, ViewPosition};

impl App {
    /// The visible place.
    pub(crate) fn place(&self) -> ViewPosition {
        ViewPosition {
            selected: self.camera.selected,
            lane: self.camera.lane,
            viewport: self.camera.viewport,
            scroll: self.camera.scroll,
            follow: self.camera.follow,
        }
    }

    pub(crate) fn restore(&mut self, place: ViewPosition) {
        self.camera.selected = place.selected;
        self.camera.lane = place.lane;
        self.camera.viewport = place.viewport;
        self.camera.scroll = place.scroll;
        self.camera.follow = place.follow;
        self.camera.group = None;
        self.camera.walk = None;
    }
}

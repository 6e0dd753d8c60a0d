//! The visible place, and the history of places.

use crate::item::{Item, TrackKey};
use crate::selected::Selected;
use crate::viewport::Viewport;

/// Duration that a live view follows at first.
pub(crate) const FOLLOWED_NS: i64 = 10_000_000_000;

/// How the visible range moves when the trace grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Not at all.
    #[default]
    Off,
    /// It shows everything.
    Everything,
    /// It keeps its duration and ends at the newest timestamp.
    Head,
}

/// A place to return to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) selected: Option<Selected>,
    pub(crate) lane: Option<TrackKey>,
    pub(crate) viewport: Viewport,
    pub(crate) scroll: usize,
    pub(crate) follow: Follow,
}

/// The last step along a dependency, and the other ones that were possible.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) choices: Vec<Item>,
    pub(crate) chosen: usize,
    /// Where the walk went before, first to last; `true` for steps to a cause.
    pub(crate) trail: Vec<(Selected, bool)>,
    /// Whether the last step went to a cause.
    pub(crate) to_cause: bool,
}

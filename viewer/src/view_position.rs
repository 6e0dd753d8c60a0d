//! The visible place, and the history of places.

use crate::item::{CallOrTask, TrackKey};
use crate::selection::Selection;
use crate::viewport::Viewport;

/// Duration that a live view follows at first.
pub(crate) const FOLLOWED_NS: i64 = 10_000_000_000;

/// How the visible range moves when the trace grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FollowMode {
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
pub(crate) struct ViewPosition {
    pub(crate) selected: Option<Selection>,
    pub(crate) lane: Option<TrackKey>,
    pub(crate) viewport: Viewport,
    pub(crate) scroll: usize,
    pub(crate) follow: FollowMode,
}

/// The last step along a dependency, and the other ones that were possible.
#[derive(Clone, Debug)]
pub(crate) struct DependencyWalk {
    pub(crate) choices: Vec<CallOrTask>,
    pub(crate) chosen: usize,
    /// Where the walk went before, first to last; `true` for steps to a cause.
    pub(crate) trail: Vec<(Selection, bool)>,
    /// Whether the last step went to a cause.
    pub(crate) to_cause: bool,
}

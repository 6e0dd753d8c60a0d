//! The place in the recording that is on screen.

use crate::arrangement::{LaneArrangement, LaneGroup};
use crate::item::{CallOrTask, TrackKey};
use crate::lanes::ViewRow;
use crate::marks::Marks;
use crate::range_contents::RangeContents;
use crate::ranges::RangeId;
use crate::rank::DurationRank;
use crate::search::Search;
use crate::selection::Selection;
use crate::stable_id::StableId;
use crate::view_position::{DependencyWalk, FollowMode, ViewPosition};
use crate::viewport::Viewport;

/// The visible range and lanes, the selection, and the history.
#[derive(Debug)]
pub(crate) struct Camera {
    pub(crate) viewport: Viewport,
    pub(crate) rows: Vec<ViewRow>,
    pub(crate) selected: Option<Selection>,
    /// The selection, if it is in a part of the recording that is not loaded now.
    pub(crate) away: Option<StableId>,
    pub(crate) lane: Option<TrackKey>,
    /// The folded lanes that the cursor is on, instead of a lane.
    pub(crate) group: Option<LaneGroup>,
    pub(crate) arrangement: LaneArrangement,
    /// The first row on screen, not counting those that are pinned.
    pub(crate) scroll: usize,
    pub(crate) follow: FollowMode,
    pub(crate) paused: bool,
    pub(crate) all_arrows: bool,
    pub(crate) search: Option<Search>,
    pub(crate) walk: Option<DependencyWalk>,
    pub(crate) history: Vec<ViewPosition>,
    /// Undone moves that can be redone.
    pub(crate) future: Vec<ViewPosition>,
    /// Whether the last action only moved the visible range: a row of moves is undone at once.
    pub(crate) moving: bool,
    pub(crate) marks: Marks,
    /// The selection's rank among its kind, and when that was found out.
    pub(crate) rank: Option<(CallOrTask, (u64, u64), DurationRank)>,
    /// What happened in the selected range, and when that was found out.
    pub(crate) inside: Option<(RangeId, (u64, u64), RangeContents)>,
    /// Shorter stalls are not gone to and not listed.
    pub(crate) least: i64,
}

impl Camera {
    pub(super) fn new(live: bool) -> Self {
        Self {
            viewport: Viewport::new(0, 0),
            rows: Vec::new(),
            selected: None,
            away: None,
            lane: None,
            group: None,
            arrangement: LaneArrangement::default(),
            scroll: 0,
            follow: if live {
                FollowMode::Head
            } else {
                FollowMode::Off
            },
            paused: false,
            all_arrows: true,
            search: None,
            walk: None,
            history: Vec::new(),
            future: Vec::new(),
            moving: false,
            marks: Marks::default(),
            rank: None,
            inside: None,
            least: 0,
        }
    }
}

//! The state of the view. It changes only in [`crate::update`].

mod command_choices;
mod position;
mod selection_facts;
mod stalls;
mod switch_part;
mod trace_update;

use std::sync::Arc;
use std::time::Duration;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Estimates, Graphs, Stalls, Window};
use ascend_trace_recording::{TimeRange, Trace};

use crate::arrangement::{LaneArrangement, LaneGroup};
use crate::blame::StallContext;
use crate::blamed_stalls::{BlamedStalls, Blames};
use crate::cached_results::{CachedBlame, CachedFindings, CachedStalls, CachedStats};
use crate::command_choices::CommandChoice;
use crate::config::Config;
use crate::critical::CriticalPath;
use crate::failures::FailedCalls;
use crate::flame::{FlameGraph, SummedCalls};
use crate::item::{Item, TrackKey};
use crate::job::JobQueue;
use crate::lanes::ViewRow;
use crate::layout::{LayoutInputs, ScreenLayout};
use crate::list::ListState;
use crate::longest_stalls::LongestStalls;
use crate::marks::{Bookmark, Marks};
use crate::meters::Meters;
use crate::nodes::NodeLines;
use crate::overview::RecordingOverview;
use crate::pair::OtherRecording;
use crate::pointer::MouseState;
use crate::prompt::TextPrompt;
use crate::range_contents::RangeContents;
use crate::ranges::{RangeId, RangeLines};
use crate::rank::DurationRank;
use crate::rates::GrowthRate;
use crate::recording_totals::RecordingTotals;
use crate::search::Search;
use crate::source::{ProgramLog, RecordingState, SourceProgress};
use crate::stable_id::StableId;
use crate::theme::Theme;
use crate::tracks::SliceTracks;
use crate::viewport::Viewport;

pub(crate) use command_choices::all as command_choices;
pub(crate) use selection_facts::{refresh_inside, refresh_rank};
pub(crate) use switch_part::SelectionSnapshot;

pub(crate) use crate::selection::{OpenCall, Selection, is_gap};
pub(crate) use crate::view_position::{DependencyWalk, FOLLOWED_NS, FollowMode, ViewPosition};

/// The recording that the view shows, apart from the view's state.
#[derive(Clone, Copy)]
pub(crate) struct ViewData<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) log: Option<&'a dyn ProgramLog>,
    /// The name that is proposed for an export, if the source can make one.
    pub(crate) export_name: Option<&'a str>,
    /// Facts about the whole recording; the trace holds its loaded part.
    pub(crate) overview: &'a RecordingOverview,
}

/// Who gets the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum InputMode {
    #[default]
    Timeline,
    /// A text is being typed.
    Prompt(TextPrompt),
    /// The first line of the help.
    Help(u16),
}

/// The state of the view.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) title: String,
    pub(crate) theme: Theme,
    pub(crate) size: (u16, u16),
    pub(crate) viewport: Viewport,
    /// The span of the trace as far as it has been taken in.
    pub(crate) span: Option<TimeRange>,
    pub(crate) tracks: SliceTracks,
    pub(crate) rows: Vec<ViewRow>,
    pub(crate) dependencies: Arc<Dependencies>,
    pub(crate) stalls: Arc<Stalls>,
    pub(crate) graphs: Graphs,
    pub(crate) nodes: NodeLines,
    pub(crate) meters: Meters,
    pub(crate) communicators: Communicators,
    /// By the tasks of the loaded part.
    pub(crate) estimates: Estimates,
    /// Failed calls of the loaded part.
    pub(crate) failures: FailedCalls,
    pub(crate) selected: Option<Selection>,
    /// The selection, if it is in a part of the recording that is not loaded now.
    pub(crate) away: Option<StableId>,
    pub(crate) lane: Option<TrackKey>,
    /// The folded lanes that the cursor is on, instead of a lane.
    pub(crate) group: Option<LaneGroup>,
    pub(crate) arrangement: LaneArrangement,
    pub(crate) config: Config,
    /// A layout to save in the configuration, as text, and its name.
    pub(crate) keeping: Option<(String, String)>,
    /// The first row on screen, not counting those that are pinned.
    pub(crate) scroll: usize,
    pub(crate) mode: InputMode,
    pub(crate) follow: FollowMode,
    pub(crate) paused: bool,
    pub(crate) progress: SourceProgress,
    /// Tasks and calls when the view was last brought up to date.
    pub(crate) counts: (u64, u64),
    /// Calls that failed, in all of the recording.
    pub(crate) failed: u64,
    /// The repeat count of the next action, while the user types it.
    pub(crate) times: Option<u32>,
    pub(crate) log_open: bool,
    /// Lines between the end of the log and the last one shown.
    pub(crate) log_back: usize,
    pub(crate) large_detail: bool,
    pub(crate) all_arrows: bool,
    pub(crate) search: Option<Search>,
    pub(crate) walk: Option<DependencyWalk>,
    pub(crate) history: Vec<ViewPosition>,
    /// Undone moves that can be redone.
    pub(crate) future: Vec<ViewPosition>,
    /// Whether the last action only moved the visible range: a row of moves is undone at once.
    pub(crate) moving: bool,
    /// The list on screen; it gets the keys.
    pub(crate) list: Option<ListState>,
    /// The calls of a thread by nesting, if these are on screen; they get the keys.
    pub(crate) flame: Option<FlameGraph>,
    /// Choices of the command line.
    pub(crate) choices: Vec<CommandChoice>,
    /// Entries of the list are of a part that is not loaded any more.
    pub(crate) stale: bool,
    pub(crate) marks: Marks,
    pub(crate) bookmarks: Vec<Bookmark>,
    /// Whether the bookmarks are other ones than those kept next to the trace.
    pub(crate) unsaved: bool,
    /// The selection's rank among its kind, and when that was found out.
    pub(crate) rank: Option<(Item, (u64, u64), DurationRank)>,
    /// What happened in the selected range, and when that was found out.
    pub(crate) inside: Option<(RangeId, (u64, u64), RangeContents)>,
    /// What all of it comes to, as far as that is known.
    pub(crate) overall: Option<RecordingTotals>,
    /// The longest stalls of the loaded part.
    pub(crate) worst: LongestStalls,
    /// Time since the view began.
    pub(crate) clock: Duration,
    pub(crate) rates: GrowthRate,
    pub(crate) ranges: RangeLines,
    /// When a long file began to be opened.
    pub(crate) opening_since: Option<Duration>,
    pub(crate) pointer: MouseState,
    /// Slow work, which the source does.
    pub(crate) jobs: JobQueue,
    /// The longest stalls of all of the recording, once they have been asked for.
    pub(crate) longest: Option<CachedStalls>,
    /// The culprit of each stall of the loaded part, and of the whole recording once requested.
    pub(crate) blamed: Arc<BlamedStalls>,
    pub(crate) blamed_all: Option<CachedBlame>,
    pub(crate) blames: Blames,
    /// What checks found in all of the recording, once they have been asked.
    pub(crate) findings_all: Option<CachedFindings>,
    /// The critical path, while it is shown.
    pub(crate) path: Option<CriticalPath>,
    /// Facts about the other recording, where the view is one of two.
    pub(crate) companion: Option<OtherRecording>,
    /// Shorter stalls are not gone to and not listed.
    pub(crate) least: i64,
    /// Tables of a range that is not loaded.
    pub(crate) summed: Option<CachedStats>,
    /// Calls of a thread in a range that is not loaded.
    pub(crate) summed_calls: Option<SummedCalls>,
    /// An urgent message for the user.
    pub(crate) message: Option<String>,
    /// Why the source can no longer be read.
    pub(crate) failure: Option<String>,
}

impl App {
    pub(crate) fn new(title: String, theme: Theme, live: bool, size: (u16, u16)) -> Self {
        Self {
            title,
            theme,
            size,
            viewport: Viewport::new(0, 0),
            span: None,
            tracks: SliceTracks::default(),
            rows: Vec::new(),
            dependencies: Arc::default(),
            stalls: Arc::default(),
            graphs: Graphs::default(),
            nodes: NodeLines::default(),
            meters: Meters::default(),
            communicators: Communicators::default(),
            estimates: Estimates::default(),
            failures: FailedCalls::default(),
            selected: None,
            away: None,
            lane: None,
            group: None,
            arrangement: LaneArrangement::default(),
            config: Config::default(),
            keeping: None,
            scroll: 0,
            mode: InputMode::default(),
            follow: if live {
                FollowMode::Head
            } else {
                FollowMode::Off
            },
            paused: false,
            progress: SourceProgress::default(),
            counts: (0, 0),
            failed: 0,
            times: None,
            log_open: false,
            log_back: 0,
            large_detail: false,
            all_arrows: true,
            search: None,
            walk: None,
            history: Vec::new(),
            future: Vec::new(),
            moving: false,
            list: None,
            flame: None,
            choices: Vec::new(),
            stale: false,
            marks: Marks::default(),
            bookmarks: Vec::new(),
            unsaved: false,
            rank: None,
            inside: None,
            overall: None,
            worst: LongestStalls::default(),
            clock: Duration::ZERO,
            rates: GrowthRate::default(),
            ranges: RangeLines::default(),
            opening_since: None,
            pointer: MouseState::default(),
            jobs: JobQueue::default(),
            longest: None,
            blamed: Arc::default(),
            blamed_all: None,
            blames: Blames::default(),
            findings_all: None,
            path: None,
            companion: None,
            least: 0,
            summed: None,
            summed_calls: None,
            message: None,
            failure: None,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.progress.recording == RecordingState::Running && self.failure.is_none()
    }

    pub(crate) fn layout(&self) -> ScreenLayout {
        ScreenLayout::new(
            self.size,
            LayoutInputs {
                log: self.log_open,
                large_detail: self.large_detail,
                list: self.list.is_some() || self.flame.is_some(),
                pinned: self.pinned(),
            },
        )
    }

    /// How many rows are pinned.
    fn pinned(&self) -> usize {
        let pinned = &self.arrangement.pinned;
        let is_pinned = |row: &&ViewRow| row.track().is_some_and(|key| pinned.contains(&key));
        self.rows.iter().take_while(is_pinned).count()
    }

    /// The loaded part, in the form that analyses take.
    pub(crate) fn window<'t>(&self, trace: &'t Trace) -> Window<'t> {
        Window::with(
            trace,
            Arc::clone(&self.dependencies),
            Arc::clone(&self.stalls),
        )
    }

    /// What stalls are explained by.
    pub(crate) fn known(&self) -> StallContext<'_> {
        StallContext {
            dependencies: &self.dependencies,
            stalls: &self.stalls,
        }
    }
}

//! The state of the view. It changes only in [`crate::update`].

mod intake;
mod known;
mod offered;
mod part;
mod place;
mod stalls;

use std::sync::Arc;
use std::time::Duration;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Estimates, Graphs, Stalls, Window};
use ascend_trace_recording::{TimeRange, Trace};

use crate::arrangement::{Arrangement, Group};
use crate::blame::Known;
use crate::blamed::{BlamedStalls, Blames};
use crate::choices::Choice;
use crate::config::Config;
use crate::critical::CriticalPath;
use crate::failures::Failures;
use crate::flame::{Flame, SummedCalls};
use crate::identity::Identity;
use crate::inside::Inside;
use crate::item::{Item, TrackKey};
use crate::job::Jobs;
use crate::lanes::ViewRow;
use crate::layout::{Layout, Wishes};
use crate::list::List;
use crate::marks::{Bookmark, Marks};
use crate::meters::Meters;
use crate::nodes::NodeLines;
use crate::overall::Overall;
use crate::overview::Overview;
use crate::pair::Companion;
use crate::pointer::Pointer;
use crate::prompt::Prompt;
use crate::ranges::{RangeId, Ranges};
use crate::rank::Rank;
use crate::rates::Rates;
use crate::results::{BlamedAll, FindingsAll, Longest, Summed};
use crate::search::Search;
use crate::source::{Log, Progress, Recording};
use crate::theme::Theme;
use crate::tracks::Tracks;
use crate::viewport::Viewport;
use crate::worst::Worst;

pub(crate) use known::{refresh_inside, refresh_rank};
pub(crate) use offered::all as offered;
pub(crate) use part::Kept;

pub(crate) use crate::place::{FOLLOWED_NS, Follow, Place, Walk};
pub(crate) use crate::selected::{OpenCall, Selected, is_gap};

/// The recording that the view shows, apart from the view's state.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) log: Option<&'a dyn Log>,
    /// The name that is proposed for an export, if the source can make one.
    pub(crate) export_name: Option<&'a str>,
    /// Facts about the whole recording; the trace holds its loaded part.
    pub(crate) overview: &'a Overview,
}

/// Who gets the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Timeline,
    /// A text is being typed.
    Prompt(Prompt),
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
    pub(crate) tracks: Tracks,
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
    pub(crate) failures: Failures,
    pub(crate) selected: Option<Selected>,
    /// The selection, if it is in a part of the recording that is not loaded now.
    pub(crate) away: Option<Identity>,
    pub(crate) lane: Option<TrackKey>,
    /// The folded lanes that the cursor is on, instead of a lane.
    pub(crate) group: Option<Group>,
    pub(crate) arrangement: Arrangement,
    pub(crate) config: Config,
    /// A layout to save in the configuration, as text, and its name.
    pub(crate) keeping: Option<(String, String)>,
    /// The first row on screen, not counting those that are pinned.
    pub(crate) scroll: usize,
    pub(crate) mode: Mode,
    pub(crate) follow: Follow,
    pub(crate) paused: bool,
    pub(crate) progress: Progress,
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
    pub(crate) walk: Option<Walk>,
    pub(crate) history: Vec<Place>,
    /// Undone moves that can be redone.
    pub(crate) future: Vec<Place>,
    /// Whether the last action only moved the visible range: a row of moves is undone at once.
    pub(crate) moving: bool,
    /// The list on screen; it gets the keys.
    pub(crate) list: Option<List>,
    /// The calls of a thread by nesting, if these are on screen; they get the keys.
    pub(crate) flame: Option<Flame>,
    /// Choices of the command line.
    pub(crate) choices: Vec<Choice>,
    /// Entries of the list are of a part that is not loaded any more.
    pub(crate) stale: bool,
    pub(crate) marks: Marks,
    pub(crate) bookmarks: Vec<Bookmark>,
    /// Whether the bookmarks are other ones than those kept next to the trace.
    pub(crate) unsaved: bool,
    /// The selection's rank among its kind, and when that was found out.
    pub(crate) rank: Option<(Item, (u64, u64), Rank)>,
    /// What happened in the selected range, and when that was found out.
    pub(crate) inside: Option<(RangeId, (u64, u64), Inside)>,
    /// What all of it comes to, as far as that is known.
    pub(crate) overall: Option<Overall>,
    /// The longest stalls of the loaded part.
    pub(crate) worst: Worst,
    /// Time since the view began.
    pub(crate) clock: Duration,
    pub(crate) rates: Rates,
    pub(crate) ranges: Ranges,
    /// When a long file began to be opened.
    pub(crate) opening_since: Option<Duration>,
    pub(crate) pointer: Pointer,
    /// Slow work, which the source does.
    pub(crate) jobs: Jobs,
    /// The longest stalls of all of the recording, once they have been asked for.
    pub(crate) longest: Option<Longest>,
    /// The culprit of each stall of the loaded part, and of the whole recording once requested.
    pub(crate) blamed: Arc<BlamedStalls>,
    pub(crate) blamed_all: Option<BlamedAll>,
    pub(crate) blames: Blames,
    /// What checks found in all of the recording, once they have been asked.
    pub(crate) findings_all: Option<FindingsAll>,
    /// The critical path, while it is shown.
    pub(crate) path: Option<CriticalPath>,
    /// Facts about the other recording, where the view is one of two.
    pub(crate) companion: Option<Companion>,
    /// Shorter stalls are not gone to and not listed.
    pub(crate) least: i64,
    /// Tables of a range that is not loaded.
    pub(crate) summed: Option<Summed>,
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
            tracks: Tracks::default(),
            rows: Vec::new(),
            dependencies: Arc::default(),
            stalls: Arc::default(),
            graphs: Graphs::default(),
            nodes: NodeLines::default(),
            meters: Meters::default(),
            communicators: Communicators::default(),
            estimates: Estimates::default(),
            failures: Failures::default(),
            selected: None,
            away: None,
            lane: None,
            group: None,
            arrangement: Arrangement::default(),
            config: Config::default(),
            keeping: None,
            scroll: 0,
            mode: Mode::default(),
            follow: if live { Follow::Head } else { Follow::Off },
            paused: false,
            progress: Progress::default(),
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
            worst: Worst::default(),
            clock: Duration::ZERO,
            rates: Rates::default(),
            ranges: Ranges::default(),
            opening_since: None,
            pointer: Pointer::default(),
            jobs: Jobs::default(),
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
        self.progress.recording == Recording::Running && self.failure.is_none()
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(
            self.size,
            Wishes {
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
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            dependencies: &self.dependencies,
            stalls: &self.stalls,
        }
    }
}

//! The state of the view. It changes only in [`crate::update`].

use std::time::Duration;

use ascend_trace_analysis::collectives::Communicators;
use ascend_trace_analysis::{Dependencies, Graphs, Lane, Stall, Stalls};
use ascend_trace_model::Trace;

use crate::arrangement::{Arrangement, Group};
use crate::blame::Known;
use crate::event::{KeyCode, KeyEvent, KeyModifiers};
use crate::exporting::{Exporting, Wish};
use crate::hunt::{Hunt, Longest, Summed};
use crate::inside::Inside;
use crate::item::{Item, TrackKey};
use crate::lanes::{self, Lanes, Row};
use crate::layout::{Layout, Wishes};
use crate::list::List;
use crate::marks::{Bookmark, Marks};
use crate::meters::Meters;
use crate::nodes::{Node, NodeLines};
use crate::part::{Identity, Overview};
use crate::prompt::Prompt;
use crate::quest::Quest;
use crate::ranges::{RangeId, Ranges};
use crate::rank::Rank;
use crate::rates::Rates;
use crate::search::Search;
use crate::source::{Log, Progress, Recording};
use crate::theme::Theme;
use crate::tracks::Tracks;
use crate::viewport::Viewport;

/// What the view looks at, besides its own state.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) log: Option<&'a dyn Log>,
    /// The name that is proposed for an export, if the source can make one.
    pub(crate) export_name: Option<&'a str>,
    /// What is known of all of the recording when the trace is only a part of it.
    pub(crate) overview: Option<&'a Overview>,
}

/// What the cursor is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selected {
    Item(Item),
    /// A stall that is no task and no call: an idle stretch of a stream.
    Gap(Stall),
    /// A range that the program named, and the line that it is on.
    Range(RangeId, u8),
    /// A node of a graph, in one of its replays.
    Node(Node),
}

impl Selected {
    pub(crate) fn item(self) -> Option<Item> {
        match self {
            Self::Item(item) => Some(item),
            Self::Gap(_) | Self::Range(..) | Self::Node(_) => None,
        }
    }

    pub(crate) fn span(self, trace: &Trace) -> (i64, i64) {
        match self {
            Self::Item(item) => item.span(trace),
            Self::Gap(stall) => (stall.begin, stall.end),
            Self::Range(id, _) => id.span(trace),
            Self::Node(node) => (node.begin, node.end),
        }
    }

    pub(crate) fn track(self, trace: &Trace) -> TrackKey {
        match self {
            Self::Item(item) => item.track(trace),
            Self::Gap(stall) => match stall.lane {
                Lane::Stream(stream) => TrackKey::Stream(stream),
                Lane::Thread(thread) => TrackKey::Thread(thread, 0),
            },
            Self::Range(id, level) => TrackKey::Ranges(id.thread(trace), level),
            Self::Node(node) => TrackKey::Nodes(trace.task(node.replay).stream),
        }
    }

    /// Whether a line shows it.
    pub(crate) fn is_on(self, trace: &Trace, key: TrackKey) -> bool {
        match self {
            Self::Item(item) => item.is_on(trace, key),
            _ => self.track(trace) == key,
        }
    }
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

/// How the visible range moves when the trace grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Not at all.
    #[default]
    Off,
    /// It shows everything, as long as that is short.
    Everything,
    /// It keeps its length and ends at the newest moment.
    Head,
}

/// Where one can come back to.
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

/// The state of the view.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) title: String,
    pub(crate) theme: Theme,
    pub(crate) size: (u16, u16),
    pub(crate) viewport: Viewport,
    /// The span of the trace as far as it has been taken in.
    pub(crate) span: Option<(i64, i64)>,
    pub(crate) tracks: Tracks,
    pub(crate) rows: Vec<Row>,
    pub(crate) dependencies: Dependencies,
    pub(crate) stalls: Stalls,
    pub(crate) graphs: Graphs,
    pub(crate) nodes: NodeLines,
    pub(crate) meters: Meters,
    pub(crate) communicators: Communicators,
    pub(crate) selected: Option<Selected>,
    /// What was selected in a part of the recording that is not loaded now.
    pub(crate) away: Option<Identity>,
    pub(crate) lane: Option<TrackKey>,
    /// The folded lanes that the cursor is on, instead of a lane.
    pub(crate) group: Option<Group>,
    pub(crate) arrangement: Arrangement,
    /// The first row on screen, not counting those that are pinned.
    pub(crate) scroll: usize,
    pub(crate) mode: Mode,
    pub(crate) follow: Follow,
    pub(crate) paused: bool,
    pub(crate) progress: Progress,
    /// Tasks and calls when the view was last brought up to date.
    pub(crate) counts: (u64, u64),
    pub(crate) log_open: bool,
    /// Lines between the end of the log and the last one shown.
    pub(crate) log_back: usize,
    pub(crate) large_detail: bool,
    pub(crate) all_arrows: bool,
    pub(crate) search: Option<Search>,
    pub(crate) walk: Option<Walk>,
    pub(crate) history: Vec<Place>,
    /// What was undone and can be done again.
    pub(crate) future: Vec<Place>,
    /// Whether the last action only moved the visible range: a row of moves is undone at once.
    pub(crate) moving: bool,
    /// The list on screen; it gets the keys.
    pub(crate) list: Option<List>,
    /// Entries of the list are of a part that is not loaded any more.
    pub(crate) stale: bool,
    pub(crate) marks: Marks,
    pub(crate) bookmarks: Vec<Bookmark>,
    /// Whether the bookmarks are other ones than those kept beside the trace.
    pub(crate) unsaved: bool,
    /// The selection's rank among its kind, and when that was found out.
    pub(crate) rank: Option<(Item, (u64, u64), Rank)>,
    /// What happened in the selected range, and when that was found out.
    pub(crate) inside: Option<(RangeId, (u64, u64), Inside)>,
    /// Time since the view began.
    pub(crate) clock: Duration,
    pub(crate) rates: Rates,
    pub(crate) ranges: Ranges,
    /// When a long file began to be opened.
    pub(crate) opening_since: Option<Duration>,
    /// The column where the mouse button went down, and the range at that time.
    pub(crate) drag: Option<(u16, Viewport)>,
    /// What is looked for in all of the recording.
    pub(crate) hunt: Option<Hunt>,
    /// Counts these.
    pub(crate) hunts: u64,
    /// What the source is to be asked; `Some(None)` makes it give up.
    pub(crate) asking: Option<Option<Box<Quest>>>,
    /// The longest stalls of all of the recording, once they have been asked for.
    pub(crate) longest: Option<Longest>,
    /// Tables of a range that is not loaded.
    pub(crate) summed: Option<Summed>,
    /// The export that is under way, and what is wanted of the source.
    pub(crate) exporting: Option<Exporting>,
    pub(crate) export_wish: Option<Wish>,
    /// What the user must know now.
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
            dependencies: Dependencies::default(),
            stalls: Stalls::default(),
            graphs: Graphs::default(),
            nodes: NodeLines::default(),
            meters: Meters::default(),
            communicators: Communicators::default(),
            selected: None,
            away: None,
            lane: None,
            group: None,
            arrangement: Arrangement::default(),
            scroll: 0,
            mode: Mode::default(),
            follow: if live {
                Follow::Everything
            } else {
                Follow::Off
            },
            paused: false,
            progress: Progress::default(),
            counts: (0, 0),
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
            stale: false,
            marks: Marks::default(),
            bookmarks: Vec::new(),
            unsaved: false,
            rank: None,
            inside: None,
            clock: Duration::ZERO,
            rates: Rates::default(),
            ranges: Ranges::default(),
            opening_since: None,
            drag: None,
            hunt: None,
            hunts: 0,
            asking: None,
            longest: None,
            summed: None,
            exporting: None,
            export_wish: None,
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
                list: self.list.is_some(),
                pinned: self.pinned(),
            },
        )
    }

    /// How many rows are pinned.
    fn pinned(&self) -> usize {
        let pinned = &self.arrangement.pinned;
        let is_pinned = |row: &&Row| row.track().is_some_and(|key| pinned.contains(&key));
        self.rows.iter().take_while(is_pinned).count()
    }

    /// What is looked at now.
    pub(crate) fn place(&self) -> Place {
        Place {
            selected: self.selected,
            lane: self.lane,
            viewport: self.viewport,
            scroll: self.scroll,
            follow: self.follow,
        }
    }

    pub(crate) fn restore(&mut self, place: Place) {
        self.selected = place.selected;
        self.lane = place.lane;
        self.viewport = place.viewport;
        self.scroll = place.scroll;
        self.follow = place.follow;
        self.group = None;
        self.walk = None;
    }

    fn rows_of(&self, trace: &Trace, overview: Option<&Overview>) -> Vec<Row> {
        let all = Lanes {
            trace,
            tracks: &self.tracks,
            overview,
            ranges: &self.ranges,
            nodes: &self.nodes,
            meters: &self.meters,
            arrangement: &self.arrangement,
        };
        lanes::rows(all)
    }

    /// Puts the lanes in the order that is wanted now.
    pub(crate) fn arrange(&mut self, world: World<'_>) {
        self.rows = self.rows_of(world.trace, world.overview);
        let is_there = |group| self.rows.contains(&Row::Folded(group));
        self.group = self.group.filter(|group| is_there(*group));
    }

    /// Makes sure that a lane is one of those that are shown.
    pub(crate) fn reveal_track(&mut self, world: World<'_>, key: TrackKey) {
        if self.arrangement.reveal(world.trace, key) {
            self.arrange(world);
        }
    }

    /// Brings everything that is derived from the trace up to date.
    pub(crate) fn take_in(&mut self, trace: &Trace) {
        let ended = !self.is_running();
        self.tracks.update(trace);
        self.ranges.update(trace);
        self.meters.update(trace, self.clock, ended);
        self.graphs.update(trace);
        self.nodes.update(trace, &self.graphs);
        self.communicators.update(trace);
        self.rows = self.rows_of(trace, None);
        match ended {
            // A finished trace answers what a growing one could not.
            true => {
                self.dependencies = Dependencies::of(trace);
                self.stalls = Stalls::with(trace, &self.dependencies);
            }
            false => {
                self.dependencies.update(trace);
                self.stalls.update(trace, &self.dependencies);
            }
        }
        self.counts = (trace.tasks().len() as u64, trace.calls().len() as u64);
        self.take_span(trace.span());
    }

    /// Brings what is known of a recording up to date of which the trace is only a part.
    pub(crate) fn take_overview(&mut self, trace: &Trace, overview: &Overview) {
        self.ranges.update(trace);
        let ended = !self.is_running();
        self.meters.update(trace, self.clock, ended);
        self.rows = self.rows_of(trace, Some(overview));
        self.opening_since = overview
            .opening
            .and(self.opening_since.or(Some(self.clock)));
        self.counts = (overview.tasks, overview.calls);
        if overview.opening.is_none() {
            self.take_span(overview.span);
        }
    }

    fn take_span(&mut self, span: Option<(i64, i64)>) {
        let first = self.span.is_none();
        self.span = span;
        if let Some(span) = self.span {
            if first {
                self.viewport = Viewport::fitting(span);
            }
            self.lane = self
                .lane
                .or_else(|| self.rows.iter().find_map(|row| row.track()));
        }
    }

    /// What stalls are explained by.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            dependencies: &self.dependencies,
            stalls: &self.stalls,
        }
    }

    /// The stall that the selection is, if it is one.
    pub(crate) fn selected_stall(&self, trace: &Trace) -> Option<Stall> {
        match self.selected? {
            Selected::Gap(stall) => Some(stall),
            Selected::Item(item) => self.stall_of(trace, item),
            Selected::Range(..) | Selected::Node(_) => None,
        }
    }

    /// The stall that an item is: a wait that held its stream, or a call that blocked.
    pub(crate) fn stall_of(&self, trace: &Trace, item: Item) -> Option<Stall> {
        let (begin, end) = item.span(trace);
        let lane = item.track(trace).lane()?;
        let stalls = self.stalls.in_window(lane, begin, end);
        let own = |stall: &&Stall| stall.node == item.node() && !stall.is_gap();
        stalls.iter().find(own).copied()
    }
}

/// Whether a stall is an idle stretch of a stream that is worth showing, rather than a task or a
/// call.
pub(crate) fn is_gap(stall: &Stall) -> bool {
    stall.is_gap() && stall.is_notable()
}

/// Lets a key edit a text; false when it has another meaning.
pub(crate) fn edit(text: &mut String, key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Char(character) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            text.push(character);
        }
        KeyCode::Backspace => {
            text.pop();
        }
        _ => return false,
    }
    true
}

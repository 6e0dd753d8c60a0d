//! Lists to walk through and jump from: stalls, statistics, bookmarks, commands.

mod cell;
mod order;
mod row;

use ascend_trace_analysis::{Cause, Stall};
use ascend_trace_recording::{StreamId, ThreadId, TimeRange};

pub(crate) use cell::ListCell;
pub(crate) use order::SortOrder;
pub(crate) use row::RowId;

use crate::action::Action;
use crate::background_query::{FoundElsewhere, FoundStall};
use crate::blamed_stalls::BlameId;
use crate::command_choices::TextCommand;
use crate::view_position::ViewPosition;

/// Subject of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// The longest stalls.
    Stalls(StallFilter),
    /// Stalls summed up by who is to blame.
    Blames,
    /// What checks found.
    Findings,
    /// The critical path.
    Critical(PathListing),
    /// What changed from one recording to the other.
    Changes,
    Statistics(StatsPage),
    Bookmarks,
    Commands,
}

/// How the critical path is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathListing {
    /// The longest pieces.
    Pieces,
    /// The time by name.
    Names,
}

/// Which stalls are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StallFilter {
    All,
    Cause(Cause),
    /// Those that have the same to blame.
    Blame(BlameId),
}

/// One table of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatsPage {
    Operations,
    Streams,
    Devices,
    Threads,
    Functions,
    Causes,
    /// Steps of training loops.
    Steps,
}

impl StatsPage {
    pub(crate) const ALL: [Self; 7] = [
        Self::Operations,
        Self::Streams,
        Self::Devices,
        Self::Threads,
        Self::Functions,
        Self::Causes,
        Self::Steps,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Streams => "streams",
            Self::Devices => "devices",
            Self::Threads => "host threads",
            Self::Functions => "functions",
            Self::Causes => "causes of stalls",
            Self::Steps => "steps",
        }
    }

    pub(crate) fn next(self) -> Self {
        self.after(1)
    }

    pub(crate) fn previous(self) -> Self {
        self.after(Self::ALL.len() - 1)
    }

    fn after(self, steps: usize) -> Self {
        let place = Self::ALL.iter().position(|it| *it == self).unwrap_or(0);
        Self::ALL[(place + steps) % Self::ALL.len()]
    }
}

/// A column of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListColumn {
    pub(crate) title: &'static str,
    pub(crate) align: ColumnAlign,
    /// It is left out where the screen has fewer columns than this.
    pub(crate) from_width: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnAlign {
    Left,
    Right,
}

pub(crate) const fn left(title: &'static str) -> ListColumn {
    let (align, from_width) = (ColumnAlign::Left, 0);
    ListColumn {
        title,
        align,
        from_width,
    }
}

pub(crate) const fn right(title: &'static str) -> ListColumn {
    let (align, from_width) = (ColumnAlign::Right, 0);
    ListColumn {
        title,
        align,
        from_width,
    }
}

impl ListColumn {
    pub(crate) const fn from(self, from_width: u16) -> Self {
        Self { from_width, ..self }
    }

    /// Whether a screen of this width has room for it.
    pub(crate) fn is_on(&self, width: u16) -> bool {
        width >= self.from_width
    }
}

/// Where an entry leads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JumpTarget {
    Nowhere,
    Stall(Stall),
    /// A stall that need not be loaded.
    Found(Box<FoundStall>),
    /// The slowest task or call of this name.
    Slowest {
        name: String,
        task: bool,
    },
    Stream(StreamId),
    Thread(ThreadId),
    Cause(Cause),
    Blame(BlameId),
    /// A call or task that need not be loaded.
    Call(Box<FoundElsewhere>),
    /// The change with this place.
    Change(usize),
    /// A step, which need not be loaded: its thread, its span and its name.
    Step(ThreadId, TimeRange, String),
    Bookmark(usize),
    Action(Action),
    /// The longest range of this name.
    Range(String),
    Verb(TextCommand, String),
    /// Types this into the command line.
    Fill(String),
}

/// A line of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListEntry {
    pub(crate) id: RowId,
    pub(crate) cells: Vec<ListCell>,
    pub(crate) target: JumpTarget,
}

impl ListEntry {
    /// Whether its cells, one after the other, have a text, which is given in small letters.
    fn has(&self, text: &str) -> bool {
        let cells = self.cells.iter().map(|cell| cell.text.as_str());
        let line = cells.collect::<Vec<_>>().join(" ");
        line.to_lowercase().contains(text)
    }
}

/// What there is in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordingContents {
    /// Tasks and calls.
    pub(crate) counts: (u64, u64),
    /// Tasks with an expected time that has not arrived yet.
    pub(crate) pending: usize,
    pub(crate) is_over: bool,
}

/// Inputs of the entries: when they change, the entries are made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListInputs {
    pub(crate) range: TimeRange,
    /// Seconds of the view's clock, as long as the trace grows.
    pub(crate) second: u64,
    pub(crate) content: RecordingContents,
}

/// A list on screen.
#[derive(Clone, Debug)]
pub(crate) struct ListState {
    pub(crate) kind: ListKind,
    pub(crate) columns: &'static [ListColumn],
    /// All entries; `shown` has the visible ones in their order.
    pub(crate) entries: Vec<ListEntry>,
    pub(crate) shown: Vec<usize>,
    /// The line that it is on, of those that are shown.
    pub(crate) cursor: usize,
    pub(crate) sort: Option<SortOrder>,
    /// Text that entries must contain, or that names of commands must match.
    pub(crate) filter: String,
    /// The filter is being typed.
    pub(crate) typing: bool,
    /// Text after the title.
    pub(crate) note: String,
    pub(crate) basis: ListInputs,
    /// Where the user was before the list was opened.
    pub(crate) origin: ViewPosition,
}

impl ListState {
    pub(crate) fn current(&self) -> Option<&ListEntry> {
        self.entry(self.cursor)
    }

    /// Whether letters are typed into it, rather than asking for something.
    pub(crate) fn takes_letters(&self) -> bool {
        self.typing || !self.filters()
    }

    /// Whether the text that was typed leaves entries out, rather than making them.
    pub(crate) fn filters(&self) -> bool {
        self.kind != ListKind::Commands
    }

    /// Moves the cursor, not beyond the ends.
    pub(crate) fn step(&mut self, lines: isize) {
        let last = self.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(lines).min(last);
    }

    pub(crate) fn title(&self) -> String {
        match self.kind {
            ListKind::Stalls(StallFilter::All) => "longest stalls".to_owned(),
            ListKind::Stalls(StallFilter::Cause(cause)) => {
                format!("longest stalls: {}", cause.name())
            }
            ListKind::Stalls(StallFilter::Blame(_)) => "stalls of one group".to_owned(),
            ListKind::Blames => "stalls by culprit".to_owned(),
            ListKind::Findings => "what checks found".to_owned(),
            ListKind::Changes => "changes".to_owned(),
            ListKind::Critical(PathListing::Pieces) => "critical path: longest pieces".to_owned(),
            ListKind::Critical(PathListing::Names) => "critical path by name".to_owned(),
            ListKind::Statistics(page) => page.name().to_owned(),
            ListKind::Bookmarks => "bookmarks".to_owned(),
            ListKind::Commands => format!(":{}▏", self.filter),
        }
    }

    /// Keys of this list.
    pub(crate) fn hint(&self) -> &'static str {
        match self.kind {
            ListKind::Commands => "type letters of it   ↑↓ tab: choose   enter: do it   esc: back",
            _ if self.typing => "type a part of it   ↑↓ choose   enter: keep   esc: show all",
            ListKind::Stalls(StallFilter::Blame(_)) => {
                "enter: stay there   /: filter   < > r: sort   esc: all groups"
            }
            ListKind::Stalls(_) => {
                "enter: stay there   tab: by culprit   /: filter   < > r: sort   esc: back"
            }
            ListKind::Blames => {
                "enter: its stalls   tab: longest   /: filter   < > r: sort   esc: back"
            }
            ListKind::Statistics(StatsPage::Operations | StatsPage::Functions) => {
                "enter: slowest one   tab: next table   /: filter   < > r: sort   esc: back"
            }
            ListKind::Statistics(_) => {
                "enter: go there   tab: next table   /: filter   < > r: sort   esc: back"
            }
            ListKind::Critical(PathListing::Pieces) => {
                "enter: go there   tab: by name   /: filter   < > r: sort   esc: back"
            }
            ListKind::Critical(PathListing::Names) => {
                "enter: longest piece   tab: pieces   /: filter   < > r: sort   esc: back"
            }
            ListKind::Changes => "enter: go there in both   /: filter   < > r: sort   esc: back",
            ListKind::Findings => "enter: its first call   /: filter   < > r: sort   esc: back",
            ListKind::Bookmarks => {
                "enter: go there   delete: forget it   /: filter   < > r: sort   esc: back"
            }
        }
    }
}

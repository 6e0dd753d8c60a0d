//! Lists to walk through and jump from: stalls, statistics, bookmarks, commands.

mod cell;
mod declared;
mod order;
mod row;

use ascend_trace_analysis::{Cause, Stall};
use ascend_trace_recording::{StreamId, ThreadId, TimeRange};

pub(crate) use cell::ListCell;
pub(crate) use declared::{cells, columns};
pub(crate) use order::SortOrder;
pub(crate) use row::RowId;

use crate::action::Action;
use crate::background_query::{FoundElsewhere, FoundStall};
use crate::blamed_stalls::BlameId;
use crate::command_choices::TextCommand;
use crate::panels::PanelKind;
use crate::view_position::ViewPosition;

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
    pub(crate) kind: PanelKind,
    pub(crate) columns: Vec<ListColumn>,
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
        self.kind.panel().filters()
    }

    /// Moves the cursor, not beyond the ends.
    pub(crate) fn step(&mut self, lines: isize) {
        let last = self.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(lines).min(last);
    }

    pub(crate) fn title(&self) -> String {
        self.kind.panel().title(self)
    }

    /// Keys of this list.
    pub(crate) fn hint(&self) -> &'static str {
        if self.typing {
            return "type a part of it   ↑↓ choose   enter: keep   esc: show all";
        }
        self.kind.panel().hint()
    }
}

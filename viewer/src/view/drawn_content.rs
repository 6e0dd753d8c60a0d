//! The drawn content of the lanes, for the arrows, which may not cross texts, and for the legend.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::item::Category;
use crate::theme::is_collective;

/// The drawn content of the lanes.
#[derive(Debug, Default)]
pub(crate) struct DrawnContent {
    /// Lines, and the columns of the lanes in them where texts stand.
    texts: Vec<(u16, Range<u16>)>,
    kinds: BTreeSet<SliceKind>,
    symbols: HashSet<String>,
    /// Whether there is a call that failed.
    pub(super) failed: bool,
    /// Whether there is one of the longest stalls.
    pub(super) worst: bool,
}

/// Kinds of slices that look different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SliceKind {
    Kernel,
    Collective,
    CopyIn,
    CopyOut,
    Copy,
    Fill,
    HostFunc,
    Graph,
    Other,
    Launch,
    Call,
}

impl SliceKind {
    pub(super) const ALL: [Self; 11] = [
        Self::Kernel,
        Self::Collective,
        Self::CopyIn,
        Self::CopyOut,
        Self::Copy,
        Self::Fill,
        Self::HostFunc,
        Self::Graph,
        Self::Other,
        Self::Launch,
        Self::Call,
    ];

    /// The shape of a slice with this pattern; `None` for categories with a separate shape.
    fn of(category: Category, look: &str) -> Option<Self> {
        Some(match category {
            work if work.is_work() && is_collective(look) => Self::Collective,
            Category::Kernel => Self::Kernel,
            Category::Copy if look == "H→D" => Self::CopyIn,
            Category::Copy if look == "D→H" => Self::CopyOut,
            Category::Copy => Self::Copy,
            Category::Fill => Self::Fill,
            Category::HostFunc => Self::HostFunc,
            Category::Graph => Self::Graph,
            Category::Other => Self::Other,
            Category::Launch => Self::Launch,
            Category::Call => Self::Call,
            Category::Record | Category::Wait | Category::Sync => return None,
        })
    }

    /// A category and a look that are drawn like this.
    pub(super) fn sample(self) -> (Category, &'static str) {
        match self {
            Self::Kernel => (Category::Kernel, ""),
            Self::Collective => (Category::Kernel, "Hccl"),
            Self::CopyIn => (Category::Copy, "H→D"),
            Self::CopyOut => (Category::Copy, "D→H"),
            Self::Copy => (Category::Copy, ""),
            Self::Fill => (Category::Fill, ""),
            Self::HostFunc => (Category::HostFunc, ""),
            Self::Graph => (Category::Graph, ""),
            Self::Other => (Category::Other, ""),
            Self::Launch => (Category::Launch, ""),
            Self::Call => (Category::Call, ""),
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Collective => "collective",
            Self::CopyIn => "copy H→D",
            Self::CopyOut => "copy D→H",
            Self::Copy => "copy",
            Self::Fill => "memset",
            Self::HostFunc => "host function",
            Self::Graph => "graph",
            Self::Other => "other task",
            Self::Launch => "launch",
            Self::Call => "call",
        }
    }
}

impl DrawnContent {
    /// Notes a text: its line, and its columns of the lanes.
    pub(super) fn text(&mut self, line: u16, columns: Range<u16>) {
        self.texts.push((line, columns));
    }

    pub(super) fn is_text(&self, line: u16, x: u16) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|(its_line, columns)| *its_line == line && columns.contains(&x))
    }

    /// Notes a slice.
    pub(super) fn slice(&mut self, category: Category, look: &str) {
        self.kinds.extend(SliceKind::of(category, look));
    }

    /// Notes the symbols in the lanes.
    pub(super) fn look_at(&mut self, buffer: &Buffer, area: Rect) {
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                let symbol = buffer[(x, y)].symbol();
                if !symbol.is_ascii() && !self.symbols.contains(symbol) {
                    self.symbols.insert(symbol.to_owned());
                }
            }
        }
    }

    pub(super) fn kinds(&self) -> &BTreeSet<SliceKind> {
        &self.kinds
    }

    pub(super) fn has_symbol(&self, symbols: &[&str]) -> bool {
        symbols.iter().any(|symbol| self.symbols.contains(*symbol))
    }
}

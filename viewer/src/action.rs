//! What a user can ask for, apart from the key that asks for it.

/// A request of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Move by hundredths of the visible range.
    Pan(i64),
    ZoomIn,
    ZoomOut,
    ZoomInFast,
    ZoomOutFast,
    FitAll,
    FitSelection,
    Begin,
    End,
    NextItem,
    PreviousItem,
    LaneDown,
    LaneUp,
    PageDown,
    PageUp,
    /// To what the selection waited for.
    ToCause,
    /// To what waited for the selection.
    ToEffect,
    /// To another cause or effect of the last step.
    Alternative,
    /// Undoes the last change of what is looked at.
    Back,
    /// Does again what [`Self::Back`] undid.
    Forward,
    NextStall,
    PreviousStall,
    /// The longest stalls.
    ListStalls,
    /// Stalls summed up by who is to blame.
    ListBlames,
    /// What the program does wrong or at a cost.
    ListFindings,
    /// How short a stall may be that is gone to or listed.
    LeastStall,
    /// Tables of the visible range.
    ListStatistics,
    /// The calls of a thread by nesting.
    Flame,
    ListBookmarks,
    /// Writes what is on screen, or everything, for another viewer.
    ExportRange,
    ExportAll,
    /// Every action by name.
    Palette,
    Search,
    NextMatch,
    PreviousMatch,
    /// To the next call that failed; the others are then matches.
    NextFailure,
    GoTo,
    Mark,
    ClearMarks,
    FitMarks,
    Bookmark,
    /// Puts the lanes around the current one together in one line, or takes them apart again.
    Fold,
    UnfoldAll,
    Pin,
    Hide,
    ShowAll,
    FilterLanes,
    /// Shows the panels and lanes of a layout of the configuration.
    Layout(usize),
    /// Keeps the present ones as such a layout.
    SaveLayout,
    Follow,
    Pause,
    ToggleLog,
    LogUp,
    LogDown,
    ToggleDetail,
    /// Gives the details to the terminal's clipboard.
    Copy,
    ToggleArrows,
    Help,
    Escape,
    Redraw,
    Suspend,
    Quit,
}

/// A request to the world outside the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Quit,
    /// Give the terminal back until the user returns.
    Suspend,
    /// Draw every cell again.
    Redraw,
    /// Give the details to the terminal's clipboard.
    Copy,
}

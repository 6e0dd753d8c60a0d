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
    Back,
    NextStall,
    PreviousStall,
    Search,
    NextMatch,
    PreviousMatch,
    Follow,
    Pause,
    ToggleLog,
    LogUp,
    LogDown,
    ToggleDetail,
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
}

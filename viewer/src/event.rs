//! Everything that can happen to the view.

use std::time::Duration;

use crossterm::event::{self as term, KeyEventKind};

pub(crate) use crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

use crate::source::SourceProgress;

/// Something that happened, for the view to take in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InputEvent {
    Key(KeyEvent),
    Mouse(term::MouseEvent),
    Paste(String),
    Resize(u16, u16),
    /// The time since the view began.
    Clock(Duration),
    /// The source was polled.
    Data(SourceProgress),
    /// The source could not be read any further.
    SourceFailed(String),
}

impl InputEvent {
    /// Converts a terminal event; `None` if the view does not use it.
    pub(crate) fn from_terminal(event: term::Event) -> Option<Self> {
        match event {
            term::Event::Key(key) if key.kind == KeyEventKind::Release => None,
            term::Event::Key(key) => Some(Self::Key(key)),
            term::Event::Mouse(mouse) => Some(Self::Mouse(mouse)),
            term::Event::Paste(text) => Some(Self::Paste(text)),
            term::Event::Resize(width, height) => Some(Self::Resize(width, height)),
            term::Event::FocusGained | term::Event::FocusLost => None,
        }
    }
}

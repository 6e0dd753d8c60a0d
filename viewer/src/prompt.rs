//! A line of text that the user is asked for.

use crate::event::{KeyCode, KeyEvent, KeyModifiers};

/// Purpose of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptPurpose {
    /// What to find.
    Find,
    /// A timestamp to go to.
    Moment,
    /// What names of lanes must have.
    Lanes,
    /// How short a stall may be.
    Least,
    /// The name of a bookmark.
    Bookmark,
    /// The name of a layout.
    Layout,
    /// The file to export to: the whole recording, or the range on screen.
    Export,
    ExportRange,
    /// The file for a picture of the screen.
    Picture,
    /// The text of a mark in the recording.
    RecordingMark,
}

/// The text as far as it has been typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextPrompt {
    pub(crate) asked: PromptPurpose,
    pub(crate) text: String,
}

impl TextPrompt {
    pub(crate) fn new(asked: PromptPurpose) -> Self {
        Self::with(asked, String::new())
    }

    pub(crate) fn with(asked: PromptPurpose, text: String) -> Self {
        Self { asked, text }
    }

    /// Text in front of the input.
    pub(crate) fn label(&self) -> &'static str {
        match self.asked {
            PromptPurpose::Find => "/",
            PromptPurpose::Moment => "go to: ",
            PromptPurpose::Lanes => "lanes: ",
            PromptPurpose::Least => "least duration of stalls: ",
            PromptPurpose::Bookmark => "bookmark: ",
            PromptPurpose::Layout => "keep this layout as: ",
            PromptPurpose::Export => "export everything to: ",
            PromptPurpose::ExportRange => "export what is on screen to: ",
            PromptPurpose::Picture => "write a picture to: ",
            PromptPurpose::RecordingMark => "mark in the recording: ",
        }
    }

    /// Examples of input.
    pub(crate) fn hint(&self) -> &'static str {
        match self.asked {
            PromptPurpose::Find => "name  /regex/  argument=value  >1ms  <5us  ! (failed)",
            PromptPurpose::Moment => "1.5ms from the start, +20us or -3ms from here, 50%",
            PromptPurpose::Lanes => "part of a name; nothing: all lanes",
            PromptPurpose::Least => "50us, 1.5ms; nothing: all stalls",
            PromptPurpose::Bookmark => "a name for the visible part",
            PromptPurpose::Layout => "a name; : then lists it",
            PromptPurpose::Export | PromptPurpose::ExportRange => {
                ".json: Chrome  .pftrace: Perfetto  + .gz"
            }
            PromptPurpose::RecordingMark => "a text for this time",
            PromptPurpose::Picture => ".svg: lines and text  .png: pixels",
        }
    }
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

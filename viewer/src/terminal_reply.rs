//! The terminal's reply to the query of its background colour. It arrives among the keys, at any time
//! or never: nothing waits for it.

use crate::event::{InputEvent, KeyCode, KeyEvent, KeyModifiers};
use crate::theme::TerminalBackground;

/// The question.
pub(crate) const QUESTION: &[u8] = b"\x1b]11;?\x1b\\";
/// Limit for the length of a reply.
const LONGEST: usize = 40;

/// Separates the reply from the input of the terminal.
#[derive(Debug, Default)]
pub(crate) struct ReplyFilter {
    /// Whether a query waits for a reply.
    queried: bool,
    /// The begin of a reply.
    begun: Option<String>,
}

/// Classification of an event.
#[derive(Debug, PartialEq)]
pub(crate) enum FilteredEvent {
    /// The user's.
    Event(InputEvent),
    /// A part of a reply.
    Part,
    Ground(TerminalBackground),
}

impl ReplyFilter {
    pub(crate) fn query(&mut self) {
        self.queried = true;
    }

    pub(crate) fn filter(&mut self, event: InputEvent) -> FilteredEvent {
        let InputEvent::Key(key) = &event else {
            return FilteredEvent::Event(event);
        };
        match &mut self.begun {
            None if self.queried && is(key, ']', KeyModifiers::ALT) => {
                self.begun = Some(String::new());
                FilteredEvent::Part
            }
            None => FilteredEvent::Event(event),
            Some(text) => {
                let is_end =
                    is(key, '\\', KeyModifiers::ALT) || is(key, 'g', KeyModifiers::CONTROL);
                match key.code {
                    _ if is_end => self.end(),
                    KeyCode::Char(letter) if text.len() < LONGEST => {
                        text.push(letter);
                        FilteredEvent::Part
                    }
                    _ => {
                        self.begun = None;
                        FilteredEvent::Event(event)
                    }
                }
            }
        }
    }

    fn end(&mut self) -> FilteredEvent {
        self.queried = false;
        let ground = self
            .begun
            .take()
            .and_then(|text| TerminalBackground::of_reply(&text));
        ground.map_or(FilteredEvent::Part, FilteredEvent::Ground)
    }
}

fn is(key: &KeyEvent, letter: char, modifiers: KeyModifiers) -> bool {
    key.code == KeyCode::Char(letter) && key.modifiers.contains(modifiers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> InputEvent {
        InputEvent::Key(KeyEvent::new(code, modifiers))
    }

    fn letters(text: &str) -> impl Iterator<Item = InputEvent> + '_ {
        text.chars()
            .map(|letter| press(KeyCode::Char(letter), KeyModifiers::NONE))
    }

    fn queried() -> ReplyFilter {
        let mut replies = ReplyFilter::default();
        replies.query();
        replies
    }

    #[test]
    fn a_reply_is_not_passed_on_as_keys() {
        let ends = [('\\', KeyModifiers::ALT), ('g', KeyModifiers::CONTROL)];
        for (end, modifiers) in ends {
            let mut replies = queried();
            let begin = press(KeyCode::Char(']'), KeyModifiers::ALT);
            assert_eq!(replies.filter(begin), FilteredEvent::Part);
            for letter in letters("11;rgb:ffff/fefe/0000") {
                assert_eq!(replies.filter(letter), FilteredEvent::Part);
            }
            let last = replies.filter(press(KeyCode::Char(end), modifiers));
            assert_eq!(last, FilteredEvent::Ground(TerminalBackground::Light));
            let key = press(KeyCode::Char('q'), KeyModifiers::NONE);
            assert_eq!(replies.filter(key.clone()), FilteredEvent::Event(key));
        }
    }

    #[test]
    fn keys_are_keys_before_and_after_and_where_nothing_was_asked() {
        let bracket = press(KeyCode::Char(']'), KeyModifiers::ALT);
        let unasked = ReplyFilter::default().filter(bracket.clone());
        assert_eq!(unasked, FilteredEvent::Event(bracket.clone()));
        let mut replies = queried();
        let quit = press(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(
            replies.filter(quit.clone()),
            FilteredEvent::Event(quit.clone())
        );
        // Input other than a reply is not held back for ever.
        assert_eq!(replies.filter(bracket), FilteredEvent::Part);
        let enter = press(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(replies.filter(enter.clone()), FilteredEvent::Event(enter));
        assert_eq!(
            replies.filter(quit.clone()),
            FilteredEvent::Event(quit.clone())
        );
        replies.filter(press(KeyCode::Char(']'), KeyModifiers::ALT));
        let all: Vec<_> = letters(&"x".repeat(200))
            .map(|key| replies.filter(key))
            .collect();
        assert!(matches!(all.last(), Some(FilteredEvent::Event(_))));
    }
}

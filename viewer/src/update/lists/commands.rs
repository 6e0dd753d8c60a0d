//! Every action by name.

use crate::action::Action;
use crate::app::App;
use crate::commands::COMMANDS;
use crate::list::{Column, Entry, Target, left};

use super::Content;

const COLUMNS: &[Column] = &[left("key"), left("what it does")];

/// The actions whose names have all words of the filter.
pub(super) fn content(app: &App, filter: &str) -> Content {
    let filter = filter.to_lowercase();
    let has_all = |name: &str| filter.split_whitespace().all(|word| name.contains(word));
    let known = COMMANDS
        .iter()
        .map(|(action, name)| (*action, (*name).to_owned()));
    let layouts = app.config.layouts.iter().enumerate();
    let layouts = layouts.map(|(place, it)| (Action::Layout(place), format!("layout {}", it.name)));
    let commands = known
        .chain(layouts)
        .filter(|(_, name)| has_all(&name.to_lowercase()));
    let entry = |(action, name): (Action, String)| Entry {
        cells: vec![app.config.keys.of_action(action).join(" "), name],
        target: Target::Action(action),
    };
    Content {
        columns: COLUMNS,
        entries: commands.map(entry).collect(),
        note: String::new(),
    }
}

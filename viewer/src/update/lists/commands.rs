//! Every action by name.

use crate::commands::COMMANDS;
use crate::keymap::keys_of;
use crate::list::{Column, Entry, RowId, Target, left};

use super::Content;

const COLUMNS: &[Column] = &[left("key"), left("what it does")];

/// The actions whose names have all words of the filter.
pub(super) fn content(filter: &str) -> Content {
    let filter = filter.to_lowercase();
    let has_all = |name: &str| filter.split_whitespace().all(|word| name.contains(word));
    let commands = COMMANDS.iter().filter(|(_, name)| has_all(name));
    let entry = |(action, name): &(_, &str)| Entry {
        id: RowId::Action(*action),
        cells: vec![keys_of(*action).join(" ").into(), (*name).into()],
        target: Target::Action(*action),
    };
    Content {
        columns: COLUMNS,
        entries: commands.map(entry).collect(),
        note: String::new(),
    }
}

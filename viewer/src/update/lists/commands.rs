//! The command line: actions, commands and names that match the typed text.

use crate::app::command_choices;
use crate::app::{App, ViewData};
use crate::command_choices::{self, CommandChoice, TextCommand};
use crate::event::{KeyCode, KeyEvent};
use crate::list::{ListColumn, ListEntry, ListKind, left};
use crate::prompt::edit;
use crate::text::{count, fit};

use super::{ListContent, remake, step};
use crate::update::{lanes, prompts};

const COLUMNS: &[ListColumn] = &[left("key"), left("action"), left("description").from(60)];

/// Collects the choices.
pub(super) fn begin(app: &mut App, world: ViewData<'_>) {
    app.choices = command_choices(app, world);
}

pub(super) fn content(app: &App, typed: &str) -> ListContent {
    let (found, is_guess) = command_choices::like(&app.choices, typed);
    let entry = |choice: &CommandChoice| ListEntry {
        id: choice.id.clone(),
        cells: vec![
            choice.keys.as_str().into(),
            choice.name.as_str().into(),
            choice.what.into(),
        ],
        target: choice.target.clone(),
    };
    let note = match (is_guess, found.len()) {
        (true, 0) => "no command or name is like this".to_owned(),
        (true, _) => "no command or name is like this: did you mean".to_owned(),
        (false, _) if typed.is_empty() => {
            let names = app.choices.len() - found.len();
            format!(
                "and {} names of lanes, operations, ranges",
                count(names as u64)
            )
        }
        (false, _) => String::new(),
    };
    ListContent {
        columns: COLUMNS,
        entries: found.iter().map(|choice| entry(choice)).collect(),
        note,
    }
}

/// Handles a key in the command line.
pub(super) fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) {
    match key.code {
        KeyCode::Tab => return step(app, world, 1),
        KeyCode::BackTab => return step(app, world, -1),
        _ => {}
    }
    if let Some(list) = &mut app.list
        && edit(&mut list.filter, key)
    {
        retyped(app, world);
    }
}

/// Replaces the typed text.
pub(super) fn fill(app: &mut App, world: ViewData<'_>, text: String) {
    if let Some(list) = &mut app.list {
        list.filter = text;
        retyped(app, world);
    }
}

/// Appends to the typed text.
pub(super) fn paste(app: &mut App, world: ViewData<'_>, pasted: &str) {
    if let Some(list) = app.list.as_mut().filter(|it| it.kind == ListKind::Commands) {
        list.filter
            .extend(pasted.chars().filter(|it| !it.is_control()));
        retyped(app, world);
    }
}

fn retyped(app: &mut App, world: ViewData<'_>) {
    remake(app, world);
    if let Some(list) = &mut app.list {
        list.cursor = 0;
    }
}

/// Message for an unknown command.
pub(super) fn unknown(typed: &str) -> String {
    format!("no command or name is like “{}”", fit(typed, 30))
}

/// Runs a command.
pub(super) fn perform(app: &mut App, world: ViewData<'_>, verb: TextCommand, text: &str) {
    match verb {
        TextCommand::Least => prompts::set_least(app, world, text),
        TextCommand::GoTo => prompts::go_to(app, text),
        TextCommand::Find => prompts::find(app, world, text),
        TextCommand::Lanes => lanes::filter(app, world, text),
    }
}

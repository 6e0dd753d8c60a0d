//! The command line: actions, commands and names that match the typed text.

use crate::action::Action;
use crate::app::command_choices;
use crate::app::{App, ViewData};
use crate::command_choices::{self, CommandChoice, TextCommand};
use crate::event::{KeyCode, KeyEvent};
use crate::list::{ListColumn, ListEntry, ListState, left};
use crate::prompt::edit;
use crate::text::{count, fit};

use super::{KeyOutcome, Panel, PanelContent, PanelKind, Staleness};
use crate::update::{lanes, prompts, remake, step};

const COLUMNS: &[ListColumn] = &[left("key"), left("action"), left("description").from(60)];

/// The command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commands;

impl Panel for Commands {
    fn opener(&self) -> Action {
        Action::Palette
    }

    fn title(&self, list: &ListState) -> String {
        format!(":{}▏", list.filter)
    }

    fn hint(&self) -> &'static str {
        "type letters of it   ↑↓ tab: choose   enter: do it   esc: back"
    }

    /// Collects the choices.
    fn begin(&self, app: &mut App, world: ViewData<'_>) {
        app.panels.choices = command_choices(app, world);
    }

    fn content(&self, app: &mut App, _: ViewData<'_>, typed: &str) -> PanelContent {
        content(app, typed)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Never
    }

    fn empty_text(&self, _: &App, _: ViewData<'_>) -> Option<String> {
        None
    }

    fn filters(&self) -> bool {
        false
    }

    /// Each other key is typed.
    fn on_key(&self, app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> KeyOutcome {
        on_key(app, world, key);
        KeyOutcome::Handled
    }

    fn no_row_text(&self, typed: &str) -> Option<String> {
        Some(unknown(typed))
    }
}

fn content(app: &App, typed: &str) -> PanelContent {
    let (found, is_guess) = command_choices::like(&app.panels.choices, typed);
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
            let names = app.panels.choices.len() - found.len();
            format!(
                "and {} names of lanes, operations, ranges",
                count(names as u64)
            )
        }
        (false, _) => String::new(),
    };
    PanelContent {
        columns: COLUMNS.to_vec(),
        entries: found.iter().map(|choice| entry(choice)).collect(),
        note,
    }
}

/// Handles a key in the command line.
fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) {
    match key.code {
        KeyCode::Tab => return step(app, world, 1),
        KeyCode::BackTab => return step(app, world, -1),
        _ => {}
    }
    if let Some(list) = &mut app.panels.list
        && edit(&mut list.filter, key)
    {
        retyped(app, world);
    }
}

/// Replaces the typed text.
pub(crate) fn fill(app: &mut App, world: ViewData<'_>, text: String) {
    if let Some(list) = &mut app.panels.list {
        list.filter = text;
        retyped(app, world);
    }
}

/// Appends to the typed text.
pub(crate) fn paste(app: &mut App, world: ViewData<'_>, pasted: &str) {
    if let Some(list) = app
        .panels
        .list
        .as_mut()
        .filter(|it| it.kind == PanelKind::Commands(Commands))
    {
        list.filter
            .extend(pasted.chars().filter(|it| !it.is_control()));
        retyped(app, world);
    }
}

fn retyped(app: &mut App, world: ViewData<'_>) {
    remake(app, world);
    if let Some(list) = &mut app.panels.list {
        list.cursor = 0;
    }
}

/// Message for an unknown command.
fn unknown(typed: &str) -> String {
    format!("no command or name is like “{}”", fit(typed, 30))
}

/// Runs a command.
pub(crate) fn perform(app: &mut App, world: ViewData<'_>, verb: TextCommand, text: &str) {
    match verb {
        TextCommand::Least => prompts::set_least(app, world, text),
        TextCommand::GoTo => prompts::go_to(app, text),
        TextCommand::Find => prompts::find(app, world, text),
        TextCommand::Lanes => lanes::filter(app, world, text),
    }
}

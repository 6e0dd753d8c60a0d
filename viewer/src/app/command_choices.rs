//! Choices of the command line for a recording.

use ascend_trace_recording::Trace;

use crate::action::{Action, COMMANDS};
use crate::command_choices::{COMMAND, CommandChoice, NAMES, VERBS, called, choice, ranges};
use crate::display_names;
use crate::item::TrackKey;
use crate::list::{JumpTarget, RowId};

use super::{App, ViewData};

/// All of them, in the order in which they are listed while nothing is typed; names come last.
pub(crate) fn all(app: &App, world: ViewData<'_>) -> Vec<CommandChoice> {
    let known = COMMANDS
        .iter()
        .map(|(action, name)| (*action, (*name).to_owned()));
    let layouts = app.config.layouts.iter().enumerate();
    let layouts = layouts.map(|(place, it)| (Action::Layout(place), format!("layout {}", it.name)));
    let actions = known.chain(layouts).map(|(action, name)| CommandChoice {
        id: RowId::Action(action),
        keys: app.config.keys.of_action(action).join(" "),
        name,
        what: "action",
        target: JumpTarget::Action(action),
    });
    let verbs = VERBS.iter().map(|(_, word, takes, does)| {
        let fill = JumpTarget::Fill(format!("{word} "));
        choice(format!("{word} {takes}: {does}"), COMMAND, fill)
    });
    let mut all: Vec<CommandChoice> = actions.chain(verbs).collect();
    all.extend(lanes(app, world.trace));
    all.extend(
        app.document
            .bookmarks
            .iter()
            .enumerate()
            .map(|(index, bookmark)| {
                choice(
                    bookmark.name.clone(),
                    "bookmark",
                    JumpTarget::Bookmark(index),
                )
            }),
    );
    all.extend(called(world.trace));
    all.extend(ranges(world.trace));
    all
}

fn lanes(app: &App, trace: &Trace) -> Vec<CommandChoice> {
    let keys = app.document.tracks.originals().filter_map(|key| {
        let target = match key {
            TrackKey::Stream(id) => JumpTarget::Stream(id),
            TrackKey::Thread(id, 0) => JumpTarget::Thread(id),
            _ => return None,
        };
        Some(choice(display_names::lane(trace, key), "lane", target))
    });
    keys.take(NAMES).collect()
}

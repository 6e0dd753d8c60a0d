//! Texts that the user is asked for.

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::{exact_duration, parse_duration};

use crate::app::{App, FollowMode, InputMode, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::marks::{Bookmark, Mark};
use crate::parse_time;
use crate::prompt::{PromptPurpose, TextPrompt, edit};
use crate::search::Search;
use crate::text::{duration, moment};

use super::{export, lanes, layouts, lists, navigate, select, walk};

pub(super) fn open(app: &mut App, asked: PromptPurpose) {
    app.mode = InputMode::Prompt(TextPrompt::new(asked));
}

/// Asks for the name of a bookmark, and proposes one.
pub(super) fn open_bookmark(app: &mut App, world: ViewData<'_>) {
    let Some(TimeRange { begin: start, .. }) = app.span else {
        app.message = Some("there is nothing to bookmark yet".to_owned());
        return;
    };
    let item = app.selected.and_then(crate::app::Selection::item);
    let name = item.map(|item| item.label(world.trace).to_string());
    let name = name.unwrap_or_else(|| {
        let from = app.viewport.begin().max(start).saturating_sub(start);
        format!("{} from {}", duration(app.viewport.length()), moment(from))
    });
    app.mode = InputMode::Prompt(TextPrompt::with(PromptPurpose::Bookmark, name));
}

pub(super) fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) {
    let InputMode::Prompt(prompt) = &mut app.mode else {
        return;
    };
    if edit(&mut prompt.text, key) {
        return;
    }
    match key.code {
        KeyCode::Esc => app.mode = InputMode::Timeline,
        KeyCode::Up if prompt.asked == PromptPurpose::Find => {
            if let Some(search) = &app.search {
                prompt.text.clone_from(&search.text);
            }
        }
        KeyCode::Enter => {
            let prompt = prompt.clone();
            app.mode = InputMode::Timeline;
            on_enter(app, world, prompt);
        }
        _ => {}
    }
}

pub(super) fn paste(app: &mut App, pasted: &str) {
    if let InputMode::Prompt(prompt) = &mut app.mode {
        let printable = pasted.chars().filter(|it| !it.is_control());
        prompt.text.extend(printable);
    }
}

fn on_enter(app: &mut App, world: ViewData<'_>, prompt: TextPrompt) {
    match prompt.asked {
        PromptPurpose::Find => find(app, world, &prompt.text),
        PromptPurpose::Moment => go_to(app, &prompt.text),
        PromptPurpose::Lanes => lanes::filter(app, world, &prompt.text),
        PromptPurpose::Least => set_least(app, world, &prompt.text),
        PromptPurpose::Bookmark => bookmark(app, prompt.text),
        PromptPurpose::Layout => layouts::keep(app, world, &prompt.text),
        PromptPurpose::Export => export::begin(app, &prompt.text, true),
        PromptPurpose::ExportRange => export::begin(app, &prompt.text, false),
    }
}

/// Asks how short stalls may be, and proposes what holds now.
pub(super) fn open_least(app: &mut App) {
    let text = match app.least {
        0 => String::new(),
        least => exact_duration(least),
    };
    app.mode = InputMode::Prompt(TextPrompt::with(PromptPurpose::Least, text));
}

/// Leaves shorter stalls out from now on.
pub(super) fn set_least(app: &mut App, world: ViewData<'_>, text: &str) {
    let least = match text.trim() {
        "" | "0" => Some(0),
        text => parse_duration(text).ok().filter(|least| *least >= 0),
    };
    let Some(least) = least else {
        let text = crate::text::fit(text, 30);
        app.message = Some(format!("“{text}” is not a duration such as 50us or 1.5ms"));
        return;
    };
    app.least = least;
    app.message = Some(match least {
        0 => "n and N go to every stall, lists have all of them".to_owned(),
        least => format!(
            "n and N go to stalls ≥ {}, lists have only these",
            duration(least)
        ),
    });
    lists::want_others(app, world);
}

pub(super) fn find(app: &mut App, world: ViewData<'_>, text: &str) {
    if !text.trim().is_empty() {
        match Search::new(text, world.trace) {
            Ok(search) => app.search = Some(search),
            Err(why) => {
                app.message = Some(why);
                return;
            }
        }
    }
    select::next_match(app, world, true);
}

pub(super) fn go_to(app: &mut App, text: &str) {
    let Some(span) = app.span else { return };
    let Some(time) = parse_time::moment(text, span, app.viewport) else {
        let text = crate::text::fit(text, 30);
        app.message = Some(format!(
            "“{text}” is not a time such as 1.5ms, +20us or 50%"
        ));
        return;
    };
    walk::remember(app);
    app.follow = FollowMode::Off;
    // Where that is can be seen, and measured from.
    app.marks.set(Mark {
        begin: time,
        end: time,
    });
    navigate::show(app, app.viewport.centred(time));
}

fn bookmark(app: &mut App, name: String) {
    let name = name.trim();
    if name.is_empty() {
        return;
    }
    app.bookmarks.push(Bookmark {
        name: name.to_owned(),
        begin: app.viewport.begin(),
        end: app.viewport.end(),
    });
    app.bookmarks.sort_by_key(|it| (it.begin, it.end));
    app.unsaved = true;
    app.message = Some(format!("bookmarked “{name}”: B lists the bookmarks"));
}

//! Texts that the user is asked for.

use std::path::Path;

use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::{exact_duration, parse_duration};

use crate::action::{SourceRequest, ViewRequest};
use crate::app::{App, FollowMode, InputMode, ViewData};
use crate::event::{KeyCode, KeyEvent};
use crate::marks::{Bookmark, Mark};
use crate::parse_time;
use crate::picture::PictureFormat;
use crate::prompt::{PromptPurpose, TextPrompt, edit};
use crate::search::Search;
use crate::source::RecordingOrder;
use crate::text::{duration, moment};

use super::{export, lanes, layouts, lists, navigate, select, walk};

pub(super) fn open(app: &mut App, asked: PromptPurpose) {
    app.mode = InputMode::Prompt(TextPrompt::new(asked));
}

/// Asks for the name of a bookmark, and proposes one.
pub(super) fn open_bookmark(app: &mut App, world: ViewData<'_>) {
    let Some(TimeRange { begin: start, .. }) = app.document.span else {
        app.message = Some("there is nothing to bookmark yet".to_owned());
        return;
    };
    let item = app.camera.selected.and_then(crate::app::Selection::item);
    let name = item.map(|item| item.label(world.trace).to_string());
    let name = name.unwrap_or_else(|| {
        let from = app.camera.viewport.begin().max(start).saturating_sub(start);
        format!(
            "{} from {}",
            duration(app.camera.viewport.length()),
            moment(from)
        )
    });
    app.mode = InputMode::Prompt(TextPrompt::with(PromptPurpose::Bookmark, name));
}

pub(super) fn on_key(app: &mut App, world: ViewData<'_>, key: &KeyEvent) -> Option<ViewRequest> {
    let InputMode::Prompt(prompt) = &mut app.mode else {
        return None;
    };
    if edit(&mut prompt.text, key) {
        return None;
    }
    match key.code {
        KeyCode::Esc => app.mode = InputMode::Timeline,
        KeyCode::Up if prompt.asked == PromptPurpose::Find => {
            if let Some(search) = &app.camera.search {
                prompt.text.clone_from(&search.text);
            }
        }
        KeyCode::Enter => {
            let prompt = prompt.clone();
            app.mode = InputMode::Timeline;
            return on_enter(app, world, prompt).map(ViewRequest::Source);
        }
        _ => {}
    }
    None
}

pub(super) fn paste(app: &mut App, pasted: &str) {
    if let InputMode::Prompt(prompt) = &mut app.mode {
        let printable = pasted.chars().filter(|it| !it.is_control());
        prompt.text.extend(printable);
    }
}

fn on_enter(app: &mut App, world: ViewData<'_>, prompt: TextPrompt) -> Option<SourceRequest> {
    match prompt.asked {
        PromptPurpose::Find => find(app, world, &prompt.text),
        PromptPurpose::Moment => go_to(app, &prompt.text),
        PromptPurpose::Lanes => lanes::filter(app, world, &prompt.text),
        PromptPurpose::Least => set_least(app, world, &prompt.text),
        PromptPurpose::Bookmark => return bookmark(app, &prompt.text),
        PromptPurpose::Layout => return layouts::save(app, world, &prompt.text),
        PromptPurpose::RecordingMark => return mark(&prompt.text),
        PromptPurpose::Picture => return picture(app, &prompt.text),
        PromptPurpose::Export => export::begin(app, &prompt.text, true),
        PromptPurpose::ExportRange => export::begin(app, &prompt.text, false),
    }
    None
}

/// Asks how short stalls may be, and proposes what holds now.
pub(super) fn open_least(app: &mut App) {
    let text = match app.camera.least {
        0 => String::new(),
        least => exact_duration(least),
    };
    app.mode = InputMode::Prompt(TextPrompt::with(PromptPurpose::Least, text));
}

/// Leaves shorter stalls out from now on.
pub(crate) fn set_least(app: &mut App, world: ViewData<'_>, text: &str) {
    let least = match text.trim() {
        "" | "0" => Some(0),
        text => parse_duration(text).ok().filter(|least| *least >= 0),
    };
    let Some(least) = least else {
        let text = crate::text::fit(text, 30);
        app.message = Some(format!("“{text}” is not a duration such as 50us or 1.5ms"));
        return;
    };
    app.camera.least = least;
    app.message = Some(match least {
        0 => "n and N go to every stall, lists have all of them".to_owned(),
        least => format!(
            "n and N go to stalls ≥ {}, lists have only these",
            duration(least)
        ),
    });
    lists::want_others(app, world);
}

pub(crate) fn find(app: &mut App, world: ViewData<'_>, text: &str) {
    if !text.trim().is_empty() {
        match Search::new(text, world.trace) {
            Ok(search) => app.camera.search = Some(search),
            Err(why) => {
                app.message = Some(why);
                return;
            }
        }
    }
    select::next_match(app, world, true);
}

pub(crate) fn go_to(app: &mut App, text: &str) {
    let Some(span) = app.document.span else {
        return;
    };
    let Some(time) = parse_time::moment(text, span, app.camera.viewport) else {
        let text = crate::text::fit(text, 30);
        app.message = Some(format!(
            "“{text}” is not a time such as 1.5ms, +20us or 50%"
        ));
        return;
    };
    walk::remember(app);
    app.camera.follow = FollowMode::Off;
    // Where that is can be seen, and measured from.
    app.camera.marks.set(Mark {
        begin: time,
        end: time,
    });
    navigate::show(app, app.camera.viewport.centred(time));
}

/// Asks for the text of a mark in the recording.
pub(super) fn open_mark(app: &mut App) {
    match app.is_running() {
        true => open(app, PromptPurpose::RecordingMark),
        false => app.message = Some("the recording has ended".to_owned()),
    }
}

fn mark(text: &str) -> Option<SourceRequest> {
    let text = text.trim();
    let order = RecordingOrder::Mark(text.to_owned());
    (!text.is_empty()).then_some(SourceRequest::Order(order))
}

/// Asks for the file of a picture, and proposes one.
pub(super) fn open_picture(app: &mut App, world: ViewData<'_>) {
    let name = Path::new(world.export_name.unwrap_or("timeline.json")).with_extension("svg");
    let name = name.display().to_string();
    app.mode = InputMode::Prompt(TextPrompt::with(PromptPurpose::Picture, name));
}

fn picture(app: &mut App, name: &str) -> Option<SourceRequest> {
    let path = name.trim().to_owned();
    if path.is_empty() {
        return None;
    }
    if PictureFormat::of_name(Path::new(&path)).is_none() {
        app.message = Some(format!(
            "{path}: the name of a picture ends in .svg or .png"
        ));
        return None;
    }
    Some(SourceRequest::SavePicture { path })
}

fn bookmark(app: &mut App, name: &str) -> Option<SourceRequest> {
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    app.document.bookmarks.push(Bookmark {
        name: name.to_owned(),
        begin: app.camera.viewport.begin(),
        end: app.camera.viewport.end(),
    });
    app.document.bookmarks.sort_by_key(|it| (it.begin, it.end));
    app.message = Some(format!("bookmarked “{name}”: B lists the bookmarks"));
    Some(SourceRequest::SaveBookmarks)
}

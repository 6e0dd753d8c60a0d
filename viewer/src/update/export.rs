//! Exports: asked for, followed, stopped.

use crate::app::{App, World};
use crate::exporting::{ExportNews, Exporting, Wish};
use crate::prompt::{Asked, Prompt};

use crate::app::Mode;

/// Asks for the name of a file.
pub(super) fn ask(app: &mut App, world: World<'_>, whole: bool) {
    if app.exporting.is_some() {
        app.message = Some("another export is under way: esc stops it".to_owned());
        return;
    }
    let Some(name) = world.export_name else {
        app.message = Some("there is no file to export from here".to_owned());
        return;
    };
    let asked = match whole {
        true => Asked::Export,
        false => Asked::ExportRange,
    };
    app.mode = Mode::Prompt(Prompt::with(asked, name.to_owned()));
}

pub(super) fn begin(app: &mut App, name: &str, whole: bool) {
    let name = name.trim();
    if name.is_empty() {
        return;
    }
    let range = (app.viewport.begin(), app.viewport.end());
    let range = (!whole).then_some(range);
    app.export_wish = Some(Wish::Begin(name.to_owned(), range));
    app.exporting = Some(Exporting {
        name: name.to_owned(),
        since: app.clock,
        reached: (0, 0),
    });
}

pub(super) fn stop(app: &mut App) {
    if app.exporting.is_some() {
        app.export_wish = Some(Wish::Stop);
    }
}

/// Takes in how an export goes.
pub(crate) fn hear_export(app: &mut App, news: ExportNews) {
    match news {
        ExportNews::Reached(done, all) => {
            if let Some(exporting) = &mut app.exporting {
                exporting.reached = (done, all);
            }
        }
        ExportNews::Done(text) | ExportNews::Failed(text) => {
            app.exporting = None;
            app.message = Some(text);
        }
    }
}

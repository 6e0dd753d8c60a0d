//! Exports: asked for.

use crate::app::{App, World};
use crate::job::{Export, Job, Kind};
use crate::prompt::{Asked, Prompt};

use crate::app::Mode;

/// Asks for the name of a file.
pub(super) fn ask(app: &mut App, world: World<'_>, whole: bool) {
    if app.jobs.of(Kind::Export).is_some() {
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
    let range = app.viewport.range();
    let job = Job::Export(Export {
        number: app.jobs.next(),
        path: name.to_owned(),
        range: (!whole).then_some(range),
    });
    app.jobs.begin(job, name.to_owned(), None, app.clock);
}

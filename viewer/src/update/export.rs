//! Exports: asked for.

use crate::app::{App, ViewData};
use crate::job::{ExportJob, Job, JobKind};
use crate::prompt::{PromptPurpose, TextPrompt};

use crate::app::InputMode;

/// Asks for the name of a file.
pub(super) fn prompt_for_name(app: &mut App, world: ViewData<'_>, whole: bool) {
    if app.jobs.of(JobKind::Export).is_some() {
        app.message = Some("another export is under way: esc stops it".to_owned());
        return;
    }
    let Some(name) = world.export_name else {
        app.message = Some("there is no file to export from here".to_owned());
        return;
    };
    let asked = match whole {
        true => PromptPurpose::Export,
        false => PromptPurpose::ExportRange,
    };
    app.mode = InputMode::Prompt(TextPrompt::with(asked, name.to_owned()));
}

pub(super) fn begin(app: &mut App, name: &str, whole: bool) {
    let name = name.trim();
    if name.is_empty() {
        return;
    }
    let range = app.camera.viewport.range();
    let job = Job::Export(ExportJob {
        number: app.jobs.next(),
        path: name.to_owned(),
        range: (!whole).then_some(range),
    });
    app.jobs.begin(job, name.to_owned(), None, app.clock);
}

//! Showing and keeping layouts.

use crate::action::SourceRequest;
use crate::app::{App, ViewData};
use crate::arrangement::LaneArrangement;
use crate::config::{ArrowChoice, DetailSize, SavedLayout};
use crate::lanes::ViewRow;

use super::select;

/// Shows the layout that the configuration begins with.
pub(crate) fn begin(app: &mut App, world: ViewData<'_>) {
    if let Some(place) = app.config.first {
        show(app, world, place);
        app.message = None;
    }
}

/// Shows a layout of the configuration.
pub(super) fn show(app: &mut App, world: ViewData<'_>, place: usize) {
    let Some(layout) = app.config.layouts.get(place).cloned() else {
        return;
    };
    if let Some(output) = layout.output {
        app.panels.log_open = output && world.log.is_some();
    }
    if let Some(details) = layout.details {
        app.panels.large_detail = details == DetailSize::Large;
    }
    if let Some(arrows) = layout.arrows {
        app.camera.all_arrows = arrows == ArrowChoice::All;
    }
    app.message = Some(format!("layout “{}”", layout.name));
    app.camera.arrangement = LaneArrangement::planned(layout);
    app.camera.scroll = 0;
    app.arrange(world);
    let is_there = |lane| app.camera.rows.contains(&ViewRow::Track(lane));
    if !app.camera.lane.is_some_and(is_there) {
        app.camera.lane = app.camera.rows.iter().copied().find_map(ViewRow::track);
    }
    select::reveal_lane(app);
}

/// Saves the panels and lanes as they are now.
pub(super) fn save(app: &mut App, world: ViewData<'_>, name: &str) -> Option<SourceRequest> {
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    if app.config.layouts.iter().any(|it| it.name == name) {
        app.message = Some(format!("there is a layout “{name}”: take another name"));
        return None;
    }
    let layout = SavedLayout {
        name: name.to_owned(),
        output: world.log.is_some().then_some(app.panels.log_open),
        details: Some(match app.panels.large_detail {
            true => DetailSize::Large,
            false => DetailSize::Small,
        }),
        arrows: Some(match app.camera.all_arrows {
            true => ArrowChoice::All,
            false => ArrowChoice::Selection,
        }),
        ..app.camera.arrangement.as_layout(world.trace)
    };
    let text = layout.written();
    // It is available at once, even if the file cannot be written.
    app.config.layouts.push(layout);
    let name = name.to_owned();
    Some(SourceRequest::SaveLayout { name, text })
}

/// Says whether a layout was kept, and where.
pub(crate) fn on_layout_saved(app: &mut App, name: &str, kept: Result<String, String>) {
    app.message = Some(match kept {
        Ok(path) => format!("kept in {path}: layout = \"{name}\" begins with it"),
        Err(why) => {
            app.config.layouts.retain(|it| it.name != name);
            format!("the layout is not kept: {why}")
        }
    });
}

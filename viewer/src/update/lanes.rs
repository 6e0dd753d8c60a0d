//! Folding, pinning, hiding and filtering lanes.

use crate::app::{App, ViewData};
use crate::arrangement::LaneGroup;
use crate::display_names;
use crate::idle_streams;
use crate::item::TrackKey;
use crate::lanes::ViewRow;

use super::select;

/// Folds the lanes around the current one, or unfolds those that the cursor is on.
pub(super) fn fold(app: &mut App, world: ViewData<'_>) {
    if let Some(group) = app.camera.group {
        return unfold(app, world, group);
    }
    let Some(key) = app.camera.lane else { return };
    if let Some(group) = idle_streams::group(world.trace, world.overview, key)
        && !app.camera.arrangement.is_folded(group)
    {
        return fold_group(app, world, group);
    }
    let has_nested = app.camera.rows.iter().any(|row| is_nested_in(*row, key));
    match app.camera.arrangement.group(world.trace, key, has_nested) {
        Some(group) => fold_group(app, world, group),
        None => app.message = Some("this lane is in no group that can be folded".to_owned()),
    }
}

fn is_nested_in(row: ViewRow, key: TrackKey) -> bool {
    match (row, key) {
        (ViewRow::Track(TrackKey::Thread(id, depth)), TrackKey::Thread(own, _)) => {
            id == own && depth > 0
        }
        _ => false,
    }
}

pub(super) fn fold_group(app: &mut App, world: ViewData<'_>, group: LaneGroup) {
    app.camera.arrangement.fold(group);
    app.arrange(world);
    match group {
        // The thread's own line stays and is the current one.
        LaneGroup::Nested(thread) => app.camera.lane = Some(TrackKey::Thread(thread, 0)),
        LaneGroup::Device(..) | LaneGroup::Unused(..) | LaneGroup::Threads(_) => {
            app.camera.group = Some(group)
        }
    }
    select::reveal_lane(app);
}

pub(super) fn unfold(app: &mut App, world: ViewData<'_>, group: LaneGroup) {
    app.camera.arrangement.unfold(group);
    let inside = crate::lanes::folded(
        world.trace,
        &app.document.tracks,
        world.overview,
        &app.camera.arrangement,
        group,
    );
    app.camera.group = None;
    app.arrange(world);
    if !app.camera.lane.is_some_and(|lane| inside.contains(&lane)) {
        app.camera.lane = inside.first().copied().or(app.camera.lane);
    }
    select::reveal_lane(app);
}

pub(super) fn unfold_all(app: &mut App, world: ViewData<'_>) {
    app.message = match app.camera.arrangement.unfold_all() {
        true => None,
        false => Some("nothing is folded".to_owned()),
    };
    app.arrange(world);
    select::reveal_lane(app);
}

pub(super) fn pin(app: &mut App, world: ViewData<'_>) {
    let Some(key) = app.camera.lane.filter(|_| app.camera.group.is_none()) else {
        return;
    };
    let name = display_names::lane(world.trace, key);
    app.message = Some(match app.camera.arrangement.pin(key) {
        true => format!("{name} stays on top: v lets it go"),
        false => format!("{name} is back in its place"),
    });
    app.arrange(world);
    select::reveal_lane(app);
}

pub(super) fn hide(app: &mut App, world: ViewData<'_>) {
    let Some(key) = app.camera.lane.filter(|_| app.camera.group.is_none()) else {
        return;
    };
    // Of threads and ranges all lines go together.
    let key = match key {
        TrackKey::Thread(id, _) => TrackKey::Thread(id, 0),
        TrackKey::Ranges(id, _) => TrackKey::Ranges(id, 0),
        own => own,
    };
    let place = app
        .camera
        .rows
        .iter()
        .position(|row| row.track() == Some(key));
    app.camera.arrangement.hide(key);
    app.arrange(world);
    let after = app.camera.rows.iter().skip(place.unwrap_or(0));
    let next = after.copied().find_map(ViewRow::track);
    let any = || {
        app.camera
            .rows
            .iter()
            .rev()
            .copied()
            .find_map(ViewRow::track)
    };
    app.camera.lane = next.or_else(any);
    let selected = app.camera.selected.map(|it| it.track(world.trace));
    if selected.is_some_and(|lane| !app.camera.arrangement.wants(world.trace, lane)) {
        app.camera.selected = None;
    }
    let hidden = app.camera.arrangement.hidden_lanes();
    let name = display_names::lane(world.trace, key);
    app.message = Some(format!(
        "{name} is hidden, {hidden} in all: X shows them again"
    ));
    select::reveal_lane(app);
}

pub(super) fn show_all(app: &mut App, world: ViewData<'_>) {
    app.message = match app.camera.arrangement.show_all() {
        true => None,
        false => Some("no lane is hidden".to_owned()),
    };
    app.arrange(world);
    select::reveal_lane(app);
}

/// Shows only lanes with names that contain a text.
pub(crate) fn filter(app: &mut App, world: ViewData<'_>, text: &str) {
    let before = std::mem::replace(
        &mut app.camera.arrangement.filter,
        text.trim().to_lowercase(),
    );
    app.arrange(world);
    if !app
        .camera
        .rows
        .iter()
        .any(|row| row.track().is_some() || row.folded().is_some())
    {
        app.camera.arrangement.filter = before;
        app.arrange(world);
        let text = crate::text::fit(text, 30);
        app.message = Some(format!("no lane has “{text}” in its name"));
        return;
    }
    let is_there = |lane| app.camera.rows.contains(&ViewRow::Track(lane));
    if !app.camera.lane.is_some_and(is_there) {
        app.camera.lane = app.camera.rows.iter().copied().find_map(ViewRow::track);
    }
    app.camera.scroll = 0;
    select::reveal_lane(app);
}

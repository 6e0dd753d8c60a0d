//! Several lanes in one line: their common busy time and their main category.

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::arrangement::LaneGroup;
use crate::idle_streams;
use crate::item::{Category, TrackKey};
use crate::lanes;
use crate::overview::{main_category, working};
use crate::tracks::SliceTrack;

use super::Scene;
use super::track::DOTS;

/// Lanes that one line samples. More would cost time, and hardly change the picture.
const MAX_LANES: usize = 32;

pub(crate) fn tracks(scene: &Scene<'_>, group: LaneGroup) -> Vec<TrackKey> {
    let (trace, app) = (scene.world.trace, scene.app);
    lanes::folded(
        trace,
        &app.document.tracks,
        scene.world.overview,
        &app.camera.arrangement,
        group,
    )
}

/// Whether the line of a group shows what its lanes do.
pub(crate) fn shows_work(group: LaneGroup) -> bool {
    !matches!(group, LaneGroup::Unused(..))
}

pub(crate) fn draw(
    scene: &Scene<'_>,
    group: LaneGroup,
    keys: &[TrackKey],
    line: Rect,
    buffer: &mut Buffer,
) {
    if !shows_work(group) {
        return unused(scene, keys.len(), line, buffer);
    }
    let keys = &keys[..keys.len().min(MAX_LANES)];
    let viewport = scene.app.camera.viewport;
    let mut from = vec![0; keys.len()];
    for column in 0..line.width {
        let time = viewport.cell_time(i64::from(column), line.width);
        let mut sum = 0_u64;
        let mut most = (0, Category::Other);
        for (key, from) in keys.iter().zip(&mut from) {
            let (busy, category) = busy(scene, *key, from, time);
            sum = sum.saturating_add(busy);
            most = most.max((busy, category));
        }
        let full = time.duration().unsigned_abs() * keys.len().max(1) as u64;
        if sum > 0
            && let Some(cell) = buffer.cell_mut((line.x + column, line.y))
        {
            let level = (u128::from(sum) * 8).div_ceil(u128::from(full.max(1)));
            cell.set_symbol(DOTS[level.clamp(1, 8) as usize])
                .set_style(scene.app.theme.shape(most.1, ""));
        }
    }
}

/// Draws the reason for an empty line.
fn unused(scene: &Scene<'_>, number: usize, line: Rect, buffer: &mut Buffer) {
    let text = format!("{}  c: open", idle_streams::words(number));
    let style = scene.app.theme.faint();
    buffer.set_stringn(
        line.x + 1,
        line.y,
        text,
        usize::from(line.width.saturating_sub(1)),
        style,
    );
}

/// Busy time of a track in a range, and its main category.
fn busy(scene: &Scene<'_>, key: TrackKey, from: &mut usize, range: TimeRange) -> (u64, Category) {
    let overview = scene.world.overview;
    if !overview.is_loaded(range) {
        let sums = overview.sums(key, range);
        return (working(key, &sums), main_category(key, &sums));
    }
    let Some(track) = scene.app.document.tracks.get(key) else {
        return (0, Category::Other);
    };
    let trace = scene.world.trace;
    let places = SliceTrack::range(track, trace, *from, range.begin, range.end);
    *from = places.0;
    let totals = track.totals(trace, places, range);
    (totals.busy(), totals.main_work())
}

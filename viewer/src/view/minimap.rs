//! The whole trace in one line: how busy its streams are, and which part is on screen.

use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

use crate::item::TrackKey;
use crate::layout::ScreenLayout;
use crate::overview::{RecordingOverview, working};
use crate::text::{duration, width};
use crate::tracks::SliceTrack;
use crate::viewport::Viewport;

use super::Scene;

const BARS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Streams that are added up. More would not change the picture, only its cost.
const STREAMS: usize = 32;

pub(crate) fn draw(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let area = layout.minimap;
    let Some(span) = scene.app.document.span.filter(|_| area.height > 0) else {
        return;
    };
    let theme = scene.app.theme;
    let room = usize::from(layout.gutter.width.saturating_sub(2));
    let text = format!("all {}", duration(span.duration()));
    let left = room.saturating_sub(width(&text)) as u16;
    buffer.set_stringn(left, area.y, text, room, theme.dim());

    let whole = Viewport::fitting(span);
    let last = i64::from(area.width) - 1;
    let cell = |time| whole.cell(time, area.width).clamp(0, last) as u16;
    let shown = cell(scene.app.camera.viewport.begin())..=cell(scene.app.camera.viewport.end());
    for (x, level) in levels(scene, whole, area.width).into_iter().enumerate() {
        let inside = shown.contains(&(x as u16));
        let style = match inside {
            true => theme.accent(),
            false => theme.faint().remove_modifier(Modifier::BOLD),
        };
        let symbol = match (level, inside) {
            // Nothing is lower than the lowest bar.
            (0, true) => "_",
            (0, false) => " ",
            _ => BARS[level],
        };
        if let Some(cell) = buffer.cell_mut((area.x + x as u16, area.y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }
}

/// How busy the streams are together, by cell, from 0 to 8.
fn levels(scene: &Scene<'_>, whole: Viewport, width: u16) -> Vec<usize> {
    if !scene.world.overview.is_whole() {
        return overview_levels(scene.world.overview, whole, width);
    }
    let tracks = scene
        .app
        .document
        .tracks
        .keys()
        .filter_map(|key| match key {
            TrackKey::Stream(_) => scene.app.document.tracks.get(key).filter(|it| it.len() > 0),
            _ => None,
        });
    let tracks: Vec<_> = tracks.take(STREAMS).collect();
    let mut sums = vec![0_u64; usize::from(width)];
    for track in &tracks {
        add(scene, track, whole, &mut sums);
    }
    scaled(sums, whole, tracks.len())
}

/// The same from the sums of a recording that is not loaded whole.
fn overview_levels(overview: &RecordingOverview, whole: Viewport, width: u16) -> Vec<usize> {
    let lanes: Vec<_> = overview.whole.streams().take(STREAMS).collect();
    let mut sums = vec![0_u64; usize::from(width)];
    for (id, lane) in &lanes {
        for (cell, sum) in (0..).zip(&mut sums) {
            let part = lane.sums(whole.time(cell, width), whole.time(cell + 1, width));
            *sum = sum.saturating_add(working(TrackKey::Stream(*id), &part));
        }
    }
    scaled(sums, whole, lanes.len())
}

fn scaled(sums: Vec<u64>, whole: Viewport, tracks: usize) -> Vec<usize> {
    let length = whole.length().unsigned_abs() / (sums.len().max(1) as u64) + 1;
    let full = length.saturating_mul(tracks.max(1) as u64);
    let level = |busy: u64| match busy {
        0 => 0,
        _ => (u128::from(busy) * 8).div_ceil(u128::from(full)).min(8) as usize,
    };
    sums.into_iter().map(level).collect()
}

fn add(scene: &Scene<'_>, track: &SliceTrack, whole: Viewport, sums: &mut [u64]) {
    let trace = scene.world.trace;
    let width = sums.len() as u16;
    let mut from = 0;
    for (cell, sum) in sums.iter_mut().enumerate() {
        let time = whole.cell_time(cell as i64, width);
        let range = track.range(trace, from, time.begin, time.end);
        from = range.0;
        let busy = track.totals(trace, range, time).busy();
        *sum = sum.saturating_add(busy);
    }
}

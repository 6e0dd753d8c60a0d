//! The panel without a selection: totals of the recording, and keys that lead on.

use ratatui::text::{Line, Span};

use crate::blame;
use crate::recording_totals::{DeviceTotals, RecordingTotals};
use crate::text::{count, duration, fit, share};

use super::Scene;

/// Devices with a separate line.
const DEVICES: usize = 2;
/// Causes that are named.
const CAUSES: usize = 4;

pub(super) fn of(scene: &Scene<'_>, room: usize) -> Vec<Line<'static>> {
    let Some(overall) = &scene.app.document.overall else {
        return of_nothing_known(scene, room);
    };
    let mut rows = devices(&overall.devices);
    rows.extend(causes(overall));
    rows.extend(longest(scene, overall));
    rows.extend(operation(overall));
    let mut lines = lay_out(scene, rows, room);
    // Faults come first, idle streams last.
    let place = match is_wrong(scene) {
        true => 0,
        false => lines.len(),
    };
    lines.insert(place, wrong(scene, overall.untimed));
    lines
}

fn lost(scene: &Scene<'_>) -> u64 {
    scene.app.lost(scene.world.trace)
}

fn is_wrong(scene: &Scene<'_>) -> bool {
    scene.app.document.failed > 0 || lost(scene) > 0
}

/// A row of the panel.
struct PanelRow {
    label: String,
    text: String,
    /// The key that leads there.
    key: &'static str,
}

fn row(label: impl Into<String>, text: String, key: &'static str) -> PanelRow {
    let label = label.into();
    PanelRow { label, text, key }
}

fn lay_out(scene: &Scene<'_>, rows: Vec<PanelRow>, room: usize) -> Vec<Line<'static>> {
    let theme = scene.app.theme;
    let wide = rows.iter().map(|row| row.label.len()).max().unwrap_or(0);
    let lines = rows.into_iter().map(|row| {
        // A picture has no keys.
        let key = if scene.app.is_still { "" } else { row.key };
        let left = room.saturating_sub(wide + key.len() + 4);
        Line::from(vec![
            Span::styled(format!("{:wide$}  ", row.label), theme.dim()),
            Span::raw(fit(&row.text, left)),
            Span::styled(format!("  {key}"), theme.accent()),
        ])
    });
    lines.collect()
}

fn devices(devices: &[DeviceTotals]) -> Vec<PanelRow> {
    let words = |it: &DeviceTotals| {
        let (compute, copy, both) = (share(it.compute), share(it.copy), share(it.both));
        let busy = share(it.busy);
        format!("busy {busy}: compute {compute}, copies {copy}, both at once {both}")
    };
    if devices.len() <= DEVICES {
        let rows = devices.iter();
        return rows
            .map(|it| row(format!("device {}", it.number), words(it), "t tab tab"))
            .collect();
    }
    let busy = |pick: fn(f64, f64) -> f64| devices.iter().map(|it| it.busy).reduce(pick);
    let (least, most) = (busy(f64::min), busy(f64::max));
    let text = format!(
        "busy {} to {}",
        share(least.unwrap_or(0.0)),
        share(most.unwrap_or(0.0))
    );
    vec![row(format!("{} devices", devices.len()), text, "t tab tab")]
}

fn causes(overall: &RecordingTotals) -> Option<PanelRow> {
    let named = overall.causes.iter().take(CAUSES);
    let named: Vec<_> = named
        .map(|(cause, part)| format!("{} {}", cause.name(), share(*part)))
        .collect();
    let text = match named.is_empty() {
        true => return None,
        false => named.join("  "),
    };
    Some(row("why streams stall", text, "t shift-tab"))
}

fn longest(scene: &Scene<'_>, overall: &RecordingTotals) -> Option<PanelRow> {
    let stall = overall.longest.as_ref()?;
    let trace = scene.world.trace;
    let words = blame::words(scene.app.known(), trace, stall).swap_remove(0);
    let lane = match stall.lane {
        ascend_trace_analysis::Lane::Stream(id) => crate::display_names::stream(trace, id),
        ascend_trace_analysis::Lane::Thread(id) => crate::display_names::thread(trace, id),
    };
    Some(row("longest stall", format!("{words}, {lane}"), "i"))
}

fn operation(overall: &RecordingTotals) -> Option<PanelRow> {
    let it = overall.operation.as_ref()?;
    let name = &it.name;
    let text = format!(
        "{name} {} of the work, {} times, slowest {}",
        share(it.share),
        count(it.count),
        duration(it.slowest)
    );
    Some(row("most time in", text, "t enter"))
}

/// Failed calls and missing data.
fn wrong(scene: &Scene<'_>, untimed: u64) -> Line<'static> {
    let app = scene.app;
    let theme = app.theme;
    let mut spans = Vec::new();
    match app.document.failed {
        0 => spans.push(Span::styled("no call failed", theme.dim())),
        failed => {
            let calls = if failed == 1 { "call" } else { "calls" };
            let text = format!("{} {calls} failed", count(failed));
            spans.push(Span::styled(text, theme.bad()));
            spans.push(Span::styled("  !", theme.accent()));
        }
    }
    spans.push(match lost(scene) {
        0 => Span::styled("  nothing lost", theme.dim()),
        lost => Span::styled(format!("  {} records lost", count(lost)), theme.bad()),
    });
    if untimed > 0 {
        let tasks = if untimed == 1 { "task" } else { "tasks" };
        let text = format!("  {} {tasks} without a time", count(untimed));
        spans.push(Span::styled(text, theme.stall()));
    }
    Line::from(spans)
}

/// Text for a recording that is not in memory, or has just begun.
fn of_nothing_known(scene: &Scene<'_>, room: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if !scene.world.overview.is_whole() {
        let rows = vec![
            row("statistics", "of the visible part".to_owned(), "t"),
            row("longest stalls", "of all of the recording".to_owned(), "i"),
        ];
        lines = lay_out(scene, rows, room);
    }
    lines.push(wrong(scene, 0));
    lines
}

//! The title line, the line for prompts and hints, and the line with the recorded and lost amounts.

use ascend_trace_recording::TimeRange;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::{FollowMode, InputMode};
use crate::job;
use crate::layout::ScreenLayout;
use crate::prompt::TextPrompt;
use crate::source::RecordingState;
use crate::text::{count, duration, fit, moment, width};

use super::Scene;

fn fill(area: Rect, style: Style, buffer: &mut Buffer) {
    buffer.set_style(area, style);
}

/// Writes a text at the left and another at the right, which has priority.
fn two_sided(area: Rect, left: &Line<'_>, right: &Line<'_>, buffer: &mut Buffer) {
    let right_width = (right.width() as u16).min(area.width);
    let room = area.width.saturating_sub(right_width + 1);
    buffer.set_line(area.x, area.y, left, room);
    buffer.set_line(area.right() - right_width, area.y, right, right_width);
}

pub(crate) fn title(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let app = scene.app;
    let theme = app.theme;
    fill(layout.title, theme.bar(), buffer);
    let (state, style) = state(scene);
    let right = Line::from(vec![
        Span::styled(state, theme.on_bar(style)),
        Span::styled(" ", theme.bar()),
    ]);
    let room = usize::from(layout.title.width).saturating_sub(right.width() + 17);
    let left = Line::from(vec![
        head(scene),
        Span::styled(fit(&app.title, room), theme.bar()),
    ]);
    two_sided(layout.title, &left, &right, buffer);
}

/// The tool's name, or the name of one of two recordings, and whether it has the focus.
fn head(scene: &Scene<'_>) -> Span<'static> {
    let theme = scene.app.theme;
    let (text, style) = match &scene.app.document.companion {
        None => (" ascend-trace ".to_owned(), theme.accent()),
        Some(it) if it.has_focus => (format!(" ▶ {} ", it.name), theme.accent()),
        Some(it) => (format!("   {} ", it.name), theme.dim()),
    };
    Span::styled(text, theme.on_bar(style))
}

/// Activity of the recording and the view.
fn state(scene: &Scene<'_>) -> (String, Style) {
    let app = scene.app;
    let theme = app.theme;
    if app.document.failure.is_some() {
        return ("■ unreadable from here on".to_owned(), theme.bad());
    }
    if app.camera.paused {
        let what = if app.is_running() {
            "view paused, still recording"
        } else {
            "view paused"
        };
        return (format!("‖ {what}"), theme.accent());
    }
    if scene.world.overview.opening.is_some() {
        return ("reading the file".to_owned(), theme.dim());
    }
    let trace = scene.world.trace;
    match app.document.progress.recording {
        RecordingState::Running if app.document.progress.is_paused => {
            ("‖ recording paused".to_owned(), theme.stall())
        }
        RecordingState::Running => {
            let following = match app.camera.follow {
                FollowMode::Off => "",
                FollowMode::Everything | FollowMode::Head => ", following",
            };
            (format!("● live{following}"), theme.good())
        }
        _ if trace.is_damaged() => ("■ the file is damaged".to_owned(), theme.bad()),
        RecordingState::Ended { status: 0 } => {
            ("■ program ended, status 0".to_owned(), theme.dim())
        }
        RecordingState::Ended { status } => {
            (format!("■ program ended, status {status}"), theme.bad())
        }
        RecordingState::Stopped if trace.end().is_none() => {
            ("■ the file breaks off".to_owned(), theme.bad())
        }
        RecordingState::Stopped => ("■ recording ended".to_owned(), theme.dim()),
    }
}

pub(crate) fn status(scene: &Scene<'_>, layout: &ScreenLayout, buffer: &mut Buffer) {
    let app = scene.app;
    let theme = app.theme;
    fill(layout.status, theme.bar(), buffer);
    let mut right = numbers(scene, layout.status.width >= 70);
    right.push(Span::styled(" ", theme.bar()));
    let left = Line::styled(range(scene), theme.bar());
    two_sided(layout.status, &left, &Line::from(right), buffer);
}

/// The visible range, counted from the start of the trace.
fn range(scene: &Scene<'_>) -> String {
    let app = scene.app;
    let Some(TimeRange { begin: start, .. }) = app.document.span else {
        return String::new();
    };
    let range = app.camera.viewport.range();
    let is_part = !scene.world.overview.is_loaded(range);
    let summed_up = if is_part { ", summed up" } else { "" };
    let length = duration(app.camera.viewport.length());
    let from = moment(app.camera.viewport.begin().saturating_sub(start));
    let least = match app.camera.least {
        0 => String::new(),
        least => format!("  stalls ≥ {}", duration(least)),
    };
    match scene.app.size.0 {
        100.. => format!(" {length} from {from}{summed_up}{least}"),
        _ => format!(" {length}{summed_up}{least}"),
    }
}

fn numbers(scene: &Scene<'_>, roomy: bool) -> Vec<Span<'static>> {
    let app = scene.app;
    let theme = app.theme;
    let plain = |text: String| Span::styled(text, theme.bar());
    let mut spans = Vec::new();
    if roomy {
        let (tasks, calls) = app.document.counts;
        let rate = app.document.rates.per_second().filter(|_| app.is_running());
        if let Some(rate) = rate {
            spans.push(plain(format!("{} calls/s  ", count(rate))));
        }
        spans.push(plain(format!(
            "tasks {}  calls {}  ",
            count(tasks),
            count(calls)
        )));
        if app.size.0 >= 100 {
            let streams = scene.world.trace.streams().len() as u64;
            spans.push(plain(format!("streams {}  ", count(streams))));
        }
        let pending = app.document.tracks.pending();
        if pending > 0 && app.is_running() {
            spans.push(plain(format!("unread {}  ", count(pending as u64))));
        }
    }
    if app.document.failed > 0 {
        let failed = format!("failed {}", count(app.document.failed));
        spans.push(Span::styled(failed, theme.on_bar(theme.bad())));
        spans.push(plain("  ".to_owned()));
    }
    let lost = app.lost(scene.world.trace);
    let style = if lost == 0 { theme.bar() } else { theme.bad() };
    spans.push(Span::styled(format!("lost {}", count(lost)), style));
    if let Some(behind) = app.behind() {
        spans.push(plain("  ".to_owned()));
        spans.push(Span::styled(
            format!("behind {behind}"),
            theme.on_bar(theme.stall()),
        ));
    }
    if let Some(text) = condition(scene) {
        spans.push(Span::styled(format!("  {text}"), theme.on_bar(theme.bad())));
    }
    if let (Some(lag), true) = (app.document.progress.lag, app.is_running()) {
        let nanoseconds = i64::try_from(lag.as_nanos()).unwrap_or(i64::MAX);
        let late = nanoseconds > 1_000_000_000;
        let style = match late {
            true => theme.on_bar(theme.stall()),
            false => theme.bar(),
        };
        spans.push(plain("  ".to_owned()));
        spans.push(Span::styled(
            format!("lag {}", duration(nanoseconds)),
            style,
        ));
    }
    spans
}

/// Fault of the file itself.
fn condition(scene: &Scene<'_>) -> Option<&'static str> {
    let trace = scene.world.trace;
    let is_opening = scene.world.overview.opening.is_some();
    let is_over = scene.app.document.progress.recording == RecordingState::Stopped;
    match () {
        () if trace.is_damaged() => Some("damaged"),
        () if is_over && trace.end().is_none() && !is_opening => Some("breaks off"),
        () => None,
    }
}

/// The most useful keys, and above them what must be said now: a prompt, a message, how far something is.
pub(crate) fn hint(
    scene: &Scene<'_>,
    layout: &ScreenLayout,
    hidden: Option<usize>,
    buffer: &mut Buffer,
) {
    let has_line = layout.hint.height > 0;
    // A very small screen has no separate line for this.
    let said = match has_line {
        true => Rect {
            y: layout.hint.y - 1,
            ..layout.hint
        },
        false => layout.status,
    };
    let room = usize::from(said.width).saturating_sub(2);
    if let Some(line) = said_now(scene, room) {
        let wide = usize::from(said.width);
        buffer.set_stringn(said.x, said.y, " ".repeat(wide), wide, Style::reset());
        buffer.set_line(said.x + 1, said.y, &line, room as u16);
    }
    if has_line {
        let notes = notes(scene, hidden);
        let left = room.saturating_sub(notes.width() + 1);
        let line = match &scene.app.panels.list {
            Some(list) => {
                let hint = scene.app.theme.keys(list.hint());
                Line::styled(fit(&hint, room), scene.app.theme.dim())
            }
            None if scene.app.panels.flame.is_some() => {
                let hint = scene.app.theme.keys(FLAME);
                Line::styled(fit(&hint, room), scene.app.theme.dim())
            }
            None => keys(scene, left),
        };
        let area = Rect {
            x: layout.hint.x + 1,
            width: layout.hint.width.saturating_sub(2),
            ..layout.hint
        };
        let notes = if scene.app.panels.list.is_some() || scene.app.panels.flame.is_some() {
            Line::default()
        } else {
            notes
        };
        two_sided(area, &line, &notes, buffer);
    }
}

/// Keys among calls by nesting.
const FLAME: &str =
    "↓ into it   ↑ around it   ←→ neighbour   enter: longest one   tab: next thread   esc";

/// What must be said now, if anything.
fn said_now(scene: &Scene<'_>, room: usize) -> Option<Line<'static>> {
    let app = scene.app;
    let theme = app.theme;
    let measured = || app.camera.marks.measure().map(super::marks::words);
    Some(match (&app.mode, &app.message, &app.document.failure) {
        (InputMode::Prompt(asked), ..) => prompt(asked, room, scene),
        _ if let Some(job) = app.jobs.of(job::JobKind::Query) => {
            let text = job.words(app.document.span.unwrap_or_default(), app.clock);
            Line::styled(fit(&text, room), theme.accent())
        }
        (_, None, _) if let Some(job) = app.jobs.of(job::JobKind::Export) => {
            let text = job.words(app.document.span.unwrap_or_default(), app.clock);
            Line::styled(fit(&text, room), theme.accent())
        }
        (_, Some(message), _) => Line::styled(fit(message, room), theme.strong()),
        (_, _, Some(failure)) => Line::styled(fit(failure, room), theme.bad()),
        _ => Line::styled(fit(&measured()?, room), theme.accent()),
    })
}

/// Content that has no room on screen.
fn notes(scene: &Scene<'_>, hidden: Option<usize>) -> Line<'static> {
    let text = match hidden {
        _ if !scene.app.camera.all_arrows => return Line::default(),
        Some(0) => return Line::default(),
        Some(1) => "1 arrow hidden: w".to_owned(),
        Some(count) => format!("{count} arrows hidden: w"),
        None => "too many arrows: w".to_owned(),
    };
    Line::styled(text, scene.app.theme.dim())
}

/// The end of the typed text, and examples of input.
fn prompt<'a>(prompt: &TextPrompt, room: usize, scene: &Scene<'_>) -> Line<'a> {
    let theme = scene.app.theme;
    let label = prompt.label();
    let left = room.saturating_sub(width(label) + 1);
    let mut end = prompt.text.as_str();
    while width(end) > left {
        let mut characters = end.chars();
        characters.next();
        end = characters.as_str();
    }
    let hint = left.saturating_sub(width(end) + 2);
    Line::from(vec![
        Span::styled(label, theme.accent()),
        Span::raw(end.to_owned()),
        Span::styled("▏", theme.accent()),
        Span::styled(format!("  {}", fit(prompt.hint(), hint)), theme.dim()),
    ])
}

fn keys(scene: &Scene<'_>, room: usize) -> Line<'static> {
    const KEYS: [(&str, &str); 10] = [
        ("? ", "help"),
        ("q ", "quit"),
        ("i ", "stalls"),
        ("t ", "statistics"),
        ("/ ", "find"),
        ("[ ] ", "dependencies"),
        ("o ", "output"),
        ("wasd ", "zoom, move"),
        ("←→↑↓ ", "select"),
        (": ", "everything else"),
    ];
    let theme = scene.app.theme;
    let mut spans = Vec::new();
    let mut used = 0;
    let has_output = scene.world.log.is_some();
    // The help shows changed keys.
    let changed = &scene.app.config.keys;
    let is_changed = |keys: &str| keys.chars().any(|it| changed.is_changed(&it.to_string()));
    let useful = KEYS.iter().filter(|(key, _)| has_output || *key != "o ");
    let useful = useful.filter(|(key, _)| !is_changed(key.trim_end()));
    for (key, help) in useful {
        let key = theme.keys(key);
        let wide = width(&key) + help.len() + 3;
        if used + wide > room {
            break;
        }
        used += wide;
        spans.push(Span::styled(key, theme.accent()));
        spans.push(Span::styled(format!("{help}   "), theme.dim()));
    }
    Line::from(spans)
}

//! The title line, the line for prompts and hints, and the line that always says what there is
//! and what was lost.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::app::{Follow, Mode};
use crate::layout::Layout;
use crate::list::List;
use crate::prompt::Prompt;
use crate::source::Recording;
use crate::text::{count, duration, fit, moment, width};

use super::Scene;

fn fill(area: Rect, style: Style, buffer: &mut Buffer) {
    buffer.set_style(area, style);
}

/// Writes one text at the left and one at the right; the right one has priority.
fn two_sided(area: Rect, left: &Line<'_>, right: &Line<'_>, buffer: &mut Buffer) {
    let right_width = (right.width() as u16).min(area.width);
    let room = area.width.saturating_sub(right_width + 1);
    buffer.set_line(area.x, area.y, left, room);
    buffer.set_line(area.right() - right_width, area.y, right, right_width);
}

pub(crate) fn title(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) {
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
        Span::styled(" ascend-trace ", theme.on_bar(theme.accent())),
        Span::styled(fit(&app.title, room), theme.bar()),
    ]);
    two_sided(layout.title, &left, &right, buffer);
}

/// What the recording and the view are doing.
fn state(scene: &Scene<'_>) -> (String, Style) {
    let app = scene.app;
    let theme = app.theme;
    if app.failure.is_some() {
        return ("■ unreadable from here on".to_owned(), theme.bad());
    }
    if app.paused {
        let what = if app.is_running() {
            "view paused, still recording"
        } else {
            "view paused"
        };
        return (format!("‖ {what}"), theme.accent());
    }
    match app.progress.recording {
        Recording::Running => {
            let following = match app.follow {
                Follow::Off => "",
                Follow::Everything | Follow::Head => ", following",
            };
            (format!("● live{following}"), theme.good())
        }
        Recording::Ended { status: 0 } => ("■ program ended, status 0".to_owned(), theme.dim()),
        Recording::Ended { status } => (format!("■ program ended, status {status}"), theme.bad()),
        Recording::Stopped => ("■ recording ended".to_owned(), theme.dim()),
    }
}

pub(crate) fn status(scene: &Scene<'_>, layout: &Layout, buffer: &mut Buffer) {
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
    let Some((start, _)) = app.span else {
        return String::new();
    };
    let range = (app.viewport.begin(), app.viewport.end());
    let is_part = scene.world.overview.is_some_and(|it| !it.is_loaded(range));
    let summed_up = if is_part { ", summed up" } else { "" };
    let length = duration(app.viewport.length());
    let from = moment(app.viewport.begin().saturating_sub(start));
    match scene.app.size.0 {
        100.. => format!(" {length} from {from}{summed_up}"),
        _ => format!(" {length}{summed_up}"),
    }
}

fn numbers(scene: &Scene<'_>, roomy: bool) -> Vec<Span<'static>> {
    let app = scene.app;
    let theme = app.theme;
    let plain = |text: String| Span::styled(text, theme.bar());
    let mut spans = Vec::new();
    if roomy {
        let (tasks, calls) = app.counts;
        let rate = app.rates.per_second().filter(|_| app.is_running());
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
        let pending = app.tracks.pending();
        if pending > 0 && app.is_running() {
            spans.push(plain(format!("unread {}  ", count(pending as u64))));
        }
    }
    let lost = app.lost(scene.world.trace);
    let style = if lost == 0 { theme.bar() } else { theme.bad() };
    spans.push(Span::styled(format!("lost {}", count(lost)), style));
    if let Some(behind) = app.behind() {
        spans.push(plain("  ".to_owned()));
        spans.push(Span::styled(format!("behind {behind}"), theme.bad()));
    }
    if let (Some(lag), true) = (app.progress.lag, app.is_running()) {
        let nanoseconds = i64::try_from(lag.as_nanos()).unwrap_or(i64::MAX);
        let late = nanoseconds > 1_000_000_000;
        let style = if late { theme.bad() } else { theme.bar() };
        spans.push(plain("  ".to_owned()));
        spans.push(Span::styled(
            format!("lag {}", duration(nanoseconds)),
            style,
        ));
    }
    spans
}

/// The prompt, else a message, else the most useful keys.
pub(crate) fn hint(scene: &Scene<'_>, layout: &Layout, hidden: Option<usize>, buffer: &mut Buffer) {
    let app = scene.app;
    let theme = app.theme;
    // On a very small screen there is no line of its own for this.
    let has_line = layout.hint.height > 0;
    let area = if has_line { layout.hint } else { layout.status };
    let measured = app.marks.measure().map(super::marks::words);
    let needs_line = app.message.is_some()
        || app.hunt.is_some()
        || app.exporting.is_some()
        || measured.is_some()
        || matches!(app.mode, Mode::Prompt(_));
    if !has_line && !needs_line {
        return;
    }
    let room = usize::from(area.width).saturating_sub(2);
    let line = match (&app.mode, &app.message, &app.failure) {
        (Mode::Prompt(asked), ..) => prompt(asked, room, scene),
        _ if let Some(hunt) = &app.hunt => {
            let text = hunt.words(app.span.unwrap_or_default(), app.clock);
            Line::styled(fit(&text, room), theme.accent())
        }
        (_, None, _) if let Some(exporting) = &app.exporting => {
            let text = exporting.words(app.clock);
            Line::styled(fit(&text, room), theme.accent())
        }
        (_, Some(message), _) => Line::styled(fit(message, room), theme.strong()),
        (_, _, Some(failure)) => Line::styled(fit(failure, room), theme.bad()),
        _ if app.list.is_some() => {
            let hint = app.list.as_ref().map_or("", List::hint);
            Line::styled(fit(hint, room), theme.dim())
        }
        _ if let Some(text) = &measured => Line::styled(fit(text, room), theme.accent()),
        _ if hidden != Some(0) && app.all_arrows => {
            Line::styled(fit(&hidden_arrows(hidden), room), theme.dim())
        }
        _ => keys(scene, room),
    };
    if !has_line {
        let blank = " ".repeat(usize::from(area.width));
        buffer.set_stringn(
            area.x,
            area.y,
            blank,
            usize::from(area.width),
            Style::reset(),
        );
    }
    buffer.set_line(area.x + 1, area.y, &line, room as u16);
}

/// The end of the text that is being typed, and what can be.
fn prompt<'a>(prompt: &Prompt, room: usize, scene: &Scene<'_>) -> Line<'a> {
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

fn hidden_arrows(hidden: Option<usize>) -> String {
    match hidden {
        Some(count) => format!("{count} shorter waits are drawn without an arrow: zoom in (w)"),
        None => "too many dependencies here to draw arrows: zoom in (w)".to_owned(),
    }
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
    let useful = KEYS.iter().filter(|(key, _)| has_output || *key != "o ");
    for (key, help) in useful {
        let wide = key.chars().count() + help.len() + 3;
        if used + wide > room {
            break;
        }
        used += wide;
        spans.push(Span::styled(*key, theme.accent()));
        spans.push(Span::styled(format!("{help}   "), theme.dim()));
    }
    Line::from(spans)
}

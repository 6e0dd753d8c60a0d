//! What details are put together from.

use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_recording::{Call, TaskTime, Trace};
use ratatui::text::{Line, Span};

use crate::item::CallOrTask;
use crate::text::{bytes, duration, fit, fixed, moment, moment_unit, rate, width};

use super::{Scene, describe};

/// How far the times may be off: against the host's clock, and against the device's other tasks.
pub(super) fn errors(time: TaskTime) -> String {
    let (host, device) = (duration(time.error), duration(time.local_error));
    format!("±{host} host, ±{device} device")
}

/// Bytes and bytes per second of a copy.
pub(super) fn speed(trace: &Trace, item: CallOrTask) -> Option<String> {
    let CallOrTask::Task(id) = item else {
        return None;
    };
    let task = trace.task(id);
    let moved = bytes_moved(trace, trace.call(task.call))?;
    let seconds = task.time.map_or(0.0, |it| (it.end - it.begin) as f64 / 1e9);
    Some(match seconds > 0.0 {
        true => format!("{} at {}", bytes(moved), rate(moved as f64 / seconds)),
        false => bytes(moved),
    })
}

pub(super) fn nested(call: &Call) -> String {
    match call.depth {
        0 => String::new(),
        depth => format!(", nested {depth} deep"),
    }
}

pub(super) fn device_of(call: &Call) -> String {
    let device = call.device.map(|it| format!(", device {it}"));
    device.unwrap_or_default()
}

pub(super) fn arguments(scene: &Scene<'_>, call: &Call, room: usize) -> Vec<Line<'static>> {
    let (trace, theme) = (scene.world.trace, scene.app.theme);
    let arguments = describe::arguments(trace, call).into_iter();
    let arguments = arguments.map(|(name, value)| {
        let name = format!("{name}=");
        let value = fit(&value, room.saturating_sub(width(&name)).max(8));
        vec![Span::styled(name, theme.dim()), Span::raw(value)]
    });
    flow(arguments.collect(), room)
}

/// Spans that stay together in one line.
pub(super) type SpanGroup = Vec<Span<'static>>;

/// Groups in lines of at most `room` cells.
pub(super) fn flow(groups: Vec<SpanGroup>, room: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut line: Line<'static> = Line::default();
    for group in groups {
        let wide: usize = group.iter().map(Span::width).sum();
        if line.width() > 0 && line.width() + 2 + wide > room {
            lines.push(std::mem::take(&mut line));
        }
        if line.width() > 0 {
            line.push_span(Span::raw("  "));
        }
        group.into_iter().for_each(|span| line.push_span(span));
    }
    if line.width() > 0 {
        lines.push(line);
    }
    lines
}

/// Two timestamps in the same unit.
pub(super) fn span(scene: &Scene<'_>, begin: i64, end: i64) -> String {
    let start = scene.app.document.span.map_or(0, |span| span.begin);
    let (begin, end) = (begin.saturating_sub(start), end.saturating_sub(start));
    let unit = moment_unit(begin.saturating_abs().max(end.saturating_abs()));
    let decimals = unit.nanoseconds.ilog10();
    let number = |time| fixed(time, unit.nanoseconds, decimals);
    format!("{} → {} {}", number(begin), number(end), unit.name)
}

pub(super) fn since_start(scene: &Scene<'_>, time: i64) -> String {
    let start = scene.app.document.span.map_or(0, |span| span.begin);
    moment(time.saturating_sub(start))
}

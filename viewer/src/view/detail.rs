//! Everything that is known about the selection.

use ascend_trace_analysis::{Cause, queue_wait};
use ascend_trace_recording::{CallId, TaskId, TaskTime, Trace};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::Selection;
use crate::blame;
use crate::display_names;
use crate::item::{CallOrTask, TrackKey};
use crate::layout::ScreenLayout;
use crate::text::{duration, duration_with_error, fit};
use crate::update::{causes, effects};

use super::drawn_content::DrawnContent;
use super::facts::{
    SpanGroup, arguments, device_of, errors, flow, nested, since_start, span, speed,
};
use super::{
    Scene, call_site, collectives, describe, graphs, legend, memory, meters, open_calls,
    range_details, recording_totals, stall_details, task_parts, trail, wait_release,
};

/// Causes or effects that are named.
const NAMED: usize = 4;
/// From this width on two things stand side by side.
const BESIDE: usize = 116;

pub(crate) fn draw(
    scene: &Scene<'_>,
    layout: &ScreenLayout,
    drawn: &DrawnContent,
    buffer: &mut Buffer,
) {
    let mut area = layout.detail;
    if area.height > 2 {
        let rule = "─".repeat(usize::from(area.width));
        let style = scene.app.theme.faint();
        buffer.set_stringn(area.x, area.y, rule, usize::from(area.width), style);
        trail::draw(scene, area, buffer);
        area.y += 1;
        area.height -= 1;
    }
    let room = usize::from(area.width).saturating_sub(2);
    let lines = lines(scene, drawn, room);
    put(area, lines, room, scene, buffer);
}

/// Details of the selection or the visible range.
pub(super) fn lines(scene: &Scene<'_>, drawn: &DrawnContent, room: usize) -> Vec<Line<'static>> {
    let meter = scene.app.camera.lane.filter(|lane| lane.is_meter());
    let meter = meter.filter(|_| scene.app.camera.group.is_none());
    match scene.app.camera.selected {
        _ if let Some(TrackKey::Memory(process, place)) = meter => {
            memory::of(scene, (process, place), room)
        }
        _ if let Some(lane) = meter => meters::of(scene, lane, room),
        Some(Selection::Item(CallOrTask::Task(task))) => of_task(scene, task, room),
        Some(Selection::Item(CallOrTask::Call(call))) => of_call(scene, call, room),
        Some(Selection::Gap(stall)) => stall_details::of(scene, &stall, room),
        Some(Selection::Range(id, _)) => range_details::of(scene, id, room),
        Some(Selection::Node(node)) => graphs::of_node(scene, node, room),
        Some(Selection::Open(open)) => open_calls::of(scene, open, room),
        None if scene.app.camera.away.is_some() => vec![Line::styled(
            "the selection is not loaded",
            scene.app.theme.dim(),
        )],
        None => of_nothing(scene, drawn, room),
    }
}

fn put(area: Rect, lines: Vec<Line<'_>>, room: usize, scene: &Scene<'_>, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    let more = lines.len() > height;
    for (y, line) in lines.iter().take(height).enumerate() {
        buffer.set_line(area.x + 1, area.y + y as u16, line, room as u16);
    }
    if more && area.width > 20 && !scene.app.is_still {
        let text = " enter: more ";
        let x = area.right() - text.len() as u16 - 1;
        let style = scene.app.theme.dim();
        buffer.set_stringn(x, area.bottom() - 1, text, text.len(), style);
    }
}

/// Totals of the recording, and next to or below them the range on screen.
fn of_nothing(scene: &Scene<'_>, drawn: &DrawnContent, room: usize) -> Vec<Line<'static>> {
    let legend = legend::of(scene, drawn);
    if room < BESIDE {
        let mut lines = recording_totals::of(scene, room);
        lines.extend(flow(legend, room));
        return lines;
    }
    let left = room * 2 / 3;
    let mut lines = recording_totals::of(scene, left);
    let beside = flow(legend, room - left - 3);
    lines.resize(lines.len().max(beside.len()), Line::default());
    for (line, other) in lines.iter_mut().zip(beside) {
        let gap = (left + 3).saturating_sub(line.width());
        line.push_span(Span::raw(" ".repeat(gap)));
        line.spans.extend(other.spans);
    }
    lines
}

/// The first line: name, where it is, how it ended.
fn heading(scene: &Scene<'_>, item: CallOrTask, place: String) -> Line<'static> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let call = trace.call(item.call(trace));
    let mut spans = vec![
        Span::styled("■ ", theme.shape(item.category(trace), item.look(trace))),
        Span::styled(item.label(trace).into_owned(), theme.strong()),
        Span::raw(format!("  {place}")),
    ];
    if let Some(result) = describe::result(trace, call) {
        let style = if item.failed(trace) {
            theme.bad()
        } else {
            theme.good()
        };
        spans.push(Span::raw("  → "));
        spans.push(Span::styled(result, style));
    }
    Line::from(spans)
}

fn of_task(scene: &Scene<'_>, id: TaskId, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let task = trace.task(id);
    let item = CallOrTask::Task(id);
    let stream = describe::stream(trace, task.stream);
    let device = trace.stream(task.stream).device;
    let kind = task.kind.name();
    let way = item.direction(trace).map(|way| format!(" {way}"));
    let mut way = way.unwrap_or_default();
    if trace.is_pageable(trace.call(task.call)) {
        way.push_str(" pageable");
    }
    let number = task.sequence;
    let place = format!("{kind}{way} task {number} of {stream}, device {device}");
    let mut lines = vec![heading(scene, item, place)];
    lines.extend(flow(task_times(scene, id), room));
    lines.extend(collectives::of(scene, id, room));
    lines.extend(task_parts::of(scene, id, room));
    lines.extend(graphs::of(scene, task.call, room));
    finish(scene, item, room, &mut lines);
    lines.extend(call_site::of(scene, trace.call(task.call), room));
    lines
}

/// When it ran and how long it waited.
fn task_times(scene: &Scene<'_>, id: TaskId) -> Vec<SpanGroup> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let task = trace.task(id);
    let call = trace.call(task.call);
    let mut groups = match task.time {
        Some(time) => vec![
            vec![Span::styled(length(scene, id, &time), theme.strong())],
            vec![
                Span::raw(span(scene, time.begin, time.end)),
                Span::styled(format!(" {}", errors(time)), theme.dim()),
            ],
        ],
        None => vec![vec![Span::styled(
            format!("no device time: {}", describe::untimed(task.untimed)),
            theme.stall(),
        )]],
    };
    if let Some(placed) = trace.placement(id).filter(|_| task.time.is_none()) {
        groups.push(vec![
            Span::raw(format!(
                "probably {}",
                span(scene, placed.range.begin, placed.range.end)
            )),
            Span::styled(format!(" ± {}", duration(placed.error)), theme.dim()),
        ]);
    }
    if let Some(wait) = queue_wait(trace, task) {
        groups.push(vec![Span::raw(format!("queued {}", duration(wait)))]);
    }
    groups.extend(wait_release::of(scene, CallOrTask::Task(id)));
    groups.extend(speed(trace, CallOrTask::Task(id)).map(|text| vec![Span::raw(text)]));
    groups.extend(rank(scene));
    if let Some(manner) = trace.stream(task.stream).manner {
        let text = describe::manner(manner);
        groups.push(vec![Span::styled(text, theme.dim())]);
    }
    let thread = display_names::thread(trace, call.thread);
    let launched = since_start(scene, call.begin);
    let took = duration(call.end.saturating_sub(call.begin));
    groups.push(vec![Span::styled(
        format!("launched {launched} by {thread}, which took {took}"),
        theme.dim(),
    )]);
    groups
}

/// How long a task took, as well as that is known.
fn length(scene: &Scene<'_>, id: TaskId, time: &TaskTime) -> String {
    let trace = scene.world.trace;
    match scene.app.document.estimates.task(trace, trace.task(id)) {
        Some(placed) => duration_with_error(placed.time.duration(), placed.error),
        None => duration(time.duration()),
    }
}

/// How long the selection took among its kind.
fn rank(scene: &Scene<'_>) -> Option<SpanGroup> {
    let (_, _, rank) = scene.app.camera.rank?;
    let theme = scene.app.theme;
    let text = match rank.count {
        1 => "the only one of its kind".to_owned(),
        all if rank.same == all => format!("as long as all {all} of its kind"),
        all if rank.longer == 0 => format!("longest of {all} (p100)"),
        all if rank.longer + rank.same == all => format!("shortest of {all}"),
        all => format!(
            "number {} of {all} by duration (p{})",
            rank.longer + 1,
            rank.percentile()
        ),
    };
    // In a long recording, only the loaded part can be compared.
    let text = match scene.world.overview.is_whole() {
        false => format!("{text}, of the loaded part"),
        true => text,
    };
    Some(vec![Span::styled(text, theme.dim())])
}

fn of_call(scene: &Scene<'_>, id: CallId, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let call = trace.call(id);
    let item = CallOrTask::Call(id);
    let (device, nested) = (device_of(call), nested(call));
    let mut times = vec![
        vec![Span::styled(
            duration(call.end - call.begin),
            theme.strong(),
        )],
        vec![Span::raw(span(scene, call.begin, call.end))],
    ];
    for stall in scene.app.stalls_of(trace, item) {
        let text = blame::words(scene.app.known(), trace, stall).swap_remove(0);
        let text = match stall.cause {
            Cause::ReturnLatency => text,
            _ => format!("blocked: {text}"),
        };
        times.push(vec![Span::styled(text, theme.stall())]);
    }
    times.extend(wait_release::of(scene, item));
    times.extend(pause_before(trace, id).map(|text| vec![Span::styled(text, theme.dim())]));
    times.extend(call.task.and_then(|task| submitted(scene, task)));
    times.extend(rank(scene));
    let thread = display_names::thread(trace, call.thread);
    let place = format!("call by {thread}{device}{nested}");
    let mut lines = vec![heading(scene, item, place)];
    lines.extend(flow(times, room));
    lines.extend(graphs::of(scene, id, room));
    finish(scene, item, room, &mut lines);
    lines.extend(call_site::of(scene, call, room));
    lines
}

/// Words for the pause before a call, if its processor time is known.
fn pause_before(trace: &Trace, id: CallId) -> Option<String> {
    let call = trace.call(id);
    let cpu = call.cpu?;
    let calls = trace.thread_calls(call.thread);
    let place = calls.partition_point(|it| trace.call(*it).begin < call.begin);
    let before = calls.get(..place)?.iter().rev().map(|it| trace.call(*it));
    let last = before.filter(|it| it.depth == 0).map(|it| it.end).next();
    let pause = last.map_or(cpu.over_ns(), |it| call.begin - it);
    let (least, most) = cpu.within(pause);
    let work = duration_with_error((least + most) / 2, (most - least + 1) / 2);
    let pause = duration(pause);
    Some(format!(
        "{pause} outside AscendCL before it, on a processor {work}"
    ))
}

/// When the task of a call ran.
fn submitted(scene: &Scene<'_>, id: TaskId) -> Option<SpanGroup> {
    let trace = scene.world.trace;
    let task = trace.task(id);
    let time = task.time?;
    let length = length(scene, id, &time);
    let stream = describe::stream(trace, task.stream);
    let when = span(scene, time.begin, time.end);
    Some(vec![
        Span::raw(format!("its task took {length} on {stream}, {when} ")),
        Span::styled(errors(time), scene.app.theme.dim()),
    ])
}

/// Dependencies and arguments.
fn finish(scene: &Scene<'_>, item: CallOrTask, room: usize, lines: &mut Vec<Line<'static>>) {
    let trace = scene.world.trace;
    if let Some(stall) = scene.app.stall_of(trace, item) {
        lines.extend(stall_details::chain(scene, &stall, room));
    }
    let theme = scene.app.theme;
    let mut related = Vec::new();
    let causes = causes(scene.app, trace, item);
    let effects = effects(scene.app, trace, item);
    for (label, items) in [("[ after ", causes), ("] before ", effects)] {
        let mut label = vec![Span::styled(label, theme.accent())];
        for name in names(scene, &items) {
            label.push(Span::raw(name));
            related.push(std::mem::take(&mut label));
        }
    }
    lines.extend(flow(related, room));
    let call = trace.call(item.call(trace));
    let operands = trace.operands(call).into_iter();
    lines.extend(operands.map(|operand| Line::raw(fit(&operand.to_string(), room))));
    lines.extend(arguments(scene, call, room));
    let command = describe::command(trace, trace.thread(call.thread).process);
    lines.extend(command.map(|text| Line::styled(fit(&text, room), theme.dim())));
}

fn names(scene: &Scene<'_>, items: &[CallOrTask]) -> Vec<String> {
    let trace = scene.world.trace;
    let name = |item: &CallOrTask| {
        let label = item.label(trace);
        let name = &label;
        match item {
            CallOrTask::Task(id) => {
                let stream = describe::stream(trace, trace.task(*id).stream);
                format!("{name} ({stream})")
            }
            CallOrTask::Call(id) => {
                let tid = trace.thread(trace.call(*id).thread).tid;
                format!("{name} (thread {tid})")
            }
        }
    };
    let mut names: Vec<_> = items.iter().take(NAMED).map(name).collect();
    if items.len() > NAMED {
        names.push(format!("and {} more", items.len() - NAMED));
    }
    names
}

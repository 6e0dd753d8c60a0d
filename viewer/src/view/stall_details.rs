//! An idle stretch of a stream: why, and who is to blame.

use ascend_trace_analysis::stats::{MeanwhileStats, Site, StallStats};
use ascend_trace_analysis::{Cause, HostLateness, PlannedRanges, Stall};
use ascend_trace_recording::text::plain;
use ratatui::text::{Line, Span};

use crate::blame;
use crate::display_names;
use crate::item::CallOrTask;
use crate::text::duration;

use super::Scene;
use super::facts::{SpanGroup, flow, since_start, span};

/// Number of functions that are named for the thread's activity.
const NAMED: usize = 4;

pub(crate) fn of(scene: &Scene<'_>, stall: &Stall, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let item = CallOrTask::from(stall.node);
    let stream = match item {
        CallOrTask::Task(task) => display_names::stream(trace, trace.task(task).stream),
        CallOrTask::Call(_) => "the stream".to_owned(),
    };
    let places = PlannedRanges::within(trace, (stall.begin, stall.end));
    let known = StallStats::of(
        trace,
        &scene.app.document.dependencies,
        &scene.app.document.stalls,
        stall,
    )
    .with_late(trace, &places, stall);
    let mut lines = vec![Line::from(vec![
        Span::styled(format!("{stream} was idle"), theme.strong()),
        Span::raw(format!(": {}", reason(stall.cause))),
    ])];
    let blame = blame::sentence(scene.app.known(), trace, stall);
    lines.extend(flow(
        vec![
            vec![Span::styled(duration(stall.length()), theme.strong())],
            vec![Span::raw(span(scene, stall.begin, stall.end))],
            vec![Span::styled(blame, theme.stall())],
        ],
        room,
    ));
    let next = trace.call(item.call(trace));
    let launched = since_start(scene, next.begin);
    let thread = display_names::thread(trace, next.thread);
    let mut groups = vec![vec![
        Span::styled("] next ", theme.accent()),
        Span::raw(format!(
            "{}, launched {launched} by {thread}{}",
            item.label(trace),
            at(Some(&known.site))
        )),
    ]];
    groups.extend(known.culprit_site.as_ref().map(|site| culprit(scene, site)));
    lines.extend(flow(groups, room));
    lines.extend(flow(meanwhile(scene, &known), room));
    let late = known.late.as_ref();
    lines.extend(
        late.into_iter()
            .flat_map(|it| flow(late_groups(scene, it), room)),
    );
    lines.extend(why(scene, &known));
    lines
}

/// Explanation of a cause.
fn reason(cause: Cause) -> &'static str {
    match cause {
        Cause::HostLate => "the host submitted its next task only then",
        Cause::HostBlocked => "the host waited for the device before it submitted the next task",
        Cause::ReturnLatency => {
            "the host had not returned from a wait that was over, to submit the next task"
        }
        Cause::TracerOverhead => "ascend-trace itself took the time",
        Cause::QueueFull => {
            "the host was held up by a full queue before it submitted the next task"
        }
        Cause::GraphLaunch => "its next graph was being launched",
        Cause::Drained => "nothing more was submitted before it ended",
        Cause::Switch => "it went from one task to the next",
        Cause::Untimed => "tasks without a time ran, for as long as such tasks usually take",
        Cause::Callback => "a function of the program ran on the host",
        Cause::CollectivePeer => "a peer of the collective had not begun",
        _ => "its next task had been submitted, but did not start",
    }
}

fn culprit(scene: &Scene<'_>, site: &Site) -> SpanGroup {
    let theme = scene.app.theme;
    let begin = since_start(scene, site.begin_ns);
    vec![
        Span::styled("[ culprit ", theme.accent()),
        Span::raw(format!(
            "{} called {begin} by thread {}{}",
            site.name,
            site.tid,
            at(Some(site))
        )),
    ]
}

/// The line of the program that made a call, where that is known.
fn at(site: Option<&Site>) -> String {
    let at = site.and_then(|site| site.at.as_ref());
    at.map_or_else(String::new, |at| format!(" at {}", plain(&at.call_site)))
}

/// Activity of the thread that should have submitted the next task.
fn meanwhile(scene: &Scene<'_>, known: &StallStats) -> Vec<SpanGroup> {
    let theme = scene.app.theme;
    if known.meanwhile.is_empty() {
        return Vec::new();
    }
    let mut groups = vec![vec![Span::styled("meanwhile", theme.dim())]];
    groups.extend(known.meanwhile.iter().take(NAMED).map(|it| {
        let total = duration(it.total_ns);
        let text = match it.count {
            0 => format!("{} {total}", no_call(&it.name)),
            count => format!("{} ×{count} {total}", it.name),
        };
        vec![Span::raw(text)]
    }));
    let rest: i64 = known
        .meanwhile
        .iter()
        .skip(NAMED)
        .map(|it| it.total_ns)
        .sum();
    if rest > 0 {
        groups.push(vec![Span::raw(format!("other calls {}", duration(rest)))]);
    }
    groups
}

/// Activity of the program while its stream waited, by time.
fn late_groups(scene: &Scene<'_>, late: &HostLateness) -> Vec<SpanGroup> {
    let theme = scene.app.theme;
    let thread = match late.is_main {
        true => "main thread".to_owned(),
        false => format!("thread {} {}", late.tid, plain(&late.thread)),
    };
    let range = late.range.as_ref().map_or_else(String::new, |range| {
        let range = plain(range);
        format!(" in range {range} {}", duration(late.range_ns))
    });
    let parts = [
        (late.host_word, late.python_ns),
        ("planning", late.planning_ns),
        ("queue", late.queue_ns),
        ("launch", late.launch_ns),
    ];
    let parts = parts.into_iter().filter(|(_, time)| *time > 0);
    let parts = parts.map(|(word, time)| vec![Span::raw(format!("{word} {}", duration(time)))]);
    let mut groups = vec![vec![
        Span::styled("late ", theme.dim()),
        Span::raw(format!("{thread}{range}")),
    ]];
    groups.extend(parts);
    groups
}

/// Activity of a thread outside calls.
fn no_call(name: &str) -> &'static str {
    match name {
        MeanwhileStats::TRACER => "ascend-trace itself",
        MeanwhileStats::OUTSIDE => "outside of AscendCL",
        _ => "on its way to the device",
    }
}

fn why(scene: &Scene<'_>, known: &StallStats) -> Option<Line<'static>> {
    let why = known.why.as_ref()?;
    let theme = scene.app.theme;
    Some(Line::from(vec![
        Span::styled("not known because ", theme.dim()),
        Span::raw(why.clone()),
    ]))
}

/// The chain of waits behind a wait, down to its root.
pub(crate) fn chain(scene: &Scene<'_>, stall: &Stall, room: usize) -> Vec<Line<'static>> {
    let trace = scene.world.trace;
    let theme = scene.app.theme;
    let known = StallStats::of(
        trace,
        &scene.app.document.dependencies,
        &scene.app.document.stalls,
        stall,
    );
    let Some(root) = known.root.filter(|_| !known.chain.is_empty()) else {
        return Vec::new();
    };
    let mut groups: Vec<SpanGroup> = vec![vec![Span::styled("because ", theme.accent())]];
    groups.extend(
        known
            .chain
            .iter()
            .map(|link| vec![Span::raw(format!("← {link}"))]),
    );
    groups.push(vec![Span::styled("root ", theme.accent()), Span::raw(root)]);
    flow(groups, room)
}

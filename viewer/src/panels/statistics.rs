//! Tables of the visible range.

use std::borrow::Cow;

use ascend_trace_analysis::columns::TableRow;
use ascend_trace_analysis::stats::{
    ApiStats, CauseStats, DeviceStats, OperationStats, StepStats, StreamStats, ThreadStats,
};
use ascend_trace_analysis::{Cause, Stats};
use ascend_trace_recording::{Stream, StreamId, Thread, ThreadId, Trace};

use crate::action::Action;
use crate::app::{App, ViewData};
use crate::display_names;
use crate::idle_streams;
use crate::list::{JumpTarget, ListEntry, ListState, RowId, cells, columns};
use crate::text::duration;

use super::{Panel, PanelContent, PanelKind, Staleness, TabTarget, steps};
use crate::update::{background_query, nothing_more};

/// One table of the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatsPage {
    Operations,
    Streams,
    Devices,
    Threads,
    Functions,
    Causes,
    /// Steps of training loops.
    Steps,
}

impl StatsPage {
    pub(crate) const ALL: [Self; 7] = [
        Self::Operations,
        Self::Streams,
        Self::Devices,
        Self::Threads,
        Self::Functions,
        Self::Causes,
        Self::Steps,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Streams => "streams",
            Self::Devices => "devices",
            Self::Threads => "host threads",
            Self::Functions => "functions",
            Self::Causes => "causes of stalls",
            Self::Steps => "steps",
        }
    }

    fn after(self, steps: usize) -> Self {
        let place = Self::ALL.iter().position(|it| *it == self).unwrap_or(0);
        Self::ALL[(place + steps) % Self::ALL.len()]
    }
}

impl Panel for StatsPage {
    fn opener(&self) -> Action {
        Action::ListStatistics
    }

    fn title(&self, _: &ListState) -> String {
        self.name().to_owned()
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Operations | Self::Functions => {
                "enter: slowest one   tab: next table   /: filter   < > r: sort   esc: back"
            }
            _ => "enter: go there   tab: next table   /: filter   < > r: sort   esc: back",
        }
    }

    fn content(&self, app: &mut App, world: ViewData<'_>, _: &str) -> PanelContent {
        content(app, world, *self)
    }

    fn staleness(&self) -> Staleness {
        Staleness::Range
    }

    fn empty_text(&self, app: &App, world: ViewData<'_>) -> Option<String> {
        Some(nothing_more(app, world, "there is nothing to sum up"))
    }

    fn query(&self, app: &mut App, world: ViewData<'_>) {
        background_query::statistics(app, world);
    }

    fn on_tab(&self, forward: bool) -> TabTarget {
        let steps = if forward { 1 } else { Self::ALL.len() - 1 };
        TabTarget::Turn(PanelKind::Statistics(self.after(steps)))
    }
}

fn content(app: &App, world: ViewData<'_>, page: StatsPage) -> PanelContent {
    let trace = world.trace;
    let range = app.camera.viewport.range();
    let part = !world.overview.is_loaded(range);
    let summed = background_query::known_statistics(app, range).filter(|_| part);
    let near = || Stats::within(&app.window(trace), Some(range));
    let stats = summed.map_or_else(|| Cow::Owned(near()), Cow::Borrowed);
    let (columns, entries) = match page {
        StatsPage::Operations => (columns::<OperationStats>(), operations(&stats)),
        StatsPage::Streams => (columns::<StreamStats>(), streams(trace, &stats)),
        StatsPage::Devices => (columns::<DeviceStats>(), devices(trace, &stats)),
        StatsPage::Threads => (columns::<ThreadStats>(), threads(trace, &stats)),
        StatsPage::Functions => (columns::<ApiStats>(), functions(&stats)),
        StatsPage::Causes => (
            columns::<CauseStats>(),
            stats.stall_causes.iter().map(cause).collect(),
        ),
        StatsPage::Steps => {
            let known = |step: &StepStats| {
                let span = steps::range(step);
                summed.is_some() || world.overview.is_loaded(span)
            };
            (steps::columns(), steps::entries(trace, &stats, known))
        }
    };
    let note = match part && summed.is_none() {
        true => "only of the loaded part, so far".to_owned(),
        false => format!(
            "in the {} on screen",
            duration(app.camera.viewport.length())
        ),
    };
    let unused = stats.streams.iter().filter(|row| row.is_unused()).count();
    let note = match page {
        StatsPage::Streams if unused > 0 => {
            format!("{note}; {} left out", idle_streams::words(unused))
        }
        StatsPage::Steps if entries.len() < stats.steps.len() => {
            let others = stats.steps.len() - entries.len();
            format!("{note}; without {others} that are not loaded completely")
        }
        _ => note,
    };
    PanelContent {
        columns,
        entries,
        note,
    }
}

fn entry<R: TableRow>(id: RowId, row: &R, target: JumpTarget) -> ListEntry {
    let cells = cells(row, 0, |_| None);
    ListEntry { id, cells, target }
}

fn operations(stats: &Stats) -> Vec<ListEntry> {
    // Waits and records are no work: they come last.
    let (work, others): (Vec<_>, Vec<_>) =
        stats.operations.iter().partition(|row| row.share.is_some());
    let rows = work.into_iter().chain(others).map(|row| {
        let (name, task) = (row.name.clone(), true);
        let id = RowId::Operation(name.clone(), row.kind);
        entry(id, row, JumpTarget::Slowest { name, task })
    });
    rows.collect()
}

fn functions(stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.apis.iter().map(|row| {
        let (name, task) = (row.name.clone(), false);
        let id = RowId::Function(name.clone());
        entry(id, row, JumpTarget::Slowest { name, task })
    });
    rows.collect()
}

fn streams(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let used = stats.streams.iter().filter(|row| !row.is_unused());
    let rows = used.map(|row| {
        let id = stream_of(trace, row);
        let lane = || {
            let lane = id.map(|id| display_names::lane(trace, crate::item::TrackKey::Stream(id)));
            lane.unwrap_or_default().into()
        };
        ListEntry {
            id: RowId::Stream(row.process, row.device, row.stream_id, row.is_default),
            cells: cells(row, 0, |title| (title == "stream").then(lane)),
            target: id.map_or(JumpTarget::Nowhere, JumpTarget::Stream),
        }
    });
    rows.collect()
}

/// The streams that a process has on one device, together. Leads to the first of them.
fn devices(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.devices.iter().map(|row| {
        let own = |stream: &Stream| {
            let process = trace.process(stream.process).serial;
            (process, stream.device) == (row.process, row.device)
        };
        let first = trace.streams().iter().position(own);
        let first = first.map(|first| JumpTarget::Stream(StreamId(first as u32)));
        let id = RowId::Device(row.process, row.device);
        entry(id, row, first.unwrap_or(JumpTarget::Nowhere))
    });
    rows.collect()
}

fn threads(trace: &Trace, stats: &Stats) -> Vec<ListEntry> {
    let rows = stats.threads.iter().map(|row| {
        let own = |thread: &Thread| {
            let process = trace.process(thread.process).serial;
            (process, thread.tid) == (row.process, row.tid)
        };
        let id = trace.threads().iter().position(own);
        let id = id.map(|index| ThreadId(index as u32));
        let name = |id| display_names::thread(trace, id).into();
        ListEntry {
            id: RowId::Thread(id, row.tid),
            cells: cells(row, 0, |title| id.filter(|_| title == "thread").map(name)),
            target: id.map_or(JumpTarget::Nowhere, JumpTarget::Thread),
        }
    });
    rows.collect()
}

fn stream_of(trace: &Trace, row: &StreamStats) -> Option<StreamId> {
    let is_same = |stream: &ascend_trace_recording::Stream| {
        trace.process(stream.process).pid == row.pid
            && stream.device == row.device
            && stream.number() == row.stream_id
            && stream.is_default == row.is_default
    };
    let index = trace.streams().iter().position(is_same)?;
    Some(trace.lane_of(StreamId(index as u32)))
}

fn cause(row: &CauseStats) -> ListEntry {
    let cause = Cause::ALL.into_iter().find(|it| it.name() == row.cause);
    let target = cause.filter(|it| it.is_notable());
    let target = target.map_or(JumpTarget::Nowhere, JumpTarget::Cause);
    entry(RowId::Cause(row.cause, row.lane), row, target)
}

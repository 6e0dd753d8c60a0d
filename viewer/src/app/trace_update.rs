//! Takes a trace into the state, and makes its lines.

use std::time::Duration;

use ascend_trace_recording::{TimeRange, Trace};

use crate::idle_streams;
use crate::item::TrackKey;
use crate::lanes::{self, LaneInputs, ViewRow};
use crate::overview::RecordingOverview;
use crate::text::{bytes, count};
use crate::viewport::Viewport;

use super::{App, FOLLOWED_NS, FollowMode, ViewData};

/// A screen that is further behind than this is reported.
const LATE: Duration = Duration::from_millis(250);
/// The same for a file without a reachable recorder: its last piece may stay unfinished for a while.
const MUCH_UNREAD: u64 = 1 << 20;

impl App {
    fn rows_of(&self, trace: &Trace, overview: &RecordingOverview) -> Vec<ViewRow> {
        let all = LaneInputs {
            trace,
            tracks: &self.tracks,
            overview,
            ranges: &self.ranges,
            nodes: &self.nodes,
            meters: &self.meters,
            arrangement: &self.arrangement,
        };
        lanes::rows(all)
    }

    /// Makes the lines again. New lanes follow the layout.
    fn take_rows(&mut self, trace: &Trace, overview: &RecordingOverview) {
        self.rows = self.rows_of(trace, overview);
        if self.arrangement.meet(trace, &self.rows) {
            self.rows = self.rows_of(trace, overview);
        }
    }

    /// Puts the lanes in the order that is wanted now.
    pub(crate) fn arrange(&mut self, world: ViewData<'_>) {
        self.take_rows(world.trace, world.overview);
        let is_there = |group| self.rows.contains(&ViewRow::Folded(group));
        self.group = self.group.filter(|group| is_there(*group));
    }

    /// Makes sure that a lane is one of those that are shown.
    pub(crate) fn reveal_track(&mut self, world: ViewData<'_>, key: TrackKey) {
        let unused = idle_streams::group(world.trace, world.overview, key);
        let unused = unused.filter(|group| self.rows.contains(&ViewRow::Folded(*group)));
        if let Some(group) = unused {
            self.arrangement.unfold(group);
        }
        if self.arrangement.reveal(world.trace, key) || unused.is_some() {
            self.arrange(world);
        }
    }

    /// Lost records: as counted by the recorder, which knows them first, else as in the trace.
    pub(crate) fn lost(&self, trace: &Trace) -> u64 {
        let losses = trace.losses();
        let recorded = losses.calls.saturating_add(losses.others);
        let counted = self.progress.counted.map_or(0, |counted| counted.lost);
        recorded.max(counted)
    }

    /// How much is recorded and not on screen, in words, if that is more than comes between two looks.
    pub(crate) fn behind(&self) -> Option<String> {
        if !self.is_running() {
            return None;
        }
        match self.progress.counted {
            Some(counted) => {
                let calls = counted.calls.saturating_sub(self.counts.1);
                let is_late = self.progress.lag.is_some_and(|lag| lag >= LATE);
                (calls > 0 && is_late).then(|| format!("{} calls", count(calls)))
            }
            None => {
                let unread = self.progress.unread;
                (unread >= MUCH_UNREAD).then(|| bytes(unread))
            }
        }
    }

    /// Updates the lines from the recording. Slow derivations arrive with the trace
    /// ([`App::take_part`]).
    pub(crate) fn take_in(&mut self, trace: &Trace, overview: &RecordingOverview) {
        self.ranges.update(trace);
        let ended = !self.is_running();
        self.meters.update(trace, self.clock, ended);
        self.take_rows(trace, overview);
        self.opening_since = overview
            .opening
            .and(self.opening_since.or(Some(self.clock)));
        let counts = (overview.tasks, overview.calls);
        if counts != self.counts && !overview.is_whole() {
            self.overall = None;
        }
        self.counts = counts;
        self.failed = overview.failed;
        if overview.opening.is_none() {
            self.take_span(overview.span);
        }
    }

    fn take_span(&mut self, span: Option<TimeRange>) {
        let first = self.span.is_none();
        self.span = span;
        if let Some(span) = self.span {
            if first {
                self.viewport = match self.follow {
                    FollowMode::Head => {
                        Viewport::new(span.end.saturating_sub(FOLLOWED_NS), span.end)
                    }
                    FollowMode::Off | FollowMode::Everything => Viewport::fitting(span),
                };
            }
            self.lane = self
                .lane
                .or_else(|| self.rows.iter().find_map(|row| row.track()));
        }
    }
}

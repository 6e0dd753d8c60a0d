//! Takes a trace into the state, and makes its lines.

use std::time::Duration;

use ascend_trace_recording::rows::SnapshotRow;
use ascend_trace_recording::{TimeRange, Trace};

use crate::idle_streams;
use crate::item::TrackKey;
use crate::lanes::{self, LaneInputs, ViewRow};
use crate::marks::Mark;
use crate::overview::RecordingOverview;
use crate::text::{bytes, count, fit};
use crate::viewport::Viewport;

use super::{App, FOLLOWED_NS, FollowMode, ViewData};

/// A screen that is further behind than this is reported.
const LATE: Duration = Duration::from_millis(250);
/// The same for a file without a reachable recorder: its last piece may stay unfinished for a while.
const MUCH_UNREAD: u64 = 1 << 20;
/// A snapshot begins with this part of its time, around its event.
const EVENT_PART: i64 = 5;
/// Cells of the reason of a snapshot.
const LONGEST_REASON: usize = 80;

impl App {
    fn rows_of(&self, trace: &Trace, overview: &RecordingOverview) -> Vec<ViewRow> {
        let all = LaneInputs {
            trace,
            tracks: &self.document.tracks,
            overview,
            ranges: &self.document.ranges,
            nodes: &self.document.nodes,
            meters: &self.document.meters,
            arrangement: &self.camera.arrangement,
        };
        lanes::rows(all)
    }

    /// Makes the lines again. New lanes follow the layout.
    fn take_rows(&mut self, trace: &Trace, overview: &RecordingOverview) {
        self.camera.rows = self.rows_of(trace, overview);
        if self.camera.arrangement.meet(trace, &self.camera.rows) {
            self.camera.rows = self.rows_of(trace, overview);
        }
    }

    /// Puts the lanes in the order that is wanted now.
    pub(crate) fn arrange(&mut self, world: ViewData<'_>) {
        self.take_rows(world.trace, world.overview);
        let is_there = |group| self.camera.rows.contains(&ViewRow::Folded(group));
        self.camera.group = self.camera.group.filter(|group| is_there(*group));
    }

    /// Makes sure that a lane is one of those that are shown.
    pub(crate) fn reveal_track(&mut self, world: ViewData<'_>, key: TrackKey) {
        let unused = idle_streams::group(world.trace, world.overview, key);
        let unused = unused.filter(|group| self.camera.rows.contains(&ViewRow::Folded(*group)));
        if let Some(group) = unused {
            self.camera.arrangement.unfold(group);
        }
        if self.camera.arrangement.reveal(world.trace, key) || unused.is_some() {
            self.arrange(world);
        }
    }

    /// Lost records: as counted by the recorder, which knows them first, else as in the trace.
    pub(crate) fn lost(&self, trace: &Trace) -> u64 {
        let losses = trace.losses();
        let recorded = losses.calls.saturating_add(losses.others);
        let counted = self
            .document
            .progress
            .counted
            .map_or(0, |counted| counted.lost);
        recorded.max(counted)
    }

    /// How much is recorded and not on screen, in words, if that is more than comes between two looks.
    pub(crate) fn behind(&self) -> Option<String> {
        if !self.is_running() {
            return None;
        }
        match self.document.progress.counted {
            Some(counted) => {
                let calls = counted.calls.saturating_sub(self.document.counts.1);
                let is_late = self.document.progress.lag.is_some_and(|lag| lag >= LATE);
                (calls > 0 && is_late).then(|| format!("{} calls", count(calls)))
            }
            None => {
                let unread = self.document.progress.unread;
                (unread >= MUCH_UNREAD).then(|| bytes(unread))
            }
        }
    }

    /// Updates the lines from the recording. Slow derivations arrive with the trace
    /// ([`App::take_part`]).
    pub(crate) fn take_in(&mut self, trace: &Trace, overview: &RecordingOverview) {
        self.document.ranges.update(trace);
        let ended = !self.is_running();
        self.document.meters.update(trace, self.clock, ended);
        self.take_rows(trace, overview);
        self.document.opening_since = overview
            .opening
            .and(self.document.opening_since.or(Some(self.clock)));
        let counts = (overview.tasks, overview.calls);
        if counts != self.document.counts && !overview.is_whole() {
            self.document.overall = None;
        }
        self.document.counts = counts;
        self.document.failed = overview.failed;
        if overview.opening.is_none() {
            self.take_span(overview.span, trace.session().snapshot());
        }
    }

    fn take_span(&mut self, span: Option<TimeRange>, snapshot: Option<&SnapshotRow>) {
        let first = self.document.span.is_none();
        self.document.span = span;
        if let Some(span) = self.document.span {
            if first {
                self.camera.viewport = match self.camera.follow {
                    FollowMode::Head => {
                        Viewport::new(span.end.saturating_sub(FOLLOWED_NS), span.end)
                    }
                    FollowMode::Off | FollowMode::Everything => Viewport::fitting(span),
                };
                if let Some(snapshot) = snapshot {
                    self.show_event(span, snapshot);
                }
            }
            self.camera.lane = self
                .camera
                .lane
                .or_else(|| self.camera.rows.iter().find_map(|row| row.track()));
        }
    }

    /// A snapshot begins at the event for which it was taken.
    fn show_event(&mut self, span: TimeRange, snapshot: &SnapshotRow) {
        let begin = span.clamp(snapshot.at_ns);
        self.camera.marks.set(Mark { begin, end: begin });
        let half = span.duration() / (2 * EVENT_PART);
        let around = TimeRange::new(begin.saturating_sub(half), begin.saturating_add(half));
        self.camera.viewport = Viewport::new(around.begin, around.end);
        let reason = fit(&snapshot.reason, LONGEST_REASON);
        self.message = Some(format!(
            "snapshot: {reason} (at the mark; 0 shows everything)"
        ));
    }
}

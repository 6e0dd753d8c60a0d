//! What the state takes in of a trace, and the lines that it makes of that.

use ascend_trace_analysis::{Dependencies, Stalls};
use ascend_trace_model::Trace;

use crate::item::TrackKey;
use crate::lanes::{self, Lanes, Row};
use crate::part::{Identity, Overview};
use crate::viewport::Viewport;

use super::{App, Selected, World};

impl App {
    fn rows_of(&self, trace: &Trace, overview: Option<&Overview>) -> Vec<Row> {
        let all = Lanes {
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

    /// Puts the lanes in the order that is wanted now.
    pub(crate) fn arrange(&mut self, world: World<'_>) {
        self.rows = self.rows_of(world.trace, world.overview);
        let is_there = |group| self.rows.contains(&Row::Folded(group));
        self.group = self.group.filter(|group| is_there(*group));
    }

    /// Makes sure that a lane is one of those that are shown.
    pub(crate) fn reveal_track(&mut self, world: World<'_>, key: TrackKey) {
        if self.arrangement.reveal(world.trace, key) {
            self.arrange(world);
        }
    }

    /// Brings everything that is derived from the trace up to date.
    pub(crate) fn take_in(&mut self, trace: &Trace) {
        let ended = !self.is_running();
        self.tracks.update(trace);
        self.ranges.update(trace);
        self.meters.update(trace, self.clock, ended);
        self.graphs.update(trace);
        self.nodes.update(trace, &self.graphs);
        self.communicators.update(trace);
        self.failures.update(trace);
        self.failed = self.failures.count();
        self.rows = self.rows_of(trace, None);
        match ended {
            // A finished trace answers what a growing one could not.
            true => {
                self.dependencies = Dependencies::of(trace);
                self.stalls = Stalls::with(trace, &self.dependencies);
            }
            false => {
                self.dependencies.update(trace);
                self.stalls.update(trace, &self.dependencies);
            }
        }
        self.counts = (trace.tasks().len() as u64, trace.calls().len() as u64);
        self.take_span(trace.span());
        // A call that was selected while it was under way stays selected when it has returned.
        if let Some(Selected::Open(open)) = self.selected {
            self.selected = Identity::of_open(open).find(trace, &self.stalls);
        }
    }

    /// Brings what is known of a recording up to date of which the trace is only a part.
    pub(crate) fn take_overview(&mut self, trace: &Trace, overview: &Overview) {
        self.ranges.update(trace);
        let ended = !self.is_running();
        self.meters.update(trace, self.clock, ended);
        self.rows = self.rows_of(trace, Some(overview));
        self.opening_since = overview
            .opening
            .and(self.opening_since.or(Some(self.clock)));
        self.counts = (overview.tasks, overview.calls);
        self.failed = overview.failed;
        if overview.opening.is_none() {
            self.take_span(overview.span);
        }
    }

    fn take_span(&mut self, span: Option<(i64, i64)>) {
        let first = self.span.is_none();
        self.span = span;
        if let Some(span) = self.span {
            if first {
                self.viewport = Viewport::fitting(span);
            }
            self.lane = self
                .lane
                .or_else(|| self.rows.iter().find_map(|row| row.track()));
        }
    }
}

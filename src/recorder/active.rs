//! A recording that goes on: its threads, its requests, and its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Context;

use ascend_trace_collector::gauge::Gauge;
use ascend_trace_collector::switchboard::Switchboard;
use ascend_trace_collector::{Collector, ProgramEnd, RecordingOutcome, Stop};

use super::reporter::{Reporter, ReporterOptions};
use super::{PreparedSession, RecordOptions};
use crate::control::{ControlServer, ControlledRecording};
use crate::launch::signals::SignalRelay;
use crate::metrics::{Metrics, MetricsEndpoint};
use crate::output::{print_detail, print_message};

/// A recording that goes on.
pub(super) struct ActiveRecording {
    pub(super) relay: SignalRelay,
    /// None when the trace goes to standard output.
    pub(super) path: Option<PathBuf>,
    stop: Arc<Stop>,
    /// None when it could not be started.
    collector: Option<JoinHandle<RecordingOutcome>>,
    /// None when there is nothing to report on.
    reporter: Option<Reporter>,
    /// None when nothing is served to Prometheus.
    metrics: Option<Metrics>,
    /// None when no requests are taken.
    control: Option<ControlServer>,
    pub(super) controlled: ControlledRecording,
}

/// Starts the threads that collect and write.
fn collect(
    session: PreparedSession,
    stop: Arc<Stop>,
) -> anyhow::Result<(JoinHandle<RecordingOutcome>, Arc<Gauge>)> {
    let file = session.file.start()?;
    let mut collector = Collector::new(session.arena, session.clock, file)
        .with_window(session.board, session.window);
    if session.reads_log {
        collector = collector.with_log();
    }
    if let Some(reason) = session.stop_reason {
        collector = collector.with_stop_reason(reason);
    }
    let gauge = collector.gauge();
    let thread = std::thread::Builder::new()
        .name("collector".into())
        .spawn(move || collector.run(&stop))
        .context("cannot start the collecting thread")?;
    Ok((thread, gauge))
}

/// Starts the thread that reports. A recording does not depend on it.
fn start_reporter(
    path: Option<&Path>,
    (plan, served): (&RecordOptions, Option<PathBuf>),
    board: &Arc<Switchboard>,
    gauge: &Arc<Gauge>,
) -> Option<Reporter> {
    let options = ReporterOptions {
        watchdog: plan.watchdog,
        changes_files: plan.ring.is_some() || plan.roll.is_some(),
        takes_snapshots: plan.ring.as_ref().is_some_and(|it| it.watchdog.is_some()),
        served,
    };
    let reporter = Reporter::start(path, options, Arc::clone(board), Arc::clone(gauge));
    if let Err(error) = &reporter {
        print_message(format!(
            "nothing is reported while the program runs: {error:#}"
        ));
    }
    reporter.ok()
}

/// Starts to take requests of `ctl`. A recording does not depend on it: the name of the socket may be too long, for one.
fn take_requests(session: &Path, recording: ControlledRecording) -> Option<ControlServer> {
    let server = ControlServer::start(session, recording);
    if let Err(error) = &server {
        print_detail(format!(
            "ascend-trace ctl cannot reach this recording: {error:#}"
        ));
    }
    server.ok()
}

impl ActiveRecording {
    /// Starts to record. `program` is the pid that requests show.
    pub(super) fn start(
        session: PreparedSession,
        program: u32,
        relay: SignalRelay,
        plan: &RecordOptions,
    ) -> Self {
        let path = session.file.path().map(ToOwned::to_owned);
        let stop = Arc::new(Stop::default());
        plan.window.listen(&relay, &session.board);
        if let Some(ring) = &plan.ring {
            ring.listen(&relay, &session.board);
        }
        let served = session.stop_reason.map(|_| session.arena.path().to_owned());
        let is_attached = session.is_attached;
        let (board, place) = (Arc::clone(&session.board), session.arena.path().to_owned());
        let collector = collect(session, Arc::clone(&stop));
        if let Err(error) = &collector {
            print_message(format!(
                "the program runs without being recorded: {error:#}"
            ));
        }
        let (collector, gauge) = collector.ok().unzip();
        let reporter = gauge.as_ref().and_then(|gauge| {
            let reporter = start_reporter(path.as_deref(), (plan, served.clone()), &board, gauge)?;
            relay.on_quit(reporter.request_sender());
            Some(reporter)
        });
        let gauge = gauge.unwrap_or_default();
        let controlled = ControlledRecording {
            program,
            command: plan
                .words
                .iter()
                .map(|it| it.to_string_lossy().into_owned())
                .collect(),
            trace: path.as_deref().and_then(|it| std::path::absolute(it).ok()),
            begun: Instant::now(),
            gauge,
            board,
            has_ring: plan.ring.is_some(),
            has_several_files: plan.roll.is_some(),
            timing: (plan.timing, plan.budget),
            group: plan.ring.as_ref().and_then(|it| it.group.clone()),
            is_attached,
            is_soft: plan.soft.is_some(),
            looked_at: Arc::default(),
        };
        let control = collector
            .is_some()
            .then(|| take_requests(&place, controlled.clone()))
            .flatten();
        Self {
            relay,
            path,
            stop,
            collector,
            reporter,
            metrics: None,
            control,
            controlled,
        }
    }

    /// Whether calls are collected.
    pub(super) fn is_collecting(&self) -> bool {
        self.collector.as_ref().is_some_and(|it| !it.is_finished())
    }

    /// Serves metrics. A recording does not depend on it.
    pub(super) fn serve_metrics(&mut self, endpoint: MetricsEndpoint) {
        let path = self.path.as_deref().filter(|_| self.collector.is_some());
        let metrics = Metrics::start(endpoint, path, self.controlled.clone());
        if let Err(error) = &metrics {
            print_message(format!("no metrics are served: {error:#}"));
        }
        self.metrics = metrics.ok();
    }

    /// Has the trace completed. `None` when the collecting thread has failed.
    pub(super) fn end(self, end: ProgramEnd) -> Option<RecordingOutcome> {
        let peers = self.control.and_then(ControlServer::finish);
        self.stop.request(end);
        let outcome = self.collector?.join().ok();
        self.reporter.into_iter().for_each(Reporter::finish);
        self.metrics.into_iter().for_each(Metrics::finish);
        peers.into_iter().for_each(|it| it.tell_end());
        outcome
    }
}

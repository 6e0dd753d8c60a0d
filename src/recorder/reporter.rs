//! A recorder that says what its program waits for: when it is asked by `SIGQUIT`, and when nothing has moved for so
//! long as the user said.
//!
//! All of it happens on one separate thread with a lower priority than the program and the collector.
//! It reads the recording as the command `why` does. While the program makes progress, it only compares
//! two numbers from time to time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use ascend_trace_analysis::hang::{Report, Verdict};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_collector::gauge::{FailedCall, Gauge};
use ascend_trace_collector::ring::SnapshotOrigin;
use ascend_trace_collector::switchboard::Switchboard;
use ascend_trace_recording::Recording;
use ascend_trace_recording::units::duration;

use super::report_output::ReportOutput;
use super::standstill::{DueReport, StandstillWatch};
use super::surviving_processes;
use crate::cli::open_trace;
use crate::hang;
use crate::output::print_message;
use crate::view_source::step_back;

/// Records of this age are in the file.
const FLUSHED: Duration = Duration::from_millis(200);
/// Pause of the thread without anything to watch.
const IDLE: Duration = Duration::from_secs(3600);
/// Additional time for a requested report after the end of the recording.
const PATIENCE: Duration = Duration::from_secs(10);

/// Options of the reporter.
#[derive(Clone, Debug)]
pub(super) struct ReporterOptions {
    /// How long nothing may move.
    pub(super) watchdog: Option<Duration>,
    /// Another file may take the name of the recording.
    pub(super) changes_files: bool,
    /// A standstill takes a snapshot.
    pub(super) takes_snapshots: bool,
    /// The session of a server: without a process in it, nothing stands still.
    pub(super) served: Option<PathBuf>,
}

/// Where the recording is.
enum ReportSource {
    /// Its name may change.
    Held(File),
    /// Its file may change.
    Named(PathBuf),
}

impl ReportSource {
    fn open(&self, last: Option<&Path>) -> anyhow::Result<Recording> {
        match self {
            Self::Held(file) => open_trace::open_held(file),
            // The last of several files.
            Self::Named(path) => open_trace::open_held(&File::open(last.unwrap_or(path))?),
        }
    }
}

/// A request to the thread.
enum ReporterRequest {
    Report,
    End,
}

/// The thread that reports.
pub(super) struct Reporter {
    asks: Sender<ReporterRequest>,
    thread: JoinHandle<()>,
    ended: Arc<OnceLock<Instant>>,
}

impl Reporter {
    /// `path`: where the recording is, if it has a name.
    pub(super) fn start(
        path: Option<&Path>,
        options: ReporterOptions,
        board: Arc<Switchboard>,
        gauge: Arc<Gauge>,
    ) -> anyhow::Result<Self> {
        let limit = options
            .watchdog
            .map(|it| i64::try_from(it.as_nanos()).unwrap_or(i64::MAX));
        let path_of_file = path.filter(|path| path.is_file());
        let source = path_of_file.map(|path| match options.changes_files {
            true => Ok(ReportSource::Named(path.to_owned())),
            false => File::open(path).map(ReportSource::Held),
        });
        let ended = Arc::<OnceLock<Instant>>::default();
        let work = ReporterState {
            source: source.transpose().context("cannot read the recording")?,
            board,
            takes_snapshots: options.takes_snapshots,
            served: options.served,
            outlet: ReportOutput::new(path.map(ToOwned::to_owned)),
            gauge,
            standstill: limit.map(StandstillWatch::after),
            last: None,
            ended: Arc::clone(&ended),
        };
        let (asks, asked) = channel();
        let thread = std::thread::Builder::new()
            .name("reports".into())
            .spawn(move || work.run(&asked))
            .context("cannot start the thread for reports")?;
        Ok(Self {
            asks,
            thread,
            ended,
        })
    }

    /// What asks for a report.
    pub(super) fn request_sender(&self) -> impl Fn() + Send + Sync + use<> {
        let asks = self.asks.clone();
        move || {
            // A recording that is complete has nothing to report.
            let _ = asks.send(ReporterRequest::Report);
        }
    }

    /// The recording is complete: requested reports are printed, and watching ends.
    pub(super) fn finish(self) {
        let _ = self.ended.set(Instant::now());
        let _ = self.asks.send(ReporterRequest::End);
        // If it has failed, that was said.
        let _ = self.thread.join();
    }
}

/// State of the thread.
struct ReporterState {
    /// None if the recording goes to a pipe or a device.
    source: Option<ReportSource>,
    board: Arc<Switchboard>,
    /// A standstill takes a snapshot.
    takes_snapshots: bool,
    served: Option<PathBuf>,
    outlet: ReportOutput,
    gauge: Arc<Gauge>,
    standstill: Option<StandstillWatch>,
    /// The last report on a standstill.
    last: Option<Report>,
    ended: Arc<OnceLock<Instant>>,
}

impl ReporterState {
    fn run(mut self, asks: &Receiver<ReporterRequest>) {
        step_back();
        if self.source.is_none() && self.standstill.take().is_some() {
            print_message(
                "--watchdog cannot read a recording that goes to a pipe or a device: it is off",
            );
        }
        loop {
            match asks.recv_timeout(self.rest()) {
                Ok(ReporterRequest::Report) => self.report_on_request(),
                Ok(ReporterRequest::End) | Err(RecvTimeoutError::Disconnected) => {
                    // A program may end by the error that it got.
                    self.hear_failures();
                    return;
                }
                Err(RecvTimeoutError::Timeout) => self.watch(),
            }
        }
    }

    /// How long nothing needs to be looked at.
    fn rest(&self) -> Duration {
        let due = |it: &StandstillWatch| it.due(hang::now(), self.gauge.moved());
        match self.standstill.as_ref().map(due) {
            None => IDLE,
            Some(DueReport::Look) => Duration::ZERO,
            Some(DueReport::Later(rest)) => Duration::from_nanos(rest.max(0).unsigned_abs()),
        }
    }

    /// Somebody has asked.
    fn report_on_request(&mut self) {
        std::thread::sleep(FLUSHED);
        match self.look(true) {
            Ok(Some((report, begin))) => {
                let text = hang::text::text(&report, begin);
                // The key of this request also ends a program: then only its waits are of interest.
                let is_over = self.ended.get().is_some() && !hangs_or_may(&report);
                let lines = if is_over { 1 } else { usize::MAX };
                self.outlet.put(&first_lines(&text, lines));
            }
            Ok(None) => print_message("the recording has ended before it could be reported on"),
            Err(error) => print_message(format!("there is no report: {error:#}")),
        }
    }

    /// Checks the progress.
    fn watch(&mut self) {
        self.hear_failures();
        if self.board.is_stopping() {
            // A recording that has ended does not move.
            self.standstill = None;
        }
        let moved = self.gauge.moved();
        let Some(standstill) = &mut self.standstill else {
            return;
        };
        if let Some(stood_ns) = standstill.moves_again(moved) {
            let stood = duration(stood_ns);
            self.outlet
                .put(&format!("the program moves again, after {stood}"));
        }
        if standstill.due(hang::now(), moved) == DueReport::Look {
            self.report_standstill();
        }
    }

    fn report_standstill(&mut self) {
        let has_none = |session: &PathBuf| surviving_processes::attached(session).is_empty();
        if let (Some(standstill), true) = (
            &mut self.standstill,
            self.served.as_ref().is_some_and(has_none),
        ) {
            standstill.put_off(hang::now());
            return;
        }
        let moved = self.gauge.moved();
        let (report, begin) = match self.look(false) {
            Ok(Some(found)) => found,
            // The recording has ended.
            Ok(None) => return,
            Err(error) => {
                print_message(format!("--watchdog is off: {error:#}"));
                self.standstill = None;
                return;
            }
        };
        let Some(standstill) = &mut self.standstill else {
            return;
        };
        if standstill.on_report(hang::now(), moved, &report) {
            self.outlet.put(&hang::text::text(&report, begin));
            if self.takes_snapshots {
                self.board
                    .want_snapshot("nothing has moved", SnapshotOrigin::Recording);
            }
            self.last = Some(report);
        }
    }

    /// Calls that were blocked when a standstill was reported, and have returned errors since.
    fn hear_failures(&mut self) {
        for failed in self.gauge.take_failed() {
            let was_blocked = |it: &StandstillWatch| it.was_blocked(&failed);
            if self.standstill.as_ref().is_some_and(was_blocked) {
                let cause = self
                    .last
                    .as_ref()
                    .map(|it| hang::text::cause(it, failed.tid));
                let text = given_up(&failed) + &cause.unwrap_or_default();
                self.outlet.put(&text);
            }
        }
    }

    /// The report on the recording as it is now, and where its timestamps are counted from. Nothing when it has ended
    /// meanwhile.
    fn look(&self, is_asked: bool) -> anyhow::Result<Option<(Report, i64)>> {
        let source = self.source.as_ref().context(
            "the recording goes to a pipe or a device: it cannot be read while it is made",
        )?;
        let goes_on = || match self.ended.get() {
            None => !self.board.is_stopping(),
            Some(at) => is_asked && at.elapsed() < PATIENCE,
        };
        let now = Some(hang::now());
        let parts = self.board.parts();
        let last = parts.back().map(PathBuf::as_path);
        let mut recording = source.open(last)?;
        let begin = open_trace::begin(&recording);
        let hangs = hang::fold(&recording, now);
        let report = hangs.of_recording(&mut recording, WindowSize::default(), |_| goes_on());
        Ok(report
            .context("cannot read the recording")?
            .filter(|_| goes_on())
            .map(|report| (report, begin)))
    }
}

/// Whether a wait of the program will not end, or may not.
fn hangs_or_may(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Hangs | Verdict::Quiet)
}

fn first_lines(text: &str, count: usize) -> String {
    text.split_inclusive('\n').take(count).collect()
}

/// The runtime's error when it gave up.
fn given_up(failed: &FailedCall) -> String {
    let FailedCall {
        tid,
        function,
        code,
        begin_ns,
        end_ns,
    } = failed;
    let after = duration(end_ns.saturating_sub(*begin_ns));
    let words = hang::text::code_in_words(code);
    format!("thread {tid}: {function} returned an error after {after}: {words}, {code}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_reported_in_words() {
        let failed = FailedCall {
            tid: 7,
            function: "aclrtSynchronizeStream".into(),
            code: "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (507046)".into(),
            begin_ns: 0,
            end_ns: 30_000_000_000,
        };
        assert_eq!(
            given_up(&failed),
            "thread 7: aclrtSynchronizeStream returned an error after 30.0 s: stream sync timeout, \
             ACL_ERROR_RT_STREAM_SYNC_TIMEOUT (507046)\n"
        );
    }

    #[test]
    fn a_report_is_cut_at_its_first_line() {
        assert_eq!(first_lines("one\ntwo\n", 1), "one\n");
        assert_eq!(first_lines("one\ntwo\n", usize::MAX), "one\ntwo\n");
    }
}

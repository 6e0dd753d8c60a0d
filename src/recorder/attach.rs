//! A recording of a program that was running: from a request to it, until the user, the program or a time ends it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::roll::RollOptions;
use ascend_trace_collector::target::TraceTarget;
use ascend_trace_collector::{ProgramEnd, RecordingOutcome};
use ascend_trace_format::armed::JoinOutcome;
use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::Timing;
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_ring::{ArmedError, ArmedProcess};
use ascend_trace_tables::TABLE_HASH;

use super::active::ActiveRecording;
use super::ring::RingPlan;
use super::serve::ignore;
use super::summary::{self, SummaryLine};
use super::window::WindowOptions;
use super::{RecordOptions, description, prepare_session};
use crate::armed_process::{self, ArmedProgram};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::signals::SignalRelay;
use crate::metrics::{MetricsEndpoint, MetricsOptions};
use crate::output::{print_message, print_status};
use crate::unpack::ClientReports;
use crate::{inject, unpack};

/// Time between looks at the program and at requests.
const INTERVAL: Duration = Duration::from_millis(20);
/// After this time, the user learns that the program makes no call.
const SOON: Duration = Duration::from_millis(200);
/// Time limit for the program to leave the session. A program that makes no call leaves it later.
const LEAVING: Duration = Duration::from_secs(3);
/// Why the file ends before the program.
const DETACHED: &str = "detached";
/// Why the status of the program is not in the file.
const ENDED: &str = "the program has ended, and only its parent has its status";

/// Options of a recording that attaches to a program.
#[derive(Clone, Debug)]
pub(crate) struct AttachOptions {
    pub(crate) pid: u32,
    /// None for a file in the working directory.
    pub(crate) target: Option<TraceTarget>,
    pub(crate) duration: Option<Duration>,
    pub(crate) timing: Timing,
    pub(crate) budget: u32,
    pub(crate) stacks: u32,
    pub(crate) buffer: usize,
    pub(crate) filters: Filters,
    pub(crate) watchdog: Option<Duration>,
    pub(crate) metrics: Option<MetricsOptions>,
    pub(crate) ring: Option<RingPlan>,
    pub(crate) roll: Option<RollOptions>,
    pub(crate) window: WindowOptions,
    /// The program may be one without the library, which it then gets.
    pub(crate) inject: bool,
}

/// Records a running program until it is detached from.
pub(crate) fn attach(options: &AttachOptions) -> Result<(), Failure> {
    if options.inject {
        inject::put_library(options.pid).or_status(TOOL_FAILED)?;
    }
    let clock = TickClock::start();
    let program = armed_process::find_soon(options.pid).or_status(TOOL_FAILED)?;
    let plan = plan(options, &program);
    let is_injected = program.is_injected;
    let mut attached = begin(&plan, program, clock).or_status(TOOL_FAILED)?;
    let followed = attached.follow(options.duration);
    let outcome = attached.end();
    let path = outcome.as_ref().and_then(|it| it.path.as_deref());
    if let (Err(_), Some(path)) = (&followed, path)
        && std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
    {
        // Nothing was recorded.
        let _ = std::fs::remove_file(path);
    }
    followed.or_status(TOOL_FAILED)?;
    let lines = outcome
        .iter()
        .flat_map(|outcome| summary::lines_of_attached(outcome, (&plan, is_injected)));
    for line in lines {
        match line {
            SummaryLine::Fact(text) => print_status(text),
            SummaryLine::Problem(text) => print_message(text),
        }
    }
    match outcome {
        Some(_) => Ok(()),
        None => Err(Failure::new(
            TOOL_FAILED,
            "the thread that collects has failed",
        )),
    }
}

/// A program that a recorder is attached to.
struct AttachedProgram {
    program: ArmedProgram,
    page: ArmedProcess,
    recording: ActiveRecording,
    /// The file of the session.
    session: PathBuf,
}

fn begin(
    plan: &RecordOptions,
    program: ArmedProgram,
    clock: TickClock,
) -> anyhow::Result<AttachedProgram> {
    let pid = program.pid;
    if let Some(folder) = program.page.parent() {
        armed_process::remove_stale(folder);
    }
    let endpoint = plan.metrics.as_ref().map(MetricsEndpoint::open);
    let endpoint = endpoint.transpose()?;
    let mut page =
        ArmedProcess::open(&program.page, TABLE_HASH).map_err(|error| refusal(pid, error))?;
    let mut session = prepare_session(plan, clock, &describe(plan, &program))?;
    session.stop_reason = Some(DETACHED);
    session.is_attached = true;
    session.file.settle(pid);
    let place = session.arena.path().to_owned();
    let relay = SignalRelay::start().context("cannot listen to signals")?;
    ignore(&relay);
    // Signals are for the recording: the program has its own.
    relay.program_ended();
    let mut recording = ActiveRecording::start(session, pid, relay, plan);
    if let Some(endpoint) = endpoint {
        recording.serve_metrics(endpoint);
    }
    let asked = match recording.is_collecting() {
        true => page.request(&place).map_err(|error| refusal(pid, error)),
        false => Err(anyhow::anyhow!(
            "process {pid} runs on without being recorded"
        )),
    };
    let attached = AttachedProgram {
        program,
        page,
        recording,
        session: place,
    };
    match asked {
        Ok(()) => Ok(attached),
        Err(error) => {
            attached.end();
            Err(error)
        }
    }
}

/// The recording as one of the program's command line.
fn plan(options: &AttachOptions, program: &ArmedProgram) -> RecordOptions {
    let name = program.words.first().cloned().unwrap_or_default();
    let is_soft = unpack::soft().is_ok_and(|soft| program.is_soft(&soft.lib));
    let target = options.target.clone();
    let target = target.unwrap_or_else(|| RecordOptions::default_target(&name));
    RecordOptions {
        words: program.words.clone(),
        target: match options.roll {
            Some(_) => target.first_part(),
            None => target,
        },
        live: false,
        timing: options.timing,
        budget: options.budget,
        soft: is_soft.then(String::new),
        buffer: options.buffer,
        wait: false,
        engine: None,
        reports: ClientReports::default(),
        python: false,
        stacks: options.stacks,
        watchdog: options.watchdog,
        metrics: options.metrics.clone(),
        window: options.window,
        filters: options.filters,
        ring: options.ring.clone(),
        roll: options.roll,
        continues: None,
    }
}

fn describe(plan: &RecordOptions, program: &ArmedProgram) -> SessionRow {
    SessionRow {
        attached: Some(program.pid),
        injected: program.is_injected,
        // Its program was started elsewhere.
        outer: None,
        // The options of the software runtime are not known.
        queue_depth: None,
        ..description::session(plan)
    }
}

/// Why a program cannot be attached to.
fn refusal(pid: u32, error: ArmedError) -> anyhow::Error {
    match error {
        ArmedError::Taken => anyhow::anyhow!(
            "another recorder is attached to process {pid}: end that with `ascend-trace detach {pid}`"
        ),
        ArmedError::OtherVersion => anyhow::anyhow!(
            "process {pid} was started by another version of ascend-trace: attach with that version"
        ),
        ArmedError::System(error) => {
            anyhow::Error::new(error).context(format!("cannot attach to process {pid}"))
        }
    }
}

impl AttachedProgram {
    /// Waits until the recording has to end.
    fn follow(&mut self, duration: Option<Duration>) -> anyhow::Result<()> {
        let pid = self.program.pid;
        let asked = Instant::now();
        let mut joined: Option<Instant> = None;
        let mut has_waited = false;
        loop {
            match self.page.outcome() {
                None if !has_waited && joined.is_none() && asked.elapsed() > SOON => {
                    has_waited = true;
                    print_status(format!(
                        "the recording begins with the next AscendCL call of process {pid}"
                    ));
                }
                Some(JoinOutcome::Joined) if joined.is_none() => {
                    joined = Some(Instant::now());
                    print_status(format!(
                        "attached to process {pid}; Ctrl-C or `ascend-trace detach {pid}` ends the recording"
                    ));
                }
                // `exec` has replaced the program, and the page belongs to the new one.
                Some(JoinOutcome::Joined) if self.page.has_left() => {
                    self.page.request(&self.session)?;
                    print_status(format!(
                        "process {pid} runs another program, which is recorded as well"
                    ));
                }
                None | Some(JoinOutcome::Joined) => {}
                Some(refused) => bail!(reason(pid, refused)),
            }
            let is_over = duration
                .zip(joined)
                .is_some_and(|(limit, at)| at.elapsed() >= limit);
            let recording = &self.recording;
            if is_over
                || recording.relay.interrupted()
                || recording.controlled.board.is_stopping()
                || !recording.is_collecting()
            {
                return Ok(());
            }
            if !self.program.runs() {
                return Ok(());
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Completes the file. `None` when the collecting thread has failed.
    fn end(self) -> Option<RecordingOutcome> {
        let pid = self.program.pid;
        let is_running = self.program.runs();
        self.page.withdraw();
        if is_running {
            let recording = &self.recording;
            recording.controlled.board.stop();
            self.wait_for(|it| {
                it.recording.controlled.board.is_stopped() || !it.recording.is_collecting()
            });
            let since = Instant::now();
            self.wait_for(|it| {
                it.page.has_left() || !it.program.runs() || since.elapsed() > LEAVING
            });
        } else {
            self.page.remove();
        }
        let path = self.recording.path.clone();
        let outcome = self.recording.end(ProgramEnd {
            pid,
            status: 0,
            reason: ENDED,
        });
        outcome.or_else(|| {
            print_message("the file ends with the data until a thread of the recorder failed");
            path.map(|path| RecordingOutcome::failed(Some(path)))
        })
    }

    fn wait_for(&self, is_so: impl Fn(&Self) -> bool) {
        while !is_so(self) {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Why a process has not joined.
fn reason(pid: u32, outcome: JoinOutcome) -> String {
    match outcome {
        JoinOutcome::Crowded => format!(
            "process {pid} has threads that still use the memory of too many earlier recordings: restart it"
        ),
        JoinOutcome::OtherVersion => format!(
            "process {pid} was started by another version of ascend-trace, or an earlier recording of it had other filters: \
             attach with that version, or with the same --only and --skip"
        ),
        _ => format!(
            "process {pid} cannot open the recording's memory: it may run in another container, or have no rights to it"
        ),
    }
}

//! One recording from beginning to end: prepare, launch, collect, sum up.

mod active;
pub(crate) mod attach;
mod description;
mod live;
mod missing_calls;
mod nested;
mod report_output;
mod reporter;
pub(crate) mod respawn;
pub(crate) mod ring;
pub(crate) mod serve;
mod served_programs;
mod standstill;
mod summary;
mod surviving_processes;
pub(crate) mod timing;
pub(crate) mod window;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::Timing;
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_ring::Arena;

use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::elf::{self, ProgramFile};
use crate::launch::program_terminal::ProgramTerminal;
use crate::launch::signals::SignalRelay;
use crate::launch::{
    Environment, LaunchPlan, ProgramExit, StartedProgram, find_program, preflight, status_of,
};
use crate::metrics::{self, MetricsEndpoint};
use crate::output::{print_detail, print_message, print_status};
use crate::unpack::{self, ClientReports};
use active::ActiveRecording;
use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::dictionary;
use ascend_trace_collector::file::TraceFile;
use ascend_trace_collector::roll::RollOptions;
use ascend_trace_collector::switchboard::{Switchboard, WindowClock};
use ascend_trace_collector::target::TraceTarget;
use ascend_trace_collector::{ProgramEnd, RecordingOutcome, session};
use respawn::Continuation;
use ring::RingPlan;
use summary::{SummaryInput, SummaryLine};
use window::WindowOptions;

/// Options of a recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordOptions {
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) target: TraceTarget,
    pub(crate) live: bool,
    pub(crate) timing: Timing,
    /// The part of a stream's time that events may take with `auto`, of `WHOLE_BUDGET`; 0 for no limit.
    pub(crate) budget: u32,
    /// Options of the software runtime, if it is used.
    pub(crate) soft: Option<String>,
    /// Bytes of memory for records that are not written yet.
    pub(crate) buffer: usize,
    /// Whether to record until all processes of the program have ended.
    pub(crate) wait: bool,
    /// The library that patches functions, if that is wanted.
    pub(crate) engine: Option<PathBuf>,
    /// What clients report.
    pub(crate) reports: ClientReports,
    /// Whether Python interpreters report ranges of PyTorch.
    pub(crate) python: bool,
    /// Number of recorded frames of each call's stack; 0 for none.
    pub(crate) stacks: u32,
    /// How long nothing may move before that is reported.
    pub(crate) watchdog: Option<Duration>,
    /// The Prometheus endpoint during the recording.
    pub(crate) metrics: Option<metrics::MetricsOptions>,
    /// When calls are recorded.
    pub(crate) window: WindowOptions,
    /// Rules that select the recorded calls.
    pub(crate) filters: Filters,
    /// How much the trace file keeps; none for everything.
    pub(crate) ring: Option<RingPlan>,
    /// Files that follow each other, if there are several.
    pub(crate) roll: Option<RollOptions>,
    /// Of a recorder in the place of a lost one: that, and the program.
    pub(crate) continues: Option<Continuation>,
}

impl RecordOptions {
    /// A trace of `words` in the default file, named after the program.
    pub(crate) fn default_target(program: &OsString) -> TraceTarget {
        let name = PathBuf::from(program);
        let name = name
            .file_name()
            .unwrap_or(program.as_os_str())
            .to_string_lossy()
            .into_owned();
        TraceTarget::Default { name }
    }
}

/// Result of a recording.
pub(crate) struct RecordResult {
    /// The status of the program.
    pub(crate) status: i32,
    /// The trace, unless it went to standard output.
    pub(crate) file: Option<PathBuf>,
}

/// Records a program from its begin to its end.
pub(crate) fn record(plan: &RecordOptions) -> Result<RecordResult, Failure> {
    let clock = TickClock::start();
    let name = plan.words.first().cloned().unwrap_or_default();
    let program = find_program::find(&name, std::env::var_os("PATH").as_deref())?;
    let kind = preflight::check(&program)?;
    // An address that cannot be had is said before anything is made.
    let endpoint = plan.metrics.as_ref().map(MetricsEndpoint::open).transpose();
    let endpoint = endpoint.or_status(TOOL_FAILED)?;
    let (mut session, environment) = prepare(plan, clock).or_status(TOOL_FAILED)?;
    let launch = LaunchPlan {
        words: plan.words.clone(),
        program,
        environment,
        output_aside: plan.target == TraceTarget::Standard,
    };
    let relay = SignalRelay::start()
        .context("cannot listen to signals")
        .or_status(TOOL_FAILED)?;
    let mut screen = match plan.live {
        true => Some(open_screen().or_status(TOOL_FAILED)?),
        false => None,
    };
    relay.starting();
    let child = match launch.start(screen.as_mut()) {
        Ok(child) => child,
        Err(failure) => {
            session.file.discard();
            return Err(failure);
        }
    };
    session.file.settle(child.pid());
    let memory = std::fs::metadata(session.arena.path()).map_or(0, |file| file.len());
    let mut running = RunningProgram::new(session, child, relay, plan);
    nested::announce(running.recording.path.as_deref());
    if let Some(endpoint) = endpoint {
        running.recording.serve_metrics(endpoint);
    }
    let ended = match screen {
        Some(screen) => live::follow(running, screen, title(plan)),
        None => running.wait(),
    }
    .or_status(TOOL_FAILED)?;
    let recorded = SummaryInput {
        ended: &ended,
        plan,
        launch: &launch,
        kind: &kind,
        memory,
    };
    for line in summary::lines(&recorded) {
        match line {
            SummaryLine::Fact(text) => print_status(text),
            SummaryLine::Problem(text) => print_message(text),
        }
    }
    Ok(RecordResult {
        status: ended.status,
        file: ended.outcome.path,
    })
}

fn open_screen() -> anyhow::Result<ProgramTerminal> {
    ProgramTerminal::open().context("cannot open a terminal for the program; --no-tui does without")
}

/// The command as the view shows it.
fn title(plan: &RecordOptions) -> String {
    let mut words = plan.words.iter().map(|word| word.to_string_lossy());
    let program = words.next().unwrap_or_default();
    // The folder of a program with a long path would leave no room for anything else.
    let name = program.rsplit('/').next().unwrap_or_default().to_owned();
    std::iter::once(name.into())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Everything that exists before the program.
struct PreparedSession {
    /// The reason in the file if the recorder ends before the programs. Of a recorder that starts no program.
    stop_reason: Option<&'static str>,
    /// The recorder attaches to a program that runs.
    is_attached: bool,
    /// The hardware log is read.
    reads_log: bool,
    arena: Arena,
    board: Arc<Switchboard>,
    window: WindowClock,
    clock: TickClock,
    file: TraceFile,
}

/// Prepares a recording, and the environment of programs that join it.
fn prepare(
    plan: &RecordOptions,
    clock: TickClock,
) -> anyhow::Result<(PreparedSession, Environment)> {
    let interposer = unpack::interposer()?;
    let is_foreign = matches!(
        elf::inspect(&interposer.file),
        Ok(ProgramFile::Foreign { .. })
    );
    // The counter that a program reads in an emulator is not the one of this machine.
    let clock = if is_foreign {
        TickClock::monotonic()
    } else {
        clock
    };
    let mut environment = Environment::default();
    if let Some(options) = &plan.soft {
        environment.soften(&unpack::soft()?.lib, options);
    }
    print_detail(format!("library: {}", interposer.file.display()));
    environment.patch(plan.engine.as_deref());
    if plan.python {
        environment.set_range_hook(&unpack::python()?);
    }
    let preloads = unpack::preloads(&interposer, plan.reports)?;
    // A file is made last: what fails before leaves none.
    let session = prepare_session(plan, clock, &description::session(plan))?;
    match is_foreign {
        true => environment.trace_emulated(&interposer.preload, session.arena.path()),
        false => environment.trace(&preloads, session.arena.path()),
    }
    Ok((session, environment))
}

/// Prepares the memory and the file of a recording.
fn prepare_session(
    plan: &RecordOptions,
    clock: TickClock,
    row: &SessionRow,
) -> anyhow::Result<PreparedSession> {
    let mut arena = session::create(
        (plan.timing, plan.budget),
        plan.stacks,
        clock.source(),
        (plan.window.in_processes, plan.filters),
        plan.buffer,
    )
    .with_context(limits)?;
    let board = Arc::new(Switchboard::new(&plan.window.clock()));
    arena.set_switch(board.wanted());
    print_detail(format!("memory: {}", arena.path().display()));
    let file = TraceFile::create(&plan.target, row, &dictionary::first_tables(), |text| {
        print_message(text)
    })?;
    let file = match &plan.ring {
        Some(ring) => file.with_ring(ring.options, Arc::clone(&board)),
        None => file,
    };
    let file = match plan.roll {
        Some(options) => file.with_roll(options, Arc::clone(&board)),
        None => file,
    };
    Ok(PreparedSession {
        stop_reason: None,
        is_attached: false,
        reads_log: matches!(plan.timing, Timing::Hardware | Timing::Both),
        arena,
        board,
        window: plan.window.clock(),
        clock,
        file,
    })
}

/// Limits that may be the reason for missing memory.
fn limits() -> String {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current;
    match limit {
        Some(bytes) => format!(
            "cannot record within {} MiB of address space (ulimit -v)",
            bytes >> 20
        ),
        None => "cannot record".to_owned(),
    }
}

/// A program that is being recorded.
struct RunningProgram {
    child: StartedProgram,
    recording: ActiveRecording,
    /// The session with the processes to wait for.
    wait_for: Option<PathBuf>,
}

/// A recording that is complete.
pub(crate) struct EndedRecording {
    pub(crate) status: i32,
    pub(crate) exit: ProgramExit,
    pub(crate) outcome: RecordingOutcome,
    /// Where the program's output was kept, when it ran under the view.
    pub(crate) log: Option<PathBuf>,
}

impl RunningProgram {
    /// Begins to record a program that has been started: from here on it runs to its own end, recorded or not.
    fn new(
        session: PreparedSession,
        child: StartedProgram,
        relay: SignalRelay,
        plan: &RecordOptions,
    ) -> Self {
        let wait_for = plan.wait.then(|| session.arena.path().to_owned());
        let recording = ActiveRecording::start(session, child.pid(), relay, plan);
        // Signals that came meanwhile were kept.
        recording.relay.address(child.pid());
        Self {
            child,
            recording,
            wait_for,
        }
    }

    /// Waits for the program and completes the trace.
    fn wait(mut self) -> anyhow::Result<EndedRecording> {
        let waited = self.child.wait();
        self.recording.relay.program_ended();
        let exit = match waited {
            Ok(exit) => exit,
            Err(error) => {
                // Its exit is not known, but the existing part of the trace is completed.
                self.end(i32::from(TOOL_FAILED));
                return Err(error).context("cannot wait for the program");
            }
        };
        let status = status_of(exit.status);
        if let Some(session) = self
            .wait_for
            .as_ref()
            .filter(|_| !self.recording.controlled.board.is_stopping())
        {
            surviving_processes::wait(session, || self.recording.relay.interrupted());
        }
        let path = self.recording.path.clone();
        // The status is the program's, for any result of the recording.
        let outcome = self.end(status);
        let outcome = outcome.unwrap_or_else(|| RecordingOutcome::failed(path));
        Ok(EndedRecording {
            status,
            exit,
            outcome,
            log: None,
        })
    }

    /// Has the trace completed. `None` when the collecting thread has failed.
    fn end(self, status: i32) -> Option<RecordingOutcome> {
        self.recording.end(ProgramEnd {
            pid: self.child.pid(),
            status,
            reason: "",
        })
    }
}

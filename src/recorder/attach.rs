//! A recording of a program that was running: from a request to it, until the user, the program or a time ends it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::dictionary;
use ascend_trace_collector::file::TraceFile;
use ascend_trace_collector::gauge::Gauge;
use ascend_trace_collector::switchboard::{Switchboard, WindowClock};
use ascend_trace_collector::target::TraceTarget;
use ascend_trace_collector::{Collector, ProgramEnd, RecordingOutcome, Stop, session};
use ascend_trace_format::armed::JoinOutcome;
use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::Timing;
use ascend_trace_format::window::Window;
use ascend_trace_recording::rows::SessionRow;
use ascend_trace_ring::{ArmedError, ArmedProcess};
use ascend_trace_tables::TABLE_HASH;
use rustix::process::Signal;

use super::summary::{self, SummaryLine};
use super::window::WindowOptions;
use super::{RecordOptions, description};
use crate::armed_process::{self, ArmedProgram};
use crate::control::{ControlServer, ControlledRecording};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::signals::SignalRelay;
use crate::output::{print_detail, print_message, print_status};
use crate::{inject, unpack};

/// Time between looks at the program and at requests.
const INTERVAL: Duration = Duration::from_millis(20);
/// After this time, the user learns that the program makes no call.
const SOON: Duration = Duration::from_millis(200);
/// Time limit for the program to leave the session. A program that makes no call leaves it later.
const LEAVING: Duration = Duration::from_secs(3);
/// Signals that detach.
const ENDING: [i32; 3] = [
    Signal::INT.as_raw(),
    Signal::TERM.as_raw(),
    Signal::HUP.as_raw(),
];
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
    /// The program may be one without the library, which it then gets.
    pub(crate) inject: bool,
}

/// Records a running program until it is detached from.
pub(crate) fn attach(options: &AttachOptions) -> Result<(), Failure> {
    if options.inject {
        inject::put_library(options.pid).or_status(TOOL_FAILED)?;
    }
    let clock = TickClock::start();
    let program = armed_process::find(options.pid).or_status(TOOL_FAILED)?;
    let mut attached = begin(options, program, clock).or_status(TOOL_FAILED)?;
    let how = (options.timing, attached.program.is_injected);
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
        .flat_map(|outcome| summary::lines_of_attached(outcome, how));
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
    stop: Arc<Stop>,
    collector: JoinHandle<RecordingOutcome>,
    board: Arc<Switchboard>,
    control: Option<ControlServer>,
    /// The user wants to detach.
    is_interrupted: Arc<AtomicBool>,
    path: Option<PathBuf>,
    /// The file of the session.
    session: PathBuf,
    _relay: SignalRelay,
}

fn begin(
    options: &AttachOptions,
    program: ArmedProgram,
    clock: TickClock,
) -> anyhow::Result<AttachedProgram> {
    if let Some(folder) = program.page.parent() {
        armed_process::remove_stale(folder);
    }
    let mut page = ArmedProcess::open(&program.page, TABLE_HASH)
        .map_err(|error| refusal(options.pid, error))?;
    let plan = plan(options, &program);
    let arena = session::create(
        (plan.timing, plan.budget),
        plan.stacks,
        clock.source(),
        (Window::ALWAYS, plan.filters),
        plan.buffer,
    )?;
    let place = arena.path().to_owned();
    print_detail(format!("memory: {}", place.display()));
    let mut file = TraceFile::create(
        &plan.target,
        &describe(&plan, &program),
        &dictionary::first_tables(),
        |text| print_message(text),
    )?;
    file.settle(options.pid);
    let path = file.path().map(ToOwned::to_owned);
    let is_interrupted = Arc::<AtomicBool>::default();
    let relay = SignalRelay::start().context("cannot listen to signals")?;
    for signal in ENDING {
        let is_interrupted = Arc::clone(&is_interrupted);
        relay.keep(signal, move || is_interrupted.store(true, SeqCst));
    }
    let (stop, board) = (Arc::<Stop>::default(), Arc::<Switchboard>::default());
    let collector = Collector::new(arena, clock, file.start()?)
        .with_stop_reason(DETACHED)
        .with_window(Arc::clone(&board), WindowClock::default());
    let gauge = collector.gauge();
    let stopped = Arc::clone(&stop);
    let collector = std::thread::Builder::new()
        .name("collector".into())
        .spawn(move || collector.run(&stopped))
        .context("cannot start the collecting thread")?;
    let recording = controlled(&plan, &program, path.as_deref(), (&board, gauge));
    let control = super::active::take_requests(&place, recording);
    let asked = page
        .request(&place)
        .map_err(|error| refusal(options.pid, error));
    let attached = AttachedProgram {
        program,
        page,
        stop,
        collector,
        board,
        control,
        is_interrupted,
        path,
        session: place,
        _relay: relay,
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
    RecordOptions {
        words: program.words.clone(),
        target: options
            .target
            .clone()
            .unwrap_or_else(|| RecordOptions::default_target(&name)),
        live: false,
        timing: options.timing,
        budget: options.budget,
        soft: is_soft.then(String::new),
        buffer: options.buffer,
        wait: false,
        engine: None,
        marks: false,
        python: false,
        stacks: options.stacks,
        watchdog: None,
        metrics: None,
        window: WindowOptions::default(),
        filters: options.filters,
        ring: None,
        roll: None,
        continues: None,
    }
}

fn describe(plan: &RecordOptions, program: &ArmedProgram) -> SessionRow {
    SessionRow {
        attached: Some(program.pid),
        injected: program.is_injected,
        // The options of the software runtime are not known.
        queue_depth: None,
        ..description::session(plan)
    }
}

fn controlled(
    plan: &RecordOptions,
    program: &ArmedProgram,
    path: Option<&std::path::Path>,
    (board, gauge): (&Arc<Switchboard>, Arc<Gauge>),
) -> ControlledRecording {
    let words = plan.words.iter();
    ControlledRecording {
        program: program.pid,
        command: words.map(|it| it.to_string_lossy().into_owned()).collect(),
        trace: path.and_then(|it| std::path::absolute(it).ok()),
        begun: Instant::now(),
        gauge,
        board: Arc::clone(board),
        has_ring: false,
        has_several_files: false,
        timing: (plan.timing, plan.budget),
        group: None,
        is_attached: true,
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
            if is_over || self.is_interrupted.load(SeqCst) || self.board.is_stopping() {
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
            self.board.stop();
            self.wait_for(|it| it.board.is_stopped() || it.collector.is_finished());
            let since = Instant::now();
            self.wait_for(|it| {
                it.page.has_left() || !it.program.runs() || since.elapsed() > LEAVING
            });
        } else {
            self.page.remove();
        }
        if let Some(control) = self.control {
            control.finish();
        }
        self.stop.request(ProgramEnd {
            pid,
            status: 0,
            reason: ENDED,
        });
        let path = self.path;
        let outcome = self.collector.join();
        outcome.ok().or_else(|| {
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

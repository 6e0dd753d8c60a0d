//! A recording that starts no program: programs join it by their environment, until the user ends it.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::{ProgramEnd, RecordingOutcome};
use ascend_trace_handover::was_ignored;
use rustix::process::Signal;

use super::active::ActiveRecording;
use super::served_programs::ServedPrograms;
use super::summary::{self, SummaryLine};
use super::{RecordOptions, nested, prepare, surviving_processes};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::Environment;
use crate::launch::elf::{self, ProgramFile};
use crate::launch::signals::SignalRelay;
use crate::metrics::MetricsEndpoint;
use crate::output::{print_message, print_status};
use crate::server_place::ServerPlace;
use crate::unpack::{self, ClientReports};

/// Time between looks at signals, requests and programs.
const INTERVAL: Duration = Duration::from_millis(20);
/// Why the file of a server ends before the programs.
const SERVER_ENDED: &str = "the server was ended";
/// Why the statuses of the programs are not in the file.
const ENDED: &str =
    "the server of the recording started no program, and only its parent has its status";

/// What programs get from the environment of a server, in addition to the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServedEnvironment<'a> {
    /// Options of the software runtime, if it is used.
    pub(crate) soft: Option<&'a str>,
    pub(crate) reports: ClientReports,
    /// Python interpreters report ranges of PyTorch.
    pub(crate) python: bool,
    /// The environment of this process is not a part of it.
    pub(crate) is_alone: bool,
}

/// The environment of programs that the server at this place records.
pub(crate) fn environment(
    wanted: &ServedEnvironment<'_>,
    place: &ServerPlace,
) -> anyhow::Result<Environment> {
    let interposer = unpack::interposer()?;
    if matches!(
        elf::inspect(&interposer.file),
        Ok(ProgramFile::Foreign { .. })
    ) {
        bail!("a server records no program in an emulator: record it with `ascend-trace APP`");
    }
    let mut environment = match wanted.is_alone {
        true => Environment::alone(),
        false => Environment::default(),
    };
    if let Some(options) = wanted.soft {
        environment.soften(&unpack::soft()?.lib, options);
    }
    let preload = unpack::preloads(&interposer, wanted.reports)?;
    environment.serve(&preload, place.folder(), place.link());
    environment.patch(None);
    if wanted.python {
        environment.set_range_hook(&unpack::python()?);
    }
    Ok(environment)
}

/// Records all programs that join, until a signal or a request ends the recording.
pub(crate) fn serve(plan: &RecordOptions, place: &ServerPlace) -> Result<(), Failure> {
    let clock = TickClock::start();
    place.check().or_status(TOOL_FAILED)?;
    let endpoint = plan.metrics.as_ref().map(MetricsEndpoint::open).transpose();
    let endpoint = endpoint.or_status(TOOL_FAILED)?;
    let (mut session, _) = prepare(plan, clock).or_status(TOOL_FAILED)?;
    let relay = SignalRelay::start()
        .context("cannot listen to signals")
        .or_status(TOOL_FAILED)?;
    let own = std::process::id();
    session.stop_reason = Some(SERVER_ENDED);
    session.file.settle(own);
    let mut programs = ServedPrograms::new(place.folder(), place.link());
    let published = match place.publish(session.arena.path()) {
        Ok(published) => published,
        Err(error) => {
            session.file.discard();
            return Err(error).or_status(TOOL_FAILED);
        }
    };
    ignore(&relay);
    // Signals are for the recording from now on.
    relay.program_ended();
    let memory = session.arena.path().to_owned();
    let mut recording = ActiveRecording::start(session, own, relay, plan);
    nested::announce(recording.path.as_deref());
    if let Some(endpoint) = endpoint {
        recording.serve_metrics(endpoint);
    }
    print_status(format!(
        "programs that `ascend-trace env{}` starts are recorded; Ctrl-C or `ascend-trace ctl {own} stop` ends the recording",
        place.option()
    ));
    let limit = plan.window.ends_after();
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    follow(&recording, &mut programs, until);
    // Programs that start from now on are not recorded.
    drop(published);
    let running = surviving_processes::attached(&memory).len();
    let outcome = end(recording, own);
    // Programs leave the recording because it is complete, and not because their recorder is lost.
    drop(programs);
    for line in summary::lines_of_served(&outcome, (plan, place), running) {
        match line {
            SummaryLine::Fact(text) => print_status(text),
            SummaryLine::Problem(text) => print_message(text),
        }
    }
    Ok(())
}

/// Signals that do not end a recorder without a program: those for options of the recording, and the end of a terminal if
/// `nohup` has it ignored.
pub(super) fn ignore(relay: &SignalRelay) {
    let hangup = Signal::HUP.as_raw();
    let hangup = was_ignored(hangup).then_some(hangup);
    for signal in [Signal::USR1.as_raw(), Signal::USR2.as_raw()]
        .into_iter()
        .chain(hangup)
    {
        relay.keep(signal, || ());
    }
}

/// Waits until the recording has to end.
fn follow(recording: &ActiveRecording, programs: &mut ServedPrograms, until: Option<Instant>) {
    while until.is_none_or(|until| Instant::now() < until)
        && !recording.relay.interrupted()
        && !recording.controlled.board.is_stopping()
        && recording.is_collecting()
    {
        programs.look();
        std::thread::sleep(INTERVAL);
    }
}

/// Completes the file. Programs that run go on without being recorded.
fn end(recording: ActiveRecording, pid: u32) -> RecordingOutcome {
    let board = &recording.controlled.board;
    board.stop();
    while !board.is_stopped() && recording.is_collecting() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let path = recording.path.clone();
    let outcome = recording.end(ProgramEnd {
        pid,
        status: 0,
        reason: ENDED,
    });
    outcome.unwrap_or_else(|| RecordingOutcome::failed(path))
}

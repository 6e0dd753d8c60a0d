//! The recorder of a process that keeps it alive.

use std::io::BufRead;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Context;
use rustix::process::Signal;

use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::{ProgramEnd, RecordingOutcome};

use super::super::active::ActiveRecording;
use super::super::served_programs::ServedPrograms;
use super::super::summary::{self, SummaryInput, SummaryLine};
use super::super::{EndedRecording, RecordOptions, nested, prepare, surviving_processes};
use super::recorder_process::{report_ready, report_trace};
use super::role::{ParentMessage, RecorderRole};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::elf::ProgramFile;
use crate::launch::signals::SignalRelay;
use crate::launch::{LaunchPlan, ProgramExit, find_program, preflight, status_of};
use crate::metrics::MetricsEndpoint;
use crate::output::{print_message, print_status};

/// Time between looks at the programs.
const INTERVAL: Duration = Duration::from_millis(20);
/// Why the status of the program is not in the file.
const ORPHANED: &str = "the process that started the program and its recorder was killed";

/// Signals that a terminal sends to the parent, the program and the recorder. The recorder follows the messages of the parent instead.
const PARENTS: [Signal; 6] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
];

/// How the recording comes to its end.
enum RecordingEnd {
    ProgramEnded(ProgramExit),
    /// The parent has been killed, and no process is recorded any more.
    Orphaned,
    /// A thread of the recorder has failed.
    Failed,
}

/// Records until the parent reports the end of the program.
pub(super) fn record(mut plan: RecordOptions, role: RecorderRole) -> Result<(), Failure> {
    let clock = TickClock::start();
    let name = plan.words.first().cloned().unwrap_or_default();
    let program = find_program::find(&name, std::env::var_os("PATH").as_deref())?;
    let kind = preflight::check(&program)?;
    let place = role.place().or_status(TOOL_FAILED)?;
    plan.target = plan.target.of_recorder(role.number, plan.roll.is_some());
    plan.continues = role.continues;
    let endpoint = plan.metrics.as_ref().map(MetricsEndpoint::open).transpose();
    let endpoint = endpoint.or_status(TOOL_FAILED)?;
    let (mut session, environment) = prepare(&plan, clock).or_status(TOOL_FAILED)?;
    let relay = SignalRelay::start()
        .context("cannot listen to signals")
        .or_status(TOOL_FAILED)?;
    for signal in PARENTS {
        relay.keep(signal.as_raw(), || ());
    }
    relay.program_ended();
    let mut programs = ServedPrograms::new(place.folder(), place.link());
    let parent = listen().or_status(TOOL_FAILED)?;
    let published = match place.publish(session.arena.path()) {
        Ok(published) => published,
        Err(error) => {
            session.file.discard();
            return Err(error).or_status(TOOL_FAILED);
        }
    };
    report_ready().or_status(TOOL_FAILED)?;
    let Some(pid) = started(&plan, &parent) else {
        session.file.discard();
        return Ok(());
    };
    session.file.settle(pid);
    let memory = session.arena.path().to_owned();
    let memory_bytes = std::fs::metadata(&memory).map_or(0, |file| file.len());
    let mut recording = ActiveRecording::start(session, pid, relay, &plan);
    nested::announce(recording.path.as_deref());
    if let Some(path) = &recording.path {
        report_trace(path).or_status(TOOL_FAILED)?;
    }
    if let Some(endpoint) = endpoint {
        recording.serve_metrics(endpoint);
    }
    let end = follow(&recording, &mut programs, &parent, &memory);
    let has_ended = matches!(end, RecordingEnd::ProgramEnded(_));
    if has_ended && plan.wait && !recording.controlled.board.is_stopping() {
        surviving_processes::wait(&memory, || interrupts(&parent));
    }
    // Programs that start from now on are not recorded.
    drop(published);
    let outcome = complete(recording, pid, &end);
    drop(programs);
    let exit = match end {
        RecordingEnd::ProgramEnded(exit) => exit,
        RecordingEnd::Orphaned => return Ok(()),
        RecordingEnd::Failed => {
            let text = "a thread of the recorder has failed";
            return Err(Failure::new(TOOL_FAILED, text));
        }
    };
    let launch = LaunchPlan {
        words: plan.words.clone(),
        program,
        environment,
        output_aside: false,
    };
    let ended = EndedRecording {
        status: status_of(exit.status),
        exit,
        outcome,
        log: None,
    };
    sum_up(&plan, &ended, (&launch, &kind, memory_bytes));
    Ok(())
}

/// The pid of the program. `None` if it could not be started.
fn started(plan: &RecordOptions, parent: &Receiver<ParentMessage>) -> Option<u32> {
    if let Some(continues) = &plan.continues {
        return Some(continues.program);
    }
    parent.iter().find_map(|message| match message {
        ParentMessage::Started(pid) => Some(pid),
        _ => None,
    })
}

/// Starts the thread that reads the messages of the parent. The receiver is disconnected when the parent has ended.
fn listen() -> anyhow::Result<Receiver<ParentMessage>> {
    let (sender, receiver) = channel();
    std::thread::Builder::new()
        .name("parent".into())
        .spawn(move || {
            let lines = std::io::stdin().lock().lines().map_while(Result::ok);
            let mut messages = lines.filter_map(|line| ParentMessage::read(&line));
            // The recording may have ended.
            let _ = messages.try_for_each(|message| sender.send(message));
        })
        .context("cannot start the thread that reads messages of the parent")?;
    Ok(receiver)
}

/// Whether the parent has passed on a signal, which ends the wait for processes of the program.
fn interrupts(parent: &Receiver<ParentMessage>) -> bool {
    let is_signal = |message| matches!(message, ParentMessage::Signal(number) if number == Signal::INT.as_raw());
    parent.try_iter().any(is_signal)
}

/// Waits until the recording has to end.
fn follow(
    recording: &ActiveRecording,
    programs: &mut ServedPrograms,
    parent: &Receiver<ParentMessage>,
    memory: &Path,
) -> RecordingEnd {
    loop {
        match parent.recv_timeout(INTERVAL) {
            Ok(ParentMessage::Ended(exit)) => return RecordingEnd::ProgramEnded(exit),
            Ok(ParentMessage::Signal(number)) => recording.relay.react(number),
            Ok(ParentMessage::Started(_)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                if surviving_processes::attached(memory).is_empty() {
                    return RecordingEnd::Orphaned;
                }
                std::thread::sleep(INTERVAL);
            }
        }
        programs.look();
        if !recording.is_collecting() {
            return RecordingEnd::Failed;
        }
    }
}

/// Completes the file.
fn complete(recording: ActiveRecording, pid: u32, end: &RecordingEnd) -> RecordingOutcome {
    let (status, reason) = match end {
        RecordingEnd::ProgramEnded(exit) => (status_of(exit.status), ""),
        RecordingEnd::Orphaned => (0, ORPHANED),
        RecordingEnd::Failed => (0, "a thread of the recorder has failed"),
    };
    let path = recording.path.clone();
    let end = ProgramEnd {
        pid,
        status,
        reason,
    };
    let outcome = recording.end(end);
    outcome.unwrap_or_else(|| RecordingOutcome::failed(path))
}

/// Prints the summary.
fn sum_up(
    plan: &RecordOptions,
    ended: &EndedRecording,
    (launch, kind, memory): (&LaunchPlan, &ProgramFile, u64),
) {
    let recorded = SummaryInput {
        ended,
        plan,
        launch,
        kind,
        memory,
    };
    for line in summary::lines(&recorded) {
        match line {
            SummaryLine::Fact(text) => print_status(text),
            SummaryLine::Problem(text) => print_message(text),
        }
    }
}

//! The parent of the program and of its recorder.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::process::Signal;

use ascend_trace_collector::clock;
use ascend_trace_recording::rows::ContinuedRow;

use super::super::RecordOptions;
use super::super::serve::{ServedEnvironment, environment};
use super::recorder_process::{RecorderFailure, RecorderInput, RecorderProcess, in_words};
use super::role::{Continuation, ParentMessage, RecorderRole};
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::signals::SignalRelay;
use crate::launch::{LaunchPlan, ProgramExit, find_program, preflight, status_of};
use crate::output::print_message;

/// The pause before the second start in a row, which doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A recorder that ran for this long is started again at once.
const LONG: Duration = Duration::from_secs(60);
/// Time between looks for signals when the program has ended.
const INTERVAL: Duration = Duration::from_millis(20);

/// Records a program, and returns its status.
pub(super) fn record(plan: &RecordOptions) -> Result<i32, Failure> {
    let name = plan.words.first().cloned().unwrap_or_default();
    let program = find_program::find(&name, std::env::var_os("PATH").as_deref())?;
    preflight::check(&program)?;
    let role = RecorderRole {
        parent: std::process::id(),
        number: 1,
        continues: None,
    };
    let place = role.place().or_status(TOOL_FAILED)?;
    let wanted = ServedEnvironment {
        soft: plan.soft.as_deref(),
        reports: plan.reports,
        python: plan.python,
        is_alone: false,
    };
    let environment = environment(&wanted, &place).or_status(TOOL_FAILED)?;
    let relay = SignalRelay::start()
        .context("cannot listen to signals")
        .or_status(TOOL_FAILED)?;
    let (recorder, input) = match RecorderProcess::start(&role) {
        Ok(started) => started,
        // It has printed the reason.
        Err(error) => {
            return match error.downcast_ref::<RecorderFailure>() {
                Some(failure) => Ok(failure.status()),
                None => Err(error).or_status(TOOL_FAILED),
            };
        }
    };
    let launch = LaunchPlan {
        words: plan.words.clone(),
        program,
        environment,
        output_aside: false,
    };
    let present = Arc::new(PresentRecorder::new(input));
    // A signal for the recorder must not reach the program.
    present.listen(&relay, plan);
    relay.starting();
    let mut child = match launch.start(None) {
        Ok(child) => child,
        Err(failure) => {
            // Without a program, the recorder removes its file.
            present.recorder_ended();
            let _ = recorder.wait();
            return Err(failure);
        }
    };
    let pid = child.pid();
    relay.address(pid);
    present.send(ParentMessage::Started(pid));
    let keeper = keep(recorder, role, pid, Arc::clone(&present));
    if let Err(error) = &keeper {
        print_message(format!("a lost recorder will not be replaced: {error:#}"));
    }
    let keeper = keeper.ok();
    let waited = child.wait();
    relay.program_ended();
    let exit = waited
        .context("cannot wait for the program")
        .or_status(TOOL_FAILED)?;
    present.program_ended(exit);
    if let Some(keeper) = keeper {
        wait_for(keeper, &present, &relay);
    }
    Ok(status_of(exit.status))
}

/// Waits for the end of the recording. A signal ends the wait for processes of the program (`--wait`).
fn wait_for(keeper: JoinHandle<()>, present: &PresentRecorder, relay: &SignalRelay) {
    let mut is_reported = false;
    while !keeper.is_finished() {
        if relay.interrupted() && !is_reported {
            is_reported = true;
            present.send(ParentMessage::Signal(Signal::INT.as_raw()));
        }
        std::thread::sleep(INTERVAL);
    }
}

/// The recorder that runs at present, and the end of the program.
#[derive(Debug)]
struct PresentRecorder {
    state: Mutex<RecorderState>,
    changed: Condvar,
}

#[derive(Debug)]
struct RecorderState {
    /// `None` while no recorder runs.
    input: Option<RecorderInput>,
    exit: Option<ProgramExit>,
}

impl PresentRecorder {
    fn new(input: RecorderInput) -> Self {
        Self {
            state: Mutex::new(RecorderState {
                input: Some(input),
                exit: None,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: ParentMessage) {
        if let Some(input) = &mut self.lock().input {
            input.send(message);
        }
    }

    /// Passes on signals that are for the recorder.
    fn listen(self: &Arc<Self>, relay: &SignalRelay, plan: &RecordOptions) {
        let own = plan.ring.iter().flat_map(|it| &it.signals);
        for signal in own.copied() {
            let present = Arc::clone(self);
            relay.keep(signal, move || present.send(ParentMessage::Signal(signal)));
        }
        let present = Arc::clone(self);
        relay.on_quit(move || present.send(ParentMessage::Signal(Signal::QUIT.as_raw())));
    }

    fn program_ended(&self, exit: ProgramExit) {
        let mut state = self.lock();
        state.exit = Some(exit);
        if let Some(input) = &mut state.input {
            input.send(ParentMessage::Ended(exit));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The recorder has ended. Returns whether the program has.
    fn recorder_ended(&self) -> bool {
        let mut state = self.lock();
        state.input = None;
        state.exit.is_some()
    }

    fn recorder_started(&self, mut input: RecorderInput) {
        let mut state = self.lock();
        if let Some(exit) = state.exit {
            input.send(ParentMessage::Ended(exit));
        }
        state.input = Some(input);
    }

    /// Waits, and returns whether the program has ended meanwhile.
    fn rest(&self, pause: Duration) -> bool {
        let state = self.lock();
        let waited = self
            .changed
            .wait_timeout_while(state, pause, |it| it.exit.is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.exit.is_some()
    }
}

/// Starts the thread that replaces lost recorders.
fn keep(
    recorder: RecorderProcess,
    role: RecorderRole,
    program: u32,
    present: Arc<PresentRecorder>,
) -> anyhow::Result<JoinHandle<()>> {
    let mut keeper = RecorderKeeper {
        role,
        program,
        present,
        pause: Duration::ZERO,
    };
    std::thread::Builder::new()
        .name("recorder".into())
        .spawn(move || keeper.run(recorder))
        .context("cannot start the thread that replaces a lost recorder")
}

/// Replaces lost recorders as long as the program runs.
struct RecorderKeeper {
    /// That of the last recorder.
    role: RecorderRole,
    program: u32,
    present: Arc<PresentRecorder>,
    /// The time before the next start.
    pause: Duration,
}

impl RecorderKeeper {
    fn run(&mut self, first: RecorderProcess) {
        let mut recorder = Some(first);
        while let Some(present) = recorder.take() {
            let since = Instant::now();
            let ended = match present.wait() {
                Ok(ended) => ended,
                Err(error) => {
                    print_message(format!("a lost recorder will not be replaced: {error:#}"));
                    return;
                }
            };
            let lost_ns = clock::now();
            if self.present.recorder_ended() || ended.status.success() {
                return;
            }
            if since.elapsed() >= LONG {
                self.pause = Duration::ZERO;
            }
            let how = in_words(ended.status);
            print_message(format!(
                "the recorder ended {how}: another one goes on in a new file"
            ));
            self.role.continues = Some(Continuation {
                program: self.program,
                earlier: ContinuedRow {
                    file: ended.trace,
                    lost_ns,
                    reason: how,
                },
            });
            recorder = self.replace();
        }
    }

    /// Starts recorders until one runs. `None` if the program ends before that.
    fn replace(&mut self) -> Option<RecorderProcess> {
        loop {
            if self.present.rest(self.pause) {
                return None;
            }
            self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            self.role.number += 1;
            match RecorderProcess::start(&self.role) {
                Ok((recorder, input)) => {
                    self.present.recorder_started(input);
                    return Some(recorder);
                }
                Err(error) => {
                    let next = self.pause.as_secs_f64();
                    print_message(format!(
                        "the program runs on without being recorded: the recorder cannot be replaced: {error:#}. The next try is in \
                         {next} s"
                    ));
                }
            }
        }
    }
}

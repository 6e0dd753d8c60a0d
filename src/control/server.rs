//! The recorder's end: a thread that takes one request after another.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::peers::Peers;
use super::place::{remove_stale, socket_of};
use super::protocol::{
    Order, PATIENCE, RecordingStatus, Reply, Request, UnwrittenRecords, VERSION, WaitingBytes,
    receive, send,
};
use ascend_trace_collector::coverage::is_software;
use ascend_trace_collector::gauge::Gauge;
use ascend_trace_collector::ring::SnapshotOrigin;
use ascend_trace_collector::switchboard::Switchboard;
use ascend_trace_format::session::Timing;

use crate::recorder::timing;

/// How often the thread looks for requests: a recorder that is asked nothing needs next to no processor time.
const INTERVAL: Duration = Duration::from_millis(100);

/// Time limit for the end of a file. A client waits a little longer.
const STOP_PATIENCE: Duration = Duration::from_secs(4);

/// How long the end of a recorder waits for a reply that is under way.
const REPLY_PATIENCE: Duration = Duration::from_secs(2);

/// A recording as requests see and change it.
#[derive(Clone)]
pub(crate) struct ControlledRecording {
    pub(crate) program: u32,
    pub(crate) command: Vec<String>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) begun: Instant,
    pub(crate) gauge: Arc<Gauge>,
    pub(crate) board: Arc<Switchboard>,
    /// Snapshots can be taken.
    pub(crate) has_ring: bool,
    /// The recording goes on in further files.
    pub(crate) has_several_files: bool,
    /// How tasks are timed at the begin, and the budget of that.
    pub(crate) timing: (Timing, u32),
    /// Recordings with this name take snapshots together.
    pub(crate) group: Option<String>,
    /// The recorder has attached to a program that was running.
    pub(crate) is_attached: bool,
    /// The programs run on the software runtime, as the recorder was asked for.
    pub(crate) is_soft: bool,
    /// Whether a library is the software runtime, of those that were looked at.
    pub(crate) looked_at: Arc<Mutex<HashMap<PathBuf, bool>>>,
}

/// The socket of a recording, and the thread behind it.
pub(crate) struct ControlServer {
    path: PathBuf,
    ends: Arc<AtomicBool>,
    /// A client waits for its reply.
    is_asked: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    /// Other recordings that take snapshots together with this one.
    peers: Option<Peers>,
}

impl ControlServer {
    /// Listens for requests about the recording of this session.
    pub(crate) fn start(session: &Path, recording: ControlledRecording) -> anyhow::Result<Self> {
        let path = socket_of(session);
        remove_stale(session);
        // Of a recorder that had the same pid, and was killed.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path)
            .and_then(|it| it.set_nonblocking(true).map(|()| it))
            .with_context(|| format!("cannot listen at {}", path.display()))?;
        let (ends, is_asked) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let (is_over, asked) = (Arc::clone(&ends), Arc::clone(&is_asked));
        let peers = recording.peers(session);
        let known = peers.clone();
        let thread = std::thread::Builder::new()
            .name("control".into())
            .spawn(move || serve(&listener, &recording, known.as_ref(), (&is_over, &asked)))
            .context("cannot start the thread for requests")?;
        Ok(Self {
            path,
            ends,
            is_asked,
            thread,
            peers,
        })
    }

    /// The recording ends. The socket is removed first: the folder of the session file must be empty when that file is removed. The
    /// thread may still serve a client. It has some time for its reply, which may say that the recording ended, and is not joined.
    ///
    /// Returns the other recordings: the program's status may be the reason of a snapshot.
    pub(crate) fn finish(self) -> Option<Peers> {
        let _ = fs::remove_file(self.path);
        self.ends.store(true, Ordering::SeqCst);
        self.thread.thread().unpark();
        wait_for(REPLY_PATIENCE, || !self.is_asked.load(Ordering::SeqCst));
        self.peers
    }
}

fn serve(
    listener: &UnixListener,
    recording: &ControlledRecording,
    peers: Option<&Peers>,
    (is_over, is_asked): (&AtomicBool, &AtomicBool),
) {
    while !is_over.load(Ordering::SeqCst) {
        peers.and_then(Peers::tell);
        match listener.accept() {
            Ok((stream, _)) => {
                is_asked.store(true, Ordering::SeqCst);
                drop(talk(&stream, recording));
                is_asked.store(false, Ordering::SeqCst);
            }
            // Also when the process is out of descriptors.
            Err(_) => std::thread::park_timeout(INTERVAL),
        }
    }
}

/// Takes one request. A client that sends nothing has a time limit. Other clients wait no longer than that.
fn talk(stream: &UnixStream, recording: &ControlledRecording) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let reply = match receive::<Request>(stream) {
        Ok(request) if request.version == VERSION => recording.obey(request.order),
        Ok(request) => Reply::refused(format!(
            "this recorder knows version {VERSION} of requests, and not {}",
            request.version
        )),
        Err(error) => Reply::refused(format!("this is no request: {error}")),
    };
    send(stream, &reply)
}

impl ControlledRecording {
    fn peers(&self, session: &Path) -> Option<Peers> {
        Some(Peers {
            group: self.group.clone()?,
            own: session.to_owned(),
            board: Arc::clone(&self.board),
            program: self.program,
        })
    }

    /// Carries an order out.
    pub(crate) fn obey(&self, order: Order) -> Reply {
        match order {
            Order::Status => {}
            Order::Stop => {
                self.board.stop();
                if !wait_for(STOP_PATIENCE, || self.board.is_stopped()) {
                    return Reply::refused("the recorder is busy: the recording ends later");
                }
            }
            _ if self.board.is_stopping() => {
                return Reply::refused("the recording was stopped: its file is complete");
            }
            Order::Pause => self.board.pause(),
            Order::Resume => self.board.resume(),
            Order::Snapshot { .. } if !self.has_ring => {
                return Reply::refused(
                    "the recording has no --ring: its trace file has everything, and needs no snapshot",
                );
            }
            Order::Snapshot { group, .. } if group.is_some() && group != self.group => {
                return Reply::refused("the recording is in another group (--together)");
            }
            Order::Snapshot { reason, .. } => {
                let before = self.board.snapshots().ended;
                let reason = reason.unwrap_or_else(|| "ctl snapshot".to_owned());
                self.board.want_snapshot(&reason, SnapshotOrigin::Request);
                let is_taken = || self.board.snapshots().ended > before;
                wait_for(PATIENCE / 2, is_taken);
            }
            Order::Timing { mode } => {
                let wanted = timing::timing_of(&mode).and_then(|wanted| {
                    timing::check_change(self.timing.0, wanted)?;
                    Ok((wanted, self.present_timing().1))
                });
                if let Err(refused) = wanted.map(|wanted| self.retime(wanted)) {
                    return Reply::refused(format!("timing {mode}: {refused}"));
                }
            }
            Order::Budget { percent } => {
                let wanted = timing::budget_of(&percent).and_then(|budget| {
                    let (now, _) = self.present_timing();
                    timing::check_change(self.timing.0, now)?;
                    match now {
                        Timing::Auto => Ok((now, budget)),
                        _ => Err(format!(
                            "it limits the timing auto, and the timing is {}",
                            timing::text_of(now)
                        )),
                    }
                });
                if let Err(refused) = wanted.map(|wanted| self.retime(wanted)) {
                    return Reply::refused(format!("budget {percent}: {refused}"));
                }
            }
            Order::Mark { text } => {
                if !self.board.mark(&text) {
                    return Reply::refused("too many marks wait to be recorded: try again");
                }
            }
        }
        match self.is_followed() {
            true => Reply::done(self.status()),
            false => Reply::refused("the recorder is busy: it will follow later"),
        }
    }

    /// How tasks are timed now, and the budget of that.
    fn present_timing(&self) -> (Timing, u32) {
        self.board.timing().unwrap_or(self.timing)
    }

    /// Changes the timing. A mark in the recording shows the change.
    fn retime(&self, (timing, budget): (Timing, u32)) {
        self.board.retime(timing, budget);
        let limit = match timing::percent_of(budget) {
            Some(percent) if timing == Timing::Auto => format!(", budget {percent} %"),
            _ => String::new(),
        };
        // Without room, the timing changes without a mark.
        let _ = self
            .board
            .mark(&format!("timing {}{limit}", timing::text_of(timing)));
    }

    /// Waits until processes can see the switch.
    fn is_followed(&self) -> bool {
        wait_for(PATIENCE / 2, || self.board.is_set())
    }

    /// The files of the snapshots. Clients are in other folders.
    fn snapshots(&self) -> Vec<PathBuf> {
        let files = self.board.snapshots().files.into_iter();
        files
            .map(|it| std::path::absolute(&it).unwrap_or(it))
            .collect()
    }

    /// The runtime, as a recording calls it; `None` as long as no process has loaded one.
    fn runtime(&self) -> Option<&'static str> {
        let libraries = self.gauge.libraries();
        let looked_at = self.looked_at.lock();
        let mut looked_at = looked_at.unwrap_or_else(PoisonError::into_inner);
        let mut is_software = |path: &PathBuf| {
            let known = looked_at.entry(path.clone());
            *known.or_insert_with(|| is_software(path))
        };
        if self.is_soft || libraries.iter().any(&mut is_software) {
            return Some("softacl");
        }
        (!libraries.is_empty()).then_some("installed")
    }

    fn status(&self) -> RecordingStatus {
        let counts = self.gauge.now();
        let (timing, budget) = self.present_timing();
        let last = self.board.parts().pop_back();
        let last = last.and_then(|it| std::path::absolute(it).ok());
        let trace = last.or_else(|| self.trace.clone());
        let file = trace.as_deref().and_then(|it| fs::metadata(it).ok());
        RecordingStatus {
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            recorder: std::process::id(),
            program: self.program,
            command: self.command.clone(),
            trace,
            bytes: file.map(|it| it.len()),
            paused: self.board.is_paused(),
            stopped: self.board.is_stopped(),
            attached: self.is_attached,
            calls: counts.calls,
            lost: counts.lost,
            unwritten: self.gauge.unwritten().map(|it| UnwrittenRecords {
                error: it.error,
                calls: it.calls,
                others: it.others,
            }),
            waiting: self.gauge.waiting().map(|it| WaitingBytes {
                error: it.error,
                bytes: it.bytes,
            }),
            runtime: self.runtime().map(str::to_owned),
            timing: Some(timing::text_of(timing)),
            budget_percent: timing::percent_of(budget).filter(|_| timing == Timing::Auto),
            snapshots: self.snapshots(),
            running_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Waits for something, for no longer than `patience`. Returns whether it happened.
fn wait_for(patience: Duration, is_so: impl Fn() -> bool) -> bool {
    let until = Instant::now() + patience;
    while !is_so() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use super::*;

    fn recording() -> ControlledRecording {
        ControlledRecording {
            program: 7,
            command: vec!["./app".to_owned()],
            trace: None,
            begun: Instant::now(),
            gauge: Arc::default(),
            board: Arc::default(),
            has_ring: false,
            has_several_files: false,
            timing: (Timing::Auto, 0),
            group: None,
            is_attached: false,
            is_soft: false,
            looked_at: Arc::default(),
        }
    }

    fn ask(path: &Path, line: &str) -> Reply {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(line.as_bytes()).unwrap();
        stream.write_all(b"\n").unwrap();
        let mut reply = String::new();
        BufReader::new(stream).read_line(&mut reply).unwrap();
        serde_json::from_str(&reply).unwrap()
    }

    #[test]
    fn requests_change_the_recording_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let session = folder.path().join("session-1-0");
        let recording = recording();
        let board = Arc::clone(&recording.board);
        let server = ControlServer::start(&session, recording).unwrap();
        let path = socket_of(&session);
        let status = ask(&path, r#"{"version":1,"command":"status"}"#)
            .status
            .unwrap();
        assert_eq!((status.program, status.paused), (7, false));
        // Without a collector, no process gets the switch.
        let late = ask(&path, r#"{"version":1,"command":"pause"}"#);
        assert!(late.error.unwrap().contains("busy") && board.is_paused());
        for line in [
            "",
            "{}",
            r#"{"version":1,"command":"x"}"#,
            r#"{"version":2,"command":"pause"}"#,
            r#"{"version":1,"command":"snapshot"}"#,
        ] {
            let reply = ask(&path, line);
            assert!(reply.error.is_some() && reply.status.is_none(), "{line}");
        }
        assert!(board.is_paused());
        board.release();
        // A client that leaves at once is no trouble.
        drop(UnixStream::connect(&path).unwrap());
        assert!(
            ask(&path, r#"{"version":1,"command":"status"}"#)
                .status
                .is_some()
        );
        server.finish();
        assert!(!path.exists());
    }
}

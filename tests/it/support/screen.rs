//! A terminal with the tool in it.

use std::cell::Cell;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::Pty;
use rustix::process::{Pid, Signal};

use super::process::{Outcome, finish};

/// Nothing takes a fraction of this to appear.
const LIMIT: Duration = Duration::from_secs(300);

/// Everything that was written to the terminal.
struct Shown {
    written: Mutex<Written>,
    grown: Condvar,
    /// The last program has closed it.
    closed: AtomicBool,
}

struct Written {
    bytes: Vec<u8>,
    /// The screen that a user sees.
    terminal: vt100::Parser,
}

impl Written {
    /// Whether a text has been written since a length, or is on screen, not as the end of a longer
    /// name. Only changes are written: text on screen need not have been written in one piece.
    fn has(&self, text: &str, length: usize) -> bool {
        let is_in = |shown: &str| {
            let mut places = shown.match_indices(text);
            places.any(|(at, _)| !shown[..at].ends_with('_'))
        };
        is_in(&String::from_utf8_lossy(&self.bytes[length..]))
            || length == 0 && is_in(&self.terminal.screen().contents())
    }
}

pub(crate) struct Screen {
    pty: Arc<Pty>,
    shown: Arc<Shown>,
    reader: JoinHandle<()>,
    child: Child,
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

impl Screen {
    /// Starts a command in a terminal of this many rows and columns.
    #[track_caller]
    pub(crate) fn start(command: Command, rows: u16, columns: u16) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let has = |variable: &str| command.get_envs().any(|(name, _)| name == variable);
        // The user's settings for views are not tested.
        let missing = [
            ("TERM", "xterm-256color"),
            ("XDG_CONFIG_HOME", "/nonexistent"),
        ];
        let missing: Vec<_> = missing.into_iter().filter(|it| !has(it.0)).collect();
        let mut command = pty_process::blocking::Command::from(command);
        for (name, value) in missing {
            command = command.env(name, value);
        }
        let child = command.spawn(pts).unwrap();
        let written = Written {
            bytes: Vec::new(),
            terminal: vt100::Parser::new(cells(rows), cells(columns), 0),
        };
        let shown = Shown {
            written: Mutex::new(written),
            grown: Condvar::new(),
            closed: AtomicBool::new(false),
        };
        let (pty, shown) = (Arc::new(pty), Arc::new(shown));
        let (source, sink) = (Arc::clone(&pty), Arc::clone(&shown));
        let reader = std::thread::spawn(move || sink.collect(&source));
        Self {
            pty,
            shown,
            reader,
            child,
        }
    }

    /// Waits until this has been written or is on screen, not as the end of a longer name.
    #[track_caller]
    pub(crate) fn until(&self, text: &str) {
        self.until_after(0, text);
    }

    /// Number of written bytes.
    pub(crate) fn length(&self) -> usize {
        self.shown.written.lock().unwrap().bytes.len()
    }

    /// Waits until this has been written in one piece after a [`Self::length`].
    #[track_caller]
    pub(crate) fn until_after(&self, length: usize, text: &str) {
        let written = self.shown.written.lock().unwrap();
        let is_missing = Cell::new(true);
        let missing = |written: &mut Written| {
            is_missing.set(!written.has(text, length));
            is_missing.get() && !self.shown.closed.load(Ordering::Acquire)
        };
        let waited = self
            .shown
            .grown
            .wait_timeout_while(written, LIMIT, missing)
            .unwrap();
        assert!(
            !is_missing.get(),
            "{text} does not appear in {}\nwith this on screen:\n{}",
            String::from_utf8_lossy(&waited.0.bytes),
            waited.0.terminal.screen().contents()
        );
    }

    /// Presses keys.
    #[track_caller]
    pub(crate) fn press(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    #[track_caller]
    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Whether the command was stopped, as by Ctrl-Z.
    #[track_caller]
    pub(crate) fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        stat.rsplit(')')
            .next()
            .unwrap()
            .trim_start()
            .starts_with('T')
    }

    /// How often threads of the command have gone to sleep.
    #[track_caller]
    pub(crate) fn wakeups(&self) -> u64 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let sleeps = threads.map(|thread| {
            let status = std::fs::read_to_string(thread.unwrap().path().join("status"));
            let status = status.unwrap_or_default();
            let mut lines = status.lines();
            let count = lines.find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
            count.map_or(0, |count| count.trim().parse::<u64>().unwrap())
        });
        sleeps.sum()
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let mut written = self.shown.written.lock().unwrap();
        written
            .terminal
            .screen_mut()
            .set_size(cells(rows), cells(columns));
        self.pty.resize(Size::new(rows, columns)).unwrap();
    }

    /// Waits for the end; the outcome's stdout is everything that was written.
    #[track_caller]
    pub(crate) fn finish(self) -> Outcome {
        let outcome = finish(self.child);
        self.reader.join().unwrap();
        let stdout = std::mem::take(&mut self.shown.written.lock().unwrap().bytes);
        let add = |outcome| Outcome { stdout, ..outcome };
        outcome
            .map_err(|stuck| format!("it did not end: {stuck}"))
            .map(add)
            .unwrap()
    }
}

impl Shown {
    /// Reads until the last program has closed the terminal.
    fn collect(&self, mut pty: &Pty) {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = pty.read(&mut buffer) {
            let mut written = self.written.lock().unwrap();
            written.bytes.extend_from_slice(&buffer[..length]);
            written.terminal.process(&buffer[..length]);
            drop(written);
            self.grown.notify_all();
        }
        let _written = self.written.lock().unwrap();
        self.closed.store(true, Ordering::Release);
        self.grown.notify_all();
    }
}

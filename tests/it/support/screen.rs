//! A terminal with the tool in it.

use std::cell::Cell;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::Pty;

use super::process::{Outcome, finish};

/// Nothing takes a fraction of this to appear.
const LIMIT: Duration = Duration::from_secs(300);

/// Everything that was written to the terminal.
#[derive(Default)]
struct Shown {
    bytes: Mutex<Vec<u8>>,
    grown: Condvar,
    /// The last program has closed it.
    closed: AtomicBool,
}

pub(crate) struct Screen {
    pty: Arc<Pty>,
    shown: Arc<Shown>,
    reader: JoinHandle<()>,
    child: Child,
}

impl Screen {
    /// Starts a command in a terminal of this many rows and columns.
    #[track_caller]
    pub(crate) fn start(command: Command, rows: u16, columns: u16) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(rows, columns)).unwrap();
        let command = pty_process::blocking::Command::from(command);
        let child = command.env("TERM", "xterm-256color").spawn(pts).unwrap();
        let (pty, shown) = (Arc::new(pty), Arc::new(Shown::default()));
        let (source, sink) = (Arc::clone(&pty), Arc::clone(&shown));
        let reader = std::thread::spawn(move || sink.collect(&source));
        Self {
            pty,
            shown,
            reader,
            child,
        }
    }

    /// Waits until this has been written, not as the end of a longer name.
    #[track_caller]
    pub(crate) fn until(&self, text: &str) {
        let bytes = self.shown.bytes.lock().unwrap();
        let is_missing = Cell::new(true);
        let missing = |bytes: &mut Vec<u8>| {
            let shown = String::from_utf8_lossy(bytes);
            let mut places = shown.match_indices(text);
            let is_there = places.any(|(at, _)| !shown[..at].ends_with('_'));
            is_missing.set(!is_there);
            !is_there && !self.shown.closed.load(Ordering::Acquire)
        };
        let waited = self
            .shown
            .grown
            .wait_timeout_while(bytes, LIMIT, missing)
            .unwrap();
        assert!(
            !is_missing.get(),
            "{text} does not appear in {}",
            String::from_utf8_lossy(&waited.0)
        );
    }

    /// Presses keys.
    #[track_caller]
    pub(crate) fn press(&self, keys: &str) {
        (&*self.pty).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        self.pty.resize(Size::new(rows, columns)).unwrap();
    }

    /// Waits for the end; the outcome's stdout is everything that was written.
    #[track_caller]
    pub(crate) fn finish(self) -> Outcome {
        let outcome = finish(self.child);
        self.reader.join().unwrap();
        let stdout = std::mem::take(&mut *self.shown.bytes.lock().unwrap());
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
            self.bytes
                .lock()
                .unwrap()
                .extend_from_slice(&buffer[..length]);
            self.grown.notify_all();
        }
        let _bytes = self.bytes.lock().unwrap();
        self.closed.store(true, Ordering::Release);
        self.grown.notify_all();
    }
}

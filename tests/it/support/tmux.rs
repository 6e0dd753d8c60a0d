//! The tool inside tmux: a terminal with the visible screen, not only the written bytes.

#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::place;
use super::process::{cache, clean};

/// Nothing takes a fraction of this to appear.
const LIMIT: Duration = Duration::from_secs(300);
/// The shell's text when it waits for a command.
pub(crate) const PROMPT: &str = "shell waits>";

/// A shell in a separate tmux, which ends with it.
pub(crate) struct Tmux {
    folder: TempDir,
}

impl Tmux {
    /// `None`, and a message, where there is no tmux.
    pub(crate) fn start(columns: u16, rows: u16) -> Option<Self> {
        let is_there = Command::new("tmux").arg("-V").output().is_ok();
        if !is_there {
            eprintln!("skipped: there is no tmux here");
            return None;
        }
        let tmux = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["-x", &columns, "-y", &rows];
        tmux.run(&[&["new-session", "-d"], &size[..], &["sh"]].concat());
        // Shells do not take it from the environment. The typed text must not look like it.
        tmux.shell("PS1='shell'' waits> '");
        tmux.until(PROMPT);
        Some(tmux)
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    fn command(&self) -> Command {
        let mut command = clean("tmux");
        command
            .arg("-S")
            .arg(self.folder.path().join("socket"))
            .args(["-f", "/dev/null"])
            .current_dir(self.folder.path())
            .env_remove("TMUX")
            .env_remove("ENV")
            .env("LC_ALL", "C.UTF-8")
            .env("XDG_CACHE_HOME", cache())
            .env("TOOL", place::command());
        command
    }

    #[track_caller]
    fn run(&self, words: &[&str]) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command().args(words).output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "tmux {words:?}: {said}");
        String::from_utf8_lossy(&stdout).into_owned()
    }

    /// The visible screen.
    #[track_caller]
    pub(crate) fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Waits until something is so on screen; `Err` is the last screen on which it was not.
    #[track_caller]
    fn wait(&self, limit: Duration, is_so: impl Fn(&str) -> bool) -> Result<String, String> {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return Ok(screen);
            }
            if begin.elapsed() > limit {
                return Err(screen);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until something is so on screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let screen = self.wait(LIMIT, is_so);
        screen.unwrap_or_else(|screen| panic!("{what} does not come:\n{screen}"))
    }

    /// Whether a text comes on screen within this time.
    #[track_caller]
    pub(crate) fn comes(&self, text: &str, limit: Duration) -> bool {
        self.wait(limit, |screen| screen.contains(text)).is_ok()
    }

    /// Waits until a text is on screen.
    #[track_caller]
    pub(crate) fn until(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// Presses keys, by the names that tmux gives them.
    #[track_caller]
    pub(crate) fn press(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    /// Types a text as it is.
    #[track_caller]
    pub(crate) fn type_text(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    /// Types a line of the shell.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) {
        self.type_text(line);
        self.press(&["Enter"]);
    }

    /// Presses and releases a button of the mouse, as terminals report that; columns and lines count
    /// from 0.
    #[track_caller]
    pub(crate) fn mouse(&self, button: u8, column: usize, line: usize) {
        let (x, y) = (column + 1, line + 1);
        self.send_bytes(&format!("\u{1b}[<{button};{x};{y}M"));
        if button < 64 {
            self.send_bytes(&format!("\u{1b}[<{button};{x};{y}m"));
        }
    }

    /// Input of a terminal, all at once: keys would be separated.
    #[track_caller]
    fn send_bytes(&self, bytes: &str) {
        let codes: Vec<_> = bytes.bytes().map(|byte| format!("{byte:02x}")).collect();
        let codes: Vec<_> = codes.iter().map(String::as_str).collect();
        self.run(&[&["send-keys", "-H"], &codes[..]].concat());
    }

    #[track_caller]
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.run(&["resize-window", "-x", &columns, "-y", &rows]);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // It may have ended with its shell.
        let _ = self.command().arg("kill-server").output();
    }
}

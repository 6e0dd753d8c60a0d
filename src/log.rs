//! Output of a program on its screen: as plain lines for the view, and kept in a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that are kept for the view; the file has all of them.
const KEPT_LINES: usize = 10_000;
/// A line that is longer than this is cut in the view.
const LINE_BYTES: usize = 4096;

/// The lines, shared by the thread that reads them and the view.
#[derive(Clone, Default)]
pub(crate) struct LogBook {
    state: Arc<Mutex<LogBookState>>,
}

#[derive(Default)]
struct LogBookState {
    lines: VecDeque<String>,
    /// Number of earlier lines that are not kept any more.
    forgotten: usize,
    unfinished: Vec<u8>,
    /// Whether a carriage return waits for the next character.
    returned: bool,
    /// Also show the output on standard output: the view has been closed.
    passing_through: bool,
}

impl LogBook {
    /// Takes output in. Line ends as terminals need them become those of files.
    pub(crate) fn take(&self, bytes: &[u8], file: Option<&mut File>) {
        let mut state = self.lock();
        if state.passing_through {
            let mut stdout = io::stdout().lock();
            // The output is in the file as well.
            let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
        }
        let mut plain = Vec::with_capacity(bytes.len());
        for byte in bytes {
            state.take(*byte, &mut plain);
        }
        drop(state);
        keep(&plain, file);
    }

    /// The output has ended: a last line without a line end counts too.
    pub(crate) fn end(&self, file: Option<&mut File>) {
        let mut state = self.lock();
        let mut rest = Vec::new();
        if state.returned {
            rest.push(b'\r');
        }
        if !state.unfinished.is_empty() {
            state.end_line();
        }
        drop(state);
        keep(&rest, file);
    }

    /// From now on output is shown on standard output too.
    pub(crate) fn pass_through(&self) {
        self.lock().passing_through = true;
    }

    /// Number of lines, with those that are not kept any more.
    pub(crate) fn len(&self) -> usize {
        let state = self.lock();
        state.forgotten + state.lines.len()
    }

    /// The line with this number, if it is still kept.
    pub(crate) fn line(&self, index: usize) -> Option<String> {
        let state = self.lock();
        let index = index.checked_sub(state.forgotten)?;
        state.lines.get(index).cloned()
    }

    /// Every line that is kept.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, LogBookState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogBookState {
    fn take(&mut self, byte: u8, plain: &mut Vec<u8>) {
        if byte == b'\r' {
            self.returned = true;
            return;
        }
        let returned = std::mem::take(&mut self.returned);
        if returned && byte != b'\n' {
            // A progress bar: the next text overwrites the line.
            plain.push(b'\r');
            self.unfinished.clear();
        }
        plain.push(byte);
        match byte {
            b'\n' => self.end_line(),
            _ if self.unfinished.len() < LINE_BYTES => self.unfinished.push(byte),
            _ => {}
        }
    }

    fn end_line(&mut self) {
        let line = visible(&String::from_utf8_lossy(&self.unfinished));
        self.unfinished.clear();
        self.lines.push_back(line);
        if self.lines.len() > KEPT_LINES {
            self.lines.pop_front();
            self.forgotten += 1;
        }
    }
}

fn keep(bytes: &[u8], file: Option<&mut File>) {
    if let Some(file) = file {
        // A full disk costs the log, not the program.
        let _ = file.write_all(bytes);
    }
}

/// The text without colours and cursor movements, tabs as spaces.
fn visible(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' => skip_escape(&mut chars),
            '\t' => {
                let width = 8 - text.chars().count() % 8;
                text.extend(std::iter::repeat_n(' ', width));
            }
            char if char.is_control() => {}
            char => text.push(char),
        }
    }
    text
}

/// Skips the rest of an escape sequence.
fn skip_escape(chars: &mut std::str::Chars<'_>) {
    match chars.next() {
        // Parameters, then one final letter.
        Some('[') => {
            chars.find(|char| ('@'..='~').contains(char));
        }
        // A title or a link, up to a bell or a string terminator.
        Some(']') => {
            let mut last = ' ';
            for char in chars.by_ref() {
                if char == '\x07' || (last == '\x1b' && char == '\\') {
                    break;
                }
                last = char;
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(output: &[&[u8]]) -> LogBook {
        let log = LogBook::default();
        output.iter().for_each(|bytes| log.take(bytes, None));
        log.end(None);
        log
    }

    #[test]
    fn lines_may_come_in_pieces() {
        let log = book(&[b"one\r", b"\ntw", b"o\r\nthree"]);
        assert_eq!(log.lines(), ["one", "two", "three"]);
    }

    #[test]
    fn colours_are_taken_off_and_progress_bars_show_their_last_state() {
        let log = book(&[b"\x1b[1;32mok\x1b[0m\tx\r\n 10%\r 99%\r100%\r\n\x1b]0;title\x07end\r\n"]);
        assert_eq!(log.lines(), ["ok      x", "100%", "end"]);
    }

    #[test]
    fn old_lines_are_forgotten_but_counted() {
        let log = LogBook::default();
        for number in 0..KEPT_LINES + 5 {
            log.take(format!("{number}\n").as_bytes(), None);
        }
        assert_eq!(log.len(), KEPT_LINES + 5);
        assert_eq!(log.line(4), None);
        assert_eq!(log.line(5).as_deref(), Some("5"));
    }

    #[test]
    fn the_file_keeps_everything_with_plain_line_ends() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("log");
        let mut file = File::create(&path).unwrap();
        let log = LogBook::default();
        log.take(b"\x1b[1mone\x1b[0m\r\n1%\r2%\r\n", Some(&mut file));
        log.end(Some(&mut file));
        let kept = std::fs::read_to_string(&path).unwrap();
        assert_eq!(kept, "\x1b[1mone\x1b[0m\n1%\r2%\n");
    }
}

//! How far a long export is: one line on a terminal, and nothing anywhere else.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work that ends earlier needs no line.
const PATIENCE: Duration = Duration::from_millis(500);
/// Between two changes of the line.
const PAUSE: Duration = Duration::from_millis(100);

/// The progress line, once it is shown.
pub(crate) struct ProgressLine {
    what: &'static str,
    unit: &'static str,
    begin: Instant,
    shown: Option<Instant>,
    is_terminal: bool,
}

impl ProgressLine {
    /// `unit` is a million of the counted things.
    pub(crate) fn new(what: &'static str, unit: &'static str) -> Self {
        Self {
            what,
            unit,
            begin: Instant::now(),
            shown: None,
            is_terminal: io::stderr().is_terminal(),
        }
    }

    pub(crate) fn show(&mut self, done: u64, all: u64) {
        if self.is_due() {
            let text = text(self.what, self.unit, (done, all), self.begin.elapsed());
            self.write(&text);
        }
    }

    /// Whether the line is to change now.
    fn is_due(&mut self) -> bool {
        let is_soon = self.shown.is_some_and(|shown| shown.elapsed() < PAUSE);
        if !self.is_terminal || self.begin.elapsed() < PATIENCE || is_soon {
            return false;
        }
        self.shown = Some(Instant::now());
        true
    }

    /// Replaces the line.
    fn write(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        // If stderr is closed, no report is possible.
        let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.shown.is_some() {
            self.write("");
        }
    }
}

/// The line of work that does not know how much there is.
#[cfg(feature = "query")]
pub(crate) struct UnboundedLine(ProgressLine);

#[cfg(feature = "query")]
impl UnboundedLine {
    /// `unit` is a million of the counted things.
    pub(crate) fn new(what: &'static str, unit: &'static str) -> Self {
        Self(ProgressLine::new(what, unit))
    }

    pub(crate) fn show(&mut self, done: u64) {
        if self.0.is_due() {
            let (what, unit, done) = (self.0.what, self.0.unit, done as f64 / 1e6);
            self.0
                .write(&format!("ascend-trace: {what} {done:.1} {unit}"));
        }
    }

    /// Takes the line away: something else is written now.
    pub(crate) fn hide(&mut self) {
        if self.0.shown.take().is_some() {
            self.0.write("");
        }
    }
}

fn text(what: &str, unit: &str, (done, all): (u64, u64), passed: Duration) -> String {
    let share = done as f64 / all.max(1) as f64;
    let (done, all) = (done as f64 / 1e6, all as f64 / 1e6);
    let amount = format!("{done:.1} of {all:.1} {unit}");
    let text = format!("ascend-trace: {what} {:.0} %, {amount}", share * 100.0);
    if share <= 0.0 || share >= 1.0 {
        return text;
    }
    let left = passed.as_secs_f64() * (1.0 - share) / share;
    match left as u64 {
        seconds @ 0..120 => format!("{text}, {} s left", seconds + 1),
        seconds => format!("{text}, {} min left", seconds / 60 + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_share_amount_and_remaining_time() {
        let line = |done, seconds| {
            let passed = Duration::from_secs(seconds);
            text("exporting", "M rows", (done, 20_000_000), passed)
        };
        assert_eq!(
            line(5_000_000, 4),
            "ascend-trace: exporting 25 %, 5.0 of 20.0 M rows, 13 s left"
        );
        assert_eq!(
            line(5_000_000, 60),
            "ascend-trace: exporting 25 %, 5.0 of 20.0 M rows, 4 min left"
        );
        assert_eq!(
            line(20_000_000, 60),
            "ascend-trace: exporting 100 %, 20.0 of 20.0 M rows"
        );
        assert_eq!(
            line(0, 1),
            "ascend-trace: exporting 0 %, 0.0 of 20.0 M rows"
        );
    }
}

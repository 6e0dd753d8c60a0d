//! Measures how a long file opens, and what looking at it costs; `long_file` makes one.
//!
//! `cargo run --release -p ascend-trace-recording --example open_long FILE`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::time::Instant;

use ascend_trace_recording::{Recording, TimeRange};

/// Largest number of single calls and tasks that the viewer reads.
const MOST: u64 = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let begin = Instant::now();
    let mut recording = Recording::open(&path, |_, _| true)?;
    println!(
        "opened {} rows in {:.1?}",
        recording.rows(),
        begin.elapsed()
    );
    memory();
    let TimeRange {
        begin: first,
        end: last,
    } = recording.span().ok_or("nothing in it")?;
    let mut length = last - first;
    while length > 1_000 {
        let middle = first + (last - first) / 3;
        let range = (middle, middle + length);
        let begin = Instant::now();
        let summary = recording.summary(range, 2048)?;
        let lanes = summary.streams().count() + summary.threads().count();
        let summed = begin.elapsed();
        let begin = Instant::now();
        let window = match recording.window(range, MOST) {
            Ok(trace) => format!("{} calls in {:.1?}", trace.calls().len(), begin.elapsed()),
            Err(_) => "not read".to_owned(),
        };
        println!("{length:14} ns: {lanes} lanes summed up in {summed:.1?}, window {window}");
        length /= 5;
    }
    memory();
    Ok(())
}

fn memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status
        .lines()
        .filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS"));
    lines.for_each(|line| println!("{line}"));
}

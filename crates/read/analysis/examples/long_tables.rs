//! Measures what `info` and `stats` take of a long file; `long_file` of crates/read/recording makes one.
//!
//! `cargo run --release -p ascend-trace-analysis --example long_tables FILE`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::time::Instant;

use ascend_trace_analysis::{Graphs, Stats};
use ascend_trace_recording::Recording;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let begin = Instant::now();
    let mut recording = Recording::open(&path, |_, _| true)?;
    let calls = recording.graph_calls()?;
    let graphs = Graphs::with_replays(&calls.trace, calls.replays.keys().copied());
    let counts = recording.counts();
    println!(
        "info: {} calls, {} tasks, {} graphs in {:.1?}",
        counts.calls,
        counts.tasks,
        graphs.all().len(),
        begin.elapsed()
    );
    memory();
    let begin = Instant::now();
    let span = recording.span();
    let stats = Stats::of_recording(&mut recording, span, |_| true)?;
    let operations = stats.map_or(0, |stats| stats.operations.len());
    println!("stats: {operations} operations in {:.1?}", begin.elapsed());
    memory();
    Ok(())
}

fn memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    println!("{}", line.unwrap_or("memory not known"));
}

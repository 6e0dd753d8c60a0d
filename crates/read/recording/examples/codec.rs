//! Measures the file codec and the loader on a made-up recording: rows per second, bytes per call.
//!
//! `cargo run --release -p ascend-trace-recording --example codec [STEPS]`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::time::{Duration, Instant};

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::whole::opened;
use ascend_trace_testkit::workload::{self, Workload};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let steps = match std::env::args().nth(1) {
        Some(steps) => steps.parse()?,
        None => 20_000,
    };
    let mut rows = Vec::new();
    let workload = Workload {
        steps,
        ..Workload::default()
    };
    workload::run(workload, |row| rows.push(row));
    let count = rows.len();
    let calls = rows
        .iter()
        .filter(|row| matches!(row, Row::Call(_)))
        .count();
    println!("{count} rows, of which {calls} calls");

    let (session, tables) = workload::leading();
    let start = Instant::now();
    let mut writer = Writer::create(Vec::new(), &session, &tables)?;
    for row in &rows {
        writer.push(row)?;
    }
    writer.flush()?;
    let bytes = writer.finish(Default::default())?;
    report("encode", count, start.elapsed());
    let share = by_kind(&bytes);
    println!(
        "{} bytes, {:.2} per call",
        bytes.len(),
        bytes.len() as f64 / calls as f64
    );
    for (kind, bytes) in share {
        println!("  {kind} {:.2} bytes per call", bytes as f64 / calls as f64);
    }

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("codec.atrace");
    std::fs::write(&path, &bytes)?;
    let start = Instant::now();
    let (trace, warnings) = opened(&path)?;
    report("open", count, start.elapsed());
    assert!(warnings.is_empty(), "{warnings:?}");

    let timed = trace
        .tasks()
        .iter()
        .filter(|task| task.time.is_some())
        .count();
    println!("{timed} tasks have times, clocks {:?}", trace.clocks());
    Ok(())
}

fn report(what: &str, rows: usize, took: Duration) {
    let rate = rows as f64 / took.as_secs_f64() / 1e6;
    println!("{what:8} {took:9.1?}  {rate:6.2} M rows/s");
}

/// Bytes of the chunks of each kind, headers included.
fn by_kind(mut bytes: &[u8]) -> std::collections::BTreeMap<String, usize> {
    let mut kinds = std::collections::BTreeMap::new();
    bytes = bytes.get(16..).unwrap_or_default();
    while let Some(header) = bytes.first_chunk::<20>() {
        let length = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
        let whole = 20 + length as usize;
        *kinds
            .entry(String::from_utf8_lossy(&header[4..8]).into_owned())
            .or_default() += whole;
        bytes = bytes.get(whole..).unwrap_or_default();
    }
    kinds
}

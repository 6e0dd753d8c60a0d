//! Writes a made-up recording of any length to a file: what long traces are measured with.
//!
//! `cargo run --release -p ascend-trace-recording --example long_file FILE [ROWS]`

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use ascend_trace_recording::file::{ChunkWriter, Encoder, RowBatch};
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::workload::{self, Workload};

/// Calls and task times of one step of both threads.
const ROWS_PER_STEP: u64 = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which file?")?;
    let rows: u64 = arguments.next().map_or(Ok(100_000_000), |it| it.parse())?;
    let begin = Instant::now();
    let (session, tables) = workload::leading();
    let out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    let mut writer = ChunkWriter::create(out, &session, &tables)?;
    // A separate thread packs, as in a recorder.
    let (sender, batches) = std::sync::mpsc::sync_channel::<RowBatch>(8);
    let packer = std::thread::spawn(move || -> std::io::Result<()> {
        batches.iter().try_for_each(|batch| writer.write(&batch))
    });
    let mut encoder = Encoder::new();
    let mut count = 0_u64;
    let workload = Workload {
        steps: u32::try_from(rows / ROWS_PER_STEP)?,
        ..Workload::default()
    };
    workload::run(workload, |row| {
        count += u64::from(matches!(row, Row::Call(_) | Row::TaskTime(_)));
        let is_end = matches!(row, Row::End(_));
        if encoder.push(&row) || is_end {
            // A packer that failed says so itself.
            let _ = sender.send(encoder.seal());
        }
    });
    drop(sender);
    packer.join().map_err(|_| "the packer failed")??;
    let bytes = std::fs::metadata(&path)?.len();
    println!(
        "{count} calls and task times, {bytes} bytes, {:.1?}",
        begin.elapsed()
    );
    Ok(())
}

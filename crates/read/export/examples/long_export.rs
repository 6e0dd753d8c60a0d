//! Exports a trace file to a folder and says what that took, memory above all.
//!
//! `cargo run --release -p ascend-trace-export --example long_export FILE FOLDER FORMAT [STEP [ONLY]...]`;
//! with `-` for the folder nothing is kept. `ONLY` is a condition as of `--only`.
//! The example `long_file` makes long files.

#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use ascend_trace_export::{ExportSink, WantedPart, WindowSize, format, stream};
use ascend_trace_recording::Recording;

/// Files in a folder, or nowhere.
struct FolderSink(Option<PathBuf>);

impl<'w> ExportSink<'w> for FolderSink {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let name = if name.is_empty() { "export" } else { name };
        let Some(folder) = &self.0 else {
            return Ok(Box::new(io::sink()));
        };
        Ok(Box::new(File::create(folder.join(name))?))
    }
}

/// Processor time of this thread: other load on the machine does not count.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The most memory that the process had, in MB, as the kernel counts it.
fn peak() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let word = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(word.ok_or("no VmHWM")?.parse::<u64>()? / 1024)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("which file?")?;
    let folder = arguments.next().ok_or("which folder?")?;
    let exporter = arguments.next().as_deref().and_then(format);
    let exporter = exporter.ok_or("which format?")?;
    let mut step = WindowSize::default();
    if let Some(rows) = arguments.next() {
        step.rows = rows.parse()?;
    }
    let mut wanted = WantedPart::default();
    for condition in arguments {
        wanted.only.add(&condition)?;
    }
    let folder = (folder != "-").then(|| PathBuf::from(folder));
    folder.as_ref().map_or(Ok(()), fs::create_dir_all)?;

    let mut recording = Recording::open(&file, |_, _| true)?;
    let opened = peak()?;
    let begin = now();
    stream(
        &mut recording,
        (exporter, &wanted),
        step,
        &mut FolderSink(folder),
        &mut |_, _| {},
    )?;
    let passed = (now() - begin).as_secs_f64();
    let rows = recording.rows();
    println!(
        "{:9} {rows} calls and task times in {passed:.1} s, {:.2} M/s; {} MB at the most, {opened} MB \
         once opened",
        exporter.name(),
        rows as f64 / passed / 1e6,
        peak()?,
    );
    Ok(())
}

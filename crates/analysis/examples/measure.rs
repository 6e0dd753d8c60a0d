//! Measures the analyses on a recording of any length:
//! `cargo run --release -p ascend-trace-analysis --example measure -- 10000000`.
//!
//! Prints what the whole costs at once and in windows, in processor time.
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::steps::{Report, Wanted};
use ascend_trace_analysis::{Dependencies, Fold, Stalls, Stats, Step, Window};
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{Row, TablesRow};
use ascend_trace_recording::{Archive, TraceBuilder};
use ascend_trace_testkit::workload::{self, Workload};

/// Tasks of one step of the workload.
const TASKS_PER_STEP: u32 = 24;

fn main() {
    let tasks = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let tasks: u32 = tasks.unwrap_or(1_000_000);
    let steps = tasks.div_ceil(TASKS_PER_STEP);
    whole(steps);
    in_windows(steps);
}

/// The tables of the workload, with what its functions mean.
fn tables() -> TablesRow {
    let (_, mut tables) = workload::leading();
    for function in &mut tables.functions {
        let (role, task) = match function.name.as_str() {
            "aclrtMemcpyAsync" => ("task", "memcpy"),
            "aclrtRecordEvent" => ("record-event", "record"),
            "aclrtStreamWaitEvent" => ("wait-event", "wait"),
            "aclrtSynchronizeStream" => ("sync-stream", ""),
            name if name.starts_with("aclnn") && !name.ends_with("Size") => ("task", "kernel"),
            _ => ("plain", ""),
        };
        role.clone_into(&mut function.role);
        task.clone_into(&mut function.task);
        let parts: &[(&str, u8)] = match function.name.as_str() {
            "aclrtMemcpyAsync" => &[("writes", 0), ("reads", 2), ("extent", 3)],
            "aclrtMalloc" => &[("allocated", 0), ("size", 1)],
            _ => &[],
        };
        let parts = parts.iter().map(|(part, at)| ((*part).to_owned(), *at));
        function.parts.extend(parts);
    }
    tables
}

fn builder() -> TraceBuilder {
    TraceBuilder::new(workload::leading().0, tables())
}

fn run(steps: u32, sink: impl FnMut(Row)) {
    let workload = Workload {
        steps,
        ..Workload::default()
    };
    workload::run(workload, sink);
}

fn whole(steps: u32) {
    let mut builder = builder();
    run(steps, |row| builder.apply(row));
    let trace = builder.finish();
    println!(
        "{} tasks, {} calls",
        trace.tasks().len(),
        trace.calls().len()
    );
    let before = resident();
    let start = worked();
    let dependencies = Dependencies::of(&trace);
    let linked = worked() - start;
    let stalls = Stalls::with(&trace, &dependencies);
    let judged = worked() - start;
    let after = resident();
    let window = Window::with(&trace, dependencies.clone().into(), stalls.clone().into());
    let stats = Stats::within(&window, trace.span());
    let summed = worked() - start;
    println!(
        "dependencies {:?}, {} edges",
        linked,
        dependencies.edges().len()
    );
    println!("stalls {:?}, {}", judged - linked, stalls.iter().count());
    println!(
        "tables {:?}, {} causes",
        summed - judged,
        stats.stall_causes.len()
    );
    println!("together {summed:?}, {} MB", (after - before) >> 20);
}

/// The tables of the same recording in a file, read in windows.
fn in_windows(steps: u32) {
    let file = std::env::temp_dir().join(format!("measure-{}.atrace", std::process::id()));
    let mut archive = written(&file, steps).expect("the file is written");
    let (before, start, span) = (resident(), worked(), archive.span());
    let stats = Stats::of_archive(&mut archive, span, |_| true);
    let took = worked() - start;
    let stats = stats.expect("it reads back").expect("nobody gave up");
    println!(
        "tables in windows {took:?}, {} MB, {} causes",
        peak().saturating_sub(before) >> 20,
        stats.stall_causes.len()
    );
    advice(&mut archive).expect("it reads back");
    drop(archive);
    let _ = std::fs::remove_file(file);
}

/// What is said of steps, of mistakes and of the critical path.
fn advice(archive: &mut Archive) -> Result<(), Box<dyn Error>> {
    let range = archive.span().unwrap_or_default();
    let (before, start) = (renewed()?, worked());
    let report = Report::of_archive(archive, Step::default(), Wanted::Repeated)?;
    println!(
        "steps {:?}, {} MB, {} steps",
        worked() - start,
        peak().saturating_sub(before) >> 20,
        report.steps.len()
    );
    drop(report);
    let (before, start) = (renewed()?, worked());
    let found = Findings::default().of_archive(archive, Step::default(), |_| true)?;
    println!(
        "checks {:?}, {} MB, {} findings",
        worked() - start,
        peak().saturating_sub(before) >> 20,
        found.map_or(0, |found| found.len())
    );
    let (before, start) = (renewed()?, worked());
    let path = Critical::of_archive(archive, Step::default(), range)?;
    println!(
        "critical path {:?}, {} MB, {} pieces",
        worked() - start,
        peak().saturating_sub(before) >> 20,
        path.segments.len()
    );
    Ok(())
}

/// What is occupied now, from which on the peak counts again.
fn renewed() -> Result<u64, Box<dyn Error>> {
    std::fs::write("/proc/self/clear_refs", "5")?;
    Ok(resident())
}

fn written(file: &Path, steps: u32) -> Result<Archive, Box<dyn Error>> {
    let session = workload::leading().0;
    let mut writer = Writer::create(BufWriter::new(File::create(file)?), &session, &tables())?;
    let (mut rows, mut end, mut failed) = (0, None, Ok(()));
    run(steps, |row| {
        rows += 1;
        let pushed = match row {
            Row::End(row) => {
                end = Some(row);
                Ok(())
            }
            row => writer.push(row),
        };
        let flushed = match rows % 10_000 {
            0 => writer.flush(),
            _ => Ok(()),
        };
        if let (Ok(()), Err(error)) = (&failed, pushed.and(flushed)) {
            failed = Err(error);
        }
    });
    failed?;
    writer.finish(end.ok_or("it has no end")?)?;
    // What the trace in memory took is not counted for what is read of the file.
    std::fs::write("/proc/self/clear_refs", "5")?;
    Ok(Archive::open(file, |_, _| true)?)
}

/// The most bytes of memory that the process occupied since they were last reset.
fn peak() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

/// For how long the process has had a processor: what else the machine does plays no part.
fn worked() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let time = text.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(time.unwrap_or(0))
}

/// Bytes of memory that the process occupies.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|it| it.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

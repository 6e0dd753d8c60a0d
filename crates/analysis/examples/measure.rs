//! Measures the analyses on a recording of any length:
//! `cargo run --release -p ascend-trace-analysis --example measure -- 10000000`.
//!
//! Prints what the whole costs at once and in windows, in processor time. With `windows` as a second word, only what
//! reads a recording in windows is measured. Words after that name the measurements that are made.
#![expect(clippy::print_stdout, reason = "it prints what it measured")]

use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::diff::Diff;
use ascend_trace_analysis::steps::{Report, Wanted};
use ascend_trace_analysis::whatif::{Change, WhatIf};
use ascend_trace_analysis::{Dependencies, Fold, Needs, Stalls, Stats, Step, Window, Windows};
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
    if std::env::args().nth(2).as_deref() != Some("windows") {
        whole(steps);
    }
    in_windows(steps).expect("it reads back");
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

/// The analyses of the same recording in a file, read in windows.
fn in_windows(steps: u32) -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("measure-{}.atrace", std::process::id()));
    let archive = written(&file, steps);
    let measured = archive.and_then(|mut archive| {
        let mut other = Archive::open(&file, |_, _| true)?;
        of_windows(&mut archive, &mut other)
    });
    std::fs::remove_file(file)?;
    measured
}

/// The second recording is the first one, opened once more.
fn of_windows(archive: &mut Archive, other: &mut Archive) -> Result<(), Box<dyn Error>> {
    let span = archive.span();
    let range = span.unwrap_or_default();
    let step = Step::default();
    for (name, needs) in [
        ("reading", Needs::Calls),
        ("dependencies", Needs::Dependencies),
        ("stalls", Needs::All),
    ] {
        measured(name, || {
            let mut windows = Windows::of(archive, step, needs);
            let mut count = 0;
            while windows.next(|_| ())?.is_some() {
                count += 1;
            }
            Ok(format!("{count} windows"))
        })?;
    }
    measured("tables", || {
        let stats = Stats::of_archive(archive, span, |_| true)?.ok_or("nobody gave up")?;
        Ok(format!("{} causes", stats.stall_causes.len()))
    })?;
    measured("checks", || {
        let findings = Findings::default().of_archive(archive, step, |_| true)?;
        Ok(format!("{} findings", findings.unwrap_or_default().len()))
    })?;
    measured("steps", || {
        let report = Report::of_archive(archive, step, Wanted::Repeated)?;
        Ok(format!("{} steps", report.steps.len()))
    })?;
    measured("critical", || {
        let path = Critical::of_archive(archive, step, range)?;
        Ok(format!("{} pieces", path.segments.len()))
    })?;
    measured("predict", || {
        let changes = [Change::Launch { factor: 0.0 }];
        let report = WhatIf::of_archive(archive, step)?.predict(&changes, vec![String::new()]);
        Ok(format!("{} ns", report.makespan_ns))
    })?;
    measured("suggest", || {
        let report = WhatIf::of_archive(archive, step)?.suggest();
        Ok(format!("{} changes", report.predictions.len()))
    })?;
    measured("syncs", || {
        let report = WhatIf::of_archive(archive, step)?.syncs();
        Ok(format!("{} rows", report.syncs.len()))
    })?;
    measured("diff", || {
        let diff = Diff::of_archives([archive, other], step, Wanted::Repeated)?;
        Ok(format!("{} pairs", diff.pairs.len()))
    })
}

/// Prints what something took: processor time, and memory beyond what was occupied before.
fn measured<T: Display>(
    name: &str,
    work: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut wanted = std::env::args().skip(3).peekable();
    if wanted.peek().is_some() && !wanted.any(|it| it == name) {
        return Ok(());
    }
    let (before, start) = (renewed()?, worked());
    let outcome = work()?;
    println!(
        "{name} {:.1?}, {} MB, {outcome}",
        worked() - start,
        peak().saturating_sub(before) >> 20
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

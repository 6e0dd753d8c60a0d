//! Measures the analyses on a recording of any length, one after another, each in a separate process:
//! `cargo run --release -p ascend-trace-analysis --example measure -- 10000000`.
//!
//! It prints processor time, and the most memory that the process occupied. Words after the number name the
//! measurements that are made; `whole` is the cost of a trace in memory at once. With `late`, the times of all tasks come
//! as late as they can: after the last call.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::diff::Diff;
use ascend_trace_analysis::steps::{Report, StepDefinition};
use ascend_trace_analysis::whatif::{Change, Verdicts, WhatIf};
use ascend_trace_analysis::{
    AnalysisNeeds, Dependencies, Fold, Stalls, Stats, Window, WindowSize, Windows,
};
use ascend_trace_recording::Recording;
use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{Row, TablesRow};
use ascend_trace_testkit::whole::GrowingRecording;
use ascend_trace_testkit::workload::{self, Workload};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A name, and the work on a file.
type Measurement = (&'static str, fn(&Path) -> Outcome<String>);

/// A step on both threads: operators, and two copies, a record and a wait on each.
const OPERATORS: u32 = 96;
const TASKS_PER_STEP: u32 = 2 * (OPERATORS + 4);

/// Makes a process run one measurement, of an existing file.
const OF_FILE: &str = "--file";

/// Says that times come after all calls.
const LATE: &str = "late";

/// Measurements of a recording that is read in windows, and their results in words.
const MEASUREMENTS: [Measurement; 11] = [
    ("reading", |file| windows(file, AnalysisNeeds::Calls)),
    ("dependencies", |file| {
        windows(file, AnalysisNeeds::Dependencies)
    }),
    ("stalls", |file| windows(file, AnalysisNeeds::All)),
    ("stats", |file| {
        let mut recording = open(file)?;
        let span = recording.span();
        let stats = Stats::of_recording(&mut recording, span, |_| true)?
            .ok_or("the reading was not cancelled")?;
        Ok(format!("{} causes", stats.stall_causes.len()))
    }),
    ("check", |file| {
        let findings =
            Findings::default().of_recording(&mut open(file)?, WindowSize::default(), |_| true)?;
        Ok(format!("{} findings", findings.unwrap_or_default().len()))
    }),
    ("steps", |file| {
        let report = Report::of_recording(
            &mut open(file)?,
            WindowSize::default(),
            StepDefinition::Repeated,
        )?;
        Ok(format!("{} steps", report.steps.len()))
    }),
    ("critical", |file| {
        let mut recording = open(file)?;
        let range = recording.span().unwrap_or_default();
        let path = Critical::of_recording(&mut recording, WindowSize::default(), range)?;
        Ok(format!("{} pieces", path.segments.len()))
    }),
    ("what-if", |file| {
        let changes = [Change::Launch { factor: 0.0 }];
        let report = simulated(file)?.predict(&changes, vec![String::new()]);
        Ok(format!("{} ns", report.makespan_ns))
    }),
    ("suggest", |file| {
        let report = simulated(file)?.suggest(&Verdicts::default());
        Ok(format!("{} changes", report.predictions.len()))
    }),
    ("syncs", |file| {
        let report = simulated(file)?.syncs(&Verdicts::default());
        Ok(format!("{} rows", report.syncs.len()))
    }),
    // The second recording is the first one, opened again: twice as many tasks.
    ("diff", |file| {
        let mut recordings = [open(file)?, open(file)?];
        let both = recordings.each_mut();
        let diff = Diff::of_recordings(both, WindowSize::default(), StepDefinition::Repeated)?;
        Ok(format!("{} pairs", diff.pairs.len()))
    }),
];

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file, tasks, name] = words.as_slice()
        && flag == OF_FILE
    {
        return measured(Path::new(file), tasks.parse()?, name);
    }
    let tasks: u32 = words.first().map_or(Ok(1_000_000), |it| it.parse())?;
    let wanted = words.get(1..).unwrap_or_default();
    let is_late = wanted.iter().any(|it| it == LATE);
    let wanted: Vec<String> = wanted.iter().filter(|it| *it != LATE).cloned().collect();
    let steps = tasks.div_ceil(TASKS_PER_STEP);
    if wanted.iter().any(|it| it == "whole") {
        whole(steps);
    }
    let file = std::env::temp_dir().join(format!("measure-{}.atrace", std::process::id()));
    let measured = written(&file, steps, is_late).and_then(|()| each(&file, steps, &wanted));
    std::fs::remove_file(file)?;
    measured
}

/// Makes each measurement in a separate process, so that none finds memory that another one left.
fn each(file: &Path, steps: u32, wanted: &[String]) -> Outcome<()> {
    let tasks = steps * TASKS_PER_STEP;
    let rows = open(file)?.rows();
    println!("{tasks} tasks, {} calls", rows - u64::from(tasks));
    println!("what            seconds  ns a task  M rows/s  peak MB  outcome");
    let names = MEASUREMENTS.iter().map(|(name, _)| *name);
    for name in names.filter(|name| wanted.is_empty() || wanted.iter().any(|it| it == name)) {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(OF_FILE).arg(file);
        let status = command.args([&tasks.to_string(), name]).status()?;
        if !status.success() {
            return Err(format!("{name}: {status}").into());
        }
    }
    Ok(())
}

/// Prints what something took: processor time, and memory.
fn measured(file: &Path, tasks: u32, name: &str) -> Outcome<()> {
    let (_, work) = MEASUREMENTS
        .iter()
        .find(|it| it.0 == name)
        .ok_or("there is no such measurement")?;
    let rows = open(file)?.rows();
    let start = worked();
    let outcome = work(file)?;
    let seconds = (worked() - start).as_secs_f64();
    let each = seconds * 1e9 / f64::from(tasks);
    let rate = rows as f64 / seconds / 1e6;
    let peak = peak() >> 20;
    println!("{name:<14} {seconds:>8.2} {each:>10.0} {rate:>9.2} {peak:>8}  {outcome}");
    Ok(())
}

fn open(file: &Path) -> Outcome<Recording> {
    Ok(Recording::open(file, |_, _| true)?)
}

fn windows(file: &Path, needs: AnalysisNeeds) -> Outcome<String> {
    let mut recording = open(file)?;
    let mut windows = Windows::of(&mut recording, WindowSize::default(), needs);
    let mut count = 0;
    while windows.next(|_| ())?.is_some() {
        count += 1;
    }
    Ok(format!("{count} windows"))
}

fn simulated(file: &Path) -> Outcome<WhatIf> {
    Ok(WhatIf::of_recording(
        &mut open(file)?,
        WindowSize::default(),
    )?)
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

fn builder() -> GrowingRecording {
    GrowingRecording::new(workload::leading().0, tables())
}

fn run(steps: u32, sink: impl FnMut(Row)) {
    let workload = Workload {
        steps,
        operators: OPERATORS,
        repeats: true,
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

fn written(file: &Path, steps: u32, is_late: bool) -> Outcome<()> {
    let session = workload::leading().0;
    let mut writer = Writer::create(BufWriter::new(File::create(file)?), &session, &tables())?;
    let mut end = None;
    // The late rows are made a second time, so that they need no memory.
    let passes: &[fn(&Row) -> bool] = match is_late {
        false => &[|_| true],
        true => &[
            |row| !matches!(row, Row::TaskTime(_)),
            |row| matches!(row, Row::TaskTime(_)),
        ],
    };
    for is_wanted in passes {
        let mut pushed = Ok(());
        run(steps, |row| match row {
            Row::End(row) => end = Some(row),
            row if pushed.is_ok() && is_wanted(&row) => pushed = writer.push(&row),
            _ => {}
        });
        pushed?;
    }
    writer.finish(end.ok_or("it has no end")?)?;
    Ok(())
}

/// The most bytes of memory that the process occupied.
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

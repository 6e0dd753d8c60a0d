//! `report`: a recording as one HTML file. Its numbers are those of the documents that other commands print.

use std::cmp::Reverse;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{panic, thread};

use anyhow::{Context, bail};
use serde::Serialize;

use ascend_trace_analysis::checks::Findings;
use ascend_trace_analysis::communication::CommunicationFold;
use ascend_trace_analysis::critical::Critical;
use ascend_trace_analysis::diff::Diff;
use ascend_trace_analysis::memory::MemoryUsageFold;
use ascend_trace_analysis::requests::{RequestFold, RequestStats, Requests};
use ascend_trace_analysis::stats::Tables;
use ascend_trace_analysis::steps::Report;
use ascend_trace_analysis::whatif::{WhatIf, judge_costs};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_collector::process_name;
use ascend_trace_recording::Recording;
use ascend_trace_report::{MemoryFold, Page, PeerWaits, StepSeries, TimelineFold, slowest};

use super::args::{ReportPageArgs, STDIN};
use super::check::CheckDocument;
use super::diff::DiffDocument;
use super::document_head::{DocumentHead, ReportDocument};
use super::open_trace::{self, Completeness};
use super::step_choice::StepChoice;
use super::trace_files::TraceFiles;
use super::{info, output_file};
use crate::stack_symbols;

/// Bytes of each document in the page.
const INFO: usize = 100_000;
const STATS: usize = 300_000;
const STEPS: usize = 150_000;
const CHECK: usize = 150_000;
const CRITICAL: usize = 60_000;
const DIFF: usize = 150_000;
const WHAT_IF: usize = 60_000;
const MEMORY: usize = 60_000;
const COMMUNICATION: usize = 80_000;
const REQUESTS: usize = 80_000;
const TIMELINE: usize = 1_500_000;

/// Steps that get a row.
const SLOW_STEPS: usize = 60;

/// Requests that get a row.
const SLOW_REQUESTS: usize = 60;

pub(crate) fn run(args: &ReportPageArgs) -> anyhow::Result<u8> {
    let all = TraceFiles::new(&args.files);
    let (earlier, own) = match args.files.as_slice() {
        [] => bail!("no trace is named"),
        [one] => (None, TraceFiles::one(one)),
        // Two patterns are two recordings.
        files @ [_, _, ..] if all.as_slice() == files && all.are_parts() => (None, all),
        [earlier, one] => (Some(TraceFiles::one(earlier)), TraceFiles::one(one)),
        _ => bail!(
            "a report is on one recording or on two: only files of `record --roll` may be more"
        ),
    };
    let name = own.name();
    let file = name.as_path();
    let output = output(args, &own)?;
    output_file::check(&output, args.force)?;
    let mut recording = own.open()?;
    let earlier = earlier
        .map(|files| anyhow::Ok((files.name(), files.open()?)))
        .transpose()?;
    let mut page = page(args, (file, &own), &mut recording)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let earlier = match earlier {
        Some((path, earlier)) => {
            add_changes(&mut page, args, (&path, earlier), (file, &mut recording))?
        }
        None => 0,
    };
    open_trace::say_warnings(file, &recording);
    stack_symbols::say_missing(&recording);
    output_file::write(&output, |mut html| {
        html.write_all(page.html().as_bytes())?;
        Ok(())
    })?;
    let own = Completeness::of_recording(&recording).status(args.strict);
    Ok(own.max(earlier))
}

fn output(args: &ReportPageArgs, files: &TraceFiles) -> anyhow::Result<PathBuf> {
    let output = match &args.output {
        Some(path) => path.clone(),
        None if files.first() == Path::new(STDIN) => {
            bail!("a trace from standard input has no name to call the report by: use --output")
        }
        None => files.last().with_extension("html"),
    };
    let is_input = |it: &PathBuf| output_file::is_same(it, &output);
    match args.files.iter().chain(files.as_slice()).any(is_input) {
        true => bail!(
            "{} is the trace itself: name another file",
            output.display()
        ),
        false => Ok(output),
    }
}

/// Adds documents of an analysis that reads the recording.
type AddDocuments = fn(&mut Page, &ReportPageArgs, &mut Recording) -> anyhow::Result<()>;

/// They do not depend on each other.
const ANALYSES: [AddDocuments; 4] = [add_tables, add_steps, add_critical, add_what_if];

fn page(
    args: &ReportPageArgs,
    (file, files): (&Path, &TraceFiles),
    recording: &mut Recording,
) -> anyhow::Result<Page> {
    // It looks for damage in all of the file, so the others know of it, too.
    let info = info::of_recording(recording)?;
    let mut page = Page::new(&title(file, recording));
    page.add("info", &info, INFO)?;
    let is_clean = Completeness::of_recording(recording).is_complete();
    if is_clean && files.first() != Path::new(STDIN) {
        for part in at_once(args, files)? {
            page.join(part);
        }
    } else {
        for add in ANALYSES {
            add(&mut page, args, recording)?;
        }
    }
    Ok(page)
}

/// The documents of each analysis. Each has a thread and opens the files for itself: they are whole, and do not grow.
fn at_once(args: &ReportPageArgs, files: &TraceFiles) -> anyhow::Result<Vec<Page>> {
    thread::scope(|scope| {
        let threads = ANALYSES.map(|add| {
            let run = move || {
                let mut page = Page::default();
                add(&mut page, args, &mut files.open()?)?;
                anyhow::Ok(page)
            };
            thread::Builder::new().spawn_scoped(scope, run)
        });
        let mut pages = Vec::new();
        for thread in threads {
            let thread = thread.context("cannot start a thread for the report")?;
            pages.push(
                thread
                    .join()
                    .unwrap_or_else(|it| panic::resume_unwind(it))?,
            );
        }
        Ok(pages)
    })
}

/// Tables, findings and timelines: all that one pass through the recording shows.
fn add_tables(
    page: &mut Page,
    _: &ReportPageArgs,
    recording: &mut Recording,
) -> anyhow::Result<()> {
    let span = recording.span().unwrap_or_default();
    let timeline = TimelineFold::of_range(span, recording.entities(), TIMELINE);
    let folds = (
        (Tables::within(recording.span()), Findings::to_be_judged()),
        (
            timeline,
            (
                (
                    (CommunicationFold::within(None), RequestFold::default()),
                    PeerWaits::default(),
                ),
                (MemoryFold::of_range(span), MemoryUsageFold::default()),
            ),
        ),
    );
    let found = folds.of_recording(recording, WindowSize::default(), |_| true)?;
    let ((mut stats, mut findings), (timeline, (peers, (memory, usage)))) =
        found.context("it was cancelled")?;
    let ((communication, requests), waits) = peers;
    judge_costs(&mut findings, recording, WindowSize::default())?;
    // The document `steps` has them.
    stats.steps.clear();
    page.add("stats", &ReportDocument::of(&stats, head(recording)), STATS)?;
    page.add(
        "check",
        &CheckDocument::of(&findings, 0, head(recording)),
        CHECK,
    )?;
    page.add_whole("timeline", &timeline)?;
    page.add_whole("memory", &memory)?;
    page.add("memory_usage", &usage, MEMORY)?;
    page.add("communication", &communication, COMMUNICATION)?;
    page.add_whole("rank_waits", &waits)?;
    add_requests(page, requests, recording)
}

fn head(recording: &Recording) -> DocumentHead {
    DocumentHead::of([&Completeness::of_recording(recording)])
}

/// The program, by the script where it is an interpreter of Python; or the file where that is not known.
fn title(file: &Path, recording: &Recording) -> String {
    let words = &recording.entities().session().command;
    let program = words.first();
    let program = program.map(|it| process_name::name(file_name(Path::new(it)), &words.join("\0")));
    match program.filter(|it| !it.is_empty()) {
        Some(program) => format!("{program} ({})", file_name(file)),
        None => file_name(file),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn add_steps(
    page: &mut Page,
    args: &ReportPageArgs,
    recording: &mut Recording,
) -> anyhow::Result<()> {
    let by = StepChoice::new(args.by.as_deref(), false);
    let found = by.with(|wanted| Report::of_recording(recording, WindowSize::default(), wanted))?;
    by.check(!found.steps.is_empty())?;
    let shown = slowest(&found, SLOW_STEPS);
    page.add("steps", &ReportDocument::of(&shown, head(recording)), STEPS)?;
    page.leave_out("steps", "steps", found.steps.len() - shown.steps.len());
    #[derive(Serialize)]
    struct Series {
        series: Vec<StepSeries>,
    }
    let series = StepSeries::of(&found);
    page.add_whole("step_series", &Series { series })?;
    Ok(())
}

/// Requests to a server, those with the longest time to the first token.
fn add_requests(page: &mut Page, mut found: Requests, recording: &Recording) -> anyhow::Result<()> {
    let all = found.requests.len();
    let first = |it: &RequestStats| it.first_token_ns.or(it.total_ns).unwrap_or(0);
    found.requests.sort_by_key(|it| Reverse(first(it)));
    found.requests.truncate(SLOW_REQUESTS);
    let shown = found.requests.len();
    page.add(
        "requests",
        &ReportDocument::of(&found, head(recording)),
        REQUESTS,
    )?;
    page.leave_out("requests", "requests", all - shown);
    Ok(())
}

fn add_critical(
    page: &mut Page,
    _: &ReportPageArgs,
    recording: &mut Recording,
) -> anyhow::Result<()> {
    let path = match recording.span() {
        Some(span) => Critical::of_recording(recording, WindowSize::default(), span)?,
        None => Critical::default(),
    };
    // Without the pieces.
    let document = ReportDocument::of(&path, head(recording));
    page.add("critical", &document, CRITICAL)?;
    Ok(())
}

fn add_what_if(
    page: &mut Page,
    _: &ReportPageArgs,
    recording: &mut Recording,
) -> anyhow::Result<()> {
    let simulated = WhatIf::of_recording(recording, WindowSize::default())?;
    let check = simulated.order_check();
    let verdicts = check.of_recording(recording, WindowSize::default(), |_| true)?;
    let found = simulated.suggest(&verdicts.unwrap_or_default());
    page.add(
        "what-if",
        &ReportDocument::of(&found, head(recording)),
        WHAT_IF,
    )?;
    Ok(())
}

/// The content of `diff --json`, with the names of the files.
#[derive(Serialize)]
struct Differences<'d> {
    a_name: String,
    b_name: String,
    #[serde(flatten)]
    diff: DiffDocument<'d>,
}

/// What changed from an earlier recording. Returns the status for that one.
fn add_changes(
    page: &mut Page,
    args: &ReportPageArgs,
    (a_path, mut a): (&Path, Recording),
    (b_path, b): (&Path, &mut Recording),
) -> anyhow::Result<u8> {
    let by = StepChoice::new(args.by.as_deref(), false);
    let found = by
        .with(|wanted| Diff::of_recordings([&mut a, b], WindowSize::default(), wanted))
        .with_context(|| format!("cannot read {} or {}", a_path.display(), b_path.display()))?;
    open_trace::check(&mut a, args.strict)?;
    open_trace::say_warnings(a_path, &a);
    let conditions = [&a, &*b].map(Completeness::of_recording);
    let document = Differences {
        a_name: file_name(a_path),
        b_name: file_name(b_path),
        diff: DiffDocument::of(&found, DocumentHead::of(&conditions), &[]),
    };
    page.add("diff", &document, DIFF)?;
    Ok(conditions[0].status(args.strict))
}

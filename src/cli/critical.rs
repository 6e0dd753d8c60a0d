//! `critical`: the chain of tasks and calls that the end of a recording, of a range or of a step waited
//! for.

use anyhow::{Context, bail};
use serde::Serialize;

use ascend_trace_analysis::critical::{Critical, Segment, Share};
use ascend_trace_analysis::steps::{Cut, Finder, Plan, Wanted};
use ascend_trace_analysis::{Fold, Step};
use ascend_trace_recording::TimeRange;
use ascend_trace_recording::units::{duration, duration_with_error, moment};

use super::args::CriticalArgs;
use super::document_head::DocumentHead;
use super::open_trace::{self, Completeness};
use crate::output::{print, print_json};
use crate::text_table::{TableRows, TextTable, count};

/// Rows of each table.
const ROWS: usize = 20;

/// Pieces of the path in a document, the longest of all.
const PIECES: usize = 10_000;

pub(crate) fn run(args: &CriticalArgs) -> anyhow::Result<u8> {
    let file = &args.report.file;
    let mut recording = open_trace::open_any(file)?;
    let context = || format!("cannot read {}", file.display());
    let range = match &args.step {
        Some(name) => {
            let plan =
                Finder::new(Wanted::Any).of_recording(&mut recording, Step::default(), |_| true);
            Some(step(
                &plan.with_context(context)?.unwrap_or_default(),
                name,
            )?)
        }
        None => args.range.unwrap_or_default().of(recording.span())?,
    };
    let found = match range {
        Some(range) => Critical::of_recording(&mut recording, Step::default(), range),
        None => Ok(Critical::default()),
    };
    let found = found.with_context(context)?;
    open_trace::check(&mut recording, args.report.strict)?;
    open_trace::say_warnings(file, &recording);
    let condition = Completeness::of_recording(&recording);
    let begin = recording.span().map_or(0, |span| span.begin);
    match args.report.json {
        true => print_json("critical", &CriticalDocument::of(&found, &condition))?,
        false => print(&text(&found, begin))?,
    }
    Ok(condition.status(args.report.strict))
}

/// When a step is, by its name.
fn step(plan: &Plan, name: &str) -> anyhow::Result<TimeRange> {
    let mut cuts = plan.laps.values().flat_map(|lap| &lap.cuts);
    let Some(Cut { begin, end, .. }) = cuts.find(|cut| cut.name == name) else {
        bail!("no step is called {name}: steps lists the names");
    };
    Ok(TimeRange::new(*begin, *end))
}

/// The content of `critical --json`.
#[derive(Debug, Serialize)]
pub(super) struct CriticalDocument<'c> {
    #[serde(flatten)]
    head: DocumentHead,
    #[serde(flatten)]
    path: &'c Critical,
    segments: Vec<Segment>,
}

impl<'c> CriticalDocument<'c> {
    pub(super) fn of(path: &'c Critical, condition: &Completeness) -> Self {
        Self {
            head: DocumentHead::of([condition]),
            path,
            segments: longest(path, PIECES),
        }
    }
}

/// The longest pieces, by begin.
fn longest(path: &Critical, most: usize) -> Vec<Segment> {
    let mut pieces = path.segments.longest(most);
    pieces.sort_by_key(|it| it.begin_ns);
    pieces
}

fn text(path: &Critical, begin: i64) -> String {
    if path.segments.is_empty() {
        return "nothing was recorded there\n".to_owned();
    }
    let ties = match path.ties {
        0 => String::new(),
        ties => format!(
            "; the error bars allow another way at {} of them",
            count(ties)
        ),
    };
    let head = format!(
        "critical path from {} to {}, {} long, {} pieces{ties}\n",
        moment(path.begin_ns - begin),
        moment(path.end_ns - begin),
        duration(path.end_ns - path.begin_ns),
        count(path.segments.len() as u64),
    );
    let tables = [
        ("What it did", shares(&path.kinds)),
        ("By name", shares(&path.names)),
        ("Longest pieces", pieces(path, begin)),
    ];
    let tables = tables.map(|(title, table)| format!("\n{title}\n{}", table.render(2)));
    head + &tables.concat()
}

fn shares(shares: &[Share]) -> TextTable {
    let has_names = shares.iter().any(|it| it.name.is_some());
    let table = TableRows::of(shares.iter().take(ROWS))
        .right("share", |it| format!("{:.1} %", it.share * 100.0))
        .right("time", |it| duration_with_error(it.total_ns, it.error_ns))
        .right("pieces", |it| count(it.count))
        .left("what", |it| it.kind.name())
        .left("name", |it| it.name.clone().unwrap_or_default())
        .table();
    table.with_only_if("name", has_names)
}

fn pieces(path: &Critical, begin: i64) -> TextTable {
    let pieces = longest(path, ROWS).into_iter();
    TableRows::of(pieces)
        .right("begin", |it| moment(it.begin_ns - begin))
        .right("duration", |it| {
            duration_with_error(it.length(), it.error_ns)
        })
        .left("what", |it| it.kind.name())
        .left("name", |it| it.name.clone())
        .left("where", |it| match (it.device, it.stream_id, it.tid) {
            (Some(device), Some(stream), _) => format!("device {device} stream {stream}"),
            (_, _, Some(tid)) => format!("thread {tid}"),
            _ => String::new(),
        })
        .left("", |it| if it.tie { "or another way" } else { "" })
        .table()
}

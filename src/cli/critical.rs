//! `critical`: the chain of tasks and calls that the end of a recording, of a range or of a step waited
//! for.

use anyhow::bail;
use schemars::JsonSchema;
use serde::Serialize;

use ascend_trace_analysis::columns::rows;
use ascend_trace_analysis::critical::{Critical, Segment};
use ascend_trace_analysis::steps::{Finder, FoundStep, RecordingSteps, StepDefinition};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::units::{duration, moment};
use ascend_trace_recording::{Recording, TimeRange};

use super::args::CriticalArgs;
use super::document_head::DocumentHead;
use super::handovers;
use super::report::{self, ReadRecordings, ReportOptions};
use crate::text_table::{count, declared};

/// Rows of each table.
const ROWS: usize = 20;

/// Pieces of the path in a document, the longest of all.
const PIECES: usize = 10_000;

pub(crate) fn run(args: &CriticalArgs) -> anyhow::Result<u8> {
    report::run(args)
}

impl report::Report for CriticalArgs {
    const DOCUMENT: &'static str = "critical";
    type Outcome = Critical;
    type Document<'d> = CriticalDocument<'d>;

    fn options(&self) -> ReportOptions<1> {
        (&self.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Critical> {
        let range = match &self.step {
            Some(name) => {
                let finder = Finder::new(StepDefinition::Any);
                let plan = finder.of_recording(recording, WindowSize::default(), |_| true)?;
                Some(step(&plan.unwrap_or_default(), name)?)
            }
            None => self.range.unwrap_or_default().of(recording)?,
        };
        Ok(match range {
            Some(range) => Critical::of_recording(recording, WindowSize::default(), range)?,
            None => Critical::default(),
        })
    }

    fn document<'d>(&self, found: &'d Critical, read: &ReadRecordings<1>) -> CriticalDocument<'d> {
        CriticalDocument::of(found, read.head())
    }

    fn text(&self, found: &Critical, read: &ReadRecordings<1>) -> String {
        text(found, read.begin())
    }
}

/// When a step is, by its name.
fn step(plan: &RecordingSteps, name: &str) -> anyhow::Result<TimeRange> {
    let mut cuts = plan.laps.values().flat_map(|lap| &lap.cuts);
    let Some(FoundStep { begin, end, .. }) = cuts.find(|cut| cut.name == name) else {
        bail!("no step is called {name}: steps lists the names");
    };
    Ok(TimeRange::new(*begin, *end))
}

/// The content of `critical --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CriticalDocument<'c> {
    #[serde(flatten)]
    head: DocumentHead,
    #[serde(flatten)]
    path: &'c Critical,
    #[serde(serialize_with = "rows")]
    segments: Vec<Segment>,
}

impl<'c> CriticalDocument<'c> {
    pub(super) fn of(path: &'c Critical, head: DocumentHead) -> Self {
        Self {
            head,
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
    let head = head + &handovers::text(&path.handovers);
    let tables = [
        ("What it did", declared(path.kinds.iter().take(ROWS), begin)),
        ("By name", declared(path.names.iter().take(ROWS), begin)),
        ("Longest pieces", declared(&longest(path, ROWS), begin)),
    ];
    let tables = tables.map(|(title, table)| format!("\n{title}\n{}", table.render(2)));
    head + &tables.concat()
}

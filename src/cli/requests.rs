//! `requests`: the requests of a server, their time to the first token, and tokens in a second.

use anyhow::{Context, bail};

use ascend_trace_analysis::requests::{
    MeasureStats, NameTemplate, RequestFold, RequestStats, Requests, TemplateError,
};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::units::duration;

use super::args::RequestsArgs;
use super::document_head::ReportDocument;
use super::report::{self, ReadRecordings, ReportOptions};
use crate::text_table::{TableRows, count, declared};

/// Requests that are listed, unless all are asked for.
const LISTED: usize = 40;

/// Signs of the longest bar of a histogram.
const BAR: u64 = 40;

/// The template of `--names`.
pub(super) fn template(text: &str) -> Result<NameTemplate, &'static str> {
    NameTemplate::parse(text).map_err(|error| match error {
        TemplateError::NoId => "a template needs {id}, where names have the id of a request",
        TemplateError::UnknownField => "a template has {id}, {phase}, {tokens} and *",
        TemplateError::Ambiguous => {
            "a template has each field once, and a text between two of them"
        }
    })
}

pub(crate) fn run(args: &RequestsArgs) -> anyhow::Result<u8> {
    report::run(args)
}

impl report::Report for RequestsArgs {
    const DOCUMENT: &'static str = "requests";
    type Outcome = Requests;
    type Document<'d> = ReportDocument<'d, Requests>;

    fn options(&self) -> ReportOptions<1> {
        (&self.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Requests> {
        let fold = RequestFold::with(self.names.clone());
        let found = fold.of_recording(recording, WindowSize::default(), |_| true)?;
        let found = found.context("it was cancelled")?;
        if self.names.is_some() && found.requests.is_empty() {
            bail!("no range or mark matches --names: stats lists the names of ranges");
        }
        Ok(found)
    }

    fn document<'d>(&self, found: &'d Requests, read: &ReadRecordings<1>) -> Self::Document<'d> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &Requests, read: &ReadRecordings<1>) -> String {
        text(found, read.begin(), self.all)
    }
}

fn text(found: &Requests, begin: i64, all: bool) -> String {
    if found.requests.is_empty() {
        return "no requests: no range or mark has a name of a request; --names TEMPLATE selects names\n"
            .to_owned();
    }
    let requests = &found.requests;
    let most = if all { usize::MAX } else { LISTED };
    let mut text = format!(
        "{} requests\n",
        count(requests.len() as u64 + found.left_out)
    );
    text += &declared(requests.iter().take(most), begin)
        .with_only_if(
            "process",
            requests.iter().any(|it| it.process != requests[0].process),
        )
        .render(2);
    if requests.len() > most {
        let more = count((requests.len() - most) as u64);
        text += &format!("  … and {more} more; --all lists them\n");
    }
    if found.left_out > 0 {
        text += &format!("  … and {} more without a row\n", count(found.left_out));
    }
    text += &format!(
        "\nAll requests\n{}",
        declared(&found.measures, begin).render(2)
    );
    let irregular = found.measures.iter().filter(|it| it.is_irregular());
    irregular.for_each(|it| text += &histogram(it));
    text + &unknown(requests)
}

/// The durations of a measure that a median describes badly.
fn histogram(measure: &MeasureStats) -> String {
    let most = measure.histogram.iter().map(|it| it.count).max();
    let most = most.unwrap_or(0).max(1);
    let table = TableRows::of(&measure.histogram)
        .right("from", |it| duration(it.from_ns))
        .right("until", |it| duration(it.until_ns))
        .right("requests", |it| count(it.count))
        .left("", |it| {
            "█".repeat((it.count * BAR).div_ceil(most) as usize)
        })
        .table();
    format!("\n{} by duration\n{}", measure.measure, table.render(2))
}

/// Why something is not known of some requests.
fn unknown(requests: &[RequestStats]) -> String {
    let count_of = |is: fn(&RequestStats) -> bool| requests.iter().filter(|it| is(it)).count();
    let mut text = String::new();
    let without_arrival = count_of(|it| it.arrival_ns.is_none());
    if without_arrival > 0 {
        text += &format!(
            "\n{} requests have no range or mark that shows their arrival: their queue is not known\n",
            count(without_arrival as u64)
        );
    }
    let untimed = count_of(|it| it.untimed > 0);
    if untimed > 0 {
        text += &format!(
            "\n{} requests have tasks without a time: `record --timing events` times all tasks\n",
            count(untimed as u64)
        );
    }
    text
}

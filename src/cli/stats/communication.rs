//! `stats --communication`: tables of communication between ranks.

use anyhow::Context;
use ascend_trace_analysis::communication::{Communication, CommunicationFold};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;

use super::section;
use crate::cli::args::StatsArgs;
use crate::cli::document_head::ReportDocument;
use crate::cli::report::{self, ReadRecordings, ReportOptions};

pub(super) fn run(args: &StatsArgs) -> anyhow::Result<u8> {
    report::run(&CommunicationReport(args))
}

pub(in crate::cli) struct CommunicationReport<'a>(&'a StatsArgs);

impl report::Report for CommunicationReport<'_> {
    const DOCUMENT: &'static str = "communication";
    type Outcome = Communication;
    type Document<'d> = ReportDocument<'d, Communication>;

    fn options(&self) -> ReportOptions<1> {
        (&self.0.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<Communication> {
        let range = match self.0.range {
            Some(range) => range.of(recording)?,
            None => None,
        };
        let fold = CommunicationFold::within(range);
        let found = fold.of_recording(recording, WindowSize::default(), |_| true)?;
        found.context("it was cancelled")
    }

    fn document<'d>(
        &self,
        found: &'d Communication,
        read: &ReadRecordings<1>,
    ) -> ReportDocument<'d, Communication> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &Communication, _: &ReadRecordings<1>) -> String {
        text(found)
    }
}

fn text(found: &Communication) -> String {
    if found.groups.is_empty() {
        return "no collective ran\n".to_owned();
    }
    let mut text = section("Groups", &found.groups, 0)
        + &section("Collectives", &found.collectives, 0)
        + &section("Ranks", &found.ranks, 0)
        + &section("Messages between ranks", &found.links, 0)
        + &section("Pipeline stages", &found.stages, 0);
    text.push_str(
        "\nalgorithm bandwidth is size / transfer; if the wait for the last rank is not known, size / time. ≥ is the least that \
         it can be\n",
    );
    text
}

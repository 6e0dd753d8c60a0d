//! `stats --memory`: memory by place, at its peak, at the end, and in steps.

use anyhow::Context;
use ascend_trace_analysis::memory::{
    HeldMemory, MemoryUsage, MemoryUsageFold, StepMemory, StepRanges,
};
use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::units::bytes;

use super::section;
use crate::cli::args::StatsArgs;
use crate::cli::document_head::ReportDocument;
use crate::cli::report::{self, ReadRecordings, ReportOptions};
use crate::text_table::count;

pub(super) fn run(args: &StatsArgs) -> anyhow::Result<u8> {
    report::run(&MemoryReport(args))
}

pub(in crate::cli) struct MemoryReport<'a>(&'a StatsArgs);

impl report::Report for MemoryReport<'_> {
    const DOCUMENT: &'static str = "memory";
    const HAS_CALL_SITES: bool = true;
    type Outcome = MemoryUsage;
    type Document<'d> = ReportDocument<'d, MemoryUsage>;

    fn options(&self) -> ReportOptions<1> {
        (&self.0.report).into()
    }

    fn find(&self, [recording]: &mut [Recording; 1]) -> anyhow::Result<MemoryUsage> {
        let steps =
            StepRanges::default().of_recording(recording, WindowSize::default(), |_| true)?;
        let fold = MemoryUsageFold::with_steps(steps.unwrap_or_default());
        let found = fold.of_recording(recording, WindowSize::default(), |_| true)?;
        found.context("it was cancelled")
    }

    fn document<'d>(
        &self,
        found: &'d MemoryUsage,
        read: &ReadRecordings<1>,
    ) -> ReportDocument<'d, MemoryUsage> {
        ReportDocument::of(found, read.head())
    }

    fn text(&self, found: &MemoryUsage, read: &ReadRecordings<1>) -> String {
        text(found, read.begin())
    }
}

fn text(found: &MemoryUsage, begin: i64) -> String {
    if !found.is_known {
        return "not known: more than 1 M allocations were in use at a time\n".to_owned();
    }
    if found.places.is_empty() && found.refused.is_empty() {
        return "no memory was allocated\n".to_owned();
    }
    let is_changed =
        |it: &&StepMemory| it.peak_bytes != it.begin_bytes || it.end_bytes != it.begin_bytes;
    let steps: Vec<StepMemory> = found.steps.iter().filter(is_changed).cloned().collect();
    let mut text = section("Memory", &found.places, begin)
        + &section("Reserved and allocated", &found.pools, begin)
        + &section("In use at the peak", &found.peak, begin)
        + &section("In use at the end", &found.in_use, begin)
        + &section("Steps", &steps, begin)
        + &section("Failed allocations", &found.refused, begin);
    if let Some(first) = found.refused.first() {
        text += &holders(&first.holders);
    }
    if found.refused_left_out > 0 {
        let more = count(found.refused_left_out);
        text += &format!("  … and {more} more failed allocations\n");
    }
    if found.unplaced > 0 {
        let unplaced = count(found.unplaced);
        text +=
            &format!("\n{unplaced} allocations are not in the tables: their device is not known\n");
    }
    if found.missed_blocks > 0 {
        let missed = count(found.missed_blocks);
        text += &format!(
            "\n{missed} calls reported blocks that were not recorded: what allocators have allocated is not exact\n"
        );
    }
    text
}

/// What held memory at the first failed allocation.
fn holders(held: &[HeldMemory]) -> String {
    let held = held.iter().map(|it| {
        let at = it
            .site
            .as_ref()
            .map_or_else(String::new, |it| format!(" at {it}"));
        let least = if it.unsized_count > 0 { "≥ " } else { "" };
        format!("    {least}{} by {}{at}\n", bytes(it.bytes), it.function)
    });
    let held: String = held.collect();
    match held.is_empty() {
        true => String::new(),
        false => format!("  in use at the first of them:\n{held}"),
    }
}

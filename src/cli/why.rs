//! `why`: why a program hangs, from a recording that has ended, was broken off, or goes on.

mod text;

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use rustix::time::{ClockId, clock_gettime};

use ascend_trace_analysis::hang::Hangs;
use ascend_trace_analysis::{Fold, Step};
use ascend_trace_recording::Archive;

use super::args::ReportArgs;
use super::head::Document;
use super::trace::{self, Condition};
use crate::output::{print, print_json};

pub(crate) fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let file = &args.file;
    // The time comes first: what is recorded until the file is read only makes it later.
    let now = now(file);
    let mut archive = trace::open_any(file)?;
    let until = now.filter(|now| is_plausible(&archive, *now));
    let report = Hangs::default()
        .until(until)
        .of_archive(&mut archive, Step::default(), |_| true)
        .with_context(|| format!("cannot read {}", file.display()))?
        .context("it was cancelled")?;
    trace::check(&mut archive, args.strict)?;
    trace::say_warnings(file, &archive);
    let condition = Condition::of_archive(&archive);
    let begin = archive.span().map_or(0, |span| span.begin);
    match args.json {
        true => print_json("why", &Document::of(&report, &condition))?,
        false => print(&text::text(&report, begin))?,
    }
    Ok(condition.status(args.strict))
}

/// The time on the host's clock, in nanoseconds, if a recorder of this host writes to the file: it holds the file's
/// lock, and writes within a moment what happens.
fn now(file: &Path) -> Option<i64> {
    let file = File::open(file).ok()?;
    match file.try_lock_shared() {
        Err(std::fs::TryLockError::WouldBlock) => {}
        _ => return None,
    }
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec
        .checked_mul(1_000_000_000)?
        .checked_add(now.tv_nsec)
}

/// Whether a time fits the clock of a recording: the file may come from another host by a network.
fn is_plausible(archive: &Archive, now: i64) -> bool {
    let span = archive.span();
    span.is_some_and(|span| now >= span.end) && archive.things().end().is_none()
}

//! The critical path, summed up.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_recording::{OpenError, Recording, TimeRange};
use schemars::JsonSchema;
use serde::Serialize;

use super::path::{Links, PathPieces};
use super::segment::SegmentKind;
use super::segments::Segments;
use crate::columns::declare::*;
use crate::whatif::Handover;
use crate::{Fold, Window, WindowSize};

table_row! {
/// Pieces of the path of one kind and name.
#[derive(Clone, Debug, PartialEq)]
pub struct PathShare {
    pub share: f64 => column("share", ColumnKind::Share, |it: &Self| it.share.into(), "share of the range, 0 to 1").shown("share", 0);
    => column("", Duration, |it: &Self| Value::estimate((it.total_ns, it.error_ns), 0), "the time and its error").shown("time", 0);
    pub count: u64 => column("count", Count, |it: &Self| it.count.into(), "how many pieces").shown("pieces", 0);
    pub kind: SegmentKind => column("kind", Word, |it: &Self| it.kind.name().into(), "a word of [ANALYSIS.md](ANALYSIS.md#the-critical-path)").shown("what", 0);
    pub name: Option<String> => column("name", Text, |it: &Self| it.name.as_ref().into(), "the task or call, or the call that came next; `null` for the sum of a kind").shown("name", 0).if_any(|it| it.name.is_some());
    pub total_ns: i64 => column("total_ns", Duration, |it: &Self| it.total_ns.into(), "their time; for all kinds it is the range");
    pub error_ns: i64 => column("error_ns", Duration, |it: &Self| it.error_ns.into(), "by how much it may be off, the errors of all pieces together");
}
}

/// How often the recording is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingPass {
    /// For the causes of everything.
    Causes,
    /// For the items of the path.
    Pieces,
}

/// The critical path of a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Critical {
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Longest first; together they make up the path.
    #[serde(serialize_with = "rows")]
    pub kinds: Vec<PathShare>,
    #[serde(serialize_with = "rows")]
    pub names: Vec<PathShare>,
    /// Pieces before which the path may have come another way, by the error bars.
    pub ties: u64,
    /// How threads seem to wait for each other outside of AscendCL, with the number of these waits on the path.
    pub handovers: Vec<Handover>,
    /// From begin to end, without gaps.
    #[serde(skip)]
    pub segments: Segments,
}

impl Critical {
    /// Of a trace in memory.
    pub fn of(window: &Window<'_>, range: impl Into<TimeRange>) -> Self {
        let range = range.into();
        let path = Links::within(range, window.trace).of(window);
        Self::reported(range, path.of(window))
    }

    /// Of a range of a recording, which is read twice.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording(
        recording: &mut Recording,
        step: WindowSize,
        range: impl Into<TimeRange>,
    ) -> Result<Self, OpenError> {
        let found = Self::of_recording_while(recording, step, range, |_, _| true)?;
        Ok(found.unwrap_or_default())
    }

    /// The same, but it can be stopped: `keep_on` gets the progress of the pass, and ends it by
    /// returning false. The result then has no path.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording_while(
        recording: &mut Recording,
        step: WindowSize,
        range: impl Into<TimeRange>,
        mut keep_on: impl FnMut(ReadingPass, i64) -> bool,
    ) -> Result<Option<Self>, OpenError> {
        let range = range.into();
        let links = Links::within(range, recording.entities());
        let Some(path) =
            links.of_recording(recording, step, |it| keep_on(ReadingPass::Causes, it))?
        else {
            return Ok(None);
        };
        let found = path.of_recording(recording, step, |it| keep_on(ReadingPass::Pieces, it))?;
        Ok(found.map(|found| Self::reported(range, found)))
    }

    pub(crate) fn reported(range: TimeRange, found: PathPieces) -> Self {
        let PathPieces {
            segments,
            handovers,
        } = found;
        let (mut names, mut kinds) = (Sums::new(), Sums::new());
        let mut ties = 0;
        for segment in segments.iter() {
            let time = (segment.length(), segment.error_ns);
            ties += u64::from(segment.tie);
            count(&mut kinds, (segment.kind, None), time);
            count(&mut names, (segment.kind, Some(segment.name)), time);
        }
        Self {
            begin_ns: range.begin,
            end_ns: range.end,
            kinds: shares(kinds, range),
            names: shares(names, range),
            ties,
            handovers,
            segments,
        }
    }
}

/// By kind and name: how many pieces, their time, and its error.
type Sums = BTreeMap<(SegmentKind, Option<Arc<str>>), (u64, i64, i64)>;

fn count(sums: &mut Sums, key: (SegmentKind, Option<Arc<str>>), (length, open): (i64, i64)) {
    let (count, total, error) = sums.entry(key).or_default();
    *count += 1;
    *total += length;
    *error = error.saturating_add(open);
}

/// Longest first.
fn shares(sums: Sums, range: TimeRange) -> Vec<PathShare> {
    let length = range.duration().max(1);
    let shares = sums.into_iter();
    let shares = shares.map(|((kind, name), (count, total_ns, error))| PathShare {
        kind,
        name: name.map(|it| it.to_string()),
        count,
        total_ns,
        // No part of the path is longer than the path.
        error_ns: error.min(total_ns.max(length - total_ns)),
        share: total_ns as f64 / length as f64,
    });
    let mut shares: Vec<PathShare> = shares.collect();
    shares.sort_by_key(|it| std::cmp::Reverse(it.total_ns));
    shares
}

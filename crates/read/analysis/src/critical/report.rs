//! The critical path, summed up.

use std::collections::BTreeMap;
use std::sync::Arc;

use ascend_trace_recording::{OpenError, Recording, TimeRange};
use serde::Serialize;

use super::path::Links;
use super::segment::Kind;
use super::segments::Segments;
use crate::{Fold, Step, Window};

/// Pieces of the path of one kind and name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    pub kind: Kind,
    /// The operation, or the call that came next; `null` for the sum of a kind.
    pub name: Option<String>,
    pub count: u64,
    pub total_ns: i64,
    /// By how much that may be off: the errors of all pieces together.
    pub error_ns: i64,
    /// Of the length of the path, 0 to 1.
    pub share: f64,
}

/// How often the recording is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// For the causes of everything.
    Causes,
    /// For the items of the path.
    Pieces,
}

/// The critical path of a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Critical {
    pub begin_ns: i64,
    pub end_ns: i64,
    /// Longest first; together they make up the path.
    pub kinds: Vec<Share>,
    pub names: Vec<Share>,
    /// Pieces before which the path may have come another way, by the error bars.
    pub ties: u64,
    /// From begin to end, without gaps.
    #[serde(skip)]
    pub segments: Segments,
}

impl Critical {
    /// Of a trace in memory.
    pub fn of(window: &Window<'_>, range: impl Into<TimeRange>) -> Self {
        let range = range.into();
        let path = Links::within(range).of(window);
        Self::told(range, path.of(window))
    }

    /// Of a range of a recording, which is read twice.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_recording(
        recording: &mut Recording,
        step: Step,
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
        step: Step,
        range: impl Into<TimeRange>,
        mut keep_on: impl FnMut(Pass, i64) -> bool,
    ) -> Result<Option<Self>, OpenError> {
        let range = range.into();
        let links = Links::within(range);
        let Some(path) = links.of_recording(recording, step, |it| keep_on(Pass::Causes, it))?
        else {
            return Ok(None);
        };
        let segments = path.of_recording(recording, step, |it| keep_on(Pass::Pieces, it))?;
        Ok(segments.map(|segments| Self::told(range, segments)))
    }

    pub(crate) fn told(range: TimeRange, segments: Segments) -> Self {
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
            segments,
        }
    }
}

/// By kind and name: how many pieces, their time, and its error.
type Sums = BTreeMap<(Kind, Option<Arc<str>>), (u64, i64, i64)>;

fn count(sums: &mut Sums, key: (Kind, Option<Arc<str>>), (length, open): (i64, i64)) {
    let (count, total, error) = sums.entry(key).or_default();
    *count += 1;
    *total += length;
    *error = error.saturating_add(open);
}

/// Longest first.
fn shares(sums: Sums, range: TimeRange) -> Vec<Share> {
    let length = range.duration().max(1);
    let shares = sums.into_iter();
    let shares = shares.map(|((kind, name), (count, total_ns, error))| Share {
        kind,
        name: name.map(|it| it.to_string()),
        count,
        total_ns,
        // No part of the path is longer than the path.
        error_ns: error.min(total_ns.max(length - total_ns)),
        share: total_ns as f64 / length as f64,
    });
    let mut shares: Vec<Share> = shares.collect();
    shares.sort_by_key(|it| std::cmp::Reverse(it.total_ns));
    shares
}

//! A whole recording as a sequence of windows: for exports and sums that need every row once.

use crate::TimeRange;
use crate::trace::{Call, Trace};

use super::{Recording, WindowError};

/// One window of a sequence that covers a recording.
#[derive(Debug)]
pub struct LoadedPart {
    pub trace: Trace,
    /// Calls that begin in `range`, its end not included, belong to this part, and so do the tasks that they
    /// launched; what else the trace holds belongs to others.
    pub range: TimeRange,
}

impl LoadedPart {
    /// Whether a call of the trace belongs to this part.
    pub fn owns(&self, call: &Call) -> bool {
        self.range.owns(call.begin)
    }
}

impl Recording {
    /// The times at which parts of about `rows` rows begin, and the end.
    pub(super) fn cuts(&self, rows: u64) -> Vec<i64> {
        let mut begins: Vec<(i64, u64)> = self
            .layout
            .groups()
            .flat_map(|group| &group.segments)
            .filter_map(|segment| Some((segment.call_span?.begin, segment.rows())))
            .collect();
        begins.sort_unstable();
        let mut cuts = Vec::new();
        let mut sum = 0;
        for (begin, count) in begins {
            if (cuts.is_empty() || sum >= rows) && cuts.last() != Some(&begin) {
                cuts.push(begin);
                sum = 0;
            }
            sum += count;
        }
        let end = self.layout.totals().call_span;
        cuts.extend(end.map(|span| span.end.saturating_add(1)));
        cuts
    }

    /// The whole recording in parts of about `rows` rows, in the order of time. Exactly one part owns
    /// each call.
    pub fn parts(&mut self, rows: u64) -> impl Iterator<Item = Result<LoadedPart, WindowError>> {
        let cuts = self.cuts(rows.max(1));
        let ranges: Vec<TimeRange> = cuts
            .windows(2)
            .map(|two| TimeRange::new(two[0], two[1]))
            .collect();
        ranges.into_iter().map(move |range| {
            // The caller wants this range at any cost.
            let trace = self.window(TimeRange::new(range.begin, range.end - 1), u64::MAX)?;
            Ok(LoadedPart { trace, range })
        })
    }
}

//! Exports of trace files of any size: the file is read once, from begin to end, and of what has
//! been written only so much is kept as the rest depends on.

use std::sync::Arc;

use ascend_trace_analysis::past::keep;
use ascend_trace_model::{Archive, OpenError, Trace};

use crate::part::{Part, Past, Source};
use crate::selection::Shown;
use crate::{ExportError, Exporter, Sink, Wanted};

/// How much of a file is in memory at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Rows that are read at a time: calls, and times of tasks.
    pub rows: u64,
    /// Calls before and after those that are written that are looked at with them.
    pub margin: usize,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            rows: 1 << 17,
            margin: 1 << 14,
        }
    }
}

impl Step {
    /// Everything is in memory.
    pub const WHOLE: Self = Self {
        rows: u64::MAX,
        margin: 0,
    };
}

/// Why an export of a file stopped.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Export(#[from] ExportError),
}

impl From<StreamError> for std::io::Error {
    fn from(error: StreamError) -> Self {
        Self::other(error)
    }
}

/// Exports what is wanted of a file, a step at a time. `progress` is told how many of its rows are
/// done, and how many there are. For a selection the file is read twice: of which threads and
/// streams there is anything has to be known before the first slice is written. Answers whether there was
/// anything.
pub fn stream<'w>(
    archive: &mut Archive,
    (exporter, wanted): (&dyn Exporter, &Wanted),
    step: Step,
    sink: &mut dyn Sink<'w>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<bool, StreamError> {
    let (mut shown, mut before) = (Shown::default(), 0);
    if !wanted.is_all() {
        let told = &mut |done, all| progress(done, 2 * all);
        shown = Shown::find(archive, wanted, step.rows, told)?;
        before = archive.rows();
    }
    let has_any = wanted.is_all() || !shown.is_empty();
    let shown = Arc::new(shown);
    let begin = archive.span().map_or(0, |span| span.0);
    let mut pass = exporter.begin(sink)?;
    let mut replay = archive.replay();
    let mut part = Part::none(begin);
    let mut past = Past::default();
    while !part.is_last {
        replay.advance(step.rows)?;
        let (trace, known) = (replay.trace(), replay.horizon());
        let until = margin(trace, (part.until, known), step.margin);
        part = part.next(until, known, replay.is_done());
        let source = Source::of_part(trace, (wanted, &shown), &mut past, part);
        pass.step(&source, sink)?;
        let (done, all) = replay.progress();
        progress(before + done, before + all);
        // What was written last is looked at again with what comes next.
        // However short the part was: what its calls lead to may come just after it.
        past.since = margin(trace, (i64::MIN, part.until), step.margin);
        let keep = keep(trace, &source.keys, &source.stalls, past.since);
        past.keys = source.keys.kept(trace, &keep);
        drop(source);
        replay.forget(keep.as_slice());
    }
    pass.finish()?;
    Ok(has_any)
}

/// The moment in a range after which so many calls of the range begin, or its begin.
fn margin(trace: &Trace, (from, until): (i64, i64), count: usize) -> i64 {
    let begins = trace.calls().iter().map(|call| call.begin);
    let mut begins: Vec<i64> = begins.filter(|it| (from..until).contains(it)).collect();
    let Some(place) = begins.len().checked_sub(count.max(1)) else {
        return from;
    };
    *begins.select_nth_unstable(place).1
}

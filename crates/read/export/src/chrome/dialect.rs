//! Names, categories and arguments of the events in a file: readers look for different ones.

use std::borrow::Cow;
use std::io;

use ascend_trace_analysis::EdgeKind;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::{CallId, Range, TaskId, Trace};

use super::output::EventOutput;
use crate::ExportSource;
use crate::fields::{write_call, write_task};
use crate::json::JsonText;
use crate::lane_labels::process_name;
use crate::tracks::{ProcessNumbering, ProcessTrack, TrackLayout};

/// A name and a category, which last as long as the part that is being written.
pub(crate) type EventLabel<'s> = (Cow<'s, str>, &'s str);

pub(crate) trait Dialect {
    const NUMBERING: ProcessNumbering;

    /// Whether the causes of idle time and counters are in the file.
    const HAS_EXTRAS: bool;

    /// Whether the file is only a list of events, with timestamps as texts: as numbers, those of the
    /// wall clock have more digits than readers keep.
    const IS_LIST: bool = false;

    /// The time that is written as 0, of a recording that begins at this one.
    fn base(&self, begin: i64) -> i64 {
        begin
    }

    /// Writes the text before the list of events.
    fn write_head(&self, _: &mut JsonText) {}

    /// Takes in a part of the trace, before it is written.
    fn advance(&mut self, _: &ExportSource<'_>, _: &TrackLayout) {}

    fn process_name(&self, trace: &Trace, track: &ProcessTrack) -> String {
        process_name(trace, track)
    }

    fn call<'s>(&self, source: &'s ExportSource<'_>, id: CallId) -> EventLabel<'s>;

    fn write_call<'t>(&self, json: &mut JsonText, source: &ExportSource<'t>, id: CallId);

    /// Of a task that has times.
    fn task<'s>(&self, source: &'s ExportSource<'_>, id: TaskId) -> EventLabel<'s>;

    /// As [`Dialect::task`].
    fn write_task<'t>(&self, json: &mut JsonText, source: &ExportSource<'t>, id: TaskId);

    fn range<'s>(&self, source: &'s ExportSource<'_>, range: &'s Range) -> EventLabel<'s>;

    /// The name and the category of an arrow.
    fn arrow(&self, kind: EdgeKind) -> &'static str;

    /// Writes what only this dialect has, when everything else is written.
    fn write_last(
        &self,
        _: &mut EventOutput<'_>,
        _: &ExportSource<'_>,
        _: &TrackLayout,
    ) -> io::Result<()> {
        Ok(())
    }
}

/// Our own names.
pub(super) struct PlainDialect;

impl Dialect for PlainDialect {
    const NUMBERING: ProcessNumbering = ProcessNumbering::MadeUp;
    const HAS_EXTRAS: bool = true;

    #[inline]
    fn call<'s>(&self, source: &'s ExportSource<'_>, id: CallId) -> EventLabel<'s> {
        let call = source.trace.call(id);
        let function = source.trace.function(call.function);
        (function.name.as_str().into(), source.host_category(call))
    }

    #[inline]
    fn write_call<'t>(&self, json: &mut JsonText, source: &ExportSource<'t>, id: CallId) {
        write_call(json, source, id, "stream");
    }

    #[inline]
    fn task<'s>(&self, source: &'s ExportSource<'_>, id: TaskId) -> EventLabel<'s> {
        let task = source.trace.task(id);
        (task_label(source.trace, task), task.kind.name())
    }

    #[inline]
    fn write_task<'t>(&self, json: &mut JsonText, source: &ExportSource<'t>, id: TaskId) {
        write_task(json, source, id, "stream");
    }

    fn range<'s>(&self, source: &'s ExportSource<'_>, range: &'s Range) -> EventLabel<'s> {
        (range.name.as_str().into(), range_category(source, range))
    }

    #[inline]
    fn arrow(&self, kind: EdgeKind) -> &'static str {
        kind.name()
    }
}

/// Category of ranges in a domain without a name.
const CATEGORY: &str = "mstx";

/// Category of a range: its domain.
fn range_category<'s>(source: &'s ExportSource<'_>, range: &Range) -> &'s str {
    let domain = source.trace.domain(range).filter(|name| !name.is_empty());
    domain.unwrap_or(CATEGORY)
}

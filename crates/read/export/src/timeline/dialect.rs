//! Names, categories and arguments of slices: readers look for different ones.

use ascend_trace_analysis::EdgeKind;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::{CallId, Range, TaskId, Trace};

use super::{EventLabel, Slice, TimelinePart};
use crate::ExportSource;
use crate::fields::{FieldWriter, write_call, write_task};
use crate::lane_labels::process_name;
use crate::tracks::{ProcessNumbering, ProcessTrack, TrackLayout};

/// The methods have our own names, unless a dialect replaces them.
pub(crate) trait Dialect {
    const NUMBERING: ProcessNumbering;

    /// Whether parts of tasks, the causes of idle time and the critical path are in the file.
    const HAS_EXTRAS: bool;

    const HAS_COUNTERS: bool;

    /// Whether tasks without a time are in the file, where they probably ran.
    const HAS_PLACED: bool;

    /// The time that is written as 0, of a recording that begins at this one.
    fn base(&self, begin: i64) -> i64 {
        begin
    }

    /// Takes in a part of the trace, before it is written.
    fn advance(&mut self, _: &ExportSource<'_>, _: &TrackLayout) {}

    fn process_name(&self, trace: &Trace, track: &ProcessTrack) -> String {
        process_name(trace, track)
    }

    #[inline]
    fn call<'s>(&'s self, source: &'s ExportSource<'_>, id: CallId) -> EventLabel<'s> {
        let call = source.trace.call(id);
        let function = source.trace.function(call.function);
        (function.name.as_str().into(), source.host_category(call))
    }

    #[inline]
    fn write_call<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: CallId,
    ) {
        write_call(to, source, id, "stream");
    }

    /// The operator that a call submits, where the dialect has a slice of it around the call.
    #[inline]
    fn operator<'s>(&'s self, _: &'s ExportSource<'_>, _: CallId) -> Option<EventLabel<'s>> {
        None
    }

    fn write_operator<'t, F: FieldWriter<'t>>(&self, _: &mut F, _: &ExportSource<'t>, _: CallId) {}

    /// The mark of the launch of an operator, in the middle of its call.
    fn launch(&self) -> Option<EventLabel<'static>> {
        None
    }

    fn write_launch<'t, F: FieldWriter<'t>>(&self, _: &mut F, _: &ExportSource<'t>, _: CallId) {}

    /// Of a task that has times.
    #[inline]
    fn task<'s>(&self, source: &'s ExportSource<'_>, id: TaskId) -> EventLabel<'s> {
        let task = source.trace.task(id);
        (task_label(source.trace, task), task.kind.name())
    }

    /// As [`Dialect::task`].
    #[inline]
    fn write_task<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: TaskId,
    ) {
        write_task(to, source, id, "stream");
    }

    /// As [`Dialect::write_task`], of a task without a time that has a place.
    #[inline]
    fn write_placed<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: TaskId,
    ) {
        self.write_task(to, source, id);
    }

    /// The category is the domain.
    fn range<'s>(&self, source: &'s ExportSource<'_>, range: &'s Range) -> EventLabel<'s> {
        let domain = source.trace.domain(range).filter(|name| !name.is_empty());
        (range.name.as_str().into(), domain.unwrap_or(NO_DOMAIN))
    }

    /// The name and the category of an arrow.
    #[inline]
    fn arrow(&self, kind: EdgeKind) -> &'static str {
        kind.name()
    }

    /// A slice that only this dialect has, after everything else.
    fn last_slice(&self, _: TimelinePart<'_, '_>) -> Option<Slice<'static>> {
        None
    }
}

/// Our own names.
pub(crate) struct PlainDialect;

impl Dialect for PlainDialect {
    const NUMBERING: ProcessNumbering = ProcessNumbering::MadeUp;
    const HAS_EXTRAS: bool = true;
    const HAS_COUNTERS: bool = true;
    const HAS_PLACED: bool = true;
}

/// Category of ranges in a domain without a name.
const NO_DOMAIN: &str = "mstx";

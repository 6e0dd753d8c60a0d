//! The Chrome trace event format, as JSON, for Perfetto and `chrome://tracing`.
//!
//! A traced process is a process; its host threads are threads. Each device that a process uses is a
//! separate process with the streams as threads. Calls and timed tasks are `X` slices, the dependencies
//! `s`/`f` flows, captures slices next to their thread, causes of idle time slices next to their
//! stream, queue depths and busy streams counters. Times are microseconds since the begin of the trace
//! with three decimals, so that no nanosecond is lost.
//!
//! Importers are strict about these rules, which are met as follows:
//! - slices of one track nest or are apart: overlapping ones go to a sub-track ([`crate::tracks`]);
//! - a flow binds to the innermost slice at its time: its ends are inside their slices, and event
//!   records and waits have separate tracks ([`flows`]);
//! - numbers are numbers, and ids are exact in a double.
//!
//! The parts of a trace are written one after the other; readers put events in order by their times.
//!
//! Other readers of this format want other names and categories: a [`crate::timeline::Dialect`] has those.

mod flows;
mod output;

use std::io;

use ascend_trace_recording::Trace;

pub(crate) use output::EventOutput;

use crate::counters::{Counter, CounterStep};
use crate::fields::write_recording;
use crate::json::JsonText;
use crate::timeline::{
    Dialect, NamedTrack, PlainDialect, Slice, SliceKind, TaskRow, TimelineEncoder, TimelineFile,
    TimelinePart, TimelineSection,
};
use crate::trace_facts::ExportTotals;
use crate::tracks::{ProcessTrack, SliceTrack};
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};

/// The exporter for `--format chrome`.
#[derive(Clone, Copy, Debug)]
pub struct Chrome;

impl Exporter for Chrome {
    fn name(&self) -> &'static str {
        "chrome"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::File { extension: "json" }
    }

    fn begin<'w>(
        &self,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        let output = EventOutput::object(open(sink, "")?, "");
        Ok(Box::new(TimelineFile::new(output, PlainDialect)))
    }
}

/// The track of facts about a process as a whole.
fn of_process(pid: u32) -> SliceTrack {
    SliceTrack {
        pid,
        tid: pid,
        number: 0,
        lane: 0,
    }
}

impl TimelineEncoder for EventOutput<'_> {
    type Fields<'e> = JsonText;
    type Open = ();

    /// Flows come after their slices: at equal times an importer handles events in the order of
    /// the file, and a flow must find its slice.
    const SECTIONS: &'static [TimelineSection] = &[
        TimelineSection::Calls,
        TimelineSection::Tasks,
        TimelineSection::Parts,
        TimelineSection::Placed,
        TimelineSection::Stalls,
        TimelineSection::Counters,
        TimelineSection::Critical,
        TimelineSection::Flows,
        TimelineSection::Ranges,
        TimelineSection::Captures,
        TimelineSection::Recording,
    ];
    const WAITS_ARE_LAST: bool = false;
    const PARTS_ARE_INSIDE: bool = false;
    const NOWHERE: Option<SliceTrack> = None;

    fn begin_part(&mut self, _: &ExportSource<'_>, base: i64) -> io::Result<()> {
        self.set_base(base);
        Ok(())
    }

    fn process(
        &mut self,
        _: &Trace,
        _: &[ProcessTrack],
        (order, process, name): (i64, &ProcessTrack, &str),
    ) -> io::Result<()> {
        self.label(of_process(process.pid), "process", name, order)
    }

    fn track(&mut self, named: &NamedTrack) -> io::Result<()> {
        self.label(named.track, "thread", &named.name, named.order)
    }

    #[inline]
    fn begin(
        &mut self,
        _: TimelinePart<'_, '_>,
        slice: &Slice<'_>,
        fill: impl FnOnce(&mut JsonText),
    ) -> io::Result<()> {
        self.event(b'X', slice.track, |members| {
            members.named(&slice.label.0, slice.label.1);
            match slice.kind {
                SliceKind::Task(_, TaskRow::Wait) => members.lasting_until(slice.begin, slice.end),
                _ => members.lasting(slice.begin, slice.end),
            }
            if slice.kind != SliceKind::Critical {
                members.args(fill);
            }
        })
    }

    #[inline]
    fn end(&mut self, _: &Slice<'_>, (): ()) -> io::Result<()> {
        Ok(())
    }

    fn counter(&mut self, counter: &Counter, step: Option<CounterStep>) -> io::Result<()> {
        let Some(step) = step else {
            return Ok(());
        };
        let track = counter.track.unwrap_or(of_process(counter.pid));
        self.event(b'C', track, |members| {
            members.named(&counter.name, "");
            members.at(step.time);
            members.args(|json| json.key(counter.unit).integer(step.amount));
        })
    }

    fn flows(&mut self, part: TimelinePart<'_, '_>, dialect: &impl Dialect) -> io::Result<u64> {
        flows::write(self, dialect, part)
    }

    fn finish(&mut self, source: &ExportSource<'_>, facts: &ExportTotals) -> io::Result<()> {
        self.close(|json| write_recording(json, source, facts))
    }
}

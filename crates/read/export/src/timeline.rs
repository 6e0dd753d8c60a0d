//! Tracks, slices, counters and flows, for all formats of timelines.
//!
//! One walk over a part of a trace ([`TimelineFile::step`]) hands these to a [`TimelineEncoder`], which writes them as
//! its format wants them. A [`Dialect`] has the names and the arguments.

mod dialect;
mod slices;
mod track_names;

use std::borrow::Cow;
use std::io;

use ascend_trace_recording::{CallId, Task, TaskId, ThreadId, Trace};

use crate::counters::{Counter, CounterStep, TraceCounters};
use crate::fields::FieldWriter;
use crate::trace_facts::ExportTotals;
use crate::tracks::{ProcessTrack, SliceTrack, TrackLayout, is_beside, is_waiter};
use crate::{ExportError, ExportPass, ExportSink, ExportSource};
pub(crate) use dialect::{Dialect, PlainDialect};
use slices::SliceWalk;

/// The part of a trace that is being written, and where its slices are.
#[derive(Clone, Copy)]
pub(crate) struct TimelinePart<'p, 't> {
    pub(crate) source: &'p ExportSource<'t>,
    pub(crate) tracks: &'p TrackLayout,
}

/// A name and a category, which last as long as the part that is being written.
pub(crate) type EventLabel<'s> = (Cow<'s, str>, &'s str);

/// A slice.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'s> {
    pub(crate) kind: SliceKind,
    pub(crate) track: SliceTrack,
    pub(crate) label: EventLabel<'s>,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

impl<'s> Slice<'s> {
    #[inline]
    pub(crate) fn new(
        kind: SliceKind,
        track: SliceTrack,
        label: (impl Into<Cow<'s, str>>, &'s str),
        (begin, end): (i64, i64),
    ) -> Self {
        Self {
            kind,
            track,
            label: (label.0.into(), label.1),
            begin,
            end,
        }
    }
}

/// The content of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceKind {
    Call(CallId),
    /// An operator that a call submits, or the mark of its launch.
    Operator,
    Task(TaskId, TaskRow),
    /// A part of a task, with the task's row if it is on the task's track.
    Part(Option<TaskRow>),
    Stall,
    /// A task without a time, where it probably ran.
    Placed,
    /// A piece of the critical path. It has no arguments.
    Critical,
    Range,
    Capture,
    /// The mark with facts about the recording.
    Recording,
}

/// Tasks of a stream that are in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskRow {
    Work,
    /// Outside the stream's own track.
    Beside,
    /// Those that wait for others.
    Wait,
}

impl TaskRow {
    #[inline]
    fn of(trace: &Trace, task: &Task) -> Self {
        match is_waiter(trace, task) {
            true => Self::Wait,
            false if is_beside(task) => Self::Beside,
            false => Self::Work,
        }
    }
}

/// A track that needs a name.
#[derive(Clone, Debug)]
pub(crate) struct NamedTrack {
    pub(crate) track: SliceTrack,
    pub(crate) parent: TrackParent,
    pub(crate) name: String,
    pub(crate) order: i64,
}

/// The place of a track in the tree of tracks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TrackParent {
    /// It is the track of a thread.
    Thread,
    Track(SliceTrack),
    /// A process, or a device below one.
    Process(u32),
    Nothing,
}

/// A group of slices or events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimelineSection {
    Calls,
    Tasks,
    /// Parts of tasks, after all tasks.
    Parts,
    /// Tasks without a time that have a place.
    Placed,
    Stalls,
    Counters,
    Critical,
    Flows,
    Ranges,
    Captures,
    Recording,
}

impl TimelineSection {
    /// Whether only some dialects have it.
    fn is_extra(self) -> bool {
        matches!(self, Self::Parts | Self::Stalls | Self::Critical)
    }
}

/// Writes timelines in one format.
pub(crate) trait TimelineEncoder {
    /// Takes the arguments of a slice.
    type Fields<'e>: for<'t> FieldWriter<'t>;
    /// State of a slice between its begin and its end.
    type Open;

    /// The order in a file.
    const SECTIONS: &'static [TimelineSection];
    /// Whether tasks that wait come after all others.
    const WAITS_ARE_LAST: bool;
    /// Whether parts come between begin and end of their task, and not in a section.
    const PARTS_ARE_INSIDE: bool;
    /// The track of the recording if there is no process.
    const NOWHERE: Option<SliceTrack>;

    /// Begins a part. `base` is the time that may be written as 0.
    fn begin_part(&mut self, source: &ExportSource<'_>, base: i64) -> io::Result<()>;

    /// Describes a process, or a device below one.
    fn process(
        &mut self,
        trace: &Trace,
        all: &[ProcessTrack],
        process: (i64, &ProcessTrack, &str),
    ) -> io::Result<()>;

    fn track(&mut self, track: &NamedTrack) -> io::Result<()>;

    /// Begins a slice with its arguments. The following calls of its track may be inside a call.
    fn begin(
        &mut self,
        part: TimelinePart<'_, '_>,
        slice: &Slice<'_>,
        fill: impl FnOnce(&mut Self::Fields<'_>),
    ) -> io::Result<Self::Open>;

    fn end(&mut self, slice: &Slice<'_>, open: Self::Open) -> io::Result<()>;

    #[inline]
    fn slice(
        &mut self,
        part: TimelinePart<'_, '_>,
        slice: &Slice<'_>,
        fill: impl FnOnce(&mut Self::Fields<'_>),
    ) -> io::Result<()> {
        let open = self.begin(part, slice, fill)?;
        self.end(slice, open)
    }

    /// All calls of the part have been written.
    fn end_calls(&mut self, _: &ExportSource<'_>) -> io::Result<()> {
        Ok(())
    }

    /// Describes a counter, or writes a value of it.
    fn counter(&mut self, counter: &Counter, step: Option<CounterStep>) -> io::Result<()>;

    /// Writes the flows that slices do not contain, and returns how many dependencies have none.
    fn flows(&mut self, part: TimelinePart<'_, '_>, dialect: &impl Dialect) -> io::Result<u64>;

    /// Completes the file.
    fn finish(&mut self, source: &ExportSource<'_>, facts: &ExportTotals) -> io::Result<()>;
}

/// A file with a timeline on its way through a trace.
pub(crate) struct TimelineFile<E, D> {
    encoder: E,
    dialect: D,
    tracks: TrackLayout,
    counters: TraceCounters,
    facts: ExportTotals,
}

impl<E: TimelineEncoder, D: Dialect> TimelineFile<E, D> {
    pub(crate) fn new(encoder: E, dialect: D) -> Self {
        Self {
            encoder,
            dialect,
            tracks: TrackLayout::new(D::NUMBERING),
            counters: TraceCounters::default(),
            facts: ExportTotals::default(),
        }
    }

    /// Writes a part of the trace.
    pub(crate) fn step(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        self.write_part(source)?;
        match source.part.is_last {
            true => self.finish(source),
            false => Ok(()),
        }
    }

    /// As [`TimelineFile::step`], but the file stays open after the last part.
    pub(crate) fn write_part(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        self.tracks.advance(source);
        self.dialect.advance(source, &self.tracks);
        self.facts.add(source);
        let base = self.dialect.base(source.part.begin);
        self.encoder.begin_part(source, base)?;
        track_names::write(
            &mut self.encoder,
            &self.dialect,
            source.trace,
            &mut self.tracks,
        )?;
        for section in E::SECTIONS {
            let is_in = match section {
                TimelineSection::Placed => D::HAS_PLACED,
                TimelineSection::Counters => D::HAS_COUNTERS,
                section => D::HAS_EXTRAS || !section.is_extra(),
            };
            if is_in {
                self.write(*section, source)?;
            }
        }
        Ok(())
    }

    /// The track of a thread that has calls.
    pub(crate) fn thread(&self, thread: ThreadId) -> Option<SliceTrack> {
        self.tracks.threads.get(thread.index())?.own()
    }

    /// Takes events in addition to those of the timeline.
    pub(crate) fn encoder(&mut self) -> &mut E {
        &mut self.encoder
    }

    /// Completes the file after the last part.
    pub(crate) fn finish(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        let part = TimelinePart {
            source,
            tracks: &self.tracks,
        };
        if let Some(slice) = self.dialect.last_slice(part) {
            self.encoder.slice(part, &slice, |_| {})?;
        }
        self.encoder.finish(source, &self.facts)
    }

    fn write(&mut self, section: TimelineSection, source: &ExportSource<'_>) -> io::Result<()> {
        let (encoder, tracks) = (&mut self.encoder, &self.tracks);
        let part = TimelinePart { source, tracks };
        match section {
            TimelineSection::Counters => {
                let counters = &mut self.counters;
                return counters.advance(source, tracks, &mut |counter, step| {
                    encoder.counter(counter, step)
                });
            }
            TimelineSection::Flows => {
                self.facts.omitted_flows += encoder.flows(part, &self.dialect)?;
                return Ok(());
            }
            _ => {}
        }
        let mut walk = SliceWalk {
            encoder,
            dialect: &self.dialect,
            part,
            facts: &self.facts,
        };
        walk.write(section)
    }
}

impl<'w, E: TimelineEncoder, D: Dialect> ExportPass<'w> for TimelineFile<E, D> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        Ok(self.step(source)?)
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

//! A timeline as packets.

use std::io::{self, Write};

use ascend_trace_recording::Trace;

use super::fields::event::{COUNTER, INSTANT, SLICE_BEGIN, SLICE_END};
use super::flows::{ArrowArrival, LinkedNodes, TouchingFlows};
use super::meta;
use super::open_calls::{OpenCalls, OpenSlices};
use super::output::{EventPlace, PacketOutput, TrackEvent, TrackUuid};
use super::sequences::SequenceOwner;
use crate::ExportSource;
use crate::counters::{Counter, CounterStep};
use crate::dependency_slices::NodeSlice;
use crate::timeline::{
    Dialect, NamedTrack, Slice, SliceKind, TimelineEncoder, TimelinePart, TimelineSection,
};
use crate::trace_facts::ExportTotals;
use crate::tracks::{ProcessTrack, SliceTrack};

/// Tracks of counters begin here, beyond those of slices.
const COUNTERS: u64 = 1 << 27;

/// A trace file on its way through a trace.
pub(super) struct PerfettoEncoder<'w> {
    output: PacketOutput<'w>,
    calls: OpenCalls,
    linked: LinkedNodes,
    is_begun: bool,
}

impl<'w> PerfettoEncoder<'w> {
    pub(super) fn new(file: Box<dyn Write + 'w>) -> Self {
        Self {
            output: PacketOutput::new(file),
            calls: OpenCalls::default(),
            linked: LinkedNodes::default(),
            is_begun: false,
        }
    }
}

impl TimelineEncoder for PerfettoEncoder<'_> {
    type Fields<'e> = TrackEvent<'e>;
    type Open = TouchingFlows;

    const SECTIONS: &'static [TimelineSection] = &[
        TimelineSection::Calls,
        TimelineSection::Tasks,
        TimelineSection::Placed,
        TimelineSection::Flows,
        TimelineSection::Stalls,
        TimelineSection::Counters,
        TimelineSection::Captures,
        TimelineSection::Critical,
        TimelineSection::Ranges,
        TimelineSection::Recording,
    ];
    const WAITS_ARE_LAST: bool = true;
    const PARTS_ARE_INSIDE: bool = true;
    const NOWHERE: Option<SliceTrack> = Some(meta::NOWHERE);

    fn begin_part(&mut self, source: &ExportSource<'_>, _: i64) -> io::Result<()> {
        self.linked.update(source);
        if self.is_begun {
            return Ok(());
        }
        self.is_begun = true;
        self.output.set_begin(source.part.begin, source.args);
        meta::write_start(&mut self.output, source.trace)
    }

    fn process(
        &mut self,
        trace: &Trace,
        all: &[ProcessTrack],
        process: (i64, &ProcessTrack, &str),
    ) -> io::Result<()> {
        meta::write_process(&mut self.output, trace, all, process)
    }

    fn track(&mut self, track: &NamedTrack) -> io::Result<()> {
        meta::write_named(&mut self.output, track)
    }

    #[inline]
    fn begin(
        &mut self,
        part: TimelinePart<'_, '_>,
        slice: &Slice<'_>,
        fill: impl FnOnce(&mut TrackEvent<'_>),
    ) -> io::Result<TouchingFlows> {
        let flows = self.linked.flows(part);
        let touch = match slice.kind {
            SliceKind::Call(id) => {
                let open = self.calls.of(slice.track);
                close(&mut self.output, slice.track, open, slice.begin)?;
                flows.of(NodeSlice::Call(id))
            }
            SliceKind::Task(id, _) => flows.of(NodeSlice::Task(id)),
            _ => TouchingFlows::default(),
        };
        let kind = match is_instant(slice) {
            true => INSTANT,
            false => SLICE_BEGIN,
        };
        let trace = part.source.trace;
        let begin = match slice.kind {
            SliceKind::Recording if trace.span().is_none() => trace.session().start_ns,
            _ => slice.begin,
        };
        self.output.event(kind, place(slice), begin, |event| {
            event.named(&slice.label.0, slice.label.1);
            fill(event);
            touch.write_arriving(ArrowArrival::Begin, event);
            touch.write_leaving(event);
        })?;
        Ok(touch)
    }

    #[inline]
    fn end(&mut self, slice: &Slice<'_>, touch: TouchingFlows) -> io::Result<()> {
        match slice.kind {
            SliceKind::Call(_) => self.calls.of(slice.track).push((slice.end, touch)),
            _ if is_instant(slice) => {}
            _ => return write_end(&mut self.output, place(slice), slice.end, &touch),
        }
        Ok(())
    }

    fn end_calls(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        let until = match source.part.is_last {
            true => i64::MAX,
            false => source.part.until,
        };
        for (track, open) in self.calls.all() {
            close(&mut self.output, track, open, until)?;
        }
        Ok(())
    }

    fn counter(&mut self, counter: &Counter, step: Option<CounterStep>) -> io::Result<()> {
        let track = TrackUuid(COUNTERS + counter.number);
        let Some(step) = step else {
            return meta::write_counter_track(&mut self.output, track, counter);
        };
        let owner = SequenceOwner::Counter(counter.number);
        let place = EventPlace { owner, track };
        self.output.event(COUNTER, place, step.time, |event| {
            event.counter(step.amount);
        })
    }

    fn flows(&mut self, part: TimelinePart<'_, '_>, _: &impl Dialect) -> io::Result<u64> {
        let far = self.linked.flows(part).write_far(&mut self.output)?;
        Ok(self.linked.take_omitted() + far)
    }

    fn finish(&mut self, _: &ExportSource<'_>, _: &ExportTotals) -> io::Result<()> {
        self.output.finish()
    }
}

/// Whether a slice is an event without an end.
fn is_instant(slice: &Slice<'_>) -> bool {
    match slice.kind {
        SliceKind::Range => slice.begin == slice.end,
        SliceKind::Recording => true,
        _ => false,
    }
}

/// Where the events of a slice go.
#[inline]
fn place(slice: &Slice<'_>) -> EventPlace {
    let lane = slice.track.lane;
    let owner = match slice.kind {
        SliceKind::Task(_, row) | SliceKind::Part(Some(row)) => {
            SequenceOwner::Lane(lane, row as u8)
        }
        SliceKind::Stall => SequenceOwner::Lane(lane, 3),
        SliceKind::Part(None) => SequenceOwner::Lane(lane, 4),
        SliceKind::Placed => SequenceOwner::Lane(lane, 5),
        SliceKind::Critical | SliceKind::Recording => SequenceOwner::All,
        SliceKind::Call(_) | SliceKind::Operator | SliceKind::Range | SliceKind::Capture => {
            SequenceOwner::Lane(lane, 0)
        }
    };
    let track = meta::uuid(slice.track);
    EventPlace { owner, track }
}

/// Ends the slices that are over at a time, the innermost first.
fn close(
    output: &mut PacketOutput<'_>,
    track: SliceTrack,
    open: &mut OpenSlices,
    time: i64,
) -> io::Result<()> {
    while let Some((end, touch)) = open.pop_if(|(end, _)| *end <= time) {
        write_end(output, track.into(), end, &touch)?;
    }
    Ok(())
}

fn write_end(
    output: &mut PacketOutput<'_>,
    place: EventPlace,
    time: i64,
    touch: &TouchingFlows,
) -> io::Result<()> {
    if touch.has(ArrowArrival::Mark) {
        output.event(INSTANT, place, time, |event| {
            event.named("released", "released");
            touch.write_arriving(ArrowArrival::Mark, event);
        })?;
    }
    output.event(SLICE_END, place, time, |event| {
        touch.write_arriving(ArrowArrival::End, event);
    })
}

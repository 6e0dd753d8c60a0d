//! The slices of each section.

use std::io;

use ascend_trace_analysis::graphs::{part_kind, part_label};
use ascend_trace_recording::{StreamId, TaskId, ThreadId};

use super::{
    Dialect, NamedTrack, Slice, SliceKind, TaskRow, TimelineEncoder, TimelinePart, TimelineSection,
    TrackParent,
};
use crate::ArgDetail;
use crate::dependency_end::drawn_end;
use crate::fields::{
    FieldWriter, write_graph, write_part, write_range, write_recording, write_stall, write_step,
};
use crate::lane_labels::{CRITICAL, CRITICAL_PATH, PROBABLE, RECORDED, RECORDING, piece_name};
use crate::trace_facts::ExportTotals;
use crate::tracks::SliceTrack;

/// A walk over the slices of a part.
pub(super) struct SliceWalk<'w, 't, E, D> {
    pub(super) encoder: &'w mut E,
    pub(super) dialect: &'w D,
    pub(super) part: TimelinePart<'w, 't>,
    pub(super) facts: &'w ExportTotals,
}

impl<E: TimelineEncoder, D: Dialect> SliceWalk<'_, '_, E, D> {
    pub(super) fn write(&mut self, section: TimelineSection) -> io::Result<()> {
        let is_last = self.part.source.part.is_last;
        match section {
            TimelineSection::Calls => self.calls(),
            TimelineSection::Tasks if E::WAITS_ARE_LAST => {
                self.tasks(|row| row != TaskRow::Wait)?;
                self.tasks(|row| row == TaskRow::Wait)
            }
            TimelineSection::Tasks => self.tasks(|_| true),
            TimelineSection::Parts => self.parts(),
            TimelineSection::Placed => self.placed(),
            TimelineSection::Stalls => self.stalls(),
            TimelineSection::Critical => self.critical(),
            TimelineSection::Ranges => self.ranges(),
            TimelineSection::Captures if is_last => self.captures(),
            TimelineSection::Recording if is_last => self.recording(),
            _ => Ok(()),
        }
    }

    fn calls(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let (trace, dialect) = (source.trace, self.dialect);
        for thread in 0..trace.threads().len() as u32 {
            for id in source.calls(ThreadId(thread)) {
                let call = trace.call(id);
                let track = tracks.call(trace, id);
                let operator = dialect.operator(source, id);
                let is_operator = operator.is_some();
                if let Some(label) = operator {
                    let time = (call.begin, call.end);
                    let slice = Slice::new(SliceKind::Operator, track, label, time);
                    self.encoder.slice(self.part, &slice, |fields| {
                        dialect.write_operator(fields, source, id);
                    })?;
                }
                let (kind, label) = (SliceKind::Call(id), dialect.call(source, id));
                let slice = Slice::new(kind, track, label, (call.begin, call.end));
                self.encoder.slice(self.part, &slice, |fields| {
                    dialect.write_call(fields, source, id);
                })?;
                // At its begin and end, the arrow of this or the next call would find the mark.
                let middle = call.begin + (call.end - call.begin) / 2;
                let launch = dialect.launch();
                if let Some(label) = launch.filter(|_| is_operator && call.begin < middle) {
                    let time = (middle, middle);
                    let slice = Slice::new(SliceKind::Operator, track, label, time);
                    self.encoder.slice(self.part, &slice, |fields| {
                        dialect.write_launch(fields, source, id);
                    })?;
                }
            }
        }
        self.encoder.end_calls(source)
    }

    fn tasks(&mut self, is_wanted: impl Fn(TaskRow) -> bool) -> io::Result<()> {
        let source = self.part.source;
        let trace = source.trace;
        for stream in 0..trace.streams().len() as u32 {
            for id in source.tasks(StreamId(stream)) {
                let row = TaskRow::of(trace, trace.task(id));
                if is_wanted(row) {
                    self.task(id, row)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn task(&mut self, id: TaskId, row: TaskRow) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let (trace, dialect) = (source.trace, self.dialect);
        let Some((time, track)) = trace.task(id).time.zip(tracks.task(trace, id)) else {
            return self.parts_inside(id, None);
        };
        let end = match row {
            TaskRow::Wait => drawn_end(source, id, time),
            TaskRow::Work | TaskRow::Beside => time.end,
        };
        let (kind, label) = (SliceKind::Task(id, row), dialect.task(source, id));
        let slice = Slice::new(kind, track, label, (time.begin, end));
        let open = self.encoder.begin(self.part, &slice, |fields| {
            dialect.write_task(fields, source, id);
        })?;
        self.parts_inside(id, Some((track, row)))?;
        self.encoder.end(&slice, open)
    }

    fn parts(&mut self) -> io::Result<()> {
        let source = self.part.source;
        for stream in 0..source.trace.streams().len() as u32 {
            for id in source.tasks(StreamId(stream)) {
                self.parts_of(id, None)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn parts_inside(&mut self, id: TaskId, own: Option<(SliceTrack, TaskRow)>) -> io::Result<()> {
        match E::PARTS_ARE_INSIDE {
            true => self.parts_of(id, own),
            false => Ok(()),
        }
    }

    /// What ran inside of a task: on the task's own track, or where there is no room for it, on others.
    fn parts_of(&mut self, id: TaskId, own: Option<(SliceTrack, TaskRow)>) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        for (at, part) in source.trace.parts(id).iter().enumerate() {
            let Some(track) = tracks.part(source.trace, id, at) else {
                continue;
            };
            let own = own.filter(|own| own.0 == track).map(|own| own.1);
            let name = part_label(source.trace, &source.graphs, id, part);
            let (kind, label) = (SliceKind::Part(own), (name, part_kind(part)));
            let slice = Slice::new(kind, track, label, (part.begin, part.end));
            self.encoder.slice(self.part, &slice, |fields| {
                write_part(fields, source, id, part);
            })?;
        }
        Ok(())
    }

    /// Tasks without a time, where they probably ran.
    fn placed(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let dialect = self.dialect;
        for stream in (0..source.trace.streams().len() as u32).map(StreamId) {
            let Some(track) = tracks.placed(source.trace, stream) else {
                continue;
            };
            for (id, placement) in source.placed(stream) {
                let (name, _) = dialect.task(source, id);
                let (label, range) = ((name, PROBABLE), placement.range);
                let slice = Slice::new(SliceKind::Placed, track, label, (range.begin, range.end));
                self.encoder.slice(self.part, &slice, |fields| {
                    if source.args != ArgDetail::None {
                        fields.integer("probable_err_ns", placement.error);
                    }
                    dialect.write_placed(fields, source, id);
                })?;
            }
        }
        Ok(())
    }

    /// Idle stretches of streams, named after their cause.
    fn stalls(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        for (track, stall) in tracks.stalls(source) {
            let label = (stall.cause.name(), "stall");
            let slice = Slice::new(SliceKind::Stall, track, label, (stall.begin, stall.end));
            self.encoder.slice(self.part, &slice, |fields| {
                write_stall(fields, source, stall);
            })?;
        }
        Ok(())
    }

    fn critical(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let Some(track) = tracks.critical else {
            return Ok(());
        };
        self.name_track(track, CRITICAL_PATH, -1)?;
        for piece in source.critical.iter() {
            let (label, time) = (
                (piece_name(&piece), CRITICAL),
                (piece.begin_ns, piece.end_ns),
            );
            let slice = Slice::new(SliceKind::Critical, track, label, time);
            self.encoder.slice(self.part, &slice, |_| {})?;
        }
        Ok(())
    }

    /// Ranges and marks that the program named.
    fn ranges(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let (trace, steps) = (source.trace, self.facts.steps());
        for (place, track) in &tracks.ranges {
            let range = &trace.ranges()[*place];
            let label = self.dialect.range(source, range);
            let slice = Slice::new(SliceKind::Range, *track, label, (range.begin, range.end));
            self.encoder.slice(self.part, &slice, |fields| {
                write_range(fields, source, range);
                if let Some(step) = steps.of_range(trace, range) {
                    write_step(fields, source, step);
                }
            })?;
        }
        Ok(())
    }

    fn captures(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        for graph in source.graphs.all() {
            let span = graph.making_span(source.trace);
            let Some((making, track)) = span.zip(tracks.capture(graph)) else {
                continue;
            };
            let name = format!("{} graph {}", graph.making.verb(), graph.serial);
            let (label, time) = ((name, "capture"), (making.begin, making.end));
            let slice = Slice::new(SliceKind::Capture, track, label, time);
            self.encoder.slice(self.part, &slice, |fields| {
                write_graph(fields, source, graph, self.facts);
            })?;
        }
        Ok(())
    }

    /// Facts about the recording as a whole, as a mark at its begin.
    fn recording(&mut self) -> io::Result<()> {
        let TimelinePart { source, tracks } = self.part;
        let Some(track) = tracks.recording.or(E::NOWHERE) else {
            return Ok(());
        };
        self.name_track(track, RECORDING, i64::from(i32::MAX))?;
        let begin = source.part.begin;
        let label = (RECORDED, RECORDING);
        let slice = Slice::new(SliceKind::Recording, track, label, (begin, begin));
        self.encoder.slice(self.part, &slice, |fields| {
            write_recording(fields, source, self.facts);
        })
    }

    /// Names a track below its process.
    fn name_track(&mut self, track: SliceTrack, name: &str, order: i64) -> io::Result<()> {
        let parent = match Some(track) == E::NOWHERE {
            true => TrackParent::Nothing,
            false => TrackParent::Process(track.pid),
        };
        let name = name.to_owned();
        self.encoder.track(&NamedTrack {
            track,
            parent,
            name,
            order,
        })
    }
}

//! What Kineto's readers look for.
//!
//! They take everything with a `stream` for work of a device: calls, tasks that do no work, and tasks without a measured time
//! have `on_stream` instead.
//! What their categories have no word for keeps ours.

use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_analysis::{EdgeKind, TaskRole};
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{CallId, Range, TaskId, TimeRange, Trace};

use super::steps::StepRanges;
use super::{EventNames, cuda, operators};
use crate::fields::{FieldWriter, write_call, write_correlation, write_task};
use crate::lane_labels::{RECORDING, device_name, process_name};
use crate::timeline::{Dialect, EventLabel, Slice, SliceKind, TimelinePart};
use crate::tracks::{ProcessNumbering, ProcessTrack, TrackLayout};
use crate::{ArgDetail, ExportSource};

pub(super) struct KinetoDialect {
    names: EventNames,
    steps: StepRanges,
    /// Until when anything is known to have happened.
    end: i64,
}

impl KinetoDialect {
    pub(super) fn new(names: EventNames) -> Self {
        Self {
            names,
            steps: StepRanges::default(),
            end: i64::MIN,
        }
    }
}

/// The arguments by which an event is known to be work of a device, and by which it is not.
const STREAM: &str = "stream";
const NO_WORK: &str = "on_stream";

impl Dialect for KinetoDialect {
    const NUMBERING: ProcessNumbering = ProcessNumbering::Devices;
    const HAS_EXTRAS: bool = false;
    /// Processes that share a device share its counters' names, and no reader asks for them.
    const HAS_COUNTERS: bool = false;
    const HAS_PLACED: bool = true;

    fn advance(&mut self, source: &ExportSource<'_>, tracks: &TrackLayout) {
        let end = source.trace.span().map_or(i64::MIN, |span| span.end);
        self.end = self.end.max(end);
        if source.part.is_last {
            let ranges = source.trace.ranges();
            self.steps = StepRanges::of(tracks.ranges.iter().map(|(place, _)| &ranges[*place]));
        }
    }

    fn process_name(&self, trace: &Trace, track: &ProcessTrack) -> String {
        match track.device {
            Some(device) => device_name(trace, track.process, device),
            None => process_name(trace, track),
        }
    }

    fn call<'s>(&'s self, source: &'s ExportSource<'_>, id: CallId) -> EventLabel<'s> {
        let name = self.cuda_name(source, id);
        let call = source.trace.call(id);
        let own = || source.trace.function(call.function).name.as_str();
        (name.unwrap_or_else(own).into(), "cuda_runtime")
    }

    fn write_call<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: CallId,
    ) {
        let call = source.trace.call(id);
        if self.cuda_name(source, id).is_some() {
            let function = source.trace.function(call.function);
            to.text("function", &function.name);
        }
        write_call(to, source, id, NO_WORK);
        if call.task.is_some() {
            write_external(to, source, id);
        }
    }

    fn operator<'s>(&'s self, source: &'s ExportSource<'_>, id: CallId) -> Option<EventLabel<'s>> {
        let name = operators::name(source.trace, id)?;
        Some((name, operators::OPERATOR))
    }

    fn write_operator<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: CallId,
    ) {
        write_external(to, source, id);
        if source.args == ArgDetail::Full {
            operators::write_inputs(to, source.trace, source.trace.call(id));
        }
    }

    fn launch(&self) -> Option<EventLabel<'static>> {
        let (name, category) = operators::LAUNCH;
        (self.names == EventNames::Own).then_some((name.into(), category))
    }

    fn write_launch<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: CallId,
    ) {
        write_correlation(to, source.trace, id);
        write_external(to, source, id);
    }

    fn task<'s>(&self, source: &'s ExportSource<'_>, id: TaskId) -> EventLabel<'s> {
        let (trace, task) = (source.trace, source.trace.task(id));
        let category = match (TaskRole::of(trace, task), task.kind) {
            (TaskRole::Work, TaskKind::Memcpy) => "gpu_memcpy",
            (TaskRole::Work, TaskKind::Memset) => "gpu_memset",
            (TaskRole::Work, _) => "kernel",
            (_, kind) => kind.name(),
        };
        let name = match self.names {
            EventNames::Own => None,
            EventNames::Cuda => cuda::task(trace, task),
        };
        (name.unwrap_or_else(|| task_label(trace, task)), category)
    }

    fn write_task<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: TaskId,
    ) {
        let (trace, task) = (source.trace, source.trace.task(id));
        let is_work = TaskRole::of(trace, task) == TaskRole::Work;
        write_task(to, source, id, if is_work { STREAM } else { NO_WORK });
        write_external(to, source, task.call);
        let moves = is_work && matches!(task.kind, TaskKind::Memcpy | TaskKind::Memset);
        let length = task.time.map_or(0, |time| time.end - time.begin);
        let bytes = bytes_moved(trace, trace.call(task.call));
        if let Some(bytes) = bytes.filter(|_| moves && length > 0) {
            // Bytes per nanosecond.
            let bandwidth = bytes as f64 / length as f64;
            to.float("memory bandwidth (GB/s)", bandwidth);
        }
    }

    /// It is no work of the device for readers: they would add it to measured times.
    fn write_placed<'t, F: FieldWriter<'t>>(
        &self,
        to: &mut F,
        source: &ExportSource<'t>,
        id: TaskId,
    ) {
        write_task(to, source, id, NO_WORK);
    }

    fn range<'s>(&self, _: &'s ExportSource<'_>, range: &'s Range) -> EventLabel<'s> {
        (self.steps.name(range), "user_annotation")
    }

    fn arrow(&self, kind: EdgeKind) -> &'static str {
        match kind {
            EdgeKind::LaunchToTask => "ac2g",
            kind => kind.name(),
        }
    }

    /// Without steps, readers take the operators of the host for the total time: one operator covers
    /// it.
    fn last_slice(&self, part: TimelinePart<'_, '_>) -> Option<Slice<'static>> {
        let source = part.source;
        let track = part.tracks.recording.filter(|_| self.steps.is_empty())?;
        let whole = TimeRange::new(source.part.begin, self.end);
        let TimeRange { begin, end } = source.selection.range().unwrap_or(whole);
        let (kind, label) = (SliceKind::Recording, (RECORDING, operators::OPERATOR));
        Some(Slice::new(kind, track, label, (begin, end.max(begin))))
    }
}

impl KinetoDialect {
    fn cuda_name(&self, source: &ExportSource<'_>, id: CallId) -> Option<&'static str> {
        match self.names {
            EventNames::Own => None,
            EventNames::Cuda => cuda::call(source.trace, source.trace.call(id)),
        }
    }
}

/// The operator of a call and its task: each call is a separate one.
fn write_external<'t>(fields: &mut impl FieldWriter<'t>, source: &ExportSource<'t>, call: CallId) {
    let number = u64::from(source.trace.call_number(call)) + 1;
    fields.unsigned("External id", number);
}

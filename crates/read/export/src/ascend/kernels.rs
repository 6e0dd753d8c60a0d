//! `kernel_details.csv`: what ran on the devices.

use std::io::{self, Write};

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, Task, TaskTime, Trace};
use rustc_hash::FxHashMap;

use super::names::operator_type;
use super::operands::{TensorColumns, UNKNOWN, tensors};
use super::operator_states::OperatorState;
use super::timing::{ClockOffsets, micros};

const COLUMNS: [&str; 21] = [
    "Step Id",
    "Device_id",
    "Model ID",
    "Task ID",
    "Stream ID",
    "Name",
    "Type",
    "OP State",
    "Accelerator Core",
    "Start Time(us)",
    "Duration(us)",
    "Wait Time(us)",
    "Block Dim",
    "Mix Block Dim",
    "HF32 Eligible",
    "Input Shapes",
    "Input Data Types",
    "Input Formats",
    "Output Shapes",
    "Output Data Types",
    "Output Formats",
];

pub(super) struct KernelDetails<'w> {
    file: Box<dyn Write + 'w>,
    line: String,
    offsets: ClockOffsets,
    /// When each stream ended its last task.
    ends: FxHashMap<StreamId, i64>,
}

impl<'w> KernelDetails<'w> {
    pub(super) fn new(mut file: Box<dyn Write + 'w>, offsets: ClockOffsets) -> io::Result<Self> {
        writeln!(file, "{}", COLUMNS.join(","))?;
        Ok(Self {
            file: Box::new(io::BufWriter::new(file)),
            line: String::new(),
            offsets,
            ends: FxHashMap::default(),
        })
    }

    pub(super) fn write(
        &mut self,
        trace: &Trace,
        task: &Task,
        time: TaskTime,
        (step, state): (Option<u64>, OperatorState),
    ) -> io::Result<()> {
        let stream = trace.stream(task.stream);
        let name = task_label(trace, task);
        let (kind, core) = (operator_type(&name), core(task));
        let (read, written) = tensors(trace, trace.call(task.call));
        let before = self.ends.get(&task.stream).copied();
        let wait = before.map_or(0, |end| (time.begin - end).max(0));
        let cells = [
            step.map_or_else(String::new, |it| it.to_string()),
            stream.device.to_string(),
            UNKNOWN.to_owned(),
            UNKNOWN.to_owned(),
            stream.number().to_string(),
            quoted(&name),
            quoted(kind),
            state.word().to_owned(),
            core.to_owned(),
            self.offsets.micros(time.begin),
            micros(time.end - time.begin),
            micros(wait),
            UNKNOWN.to_owned(),
            UNKNOWN.to_owned(),
            UNKNOWN.to_owned(),
        ];
        self.line.clear();
        self.line.push_str(&cells.join(","));
        for TensorColumns {
            shapes,
            data_types,
            formats,
        } in [read, written]
        {
            for cell in [shapes, data_types, formats] {
                self.line.push(',');
                self.line.push_str(&quoted(&cell));
            }
        }
        writeln!(self.file, "{}", self.line)
    }

    /// Notes when a stream ended a task.
    pub(super) fn passed(&mut self, stream: StreamId, end: i64) {
        let last = self.ends.entry(stream).or_insert(end);
        *last = end.max(*last);
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The core of a task: only that of collectives is known.
pub(super) fn core(task: &Task) -> &'static str {
    match task.kind {
        TaskKind::Collective => "COMMUNICATION",
        _ => UNKNOWN,
    }
}

pub(super) fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

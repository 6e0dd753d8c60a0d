//! `kernel_details.csv`: what ran on the devices.

use std::io::{self, Write};

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, Task, TaskTime, Trace};
use rustc_hash::FxHashMap;

use super::micros;

/// The format's word for unknown values.
const UNKNOWN: &str = "N/A";

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

/// Columns at the end that no recording knows.
const UNKNOWN_AFTER: usize = COLUMNS.len() - 12;

pub(super) struct KernelDetails<'w> {
    file: Box<dyn Write + 'w>,
    line: String,
    base: i64,
    /// When each stream ended its last task.
    ends: FxHashMap<StreamId, i64>,
}

impl<'w> KernelDetails<'w> {
    pub(super) fn new(mut file: Box<dyn Write + 'w>, base: i64) -> io::Result<Self> {
        writeln!(file, "{}", COLUMNS.join(","))?;
        Ok(Self {
            file: Box::new(io::BufWriter::new(file)),
            line: String::new(),
            base,
            ends: FxHashMap::default(),
        })
    }

    pub(super) fn write(
        &mut self,
        trace: &Trace,
        task: &Task,
        time: TaskTime,
        step: Option<u64>,
    ) -> io::Result<()> {
        let stream = trace.stream(task.stream);
        let name = task_label(trace, task);
        let (kind, core) = match task.kind {
            TaskKind::Collective => (name.as_ref(), "COMMUNICATION"),
            _ => (UNKNOWN, UNKNOWN),
        };
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
            UNKNOWN.to_owned(),
            core.to_owned(),
            micros(time.begin, self.base),
            micros(time.end - time.begin, 0),
            micros(wait, 0),
        ];
        self.line.clear();
        self.line.push_str(&cells.join(","));
        for _ in 0..UNKNOWN_AFTER {
            self.line.push(',');
            self.line.push_str(UNKNOWN);
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

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

//! A process of `trace_view.json` with the tasks that had no events, where they probably ran.
//!
//! Readers know the tasks of a device by the name of their process, and add up all of them. So tasks without a measured time have
//! another process, and are in no table.

use std::io;

use ascend_trace_analysis::graphs::task_label;
use ascend_trace_recording::StreamId;
use rustc_hash::FxHashMap;

use super::overlap::track;
use crate::ExportSource;
use crate::chrome::EventOutput;
use crate::lane_labels::{PROBABLE, placed_name};

/// The number of the process, above those of devices and tracks.
const PID: u32 = 30_000_200;

const PROCESS: &str = "Probable Times";

/// The lanes that have a name.
#[derive(Debug, Default)]
pub(super) struct ProbableLanes {
    numbers: FxHashMap<StreamId, u32>,
}

impl ProbableLanes {
    /// Writes the tasks of a part.
    pub(super) fn write(
        &mut self,
        source: &ExportSource<'_>,
        output: &mut EventOutput<'_>,
    ) -> io::Result<()> {
        let trace = source.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for (id, placement) in source.placed(stream) {
                let lane = self.lane(source, stream, output)?;
                let task = trace.task(id);
                let (name, range) = (task_label(trace, task), placement.range);
                output.event(b'X', track(PID, lane), |members| {
                    members.named(&name, PROBABLE);
                    members.lasting(range.begin, range.end);
                    members.args(|json| {
                        json.name("probable_err_ns").integer(placement.error);
                        let call = i64::from(trace.call_number(task.call));
                        json.name("connection_id").integer(call + 1);
                    });
                })?;
            }
        }
        Ok(())
    }

    /// The number of a stream's lane.
    fn lane(
        &mut self,
        source: &ExportSource<'_>,
        stream: StreamId,
        output: &mut EventOutput<'_>,
    ) -> io::Result<u32> {
        if let Some(number) = self.numbers.get(&stream) {
            return Ok(*number);
        }
        if self.numbers.is_empty() {
            output.label(track(PID, 0), "process", PROCESS, i64::from(PID))?;
        }
        let number = self.numbers.len() as u32 + 1;
        self.numbers.insert(stream, number);
        let stream = source.trace.stream(stream);
        let name = format!("device {} {}", stream.device, placed_name(stream));
        output.label(track(PID, number), "thread", &name, i64::from(number))?;
        Ok(number)
    }
}

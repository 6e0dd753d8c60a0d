//! The folders that torch_npu's profiler writes, for the tools that read them: MindStudio Insight and msprof-analyze.
//!
//! A rank has a folder with a name that ends in `_ascend_pt`. Unknown values are `N/A` in tables, as in
//! the vendor's, and absent from documents. Times are microseconds of the wall clock: readers show the
//! folders of several ranks side by side.

mod communication;
mod dialect;
mod kernels;
mod step_times;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::Write;

use ascend_trace_analysis::TaskRole;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Process, StreamId, Trace};
use serde_json::json;

use crate::chrome::EventOutput;
use crate::timeline::TimelineFile;
use crate::{ExportError, ExportPass, ExportSink, ExportSource, Exporter, OutputLayout, open};
use communication::CommunicationFile;
use dialect::AscendDialect as Dialect;
use kernels::KernelDetails;
use step_times::StepTimes;

/// What readers know the folders by.
const ENDING: &str = "_ascend_pt";
/// Where in them the results are.
const RESULTS: &str = "ASCEND_PROFILER_OUTPUT";

/// The exporter for `--format ascend`.
#[derive(Clone, Copy, Debug)]
pub struct Ascend;

impl Exporter for Ascend {
    fn name(&self) -> &'static str {
        "ascend"
    }

    fn layout(&self) -> OutputLayout {
        OutputLayout::Folders { ending: ENDING }
    }

    fn begin<'w>(
        &self,
        _: &mut dyn ExportSink<'w>,
    ) -> Result<Box<dyn ExportPass<'w> + 'w>, ExportError> {
        Ok(Box::new(RankFolders(BTreeMap::new())))
    }
}

/// The folders of an export, by rank.
struct RankFolders<'w>(BTreeMap<u64, RankFiles<'w>>);

/// Processes without a rank belong to the first one.
fn rank(process: &Process) -> u64 {
    process.rank_number().unwrap_or(0)
}

impl<'w> ExportPass<'w> for RankFolders<'w> {
    fn step(
        &mut self,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<(), ExportError> {
        let trace = source.trace;
        let mut ranks: Vec<u64> = trace.processes().iter().map(rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        for number in &ranks {
            let own = source.narrowed(|id| rank(trace.process(id)) == *number);
            if own.has_any() || self.0.contains_key(number) {
                self.rank(*number, &own, sink)?.step(&own)?;
            }
        }
        // The result needs at least one file.
        if source.part.is_last && self.0.is_empty() {
            let none = source.narrowed(|_| false);
            self.rank(0, &none, sink)?.step(&none)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        Ok(())
    }
}

impl<'w> RankFolders<'w> {
    fn rank(
        &mut self,
        number: u64,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<&mut RankFiles<'w>, ExportError> {
        Ok(match self.0.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(RankFiles::new(number, source, sink)?),
        })
    }
}

/// The files of a rank.
struct RankFiles<'w> {
    timeline: TimelineFile<EventOutput<'w>, Dialect>,
    kernels: KernelDetails<'w>,
    laps: StepTimes,
    laps_to: Box<dyn Write + 'w>,
    communication: CommunicationFile,
    communication_to: Box<dyn Write + 'w>,
}

impl<'w> RankFiles<'w> {
    fn new(
        number: u64,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
    ) -> Result<Self, ExportError> {
        let trace = source.trace;
        let folder = folder(trace, number);
        let mut info = open(sink, &format!("{folder}/profiler_info_{number}.json"))?;
        writeln!(info, "{}", about(trace, number))?;
        info.flush()?;
        let mut result = |name: &str| open(sink, &format!("{folder}/{RESULTS}/{name}"));
        let steps = source.steps.iter().flat_map(|steps| steps.iter());
        let own: Vec<&StepStats> = steps.filter(|it| it.rank.unwrap_or(0) == number).collect();
        let base = wall_base(trace);
        Ok(Self {
            timeline: TimelineFile::new(
                EventOutput::list(result("trace_view.json")?),
                Dialect { base },
            ),
            kernels: KernelDetails::new(result("kernel_details.csv")?, base)?,
            laps: StepTimes::new(&own),
            laps_to: result("step_trace_time.csv")?,
            communication: CommunicationFile::new(base),
            communication_to: result("communication.json")?,
        })
    }

    fn step(&mut self, source: &ExportSource<'_>) -> Result<(), ExportError> {
        self.timeline.step(source)?;
        let trace = source.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in source.tasks(stream) {
                let task = trace.task(id);
                let Some(time) = task
                    .time
                    .filter(|_| TaskRole::of(trace, task) == TaskRole::Work)
                else {
                    continue;
                };
                let is_collective = task.kind == TaskKind::Collective;
                let is_copy = matches!(task.kind, TaskKind::Memcpy | TaskKind::Memset);
                let lap = self.laps.take(trace, task, time);
                if !is_copy {
                    self.kernels.write(trace, task, time, lap)?;
                }
                if is_collective {
                    self.communication.take(trace, task, time, lap);
                }
                self.kernels.passed(task.stream, time.end);
            }
        }
        if source.part.is_last {
            self.end(source)?;
        }
        Ok(())
    }

    fn end(&mut self, source: &ExportSource<'_>) -> Result<(), ExportError> {
        self.kernels.finish()?;
        self.laps.write(source.trace, &mut self.laps_to)?;
        self.laps_to.flush()?;
        let document = std::mem::take(&mut self.communication).finish();
        serde_json::to_writer(&mut self.communication_to, &document)
            .map_err(std::io::Error::from)?;
        self.communication_to.flush()?;
        Ok(())
    }
}

/// Offset of the recording's clock from the wall clock.
fn wall_base(trace: &Trace) -> i64 {
    let session = trace.session();
    match session.start_realtime_ns {
        0 => 0,
        wall => session.start_ns - wall,
    }
}

/// Microseconds of the wall clock, with decimals for the rest.
fn micros(time: i64, base: i64) -> String {
    let wall = time.saturating_sub(base);
    format!("{}.{:03}", wall.div_euclid(1000), wall.rem_euclid(1000))
}

/// The name of a rank's folder: host, process and time of the begin, as readers take it apart.
fn folder(trace: &Trace, number: u64) -> String {
    let session = trace.session();
    let plain = |it: char| {
        if it.is_ascii_alphanumeric() || "-.".contains(it) {
            it
        } else {
            '-'
        }
    };
    let host: String = session.host.chars().map(plain).collect();
    let host = if host.is_empty() {
        "host".to_owned()
    } else {
        host
    };
    let mut processes = trace.processes().iter();
    let pid = processes
        .find(|it| rank(it) == number)
        .map_or(0, |it| it.pid);
    let digits: String = session
        .start_time
        .chars()
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    // The rank, too: one host has several, and names must differ.
    format!("{host}_{pid}_{digits:0<14}{:03}{ENDING}", number % 1000)
}

fn about(trace: &Trace, number: u64) -> serde_json::Value {
    let session = trace.session();
    json!({
        "rank_id": number,
        "ascend_trace": {
            "tool_version": session.tool_version,
            "command": session.command,
            "host": session.host,
            "timing": session.timing,
        },
    })
}

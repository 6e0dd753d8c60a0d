//! The files of a rank.

use std::io::{self, Write};

use ascend_trace_analysis::TaskRole;
use ascend_trace_analysis::communication::CollectiveRuns;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, TaskId, TaskTime, ThreadId};
use serde_json::{Value, json};

use super::collectives::{NamedCollectives, RankCollective};
use super::dialect::AscendDialect as Dialect;
use super::kernels::{KernelDetails, core};
use super::memory::{MemoryFiles, RankMemory};
use super::names::operator_type;
use super::operator_states::OperatorStates;
use super::overlap::OverlapAnalysis;
use super::probable::ProbableLanes;
use super::profiler_database::{ProfilerDatabase, devices};
use super::rank_database::{RankDatabases, RankRows, RankTable};
use super::statistics::RankStatistics;
use super::step_times::StepTimes;
use super::timing::ClockOffsets;
use super::{analysis_database, communication, profiler_tables, trace_view};
use crate::chrome::EventOutput;
use crate::timeline::TimelineFile;
use crate::{ExportError, ExportSink, ExportSource, open};

/// Where in a folder the results are.
const RESULTS: &str = "ASCEND_PROFILER_OUTPUT";

type Output<'w> = Box<dyn Write + 'w>;

pub(super) struct RankFiles<'w> {
    rank: u64,
    offsets: ClockOffsets,
    timeline: TimelineFile<EventOutput<'w>, Dialect>,
    probable: ProbableLanes,
    overlap: OverlapAnalysis,
    kernels: KernelDetails<'w>,
    laps: StepTimes,
    collectives: Vec<RankCollective>,
    statistics: RankStatistics,
    states: OperatorStates,
    memory: RankMemory,
    memory_files: MemoryFiles<'w>,
    outputs: LastOutputs<'w>,
    databases: Option<RankOutput<'w>>,
}

/// The databases of a rank.
struct RankOutput<'w> {
    profiler: ProfilerDatabase<'w>,
    analysis: RankRows<'w>,
}

/// Files that are written at the end.
struct LastOutputs<'w> {
    steps: Output<'w>,
    communication: Output<'w>,
    matrix: Output<'w>,
    metadata: Output<'w>,
    operators: Output<'w>,
    functions: Output<'w>,
}

impl<'w> RankFiles<'w> {
    pub(super) fn new(
        rank: u64,
        source: &ExportSource<'_>,
        sink: &mut dyn ExportSink<'w>,
        databases: Option<&'static dyn RankDatabases>,
    ) -> Result<Self, ExportError> {
        let folder = super::folder(source.trace, rank);
        let offsets = ClockOffsets::of(source);
        let mut info = open(sink, &format!("{folder}/profiler_info_{rank}.json"))?;
        writeln!(info, "{}", about(source, rank, &offsets))?;
        info.flush()?;
        let metadata = open(sink, &format!("{folder}/profiler_metadata.json"))?;
        let mut result = |name: &str| open(sink, &format!("{folder}/{RESULTS}/{name}"));
        let mut database = |name: &str, tables: &[RankTable]| {
            let made = databases.map(|it| Ok(it.create(tables, result(name)?)?));
            made.transpose()
                .map(|it: Option<_>| it.map(RankRows::new))
                .map_err(|error: ExportError| error)
        };
        let profiler = database(
            &format!("ascend_pytorch_profiler_{rank}.db"),
            &profiler_tables::PROFILER,
        )?;
        let analysis = database("analysis.db", &profiler_tables::ANALYSIS)?;
        let databases = profiler.zip(analysis).map(|(rows, analysis)| RankOutput {
            profiler: ProfilerDatabase::new(rows, offsets),
            analysis,
        });
        let steps = source.steps.iter().flat_map(|steps| steps.iter());
        let own: Vec<&StepStats> = steps.filter(|it| it.rank.unwrap_or(0) == rank).collect();
        Ok(Self {
            rank,
            offsets,
            timeline: TimelineFile::new(
                EventOutput::list(result("trace_view.json")?),
                Dialect::new(offsets.text()),
            ),
            probable: ProbableLanes::default(),
            overlap: OverlapAnalysis::default(),
            kernels: KernelDetails::new(result("kernel_details.csv")?, offsets)?,
            laps: StepTimes::new(&own),
            collectives: Vec::new(),
            statistics: RankStatistics::default(),
            states: OperatorStates::default(),
            memory: RankMemory::default(),
            memory_files: MemoryFiles::new(
                result("operator_memory.csv")?,
                result("memory_record.csv")?,
                offsets,
            )?,
            outputs: LastOutputs {
                steps: result("step_trace_time.csv")?,
                communication: result("communication.json")?,
                matrix: result("communication_matrix.json")?,
                metadata,
                operators: result("op_statistic.csv")?,
                functions: result("api_statistic.csv")?,
            },
            databases,
        })
    }

    /// Writes a part of the recording. `runs` has the collectives of all ranks until its end.
    pub(super) fn step(
        &mut self,
        source: &ExportSource<'_>,
        runs: &CollectiveRuns,
    ) -> io::Result<()> {
        if source.has_places() {
            self.timeline.write_part(&source.without_places())?;
            self.probable.write(source, self.timeline.encoder())?;
        } else {
            self.timeline.write_part(source)?;
        }
        self.calls(source);
        self.states.take(source);
        self.tasks(source, runs)?;
        self.overlap.write(source, self.timeline.encoder())?;
        self.memory(source)?;
        if let Some(databases) = &mut self.databases {
            databases.profiler.flush()?;
        }
        match source.part.is_last {
            true => self.end(source, runs),
            false => Ok(()),
        }
    }

    fn calls(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            for id in source.calls(thread) {
                let call = trace.call(id);
                self.statistics.call(call.function, call.end - call.begin);
                if let Some(databases) = &mut self.databases {
                    databases.profiler.call(trace, id);
                }
            }
        }
    }

    fn tasks(&mut self, source: &ExportSource<'_>, runs: &CollectiveRuns) -> io::Result<()> {
        let trace = source.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            for id in source.tasks(stream) {
                let task = trace.task(id);
                let Some(time) = task.time else { continue };
                if let Some(databases) = &mut self.databases {
                    let state = self.states.of(trace, task);
                    databases.profiler.task(trace, id, (time, state));
                }
                if TaskRole::of(trace, task) == TaskRole::Work {
                    self.work(source, (id, time), runs)?;
                }
            }
        }
        Ok(())
    }

    fn work(
        &mut self,
        source: &ExportSource<'_>,
        (id, time): (TaskId, TaskTime),
        runs: &CollectiveRuns,
    ) -> io::Result<()> {
        let trace = source.trace;
        let task = trace.task(id);
        let lap = self.laps.take(trace, task, time);
        self.overlap.take(task, time);
        if !matches!(task.kind, TaskKind::Memcpy | TaskKind::Memset) {
            let state = self.states.of(trace, task);
            self.kernels.write(trace, task, time, (lap, state))?;
            let device = trace.stream(task.stream).device;
            let label = task_label(trace, task);
            let length = time.end - time.begin;
            let kind = operator_type(&label);
            self.statistics.operator(device, kind, core(task), length);
        }
        if task.kind == TaskKind::Collective {
            let collective = RankCollective::of(trace, id, (time, lap), runs);
            self.collectives.extend(collective);
        }
        self.kernels.passed(task.stream, time.end);
        Ok(())
    }

    fn memory(&mut self, source: &ExportSource<'_>) -> io::Result<()> {
        let mut rows = self.memory.take(source);
        if source.part.is_last {
            rows.allocations.extend(self.memory.rest(source));
        }
        if let Some(databases) = &mut self.databases {
            databases.profiler.memory(&rows);
        }
        self.memory_files.write(&rows)
    }

    fn end(&mut self, source: &ExportSource<'_>, runs: &CollectiveRuns) -> io::Result<()> {
        let ran = std::mem::take(&mut self.collectives);
        let named = NamedCollectives::of(source.trace, ran, runs);
        trace_view::write(&named, self.timeline.encoder())?;
        self.timeline.finish(source)?;
        self.kernels.finish()?;
        self.memory_files.finish()?;
        self.laps.write(source.trace, &mut self.outputs.steps)?;
        let device = devices(source).first().copied();
        self.statistics
            .write_operators(&mut self.outputs.operators)?;
        self.statistics
            .write_functions(source.trace, device, &mut self.outputs.functions)?;
        self.outputs.documents(&named, &self.offsets)?;
        if let Some(databases) = self.databases.take() {
            let RankOutput { profiler, analysis } = databases;
            profiler.finish((self.rank, source), &self.laps, &named)?;
            analysis_database::write(analysis, &self.offsets, &self.laps, &named)?;
        }
        Ok(())
    }
}

impl LastOutputs<'_> {
    fn documents(&mut self, named: &NamedCollectives, offsets: &ClockOffsets) -> io::Result<()> {
        let groups = communication::parallel_groups(named);
        let mut times = io::BufWriter::new(&mut self.communication);
        communication::write_times(named, offsets.text(), &mut times)?;
        times.flush()?;
        drop(times);
        let documents = [
            (&mut self.matrix, communication::matrix(named)),
            (&mut self.metadata, json!({"parallel_group_info": groups})),
        ];
        for (file, document) in documents {
            serde_json::to_writer(&mut *file, &document).map_err(io::Error::from)?;
            file.flush()?;
        }
        let others = [&mut self.steps, &mut self.operators, &mut self.functions];
        others.into_iter().try_for_each(|it| it.flush())
    }
}

fn about(source: &ExportSource<'_>, rank: u64, offsets: &ClockOffsets) -> Value {
    let session = source.trace.session();
    json!({
        "rank_id": rank,
        "ascend_trace": {
            "tool_version": session.tool_version,
            "command": session.command,
            "host": session.host,
            "timing": session.timing,
            "base_time_ns": offsets.base_ns,
        },
    })
}

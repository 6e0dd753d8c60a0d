//! The document of `info --json`, described in docs/JSON.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use ascend_trace_analysis as analysis;
use ascend_trace_analysis::graphs::Outcome;
use ascend_trace_analysis::stats::EventCost;
use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::{Counter, LogState};
use ascend_trace_recording::recording::FileCounts;
use ascend_trace_recording::rows::{InnerRow, LogRow, SessionRow};
use ascend_trace_recording::{
    OpenError, ProcessId, Recording, StreamId, ThreadId, TimeRange, Trace,
};

use super::coverage::{self, LibraryCoverage};
use crate::cli::document_head::DocumentHead;

#[derive(Serialize, JsonSchema)]
pub(crate) struct InfoDocument {
    pub(crate) session: SessionRow,
    /// Begin and end of the recorded data.
    pub(crate) begin_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
    /// The program's exit status; `null` when the recording was stopped short or still runs.
    pub(crate) exit_status: Option<i32>,
    /// Why the recording ended before the program.
    pub(crate) end_reason: Option<String>,
    /// `complete` and the parts of it.
    #[serde(flatten)]
    pub(crate) head: DocumentHead,
    pub(crate) processes: Vec<ProcessInfo>,
    pub(crate) devices: Vec<DeviceInfo>,
    pub(crate) streams: Vec<StreamInfo>,
    pub(crate) calls: CallCounts,
    pub(crate) tasks: TaskCounts,
    pub(crate) events: u64,
    pub(crate) graphs: GraphCounts,
    /// Ranges and marks that the program named.
    pub(crate) ranges: u64,
    /// Which functions were caught, library by library; empty until the recording has ended.
    pub(crate) coverage: Vec<LibraryCoverage>,
    /// Recordings inside this one, which have the calls of the processes that they started.
    pub(crate) inner: Vec<InnerRecording>,
    /// Tracer overhead inside the program.
    pub(crate) cost: TracerCost,
    pub(crate) hardware_log: HardwareLog,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct InnerRecording {
    /// The recorder.
    pub(crate) pid: u32,
    /// Its trace; `null` for standard output.
    #[serde(serialize_with = "as_text")]
    pub(crate) trace: Option<PathBuf>,
}

impl InnerRecording {
    fn of(row: &InnerRow) -> Self {
        let (pid, trace) = (row.pid, row.path());
        Self { pid, trace }
    }
}

/// A path that is not UTF-8 is text with replacement characters.
fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|it| it.to_string_lossy())
        .serialize(serializer)
}

/// Result of the hardware log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HardwareLog {
    /// How it stood with it in the processes: `on`, `absent`, `busy`, `refused`, `gave-way`.
    pub(crate) states: BTreeSet<&'static str>,
    pub(crate) entries: u64,
    pub(crate) without_times: u64,
    /// How often there was no memory for more of them.
    pub(crate) buffers_short: u64,
    pub(crate) joined: u64,
    pub(crate) not_joined: u64,
    /// Stretches of streams in which it did not agree with the submitted tasks.
    pub(crate) mismatches: u64,
    /// Tasks that have times of events as well, by device.
    pub(crate) compared: Vec<SourceComparison>,
}

/// What two sources say of the same tasks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SourceComparison {
    pub(crate) process: u32,
    pub(crate) device: u32,
    pub(crate) compared_tasks: u64,
    pub(crate) longer_ns: ValueSpread,
    pub(crate) shorter_pause_ns: ValueSpread,
    pub(crate) apart_ns: ValueSpread,
    pub(crate) log_drift_ppm: f64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ValueSpread {
    pub(crate) min: i64,
    pub(crate) p50: i64,
    pub(crate) p99: i64,
    pub(crate) max: i64,
}

impl From<analysis::log_comparison::Spread> for ValueSpread {
    fn from(spread: analysis::log_comparison::Spread) -> Self {
        Self {
            min: spread.least,
            p50: spread.median,
            p99: spread.p99,
            max: spread.most,
        }
    }
}

fn hardware_log(trace: &Trace, compared: &[analysis::log_comparison::Comparison]) -> HardwareLog {
    let counter = |counter: Counter| trace.counter(counter as u16);
    let states = trace.rows::<LogRow>();
    let compared = compared.iter().map(|it| SourceComparison {
        process: trace.process(ProcessId(it.process)).serial,
        device: it.device,
        compared_tasks: it.tasks as u64,
        longer_ns: it.longer.into(),
        shorter_pause_ns: it.shorter_pause.into(),
        apart_ns: it.apart.into(),
        log_drift_ppm: it.drift_ppm,
    });
    HardwareLog {
        states: states
            .filter_map(|row| LogState::from_code(row.state).map(LogState::name))
            .collect(),
        entries: counter(Counter::LogEntries),
        without_times: counter(Counter::TimelessEntries),
        buffers_short: counter(Counter::LogBuffersShort),
        joined: counter(Counter::JoinedEntries),
        not_joined: counter(Counter::LooseEntries),
        mismatches: counter(Counter::LogMismatches),
        compared: compared.collect(),
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ProcessInfo {
    /// Number of the process in the recording: several processes may have the same pid.
    pub(crate) process: u32,
    pub(crate) pid: u32,
    /// The pid where the recorder ran, of a process of another pid namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outer_pid: Option<u32>,
    pub(crate) parent_pid: u32,
    pub(crate) name: String,
    /// `null` where none is known.
    pub(crate) rank: Option<u64>,
    /// Where it ran, in a merged file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) host: String,
    pub(crate) begin_ns: i64,
    /// `null` if it was not seen to end.
    pub(crate) end_ns: Option<i64>,
    pub(crate) threads: u64,
    pub(crate) calls: u64,
    /// Those that it has had a context on.
    pub(crate) devices: Vec<u32>,
    /// The words that it was started with.
    pub(crate) command: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct DeviceInfo {
    pub(crate) process: Option<u32>,
    pub(crate) pid: Option<u32>,
    pub(crate) device: u32,
    /// Physical number of the card, and its place on the PCI bus; `null` where the runtime reports none.
    pub(crate) card: Option<u32>,
    pub(crate) pci_address: Option<String>,
    /// Comparisons of the device's clock with the host's.
    pub(crate) anchors: u32,
    pub(crate) median_error_ns: i64,
    pub(crate) max_error_ns: i64,
    /// Readings that the driver gave, on no stream; the median half width of their bands.
    pub(crate) driver_anchors: u32,
    pub(crate) driver_median_error_ns: i64,
    /// They contradict the comparisons by events, and were left out.
    pub(crate) driver_disagrees: bool,
    /// `null` while too little is known for one.
    pub(crate) drift_ppm: Option<f64>,
    /// The comparisons prove a rate beyond what clocks usually have.
    pub(crate) unusual: bool,
    /// How often the clock stepped against the host's: a suspended host, a device that was reset.
    pub(crate) steps: u64,
    /// Comparisons that contradicted the others and were left out.
    pub(crate) mistakes: u64,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct StreamInfo {
    pub(crate) process: u32,
    pub(crate) pid: u32,
    pub(crate) device: u32,
    pub(crate) stream_id: i64,
    pub(crate) is_default: bool,
    /// How many streams had the number, one after another.
    pub(crate) lives: u64,
    pub(crate) tasks: u64,
    pub(crate) timed: u64,
    /// How its tasks were timed, at least for a while.
    pub(crate) timing: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct CallCounts {
    pub(crate) count: u64,
    /// Calls that a library of the runtime made inside another call.
    pub(crate) nested: u64,
    pub(crate) errors: u64,
    /// Calls that had not returned when their process, or the recording, ended.
    pub(crate) open: u64,
    /// Calls that were left by exceptions, jumps or the end of their thread.
    pub(crate) left: u64,
    /// Calls per function, for every function that was called.
    pub(crate) functions: BTreeMap<String, u64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TaskCounts {
    pub(crate) count: u64,
    pub(crate) timed: u64,
    /// Tasks per kind.
    pub(crate) kinds: BTreeMap<&'static str, u64>,
    /// Tasks without a time, per reason.
    pub(crate) untimed: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct GraphCounts {
    pub(crate) count: u64,
    pub(crate) nodes: u64,
    pub(crate) replays: u64,
    pub(crate) failed: Vec<FailedGraph>,
}

/// A capture that failed.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct FailedGraph {
    pub(crate) process: u32,
    pub(crate) pid: u32,
    pub(crate) graph: u32,
    /// `null` when the capture was never ended.
    pub(crate) code: Option<i64>,
    pub(crate) reason: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TracerCost {
    pub(crate) injected_events: u64,
    pub(crate) lost_pairs: u64,
    /// Tasks that were submitted with events around them.
    pub(crate) timed_tasks: u64,
    /// Host time that recording a call took from the program, on average.
    pub(crate) host_ns_per_call: f64,
    /// Host time that all of this took from the program's threads.
    pub(crate) host_ns: u64,
    /// Injected events per such task.
    pub(crate) events_per_task: f64,
    /// Host time that such a task's events took from the program.
    pub(crate) host_ns_per_task: f64,
    /// Host time that reading times after synchronisations took from the program.
    pub(crate) harvest_ns: u64,
    /// The most pairs that one stream held at a time, two places of its queue each.
    pub(crate) most_pending_pairs: u64,
    /// What happened to the host's clocks meanwhile.
    pub(crate) suspended_ns: u64,
    /// Calls that the filters left out.
    pub(crate) filtered_calls: u64,
    /// How often the recording was paused, and for how long in all.
    pub(crate) pauses: u64,
    pub(crate) paused_ns: u64,
    pub(crate) wall_clock_steps: u64,
    /// Functions in no table without intercepted calls, because all stubs were taken.
    pub(crate) functions_without_stub: u64,
    /// Streams for which `--timing auto` went over to one event per task, or to some tasks only.
    pub(crate) chained_streams: u64,
    pub(crate) sampled_streams: u64,
    /// Timed tasks that took less time than an event record does.
    pub(crate) short_tasks: u64,
    /// Tasks of runs that have one time together.
    pub(crate) run_tasks: u64,
    /// Time that the tool's events took on devices.
    pub(crate) events_device_ns: u64,
    /// Their part of the time of streams, on devices and in the program's threads; `null` where too little is known.
    pub(crate) events_device_share: Option<f64>,
    pub(crate) events_host_share: Option<f64>,
}

fn cost(trace: &Trace) -> TracerCost {
    let counter = |counter: Counter| trace.counter(counter as u16);
    let timed_tasks = counter(Counter::TimedTasks);
    let per = |count: u64, sum: u64| {
        if count == 0 {
            0.0
        } else {
            sum as f64 / count as f64
        }
    };
    let per_task = |sum: u64| per(timed_tasks, sum);
    let shares = EventCost::of(trace);
    let recording = trace.costs().total();
    let host_ns = [
        recording.recording_ns,
        counter(Counter::TimingNs),
        counter(Counter::HarvestNs),
    ];
    TracerCost {
        host_ns_per_call: per(recording.calls, recording.recording_ns),
        host_ns: host_ns.into_iter().fold(0, u64::saturating_add),
        injected_events: counter(Counter::InjectedEvents),
        lost_pairs: counter(Counter::LostPairs),
        timed_tasks,
        events_per_task: per_task(counter(Counter::InjectedEvents)),
        host_ns_per_task: per_task(counter(Counter::TimingNs)),
        harvest_ns: counter(Counter::HarvestNs),
        most_pending_pairs: counter(Counter::MostPendingPairs),
        suspended_ns: counter(Counter::SuspendedNs),
        filtered_calls: counter(Counter::FilteredCalls),
        pauses: counter(Counter::Pauses),
        paused_ns: counter(Counter::PausedNs),
        wall_clock_steps: counter(Counter::ClockSteps),
        functions_without_stub: counter(Counter::StubsShort),
        chained_streams: counter(Counter::ChainedStreams),
        sampled_streams: counter(Counter::SampledStreams),
        short_tasks: counter(Counter::ShortTasks),
        run_tasks: counter(Counter::RunTasks),
        events_device_ns: shares.device_ns,
        events_device_share: shares.device,
        events_host_share: shares.host,
    }
}

/// Counts and graphs: of a trace in memory, or of a recording.
pub(in crate::cli) struct RecordingFacts {
    pub(super) span: Option<TimeRange>,
    pub(super) counts: FileCounts,
    pub(super) graphs: GraphCounts,
    /// What two sources of times say of the same tasks.
    compared: Vec<analysis::log_comparison::Comparison>,
}

/// Recordings of more rows are not compared: all tasks are looked at together.
const MOST_COMPARED: u64 = 1 << 20;

/// Compares the sources of times, if there are two.
fn compared(recording: &mut Recording) -> Vec<analysis::log_comparison::Comparison> {
    if recording.entities().session().timing != "both" {
        return Vec::new();
    }
    let Some(span) = recording.span() else {
        return Vec::new();
    };
    let whole = recording.window(
        TimeRange::new(span.begin, span.end.saturating_add(1)),
        MOST_COMPARED,
    );
    whole.map_or_else(
        |_| Vec::new(),
        |trace| analysis::log_comparison::compare(&trace),
    )
}

impl RecordingFacts {
    /// The same of a trace that is in memory.
    #[cfg(test)]
    pub(super) fn of_trace(trace: &Trace) -> Self {
        let graphs = analysis::Graphs::of(trace);
        let replays = graphs.all().iter().map(|graph| graph.replays.len() as u64);
        Self {
            span: trace.span(),
            counts: FileCounts::of(trace),
            graphs: GraphCounts::of(trace, &graphs, replays.sum()),
            compared: analysis::log_comparison::compare(trace),
        }
    }

    pub(super) fn of(recording: &mut Recording) -> Result<Self, OpenError> {
        let calls = recording.graph_calls()?;
        let graphs = analysis::Graphs::with_replays(&calls.trace, calls.replays.keys().copied());
        Ok(Self {
            span: recording.span(),
            counts: recording.counts(),
            graphs: GraphCounts::of(&calls.trace, &graphs, calls.replays.values().sum()),
            compared: compared(recording),
        })
    }
}

impl InfoDocument {
    /// The document about a recording with the things of `trace`.
    pub(super) fn of(trace: &Trace, facts: &RecordingFacts, head: DocumentHead) -> Self {
        let counts = &facts.counts;
        Self {
            session: trace.session().clone(),
            begin_ns: facts.span.map(|span| span.begin),
            end_ns: facts.span.map(|span| span.end),
            exit_status: trace.exit_status(),
            end_reason: trace.end_reason().map(ToOwned::to_owned),
            head,
            processes: processes(trace, counts),
            devices: devices(trace),
            streams: streams(trace, counts),
            calls: calls(trace, counts),
            tasks: tasks(counts),
            events: counts.events,
            graphs: facts.graphs.clone(),
            ranges: counts.ranges,
            coverage: coverage::of(trace),
            inner: trace.rows::<InnerRow>().map(InnerRecording::of).collect(),
            cost: cost(trace),
            hardware_log: hardware_log(trace, &facts.compared),
        }
    }
}

fn processes(trace: &Trace, counts: &FileCounts) -> Vec<ProcessInfo> {
    let numbered = (0..).map(ProcessId).zip(trace.processes());
    numbered
        .map(|(id, process)| {
            let threads = (0..).map(ThreadId).zip(trace.threads());
            let own: Vec<ThreadId> = threads
                .filter(|(_, thread)| thread.process == id)
                .map(|(id, _)| id)
                .collect();
            let calls = own.iter().filter_map(|thread| counts.threads.get(thread));
            ProcessInfo {
                process: process.serial,
                pid: process.pid,
                outer_pid: Some(process.outer_pid).filter(|it| *it != 0),
                parent_pid: process.parent_pid,
                name: process.name.clone(),
                rank: process.rank_number(),
                host: process.host.clone(),
                begin_ns: process.begin_ns,
                end_ns: process.end_ns,
                threads: own.len() as u64,
                calls: calls.sum(),
                devices: devices_of(trace, id),
                command: process.command().map(str::to_owned).collect(),
            }
        })
        .collect()
}

/// The devices that a process used. A context that was only mentioned shows none.
fn devices_of(trace: &Trace, process: ProcessId) -> Vec<u32> {
    let own = trace.contexts().iter().filter(|it| it.process == process);
    let known = own.filter(|it| it.handle != 0 || it.is_default);
    let devices: BTreeSet<u32> = known.map(|context| context.device).collect();
    devices.into_iter().collect()
}

fn devices(trace: &Trace) -> Vec<DeviceInfo> {
    let clocks = trace.clocks().iter();
    let process_of = |number: u32| trace.processes().get(number as usize);
    clocks
        .map(|clock| {
            let known = process_of(clock.process);
            let card = known.map(|_| trace.card(ProcessId(clock.process), clock.device));
            (clock, card.unwrap_or_default())
        })
        .map(|(clock, card)| DeviceInfo {
            process: process_of(clock.process).map(|process| process.serial),
            pid: process_of(clock.process).map(|process| process.pid),
            device: clock.device,
            card: card.number,
            pci_address: card.address.map(|it| it.to_string()),
            anchors: clock.anchors,
            median_error_ns: clock.median_error_ns,
            max_error_ns: clock.max_error_ns,
            driver_anchors: clock.driver_anchors,
            driver_median_error_ns: clock.driver_median_error_ns,
            driver_disagrees: clock.driver_disagrees,
            drift_ppm: clock.drift_ppm,
            unusual: clock.is_unusual,
            steps: clock.steps,
            mistakes: clock.mistakes,
        })
        .collect()
}

fn streams(trace: &Trace, counts: &FileCounts) -> Vec<StreamInfo> {
    let mut rows: BTreeMap<StreamId, StreamInfo> = BTreeMap::new();
    for (id, stream) in (0..).map(StreamId).zip(trace.streams()) {
        let (tasks, timed) = counts.streams.get(&id).copied().unwrap_or_default();
        let row = rows.entry(trace.lane_of(id)).or_insert_with(|| StreamInfo {
            process: trace.process(stream.process).serial,
            pid: trace.process(stream.process).pid,
            device: stream.device,
            stream_id: stream.number(),
            is_default: stream.is_default,
            lives: 0,
            tasks: 0,
            timed: 0,
            timing: trace.timing_of(id).to_owned(),
        });
        row.lives += 1;
        row.tasks += tasks;
        row.timed += timed;
    }
    rows.into_values().collect()
}

impl GraphCounts {
    /// Of a trace that has the calls that made the graphs.
    fn of(trace: &Trace, graphs: &analysis::Graphs, replays: u64) -> Self {
        let all = graphs.all();
        let failed = all.iter().filter_map(|graph| {
            let why = graphs.failure(trace, graph)?;
            Some(FailedGraph {
                process: trace.process(graph.process).serial,
                pid: trace.process(graph.process).pid,
                graph: graph.serial,
                code: match graph.outcome {
                    Outcome::Failed(code) => Some(code),
                    Outcome::Open | Outcome::Ready => None,
                },
                reason: why.text,
            })
        });
        Self {
            count: all.len() as u64,
            nodes: all.iter().map(|graph| graph.nodes.len() as u64).sum(),
            replays,
            failed: failed.collect(),
        }
    }
}

fn calls(trace: &Trace, counts: &FileCounts) -> CallCounts {
    let called = trace.functions().iter().zip(&counts.functions);
    let called = called.filter(|(_, count)| **count > 0);
    CallCounts {
        count: counts.calls,
        nested: counts.nested,
        errors: counts.errors,
        open: trace.counter(Counter::OpenCalls as u16),
        left: trace.counter(Counter::LeftCalls as u16),
        functions: called
            .map(|(function, count)| (function.name.clone(), *count))
            .collect(),
    }
}

fn tasks(counts: &FileCounts) -> TaskCounts {
    let kinds = counts.kinds.iter();
    let untimed = counts.untimed.iter().map(|(reason, count)| {
        // Not read yet: the recording goes on, or was stopped short.
        let reason = match reason {
            Untimed::Timed => "pending",
            reason => reason.name(),
        };
        (reason, *count)
    });
    TaskCounts {
        count: counts.tasks,
        timed: counts.timed,
        kinds: kinds.map(|(kind, count)| (kind.name(), *count)).collect(),
        untimed: untimed.collect(),
    }
}

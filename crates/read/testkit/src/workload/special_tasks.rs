//! Work of a step on the lanes that simple programs do not have.

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::rows::{CostRow, FunctionRow, GraphRef, LossRow, RangeRow, Row};

use super::{FIRST_OPERATOR, OPERATORS, SyncTarget, THREADS, WorkloadRun, stream_handle};
use crate::timeline::functions::known;

const NAMES: [&str; 6] = [
    "aclmdlRICaptureBegin",
    "aclmdlRICaptureEnd",
    "aclmdlRIExecuteAsync",
    "aclrtLaunchHostFunc",
    "HcclBroadcast",
    "HcclCommInitRootInfo",
];
const CAPTURE_BEGIN: u16 = FIRST_OPERATOR + 2 * OPERATORS.len() as u16;
const CAPTURE_END: u16 = CAPTURE_BEGIN + 1;
const REPLAY: u16 = CAPTURE_BEGIN + 2;
const HOST_FUNCTION: u16 = CAPTURE_BEGIN + 3;
const BROADCAST: u16 = CAPTURE_BEGIN + 4;
const INIT_COMM: u16 = CAPTURE_BEGIN + 5;

const COMPUTES: usize = 1;
const COMMUNICATES: usize = 2;
/// Steps from one capture to the next.
const RECAPTURED: u32 = 512;
const NODES: u32 = 6;

/// The graph that a thread has captured last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CapturedGraph {
    serial: u32,
    replays: u32,
}

/// They come after those that every workload has.
pub(super) fn functions() -> impl Iterator<Item = FunctionRow> {
    NAMES.into_iter().filter_map(known)
}

impl<S: FnMut(Row)> WorkloadRun<S> {
    pub(super) fn special_tasks(&mut self, thread: u32, step: u32) {
        let begin_ns = self.threads[thread as usize].now;
        if step == 0 {
            let args = [8, u64::from(thread), communicator(thread)];
            self.call(thread, INIT_COMM, &args, SyncTarget::default());
        }
        if step.is_multiple_of(RECAPTURED) {
            self.capture(thread, step);
        }
        if step % 4 == 1 {
            self.replay(thread);
        }
        self.communicate(thread);
        if step % 8 == 5 {
            self.call_back(thread);
        }
        self.ranges(thread, step, begin_ns);
        if step.is_multiple_of(64) {
            self.cost(thread, step);
        }
        if step % 1024 == 1023 {
            (self.sink)(Row::Loss(LossRow {
                thread: Some(thread),
                calls: 7,
                others: 2,
                times: 1,
            }));
        }
    }

    fn capture(&mut self, thread: u32, step: u32) {
        let serial = THREADS * (step / RECAPTURED) + thread + 1;
        self.threads[thread as usize].graphs = CapturedGraph { serial, replays: 0 };
        let stream = stream_handle(thread, COMPUTES);
        let target = |index| SyncTarget {
            stream: Some(COMPUTES),
            graph: Some(GraphRef { serial, index }),
            ..SyncTarget::default()
        };
        self.call(thread, CAPTURE_BEGIN, &[stream, 1], target(0));
        for index in 1..=NODES {
            let function = FIRST_OPERATOR + 2 * (index as u16 % OPERATORS.len() as u16) + 1;
            let node = SyncTarget {
                task: Some((TaskKind::Kernel, None)),
                ..target(index)
            };
            self.call(thread, function, &[0x12_8000_0000, 0, 0, stream], node);
        }
        let graph = graph_handle(serial);
        self.call(thread, CAPTURE_END, &[stream, graph], target(0));
    }

    fn replay(&mut self, thread: u32) {
        let graphs = &mut self.threads[thread as usize].graphs;
        graphs.replays += 1;
        let CapturedGraph { serial, replays } = *graphs;
        let runs = 40_000 + self.below(20_000);
        let args = [graph_handle(serial), stream_handle(thread, COMPUTES)];
        let target = SyncTarget {
            stream: Some(COMPUTES),
            task: Some((TaskKind::Graph, Some(runs))),
            graph: Some(GraphRef {
                serial,
                index: replays,
            }),
            ..SyncTarget::default()
        };
        self.call(thread, REPLAY, &args, target);
    }

    fn communicate(&mut self, thread: u32) {
        let runs = 30_000 + self.below(30_000);
        let stream = stream_handle(thread, COMMUNICATES);
        let args = [communicator(thread), 262_144, 4, 0, stream];
        let target = SyncTarget {
            stream: Some(COMMUNICATES),
            task: Some((TaskKind::Kernel, Some(runs))),
            ..SyncTarget::default()
        };
        self.call(thread, BROADCAST, &args, target);
    }

    fn call_back(&mut self, thread: u32) {
        let runs = 2_000 + self.below(3_000);
        let stream = stream_handle(thread, COMMUNICATES);
        let target = SyncTarget {
            stream: Some(COMMUNICATES),
            task: Some((TaskKind::HostFunc, Some(runs))),
            ..SyncTarget::default()
        };
        let args = [stream, 0x5588_0000_1000, 0x7f00_2000_0000];
        self.call(thread, HOST_FUNCTION, &args, target);
    }

    /// The step, and what communicates in it.
    fn ranges(&mut self, thread: u32, step: u32, begin_ns: i64) {
        let end_ns = self.threads[thread as usize].now;
        let inner = ("exchange".to_owned(), begin_ns);
        let outer = (format!("step {step}"), begin_ns.saturating_sub(20_000));
        for (name, begin_ns) in [inner, outer] {
            (self.sink)(Row::Range(RangeRow {
                process: 1,
                thread,
                begin_ns,
                end_ns,
                domain: 0,
                name,
            }));
        }
    }

    /// Sums since the begin: each call took a while to be recorded, now more, now less.
    fn cost(&mut self, thread: u32, step: u32) {
        let calls = u64::from(step) * 30;
        let at_ns = self.threads[thread as usize].now;
        (self.sink)(Row::Cost(CostRow {
            thread,
            at_ns,
            calls,
            recording_ns: calls * 40,
            tasks: calls / 3,
            events: calls / 3 * 2,
            timing_ns: calls * 55,
            reading_ns: calls * 5,
        }));
    }
}

fn communicator(thread: u32) -> u64 {
    0xbbbb_0000_0000 + u64::from(thread) * 0x1_0000
}

fn graph_handle(serial: u32) -> u64 {
    0xcccc_0000_0000 + u64::from(serial) * 0x100
}

//! A made-up recording of a typical program, of any length: what files are measured with.
//!
//! Two threads drive two devices. Each step copies a batch in, lets a compute stream wait for it,
//! launches a few operators (a size query and a launch each, as aclnn does), copies a result out,
//! and at the end of some steps waits for the stream. Times, sizes and addresses vary as they do in
//! real programs; the same seed always gives the same rows. With `everything` there are graphs,
//! collectives, callbacks, named ranges, the tool's cost and losses as well.

mod special_tasks;

use ascend_trace_format::api::{AnchorSource, TaskKind, Untimed};
use ascend_trace_recording::rows::{
    AnchorRow, CallRow, ContextRow, EndRow, EventRow, FunctionRow, GraphRef, ProcessRow, Row,
    SessionRow, StreamRow, TablesRow, TaskRow, TaskTimeRow, ThreadRow,
};

const OPERATORS: [&str; 6] = [
    "MatMul",
    "Add",
    "Gelu",
    "LayerNorm",
    "Softmax",
    "FlashAttention",
];
const COPY: u16 = 0;
const RECORD: u16 = 1;
const WAIT: u16 = 2;
const SYNC: u16 = 3;
const MALLOC: u16 = 4;
const FIRST_OPERATOR: u16 = 5;
const THREADS: u32 = 2;
const EVENTS: u32 = 8;
/// Of a thread: the one that copies, the one that computes, the one that communicates.
const STREAMS: usize = 3;

/// How a workload runs.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub steps: u32,
    pub seed: u64,
    /// How long each thread rests between two steps.
    pub rest_ns: i64,
    /// Device clock less host clock at host time 0, and how much faster it runs.
    pub clock_offset_ns: i64,
    pub drift_ppm: f64,
    /// Whether there is something for every kind of lane.
    pub everything: bool,
    /// Operators of a step, on each thread.
    pub operators: u32,
    /// Whether each step launches the same operators, in the same order.
    pub repeats: bool,
}

impl Default for Workload {
    fn default() -> Self {
        Self {
            steps: 100,
            seed: 1,
            rest_ns: 0,
            clock_offset_ns: -7_000_000_000_000,
            drift_ppm: 31.0,
            everything: false,
            operators: 8,
            repeats: false,
        }
    }
}

/// Runs the workload and hands every row to `sink`, in the order of a live recording.
pub fn run(workload: Workload, sink: impl FnMut(Row)) {
    let mut run = WorkloadRun {
        workload,
        random: workload.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        sink,
        threads: [ThreadState::default(); THREADS as usize],
    };
    run.entities();
    for step in 0..workload.steps {
        for thread in 0..THREADS {
            run.step(thread, step);
        }
    }
    let end_ns = run
        .threads
        .iter()
        .map(|thread| thread.now)
        .max()
        .unwrap_or(0);
    (run.sink)(Row::End(EndRow {
        end_ns,
        exit_status: 0,
        ..EndRow::default()
    }));
}

/// The session and the tables of every workload.
pub fn leading() -> (SessionRow, TablesRow) {
    let session = SessionRow {
        command: vec!["./train".to_owned()],
        timing: "events".to_owned(),
        ..SessionRow::default()
    };
    let plain = [
        "aclrtMemcpyAsync",
        "aclrtRecordEvent",
        "aclrtStreamWaitEvent",
    ];
    let plain = plain
        .into_iter()
        .chain(["aclrtSynchronizeStream", "aclrtMalloc"]);
    let mut names: Vec<String> = plain.map(str::to_owned).collect();
    for operator in OPERATORS {
        names.push(format!("aclnn{operator}GetWorkspaceSize"));
        names.push(format!("aclnn{operator}"));
    }
    let functions = names.into_iter().map(function);
    let tables = TablesRow {
        functions: functions.chain(special_tasks::functions()).collect(),
        ..TablesRow::default()
    };
    (session, tables)
}

fn function(name: String) -> FunctionRow {
    FunctionRow {
        name,
        category: "other".to_owned(),
        role: "plain".to_owned(),
        task: String::new(),
        blocks: "no".to_owned(),
        ret: "error".to_owned(),
        stream: None,
        event: None,
        bytes: None,
        args: Vec::new(),
        ..FunctionRow::default()
    }
}

/// Where a thread and the two streams it submits to have got.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadState {
    now: i64,
    sequences: [u32; STREAMS],
    busy_until: [i64; STREAMS],
    generations: [u32; EVENTS as usize],
    graphs: special_tasks::CapturedGraph,
}

/// The objects that a call uses, in addition to its arguments.
#[derive(Clone, Copy, Debug, Default)]
struct SyncTarget {
    /// 0 copies, 1 computes, 2 communicates.
    stream: Option<usize>,
    event: Option<u32>,
    /// Kind and how long it runs; without a time it is captured.
    task: Option<(TaskKind, Option<i64>)>,
    graph: Option<GraphRef>,
}

struct WorkloadRun<S> {
    workload: Workload,
    random: u64,
    sink: S,
    threads: [ThreadState; THREADS as usize],
}

impl<S: FnMut(Row)> WorkloadRun<S> {
    fn entities(&mut self) {
        (self.sink)(Row::Process(ProcessRow {
            process: 1,
            pid: 4000,
            parent_pid: 1,
            begin_ns: 0,
            name: "train".to_owned(),
            ..ProcessRow::default()
        }));
        for thread in 0..THREADS {
            (self.sink)(Row::Thread(ThreadRow {
                thread,
                process: 1,
                tid: 4000 + thread,
                handle: 0,
                name: format!("worker{thread}"),
            }));
            (self.sink)(Row::Context(ContextRow {
                process: 1,
                serial: thread,
                device: thread,
                handle: 0xc000_0000 + u64::from(thread) * 4096,
                is_default: true,
            }));
            let streams = if self.workload.everything { STREAMS } else { 2 };
            for stream in 0..streams {
                (self.sink)(Row::Stream(StreamRow {
                    process: 1,
                    serial: serial(thread, stream),
                    context: thread,
                    device: thread,
                    handle: stream_handle(thread, stream),
                    acl_id: Some(serial(thread, stream) as i32),
                    flags: 0,
                    priority: 0,
                    is_default: stream == 0,
                    manner: 0,
                }));
            }
            for event in 0..EVENTS {
                (self.sink)(Row::Event(EventRow {
                    process: 1,
                    serial: thread * EVENTS + event,
                    context: thread,
                    handle: event_handle(thread, event),
                    flags: 9,
                    creation: 2,
                }));
            }
        }
    }

    fn step(&mut self, thread: u32, step: u32) {
        let event = step % EVENTS;
        let batch = 1 << 20;
        let buffer = 0x12_0000_0000 + u64::from(step % 4) * batch;
        let host = 0x7f00_1000_0000 + u64::from(step % 2) * batch;
        let copy = |run: &mut Self, to, from, bytes, kind| {
            let stream = stream_handle(thread, 0);
            let time = 12_000 + run.below(3_000);
            run.call(
                thread,
                COPY,
                &[to, bytes, from, bytes, kind, stream],
                SyncTarget {
                    stream: Some(0),
                    task: Some((TaskKind::Memcpy, Some(time))),
                    ..SyncTarget::default()
                },
            );
        };
        copy(self, buffer, host, batch, 1);
        let handle = event_handle(thread, event);
        self.call(
            thread,
            RECORD,
            &[handle, stream_handle(thread, 0)],
            SyncTarget {
                stream: Some(0),
                event: Some(event),
                task: Some((TaskKind::Record, Some(0))),
                ..SyncTarget::default()
            },
        );
        self.call(
            thread,
            WAIT,
            &[stream_handle(thread, 1), handle],
            SyncTarget {
                stream: Some(1),
                event: Some(event),
                task: Some((TaskKind::Wait, Some(4_000))),
                ..SyncTarget::default()
            },
        );
        for place in 0..self.workload.operators {
            self.operator(thread, place);
        }
        copy(self, host + 64, buffer + 4096, 64, 2);
        if step.is_multiple_of(16) {
            let bytes = 512 << self.below(12);
            let device = 0x12_4000_0000 + (self.below(4096) as u64) * 512;
            self.call(thread, MALLOC, &[device, bytes, 0], SyncTarget::default());
        }
        if step % 4 == 3 {
            self.synchronize(thread);
        }
        if self.workload.everything {
            self.special_tasks(thread, step);
        }
        self.anchor(thread);
        self.threads[thread as usize].now += self.workload.rest_ns;
    }

    fn operator(&mut self, thread: u32, place: u32) {
        let count = OPERATORS.len() as i64;
        let any = self.below(count);
        // Spread by a multiple of the golden ratio: in a step nothing repeats.
        let own = i64::from(place.wrapping_mul(0x9e37_79b9) >> 16) % count;
        let which = if self.workload.repeats { own } else { any } as u16;
        let function = FIRST_OPERATOR + 2 * which;
        let tensor = 0x5566_0000_0000 + (self.below(64) as u64) * 0x90;
        let executor = 0x5577_0000_0000 + (self.below(8) as u64) * 0x400;
        let size = u64::from(which) * 8192;
        let args = [tensor, tensor + 0x90, tensor + 0x120, size, executor];
        self.call(thread, function, &args, SyncTarget::default());
        let time = 5_000 + self.below(40_000);
        let args = [0x12_8000_0000, size, executor, stream_handle(thread, 1)];
        self.call(
            thread,
            function + 1,
            &args,
            SyncTarget {
                stream: Some(1),
                task: Some((TaskKind::Kernel, Some(time))),
                ..SyncTarget::default()
            },
        );
    }

    fn synchronize(&mut self, thread: u32) {
        let state = &mut self.threads[thread as usize];
        let wait = (state.busy_until[1] - state.now).max(0) + 4_000;
        self.call_lasting(
            thread,
            SYNC,
            wait,
            &[stream_handle(thread, 1)],
            SyncTarget {
                stream: Some(1),
                ..SyncTarget::default()
            },
        );
    }

    fn call(&mut self, thread: u32, function: u16, args: &[u64], target: SyncTarget) {
        let lasts = 350 + self.below(500);
        self.call_lasting(thread, function, lasts, args, target);
    }

    fn call_lasting(
        &mut self,
        thread: u32,
        function: u16,
        lasts: i64,
        args: &[u64],
        target: SyncTarget,
    ) {
        let gap = 80 + self.below(400);
        let state = &mut self.threads[thread as usize];
        let begin_ns = state.now + gap;
        state.now = begin_ns + lasts;
        if let (Some(event), Some((TaskKind::Record, _))) = (target.event, target.task) {
            state.generations[event as usize] += 1;
        }
        let row = CallRow {
            thread,
            function,
            begin_ns,
            end_ns: state.now,
            device: Some(thread as u8),
            stream: target.stream.map(|stream| serial(thread, stream)),
            context: Some(thread),
            event: target
                .event
                .map(|event| (thread * EVENTS + event, state.generations[event as usize])),
            task: match (target.stream, target.task) {
                (Some(stream), Some((kind, runs))) => Some(TaskRow {
                    sequence: state.sequences[stream],
                    kind: kind.code(),
                    untimed: match runs {
                        Some(_) => Untimed::Timed.code(),
                        None => Untimed::Captured.code(),
                    },
                }),
                _ => None,
            },
            graph: target.graph,
            args: args.to_vec(),
            ..CallRow::default()
        };
        (self.sink)(Row::Call(row));
        if let (Some(stream), Some((_, Some(runs)))) = (target.stream, target.task) {
            self.task_time(thread, stream, runs);
        }
    }

    fn task_time(&mut self, thread: u32, stream: usize, runs: i64) {
        let state = &mut self.threads[thread as usize];
        let begin = state.busy_until[stream].max(state.now + 3_000);
        let end = begin + runs;
        state.busy_until[stream] = end;
        let sequence = state.sequences[stream];
        state.sequences[stream] += 1;
        let row = TaskTimeRow {
            process: 1,
            stream: serial(thread, stream),
            sequence,
            untimed: 0,
            begin_device_ns: self.device_time(begin),
            end_device_ns: self.device_time(end),
            seen_ns: end + 20_000,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        };
        (self.sink)(Row::TaskTime(row));
    }

    fn anchor(&mut self, thread: u32) {
        let before_ns = self.threads[thread as usize].now;
        let inside = self.below(3_000);
        let row = AnchorRow {
            process: 1,
            device: thread,
            before_ns,
            after_ns: before_ns + inside + self.below(3_000),
            device_ns: self.device_time(before_ns + inside),
            source: 0,
        };
        (self.sink)(Row::Anchor(row));
        let (before_ns, inside) = (row.after_ns + 1_000, self.below(500));
        let by_driver = AnchorRow {
            before_ns,
            after_ns: before_ns + 500,
            device_ns: self.device_time(before_ns + inside),
            source: AnchorSource::Driver as u8,
            ..row
        };
        (self.sink)(Row::Anchor(by_driver));
    }

    /// The reading of the device clock at a host time.
    fn device_time(&self, host: i64) -> i64 {
        let drift = (host as f64 * self.workload.drift_ppm / 1e6) as i64;
        (host + drift + self.workload.clock_offset_ns) / 20 * 20
    }

    /// A number from 0 to `limit` - 1.
    fn below(&mut self, limit: i64) -> i64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 11) % limit.max(1) as u64) as i64
    }
}

/// Streams that communicate come last.
fn serial(thread: u32, stream: usize) -> u32 {
    match stream {
        0 | 1 => 2 * thread + stream as u32,
        _ => 2 * THREADS + thread,
    }
}

fn stream_handle(thread: u32, stream: usize) -> u64 {
    0xaaaa_0000_1000 + u64::from(thread) * 0x2000 + stream as u64 * 0x380
}

fn event_handle(thread: u32, event: u32) -> u64 {
    0xaaaa_0100_0000 + u64::from(thread * EVENTS + event) * 0x60
}

//! A planned timeline as the rows that its recording would have left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::Ending;
use ascend_trace_recording::rows::{
    AnchorRow, CallRow, ContextRow, EndRow, EventRow, FunctionRow, GraphRef, ProcessRow, Row,
    SessionRow, StreamRow, TaskRow, TaskTimeRow, ThreadRow,
};

use super::Timeline;
use super::functions::{self, UsedFunctions};
use super::schedule::{CallOrigin, PlannedCall, TimelinePlan};
use super::syntax::{CallItem, CallWhat, LaneKey, LaneText, TaskWhat, TimeSpec};

const FLAGS_DEFAULT_EVENT: u32 = 0xe;

pub(super) fn rows(lanes: &[LaneText], plan: &TimelinePlan<'_>) -> Timeline {
    let mut writer = RowWriter {
        plan,
        devices: plan.streams.iter().copied().collect(),
        threads: number(plan.calls.iter().map(|call| call.thread)),
        events: number(event_keys(plan)),
        functions: UsedFunctions::default(),
        graphs: HashMap::new(),
        rows: Vec::new(),
    };
    writer.entities(lanes);
    writer.calls();
    writer.times();
    Timeline {
        session: session(),
        tables: writer.functions.into_tables(),
        rows: writer.rows,
    }
}

struct RowWriter<'a> {
    plan: &'a TimelinePlan<'a>,
    devices: HashMap<LaneKey, u32>,
    threads: BTreeMap<LaneKey, u32>,
    events: BTreeMap<(u32, &'a str), u32>,
    functions: UsedFunctions,
    /// Numbers of nodes and replays, by graph.
    graphs: HashMap<LaneKey, [u32; 2]>,
    rows: Vec<Row>,
}

impl RowWriter<'_> {
    fn entities(&mut self, lanes: &[LaneText]) {
        let processes: BTreeSet<u32> = lanes
            .iter()
            .map(|lane| match lane {
                LaneText::Stream { stream: key, .. } | LaneText::Thread { thread: key, .. } => {
                    key.0
                }
            })
            .collect();
        let begin_ns = self
            .plan
            .calls
            .iter()
            .map(|call| call.begin)
            .min()
            .unwrap_or(0);
        for process in processes {
            self.rows.push(Row::Process(ProcessRow {
                process,
                pid: 1000 * process,
                parent_pid: 1,
                begin_ns,
                name: format!("app{process}"),
                ..ProcessRow::default()
            }));
        }
        for (&(process, thread), &number) in &self.threads {
            self.rows.push(Row::Thread(ThreadRow {
                thread: number,
                process,
                tid: 1000 * process + thread,
                handle: thread_handle(thread),
                name: format!("t{thread}"),
            }));
        }
        let contexts: BTreeSet<(u32, u32)> = self
            .plan
            .streams
            .iter()
            .map(|((process, _), device)| (*process, *device))
            .collect();
        for (process, device) in contexts {
            self.rows.push(Row::Context(ContextRow {
                process,
                serial: context_of(device),
                device,
                handle: 0xc000 + u64::from(device),
                is_default: true,
            }));
        }
        for &((process, serial), device) in &self.plan.streams {
            self.rows.push(Row::Stream(StreamRow {
                process,
                serial,
                context: context_of(device),
                device,
                handle: stream_handle(serial),
                acl_id: i32::try_from(serial).ok(),
                flags: 0,
                priority: 0,
                is_default: serial == 0,
                manner: 0,
            }));
        }
        for (&(process, _), &serial) in &self.events {
            self.rows.push(Row::Event(EventRow {
                process,
                serial,
                context: context_of(0),
                handle: event_handle(serial),
                flags: FLAGS_DEFAULT_EVENT,
                creation: 0,
            }));
        }
    }

    /// The calls in the order in which they returned.
    fn calls(&mut self) {
        let mut calls: Vec<&PlannedCall<'_>> = self.plan.calls.iter().collect();
        calls.sort_by_key(|call| (call.end, std::cmp::Reverse(call.depth)));
        for call in calls {
            let row = match call.origin {
                CallOrigin::Task(place) => self.launch_call(call, place),
                CallOrigin::Call(item, generation) => {
                    self.written_call(call, &item.what, generation)
                }
            };
            self.rows.push(Row::Call(row));
        }
    }

    fn launch_call(&mut self, call: &PlannedCall<'_>, place: usize) -> CallRow {
        let task = &self.plan.tasks[place];
        const NONE: &[u64] = &[];
        let (name, kind, numbers) = match &task.item.what {
            TaskWhat::Kernel(name, numbers) => (name.as_str(), None, numbers.as_slice()),
            TaskWhat::Work(kind, numbers) => {
                (work_function(*kind), Some(*kind), numbers.as_slice())
            }
            TaskWhat::Record(_) => ("aclrtRecordEvent", Some(TaskKind::Record), NONE),
            TaskWhat::Wait(_) => ("aclrtStreamWaitEvent", Some(TaskKind::Wait), NONE),
            TaskWhat::Reset(_) => ("aclrtResetEvent", Some(TaskKind::Other), NONE),
        };
        let untimed = match task.item.time {
            TimeSpec::Untimed(reason) => reason,
            TimeSpec::Given(..) | TimeSpec::Derived => Untimed::Timed,
        };
        let event = task
            .event
            .map(|(name, number)| self.event(task.stream.0, name, number));
        let row = self.call_row(
            call,
            name,
            Some(task.stream),
            event,
            numbers,
            functions::kernel,
        );
        // A function that timelines know says itself what its task is.
        let kind = kind.or_else(|| TaskKind::from_name(&self.functions.row(row.function).task));
        let kind = kind.unwrap_or(TaskKind::Kernel);
        let index = usize::from(untimed != Untimed::Captured);
        let graph = task.item.graph.map(|serial| match task.item.ret {
            0 => self.count((task.stream.0, serial), index),
            _ => GraphRef { serial, index: 0 },
        });
        let is_refused = graph.is_some_and(|graph| graph.index == 0);
        let submitted = TaskRow {
            sequence: task.sequence,
            kind: kind.code(),
            untimed: untimed.code(),
        };
        CallRow {
            task: (!is_refused).then_some(submitted),
            ret: task.item.ret,
            graph,
            ..row
        }
    }

    /// The next node, or with `what` 1 replay, of a graph.
    fn count(&mut self, graph: LaneKey, what: usize) -> GraphRef {
        let counts = self.graphs.entry(graph).or_default();
        counts[what] += 1;
        GraphRef {
            serial: graph.1,
            index: counts[what],
        }
    }

    fn written_call(
        &mut self,
        call: &PlannedCall<'_>,
        what: &CallWhat,
        generation: u32,
    ) -> CallRow {
        let process = call.thread.0;
        let stream = |number: &u32| Some((process, *number));
        let (name, stream, event) = match what {
            CallWhat::SyncDevice => ("aclrtSynchronizeDevice", None, None),
            CallWhat::SyncStream(number) => ("aclrtSynchronizeStream", stream(number), None),
            CallWhat::QueryStream(number, _) => ("aclrtStreamQuery", stream(number), None),
            CallWhat::SyncEvent(event) => ("aclrtSynchronizeEvent", None, Some(event)),
            CallWhat::QueryEvent(event, _) => ("aclrtQueryEventStatus", None, Some(event)),
            CallWhat::CaptureBegin(number) => ("aclmdlRICaptureBegin", stream(number), None),
            CallWhat::CaptureEnd(number) => ("aclmdlRICaptureEnd", stream(number), None),
            CallWhat::CreateStream(number) => ("aclrtCreateStream", stream(number), None),
            CallWhat::DestroyStream(number) => ("aclrtDestroyStream", stream(number), None),
            CallWhat::ForceStream(number) => ("aclrtDestroyStreamForce", stream(number), None),
            CallWhat::Subscribe(number, _) => ("aclrtSubscribeReport", stream(number), None),
            CallWhat::Unsubscribe(number, _) => ("aclrtUnSubscribeReport", stream(number), None),
            CallWhat::CreateEvent(event) => ("aclrtCreateEvent", None, Some(event)),
            CallWhat::DestroyEvent(event) => ("aclrtDestroyEvent", None, Some(event)),
            CallWhat::Other(name, _) => (name.as_str(), None, None),
        };
        let (subscriber, answer);
        let numbers = match what {
            CallWhat::Other(_, numbers) => numbers.as_slice(),
            CallWhat::QueryStream(_, status) | CallWhat::QueryEvent(_, status) => {
                answer = [*status];
                &answer
            }
            CallWhat::Subscribe(_, thread) | CallWhat::Unsubscribe(_, thread) => {
                subscriber = [thread_handle(*thread)];
                &subscriber
            }
            _ => &[],
        };
        let event = event.map(|event| self.event(process, &event.name, generation));
        let row = self.call_row(call, name, stream, event, numbers, functions::plain);
        let CallOrigin::Call(CallItem { graph, ret, .. }, _) = call.origin else {
            return row;
        };
        let graph = graph.map(|serial| match (name, ret) {
            ("aclmdlRIExecute", 0) => self.count((process, serial), 1),
            _ => GraphRef { serial, index: 0 },
        });
        CallRow { graph, ..row }
    }

    fn event(&self, process: u32, name: &str, generation: u32) -> (u32, u32) {
        (
            self.events.get(&(process, name)).copied().unwrap_or(0),
            generation,
        )
    }

    fn call_row(
        &mut self,
        call: &PlannedCall<'_>,
        name: &str,
        stream: Option<LaneKey>,
        event: Option<(u32, u32)>,
        numbers: &[u64],
        other: fn(&str) -> FunctionRow,
    ) -> CallRow {
        let function = self.functions.number(name, other);
        let args = &self.functions.row(function).args;
        // A size is the first number; the other arguments take the rest in turn.
        let has_sizes = args.iter().any(|arg| arg.kind == "size");
        let mut turn = numbers.iter().copied().skip(usize::from(has_sizes));
        let mut strings = Vec::new();
        let args = args.iter().map(|arg| match arg.kind.as_str() {
            // The last argument: a text of all further numbers.
            "messages" | "heap" | "regions" | "region-refs" => {
                let words: Vec<String> = turn.by_ref().map(|it| it.to_string()).collect();
                strings.push(Some(format!("[{}]", words.join(", ")).into()));
                0
            }
            "stream" => stream.map_or(0, |(_, serial)| stream_handle(serial)),
            "event" => event.map_or(0, |(serial, _)| event_handle(serial)),
            "size" => numbers.first().copied().unwrap_or(0),
            _ => turn.next().unwrap_or(0),
        });
        let args: Vec<u64> = args.collect();
        let device = stream.map_or(0, |key| self.devices.get(&key).copied().unwrap_or(0));
        let ret = match call.origin {
            CallOrigin::Call(item, _) => item.ret,
            CallOrigin::Task(_) => 0,
        };
        CallRow {
            thread: self.threads.get(&call.thread).copied().unwrap_or(0),
            function,
            begin_ns: call.begin,
            end_ns: call.end,
            ret,
            depth: call.depth,
            device: u8::try_from(device).ok(),
            stream: stream.map(|(_, serial)| serial),
            context: Some(context_of(device)),
            event,
            task: None,
            graph: None,
            args,
            strings,
            ending: self.ending(call),
            stack: None,
            cpu: None,
        }
    }

    fn ending(&self, call: &PlannedCall<'_>) -> Ending {
        let time = match call.origin {
            CallOrigin::Call(item, _) => Some(item.time),
            CallOrigin::Task(place) => self.plan.tasks[place].item.by.map(|by| by.time),
        };
        time.map_or(Ending::Returned, |time| time.ending)
    }

    /// Device clocks that agree with the host's to the nanosecond, and the times of the tasks.
    fn times(&mut self) {
        let times = self.plan.tasks.iter().filter_map(|task| task.time);
        let calls = self.plan.calls.iter().map(|call| (call.begin, call.end));
        let span = times
            .chain(calls)
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let Some((first, last)) = span else { return };
        let devices: BTreeSet<(u32, u32)> = self
            .devices
            .iter()
            .map(|((process, _), device)| (*process, *device))
            .collect();
        for (process, device) in devices {
            for now in [first, last + 1] {
                self.rows.push(Row::Anchor(AnchorRow {
                    process,
                    device,
                    before_ns: now,
                    after_ns: now,
                    device_ns: now,
                    source: 0,
                }));
            }
        }
        for task in &self.plan.tasks {
            let Some((begin, end)) = task.time else {
                continue;
            };
            self.rows.push(Row::TaskTime(TaskTimeRow {
                process: task.stream.0,
                stream: task.stream.1,
                sequence: task.sequence,
                untimed: Untimed::Timed.code(),
                begin_device_ns: begin,
                end_device_ns: end,
                seen_ns: last + 1,
                arming_ns: 0,
                submitting_ns: 0,
                record_ns: 0,
                record_open_ns: 0,
                run_tasks: 0,
            }));
        }
        let unread = TimeSpec::Untimed(Untimed::Timed);
        let is_open = |call: &PlannedCall<'_>| self.ending(call) == Ending::Open;
        let is_over = self.plan.tasks.iter().all(|task| task.item.time != unread);
        if is_over && !self.plan.calls.iter().any(is_open) {
            self.rows.push(Row::End(EndRow {
                end_ns: last,
                exit_status: 0,
                ..EndRow::default()
            }));
        }
    }
}

fn work_function(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Memcpy => "aclrtMemcpyAsync",
        TaskKind::Memset => "aclrtMemsetAsync",
        TaskKind::HostFunc => "aclrtLaunchHostFunc",
        TaskKind::Graph => "aclmdlRIExecuteAsync",
        TaskKind::Notify => "aclrtRecordNotify",
        TaskKind::Value => "aclrtValueWrite",
        TaskKind::Collective => "HcclAllReduce",
        TaskKind::Other | TaskKind::Kernel | TaskKind::Record | TaskKind::Wait => "aclrtProfTrace",
    }
}

fn event_keys<'a>(plan: &TimelinePlan<'a>) -> impl Iterator<Item = (u32, &'a str)> {
    let tasks = plan
        .tasks
        .iter()
        .filter_map(|task| Some((task.stream.0, task.event?.0)));
    let calls = plan.calls.iter().filter_map(|call| match call.origin {
        CallOrigin::Call(item, _) => match &item.what {
            CallWhat::SyncEvent(event)
            | CallWhat::QueryEvent(event, _)
            | CallWhat::CreateEvent(event)
            | CallWhat::DestroyEvent(event) => Some((call.thread.0, event.name.as_str())),
            _ => None,
        },
        CallOrigin::Task(_) => None,
    });
    tasks.chain(calls)
}

/// Numbers things from 1, in the order of their keys.
fn number<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u32> {
    let keys: BTreeSet<K> = keys.collect();
    keys.into_iter().zip(1..).collect()
}

fn context_of(device: u32) -> u32 {
    device + 1
}

fn stream_handle(serial: u32) -> u64 {
    0x5000 + u64::from(serial)
}

fn thread_handle(number: u32) -> u64 {
    0x7000 + u64::from(number)
}

fn event_handle(serial: u32) -> u64 {
    0xe000 + u64::from(serial)
}

fn session() -> SessionRow {
    SessionRow {
        tool_version: "0.0.0-test".to_owned(),
        command: vec!["./app".to_owned()],
        host: "testhost".to_owned(),
        architecture: "x86_64".to_owned(),
        timing: "events".to_owned(),
        runtime: "softacl".to_owned(),
        budget: None,
        queue_depth: Some(8),
        start_time: "2026-01-01T00:00:00+00:00".to_owned(),
        start_ns: 0,
        start_realtime_ns: 1_767_225_600_000_000_000,
        start_boottime_ns: 5_000_000_000,
        ..SessionRow::default()
    }
}

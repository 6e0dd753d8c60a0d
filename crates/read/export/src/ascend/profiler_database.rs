//! `ascend_pytorch_profiler_RANK.db`: what ran, as tables. Times are nanoseconds of the wall clock.

use std::io;

use ascend_trace_analysis::TaskRole;
use ascend_trace_analysis::collectives::bytes_moved;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Call, CallId, Direction, TaskId, TaskTime, Trace};
use rustc_hash::FxHashMap;

use super::collectives::{NamedCollective, NamedCollectives};
use super::communication;
use super::memory::MemoryRows;
use super::names;
use super::operands::{UNKNOWN, tensors};
use super::operator_states::OperatorState;
use super::profiler_tables as tables;
use super::rank_database::{RankRows, RankValue};
use super::step_times::StepTimes;
use super::timing::ClockOffsets;
use crate::ExportSource;

/// The format's number for an unknown one.
const NO_NUMBER: u32 = u32::MAX;

/// Types of calls: those of AscendCL, and those of the framework.
const ACL: i64 = 20_000;
const OPERATOR: i64 = 50_001;
const API_TYPES: [(i64, &str); 3] = [(ACL, "acl"), (OPERATOR, "op"), (50_002, "queue")];

const RANGE: i64 = 2;
const MARK: i64 = 3;
const EVENT_TYPES: [(i64, &str); 2] = [(RANGE, "start_end"), (MARK, "marker")];

/// The types of elements by their numbers in HCCL.
const DATA_TYPES: [&str; 13] = [
    "INT8", "INT16", "INT32", "FP16", "FP32", "INT64", "UINT64", "UINT8", "UINT16", "UINT32",
    "FP64", "BFP16", "INT128",
];

/// The transport between the ranks of a host, and an unknown one.
const TRANSPORTS: [&str; 2] = [communication::ON_HOST, UNKNOWN];
const LINKS: [&str; 1] = [UNKNOWN];

/// Task numbers of waits begin here, above those of tasks.
const WAITS: i64 = 1 << 40;

/// Directions of copies by their numbers in the runtime.
const DIRECTIONS: [(i64, &str, Direction); 4] = [
    (0, "host to host", Direction::HostToHost),
    (1, "host to device", Direction::HostToDevice),
    (2, "device to host", Direction::DeviceToHost),
    (3, "device to device", Direction::DeviceToDevice),
];

/// The database of a rank on its way through the recording.
pub(super) struct ProfilerDatabase<'w> {
    rows: RankRows<'w>,
    strings: FxHashMap<String, i64>,
    offsets: ClockOffsets,
    /// Whether an operator was static, and whether the state of one is not known.
    has_static: bool,
    has_unknown: bool,
}

impl<'w> ProfilerDatabase<'w> {
    pub(super) fn new(rows: RankRows<'w>, offsets: ClockOffsets) -> Self {
        Self {
            rows,
            strings: FxHashMap::default(),
            offsets,
            has_static: false,
            has_unknown: false,
        }
    }

    /// The number of a text.
    fn string(&mut self, text: &str) -> RankValue {
        if let Some(number) = self.strings.get(text) {
            return RankValue::Whole(*number);
        }
        let number = self.strings.len() as i64;
        self.strings.insert(text.to_owned(), number);
        self.rows
            .add(tables::STRING_IDS, [number.into(), text.into()]);
        RankValue::Whole(number)
    }

    fn time(&self, time: i64) -> RankValue {
        RankValue::Whole(self.offsets.wall(time))
    }

    pub(super) fn call(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let name = self.string(&trace.function(call.function).name);
        let row = [
            self.time(call.begin),
            self.time(call.end),
            ACL.into(),
            global_tid(trace, call).into(),
            connection(trace, id).into(),
            name,
        ];
        self.rows.add(tables::CANN_API, row);
    }

    /// Takes a task with times.
    pub(super) fn task(
        &mut self,
        trace: &Trace,
        id: TaskId,
        (time, state): (TaskTime, OperatorState),
    ) {
        let task = trace.task(id);
        let stream = trace.stream(task.stream);
        let number = i64::from(trace.task_number(id));
        let kind = self.string(&task_type(task.kind));
        let row = [
            self.time(time.begin),
            self.time(time.end),
            stream.device.into(),
            connection(trace, task.call).into(),
            number.into(),
            trace.process(stream.process).pid.into(),
            kind,
            NO_NUMBER.into(),
            stream.number().into(),
            task.sequence.into(),
            NO_NUMBER.into(),
        ];
        self.rows.add(tables::TASK, row);
        if TaskRole::of(trace, task) != TaskRole::Work {
            return;
        }
        match task.kind {
            TaskKind::Memcpy => self.copy(trace, number, trace.call(task.call)),
            TaskKind::Memset | TaskKind::Collective => {}
            _ => self.compute(trace, id, (number, state)),
        }
    }

    fn copy(&mut self, trace: &Trace, number: i64, call: &Call) {
        let direction = trace.direction(call);
        let known = DIRECTIONS.iter().find(|it| Some(it.2) == direction);
        let row = [
            number.into(),
            bytes_moved(trace, call).into(),
            known.map(|it| it.0).into(),
        ];
        self.rows.add(tables::MEMCPY_INFO, row);
    }

    fn compute(&mut self, trace: &Trace, id: TaskId, (number, state): (i64, OperatorState)) {
        match state {
            OperatorState::Static => self.has_static = true,
            OperatorState::Dynamic => {}
            OperatorState::Unknown => self.has_unknown = true,
        }
        let task = trace.task(id);
        let label = task_label(trace, task);
        let (read, written) = tensors(trace, trace.call(task.call));
        let [name, kind, core] =
            [&label, names::operator_type(&label), UNKNOWN].map(|it| self.string(it));
        let [reads, writes] = [read, written]
            .map(|it| [&it.formats, &it.data_types, &it.shapes].map(|it| self.string(it)));
        let [read_formats, read_types, read_shapes] = reads;
        let [written_formats, written_types, written_shapes] = writes;
        let row = [
            name,
            number.into(),
            NO_NUMBER.into(),
            NO_NUMBER.into(),
            core,
            kind,
            read_formats,
            read_types,
            read_shapes,
            written_formats,
            written_types,
            written_shapes,
            RankValue::Nothing,
            self.string(state.word()),
        ];
        self.rows.add(tables::COMPUTE_TASK_INFO, row);
    }

    pub(super) fn memory(&mut self, rows: &MemoryRows) {
        for it in &rows.allocations {
            let name = self.string(&it.name);
            let released = it.released;
            let wall = self.offsets;
            let mut row: [RankValue; 15] = std::array::from_fn(|_| RankValue::Nothing);
            row[0] = name;
            row[1] = it.size.into();
            row[2] = self.time(it.begin);
            row[3] = released.map(|(end, _)| wall.wall(end)).into();
            row[5] = released.map(|(end, _)| end - it.begin).into();
            row[7] = it.totals.allocated.into();
            row[8] = it.totals.reserved.into();
            row[10] = released.and_then(|(_, totals)| totals.allocated).into();
            row[11] = released.map(|(_, totals)| totals.reserved).into();
            row[14] = u32::from(it.device).into();
            self.rows.add(tables::OP_MEMORY, row);
        }
        for it in &rows.records {
            let row = [
                self.string(it.component.word()),
                self.time(it.at),
                it.totals.allocated.into(),
                it.totals.reserved.into(),
                RankValue::Nothing,
                RankValue::Nothing,
                u32::from(it.device).into(),
            ];
            self.rows.add(tables::MEMORY_RECORD, row);
        }
    }

    /// Ends a part of the recording.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.rows.flush()
    }

    /// Adds the rows that are known at the end of the recording.
    pub(super) fn finish(
        mut self,
        (rank, source): (u64, &ExportSource<'_>),
        steps: &StepTimes,
        collectives: &NamedCollectives,
    ) -> io::Result<()> {
        self.facts(rank, source, collectives);
        self.enumerations();
        self.ranges(source);
        self.steps(source, steps);
        for (number, collective) in (0..).zip(&collectives.all) {
            self.collective(source.trace, (number, collective), collectives);
        }
        // Where no operator is static, readers take all of them for dynamic.
        if self.has_static || !self.has_unknown {
            self.rows.rename_column(
                tables::COMPUTE_TASK_INFO,
                tables::KNOWN_STATES,
                tables::STATES,
            )?;
        }
        self.rows.finish()
    }

    fn facts(&mut self, rank: u64, source: &ExportSource<'_>, collectives: &NamedCollectives) {
        let trace = source.trace;
        let session = trace.session();
        let span = trace.span();
        let times = span.map(|it| (it.begin, it.end));
        let (begin, end) = times.unwrap_or((session.start_ns, session.start_ns));
        let times = [self.time(begin.min(session.start_ns)), self.time(end)];
        self.rows.add(tables::SESSION_TIME_INFO, times);
        let host = [&session.boot_id, &session.host].map(|it| it.as_str().into());
        self.rows.add(tables::HOST_INFO, host);
        for device in devices(source) {
            self.rows
                .add(tables::RANK_DEVICE_MAP, [rank.into(), device.into()]);
        }
        let groups = communication::parallel_groups(collectives).to_string();
        let facts = [
            ("parallel_group_info", groups),
            ("ascend_trace_version", session.tool_version.clone()),
        ];
        for (name, value) in facts {
            self.rows
                .add(tables::META_DATA, [name.into(), value.into()]);
        }
    }

    fn enumerations(&mut self) {
        let data_types = (0_i64..).zip(DATA_TYPES);
        let transports = (0_i64..).zip(TRANSPORTS);
        let all = [
            (tables::ENUM_API_TYPE, Vec::from(API_TYPES)),
            (tables::ENUM_MSTX_EVENT_TYPE, Vec::from(EVENT_TYPES)),
            (tables::ENUM_HCCL_DATA_TYPE, data_types.collect()),
            (tables::ENUM_HCCL_TRANSPORT_TYPE, transports.collect()),
            (tables::ENUM_HCCL_LINK_TYPE, (0_i64..).zip(LINKS).collect()),
            (
                tables::ENUM_MEMCPY_OPERATION,
                DIRECTIONS.map(|it| (it.0, it.1)).to_vec(),
            ),
        ];
        for (table, values) in all {
            for (number, name) in values {
                self.rows.add(table, [number.into(), name.into()]);
            }
        }
    }

    fn ranges(&mut self, source: &ExportSource<'_>) {
        let trace = source.trace;
        let ranges = trace.ranges().iter();
        let own = ranges.filter(|it| {
            source.selection.thread(it.thread) && source.selection.span(it.begin, it.end)
        });
        for (number, range) in (0_i64..).zip(own) {
            let thread = trace.thread(range.thread);
            let tid = tid_of(trace.process(thread.process).pid, thread.tid);
            let message = self.string(&range.name);
            let domain = self.string(trace.domain(range).unwrap_or("default"));
            let is_mark = range.begin == range.end;
            let row = [
                self.time(range.begin),
                self.time(range.end),
                if is_mark { MARK } else { RANGE }.into(),
                number.into(),
                NO_NUMBER.into(),
                message,
                tid.into(),
                tid.into(),
                domain,
                NO_NUMBER.into(),
            ];
            self.rows.add(tables::MSTX_EVENTS, row);
        }
    }

    fn steps(&mut self, source: &ExportSource<'_>, steps: &StepTimes) {
        for step in steps.apart() {
            let times = [self.time(step.begin), self.time(step.end)];
            let [begin, end] = times.clone();
            let number = RankValue::from(step.number);
            self.rows.add(tables::STEP_TIME, [number, begin, end]);
            let name = self.string(&format!("ProfilerStep#{}", step.number));
            let [begin, end] = times;
            let pid = source.trace.process_numbered(step.process);
            let pid = pid.map_or(0, |it| source.trace.process(it).pid);
            let mut row: [RankValue; 11] = std::array::from_fn(|_| RankValue::Nothing);
            (row[0], row[1], row[4]) = (begin, end, name);
            row[2] = tid_of(pid, step.tid).into();
            row[10] = OPERATOR.into();
            self.rows.add(tables::PYTORCH_API, row);
        }
    }

    fn collective(
        &mut self,
        trace: &Trace,
        (number, collective): (i64, &NamedCollective),
        all: &NamedCollectives,
    ) {
        let ran = &collective.ran;
        let group = all.groups.get(collective.group);
        let group_name = group.map_or("", |it| it.name.name.as_str());
        let [name, group_name, operation] =
            [&collective.name, group_name, ran.operation()].map(|it| self.string(it));
        let data_type = ran.data_type.as_deref();
        let data_type = data_type.and_then(|it| DATA_TYPES.iter().position(|known| *known == it));
        let data_type = RankValue::from(data_type.map(|it| it as u64));
        let row = [
            name.clone(),
            self.time(ran.time.begin),
            self.time(ran.time.end),
            ran.connection.into(),
            group_name.clone(),
            number.into(),
            RankValue::Nothing,
            RankValue::Nothing,
            data_type.clone(),
            RankValue::Nothing,
            ran.count.into(),
            operation,
            ran.device.into(),
        ];
        self.rows.add(tables::COMMUNICATION_OP, row);
        let Some((wait, _)) = collective.split else {
            return;
        };
        let kind = self.string("Notify_Wait");
        let task = WAITS + number;
        let own = group.and_then(|it| it.own_rank);
        let peer = ran.peer.filter(|_| ran.is_message()).map(|it| it.1);
        let row = [
            name,
            task.into(),
            kind.clone(),
            0_u32.into(),
            group_name,
            RankValue::Nothing,
            RankValue::Nothing,
            own.unwrap_or(u64::from(NO_NUMBER)).into(),
            peer.unwrap_or(u64::from(NO_NUMBER)).into(),
            1_u32.into(),
            RankValue::Nothing,
            data_type,
            0_u32.into(),
            number.into(),
            RankValue::Nothing,
        ];
        self.rows.add(tables::COMMUNICATION_TASK_INFO, row);
        let row = [
            self.time(ran.time.begin),
            self.time(ran.time.begin + wait.ns),
            ran.device.into(),
            NO_NUMBER.into(),
            task.into(),
            trace.process(ran.process).pid.into(),
            kind,
            NO_NUMBER.into(),
            ran.stream().1.into(),
            NO_NUMBER.into(),
            NO_NUMBER.into(),
        ];
        self.rows.add(tables::TASK, row);
    }
}

/// The number that a call, its task and its collective share.
fn connection(trace: &Trace, call: CallId) -> i64 {
    i64::from(trace.call_number(call)) + 1
}

fn tid_of(pid: u32, tid: u32) -> i64 {
    i64::from(pid) << 32 | i64::from(tid)
}

fn global_tid(trace: &Trace, call: &Call) -> i64 {
    let thread = trace.thread(call.thread);
    tid_of(trace.process(thread.process).pid, thread.tid)
}

/// The readers' word for the kind of a task. The core of a kernel is not known.
fn task_type(kind: TaskKind) -> String {
    match kind {
        TaskKind::Memcpy => "MEMCPY_ASYNC".to_owned(),
        TaskKind::Memset => "MEMSET_ASYNC".to_owned(),
        TaskKind::Record => "EVENT_RECORD".to_owned(),
        TaskKind::Wait => "EVENT_WAIT".to_owned(),
        TaskKind::Collective => "COMMUNICATION".to_owned(),
        TaskKind::Kernel | TaskKind::Graph | TaskKind::Other => UNKNOWN.to_owned(),
        kind => kind.name().to_ascii_uppercase(),
    }
}

/// The devices that a rank used.
pub(super) fn devices(source: &ExportSource<'_>) -> Vec<u32> {
    let streams = source.trace.streams().iter();
    let own = streams.filter(|it| source.selection.process(it.process));
    let mut devices: Vec<u32> = own.map(|it| it.device).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

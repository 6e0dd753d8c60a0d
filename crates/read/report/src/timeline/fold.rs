//! Collects the timeline of a recording, window by window.

use std::collections::BTreeMap;

use ascend_trace_analysis::{Cause, Edge, EdgeKind, Fold, Node, Stall, Window};
use ascend_trace_format::api::{RetKind, TaskKind};
use ascend_trace_recording::{CallId, Range, StreamId, TaskId, ThreadId, TimeRange, Trace};

use super::columns::Columns;
use super::lanes::LaneOf;
use super::longest::{Longest, Timed};
use super::names::Names;
use super::{Timeline, write};

/// Columns of all lanes together, and of one lane.
const ALL_COLUMNS: usize = 1 << 17;
const MOST_COLUMNS: usize = 1 << 14;
const FEWEST_COLUMNS: usize = 1 << 8;

/// Things that are kept before their bytes are counted.
const MOST_SLICES: usize = 80_000;
const MOST_STALLS: usize = 8_000;
const MOST_ARROWS: usize = 6_000;

/// Rows of nested slices in a lane.
pub(super) const MOST_ROWS: u8 = 5;

/// The words for slices.
pub(super) const KINDS: [&str; 11] = [
    "other",
    "memcpy",
    "memset",
    "kernel",
    "hostfunc",
    "record",
    "wait",
    "graph",
    "notify",
    "value",
    "collective",
];
pub(super) const MORE_KINDS: [&str; 3] = ["call", "failed call", "range"];
/// The name of work that no slice shows.
const UNTIMED: &str = "tasks without a time";
const CALL: u8 = 11;
const FAILED: u8 = 12;
const RANGE: u8 = 13;

/// A task, a call or a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) lane: LaneOf,
    pub(super) begin: i64,
    pub(super) length: i64,
    pub(super) row: u8,
    pub(super) kind: u8,
    pub(super) name: u32,
    pub(super) error: i64,
}

/// A time in which a lane was held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneStall {
    pub(super) lane: LaneOf,
    pub(super) begin: i64,
    pub(super) length: i64,
    pub(super) cause: Cause,
    pub(super) name: u32,
    pub(super) error: i64,
}

/// A dependency. `held` is the duration of the task or call at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrow {
    pub(super) from: LaneOf,
    pub(super) leave: i64,
    pub(super) to: LaneOf,
    pub(super) arrive: i64,
    pub(super) kind: EdgeKind,
    held: i64,
}

macro_rules! longest_first {
    ($name:ident, $length:ident, $begin:ident, |$it:ident| $rest:expr) => {
        impl Timed for $name {
            fn length(&self) -> i64 {
                self.$length
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let key = |$it: &Self| (-$it.$length, $it.$begin, $rest);
                key(self).cmp(&key(other))
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}

longest_first!(Slice, length, begin, |it| (
    it.lane, it.row, it.kind, it.name, it.error
));
longest_first!(LaneStall, length, begin, |it| (
    it.lane,
    it.cause as u8,
    it.name,
    it.error
));
longest_first!(Arrow, held, arrive, |it| (
    it.to,
    it.from,
    it.leave,
    it.kind as u8
));

/// The slices of one lane, summed up.
#[derive(Clone, Debug)]
pub(super) struct LaneSum {
    pub(super) columns: Columns,
    pub(super) count: u64,
    pub(super) untimed: u64,
    pub(super) rows: u8,
    pub(super) label: String,
    pub(super) group: String,
}

/// Makes the timeline of a recording.
#[derive(Debug)]
pub struct TimelineFold {
    pub(super) range: TimeRange,
    pub(super) columns: usize,
    most_bytes: usize,
    pub(super) lanes: BTreeMap<LaneOf, LaneSum>,
    pub(super) order: Vec<LaneOf>,
    pub(super) names: Names,
    pub(super) slices: Longest<Slice>,
    pub(super) stalls: Longest<LaneStall>,
    pub(super) arrows: Longest<Arrow>,
}

impl TimelineFold {
    /// Of this time. `entities` has all streams and threads. The result takes about `most_bytes` in the page.
    pub fn of_range(range: TimeRange, entities: &Trace, most_bytes: usize) -> Self {
        let lanes = entities.streams().len() + entities.threads().len();
        let columns = (ALL_COLUMNS / lanes.max(1)).clamp(FEWEST_COLUMNS, MOST_COLUMNS);
        Self {
            range,
            columns,
            most_bytes,
            lanes: BTreeMap::new(),
            order: Vec::new(),
            names: Names::default(),
            slices: Longest::new(MOST_SLICES),
            stalls: Longest::new(MOST_STALLS),
            arrows: Longest::new(MOST_ARROWS),
        }
    }

    fn lane(&mut self, trace: &Trace, of: LaneOf) -> &mut LaneSum {
        let (range, columns) = (self.range, self.columns);
        self.lanes.entry(of).or_insert_with(|| LaneSum {
            columns: Columns::new(range, columns),
            count: 0,
            untimed: 0,
            rows: 1,
            label: of.label(trace),
            group: of.group(trace),
        })
    }

    fn add(&mut self, trace: &Trace, slice: Slice, is_work: bool) {
        let lane = self.lane(trace, slice.lane);
        lane.count += 1;
        lane.rows = lane.rows.max(slice.row + 1);
        let time = TimeRange::new(slice.begin, slice.begin + slice.length);
        lane.columns
            .add(time, slice.name, is_work && slice.row == 0);
        self.slices.add(slice);
    }

    fn task(&mut self, trace: &Trace, id: TaskId) {
        let task = trace.task(id);
        let lane = LaneOf::Stream(trace.lane_of(task.stream));
        let Some(time) = task.time else {
            if trace.runs(task) {
                self.lane(trace, lane).untimed += 1;
            }
            return;
        };
        let is_work = !matches!(
            task.kind,
            TaskKind::Wait | TaskKind::Record | TaskKind::Notify | TaskKind::Value
        );
        let slice = Slice {
            lane,
            begin: time.begin,
            length: time.duration().max(0),
            row: 0,
            kind: task.kind.code(),
            name: self.names.number(trace.task_name(task)),
            error: time.error,
        };
        self.add(trace, slice, is_work);
    }

    fn call(&mut self, trace: &Trace, id: CallId) {
        let call = trace.call(id);
        let function = trace.function(call.function);
        let has_failed = function.ret == RetKind::Error && call.ret != 0;
        let slice = Slice {
            lane: LaneOf::Thread(call.thread),
            begin: call.begin,
            length: (call.end - call.begin).max(0),
            row: call.depth.min(MOST_ROWS - 1),
            kind: if has_failed { FAILED } else { CALL },
            name: self.names.number(&function.name),
            error: 0,
        };
        self.add(trace, slice, true);
    }

    /// Ranges of a thread nest, most of them. They are all known at the end. Each is below all that are open at its begin, so
    /// one that outlives an earlier one keeps its row alone.
    fn ranges(&mut self, trace: &Trace) {
        let mut ranges: Vec<_> = trace.ranges().iter().collect();
        ranges.sort_by(|a, b| {
            let key = |it: &Range| (it.thread, it.begin, std::cmp::Reverse(it.end));
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        let mut open: Vec<(i64, u8)> = Vec::new();
        let mut of = None;
        for range in ranges {
            if of != Some(range.thread) {
                of = Some(range.thread);
                open.clear();
            }
            open.retain(|(end, _)| *end > range.begin);
            let lowest = open.iter().map(|(_, row)| row + 1).max();
            let row = lowest.unwrap_or(0).min(MOST_ROWS - 1);
            open.push((range.end, row));
            let slice = Slice {
                lane: LaneOf::Ranges(range.thread),
                begin: range.begin,
                length: (range.end - range.begin).max(0),
                row,
                kind: RANGE,
                name: self.names.number(&range.name),
                error: 0,
            };
            self.add(trace, slice, true);
        }
    }

    fn stall(&mut self, trace: &Trace, stall: &Stall) {
        let lane = match stall.lane {
            ascend_trace_analysis::Lane::Stream(id) => LaneOf::Stream(trace.lane_of(id)),
            ascend_trace_analysis::Lane::Thread(id) => LaneOf::Thread(id),
        };
        if let (Cause::Untimed, LaneOf::Stream(_)) = (stall.cause, lane) {
            let name = self.names.number(UNTIMED);
            let work = TimeRange::new(stall.begin, stall.end);
            self.lane(trace, lane).columns.add_work(work, name);
        }
        if !stall.is_notable() {
            return;
        }
        let name = match stall.node {
            Node::Task(id) => trace.task_name(trace.task(id)),
            Node::Call(id) => &trace.function(trace.call(id).function).name,
        };
        let held = LaneStall {
            lane,
            begin: stall.begin,
            length: stall.length(),
            cause: stall.cause,
            name: self.names.number(name),
            error: stall.bound.map_or(0, |bound| bound.error),
        };
        self.stalls.add(held);
    }

    fn arrow(&mut self, trace: &Trace, edge: &Edge) {
        let is_drawn = !matches!(
            edge.kind,
            EdgeKind::LaunchToTask | EdgeKind::StreamOrder | EdgeKind::Replay | EdgeKind::Captured
        );
        let Some(times) = edge.times(trace).filter(|_| is_drawn) else {
            return;
        };
        let lane = |node: Node| match node {
            Node::Task(id) => LaneOf::Stream(trace.lane_of(trace.task(id).stream)),
            Node::Call(id) => LaneOf::Thread(trace.call(id).thread),
        };
        let held = match edge.to {
            Node::Task(id) => trace.extent(trace.task(id)).duration(),
            Node::Call(id) => trace.call(id).range().duration(),
        };
        self.arrows.add(Arrow {
            from: lane(edge.from),
            leave: times.leave,
            to: lane(edge.to),
            arrive: times.arrive,
            kind: edge.kind,
            held,
        });
    }
}

impl Fold for TimelineFold {
    type Answer = Timeline;

    fn take(&mut self, window: &Window<'_>) {
        let trace = window.trace;
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            window
                .stream_tasks(stream)
                .for_each(|id| self.task(trace, id));
        }
        for thread in (0..trace.threads().len() as u32).map(ThreadId) {
            window
                .thread_calls(thread)
                .for_each(|id| self.call(trace, id));
        }
        window.stalls().for_each(|stall| self.stall(trace, stall));
        let edges = window.dependencies.edges().iter();
        edges
            .filter(|edge| window.owns_edge(edge))
            .for_each(|edge| self.arrow(trace, edge));
        if window.part.is_last {
            self.ranges(trace);
            self.order = self.lanes.keys().copied().collect();
            self.order.sort_by_cached_key(|it| it.order(trace));
        }
    }

    fn finish(self) -> Timeline {
        let most_bytes = self.most_bytes;
        write::timeline(self, most_bytes)
    }
}

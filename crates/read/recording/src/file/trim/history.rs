//! Rows that later ones depend on: objects that still exist, the calls that made them, functions, names, stacks, and
//! amounts that add up.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use ascend_trace_format::api::{ArgPart, RetKind, Role, Untimed};

use crate::entities::Function;
use crate::load::function;
use crate::other_threads::OtherThreadKey;
use crate::rows::{AnchorRow, CallRow, CostRow, LossRow, OtherThreadRow, Row, TablesRow};

use super::super::decode::FileItem;
use super::super::encoder::{Encoder, RowBatch};

/// Readings of a device's clock that are kept: those of about twenty seconds.
const ANCHORS: usize = 200;

/// What calls make memory with, by kind: an address, a handle of physical memory, an address of such memory.
const MAKES_MEMORY: [(u8, ArgPart); 4] = [
    (0, ArgPart::Allocated),
    (0, ArgPart::HostAllocated),
    (1, ArgPart::PhysicalAllocated),
    (2, ArgPart::MappedAt),
];
/// What calls end it with.
const ENDS_MEMORY: [(u8, ArgPart); 4] = [
    (0, ArgPart::Freed),
    (0, ArgPart::HostFreed),
    (1, ArgPart::PhysicalFreed),
    (2, ArgPart::Unmapped),
];

/// The process of a row, and the serial of its object.
type ObjectKey = (u32, u32);

/// Objects that have ended.
#[derive(Debug, Default)]
struct EndedObjects {
    streams: HashSet<ObjectKey>,
    events: HashSet<ObjectKey>,
    graphs: HashSet<ObjectKey>,
}

/// Collects the rows of the dropped part of a file.
#[derive(Debug, Default)]
pub(super) struct History {
    tables: TablesRow,
    functions: Vec<Function>,
    /// Things that calls name, in the order of the file.
    things: Vec<Row>,
    /// The process of each thread.
    processes: HashMap<u32, u32>,
    /// Calls that made or changed something, by their number.
    calls: BTreeMap<u64, CallRow>,
    next_call: u64,
    ended: EndedObjects,
    /// The call that made the memory of a kind with an address or a handle.
    memory: HashMap<(u32, (u8, u64)), u64>,
    /// The last call of a thread that changed its state, by function.
    changes: HashMap<(u32, u16), u64>,
    losses: BTreeMap<Option<u32>, LossRow>,
    costs: BTreeMap<u32, CostRow>,
    others: BTreeMap<OtherThreadKey, OtherThreadRow>,
    anchors: BTreeMap<(u32, u32, u8), VecDeque<AnchorRow>>,
    counters: Vec<Row>,
    open: Vec<CallRow>,
}

impl History {
    pub(super) fn take(&mut self, item: FileItem) {
        match item {
            FileItem::Session(_) => {}
            FileItem::Tables(tables) => self.learn(tables),
            FileItem::Open(calls) => self.open = calls,
            FileItem::Row(row) => self.row(row),
        }
    }

    fn learn(&mut self, tables: TablesRow) {
        let first = usize::from(tables.first);
        if self.functions.len() < first {
            let missing = || function(Default::default());
            self.functions.resize_with(first, missing);
        }
        let rows = tables.functions.iter().cloned();
        self.functions.extend(rows.map(function));
        self.tables.extend(tables);
    }

    fn row(&mut self, row: Row) {
        match row {
            Row::Call(call) => self.call(call),
            Row::Loss(loss) => {
                let sum = self.losses.entry(loss.thread).or_insert(LossRow {
                    thread: loss.thread,
                    ..LossRow::default()
                });
                sum.add(&loss);
            }
            Row::Cost(cost) => {
                self.costs.insert(cost.thread, cost);
            }
            Row::OtherThread(thread) => {
                self.others.insert(thread.key(), thread);
            }
            Row::Anchor(anchor) => {
                let key = (anchor.process, anchor.device, anchor.source);
                let known = self.anchors.entry(key).or_default();
                if known.len() == ANCHORS {
                    known.pop_front();
                }
                known.push_back(anchor);
            }
            // The encoder has one for each counter.
            Row::Counter(_) => self.counters.push(row),
            // What happened in the dropped part.
            Row::TaskTime(_) | Row::Activity(_) | Row::Range(_) | Row::End(_) => {}
            Row::Thread(ref thread) => {
                self.processes.insert(thread.thread, thread.process);
                self.things.push(row);
            }
            other => self.things.push(other),
        }
    }

    fn call(&mut self, call: CallRow) {
        let Some(function) = self.functions.get(usize::from(call.function)) else {
            return;
        };
        let is_failed = function.ret == RetKind::Error && call.ret != 0;
        if is_failed || !call.ending.is_return() {
            return;
        }
        let process = self.processes.get(&call.thread).copied().unwrap_or(0);
        let word = |part: ArgPart| call.args.get(function.part(part)?).copied();
        let named = |parts: &[(u8, ArgPart)]| {
            let named = |&(kind, part): &(u8, ArgPart)| Some((kind, word(part)?));
            parts.iter().find_map(named)
        };
        let (allocated, freed) = (named(&MAKES_MEMORY), named(&ENDS_MEMORY));
        let meaning = function.role.meaning();
        // A node of a graph.
        let is_captured = call.task.is_some_and(|task| {
            let why = Untimed::from_code(task.untimed);
            matches!(why, Some(Untimed::Captured | Untimed::Bound))
        });
        match (allocated, freed) {
            (Some(memory), _) => {
                let number = self.keep(call);
                let before = self.memory.insert((process, memory), number);
                before.map(|before| self.calls.remove(&before));
            }
            (_, Some(memory)) => {
                let made = self.memory.remove(&(process, memory));
                made.map(|made| self.calls.remove(&made));
            }
            _ if is_captured || meaning.lasts() && !meaning.annotates => {
                self.change(process, function.role, call);
            }
            _ => {}
        }
    }

    /// Keeps a call that made, ended or changed something.
    fn change(&mut self, process: u32, role: Role, call: CallRow) {
        let ended = &mut self.ended;
        let stream = call.stream.map(|it| (process, it));
        let event = call.event.map(|it| (process, it.0));
        let graph = call.graph.map(|it| (process, it.serial));
        match role {
            Role::DestroyStream => ended.streams.extend(stream),
            Role::DestroyEvent => ended.events.extend(event),
            Role::DestroyGraph => ended.graphs.extend(graph),
            _ if role.sets_current() => {
                let key = (call.thread, call.function);
                let number = self.keep(call);
                let before = self.changes.insert(key, number);
                before.map(|before| self.calls.remove(&before));
            }
            _ => {
                self.keep(call);
            }
        }
    }

    fn keep(&mut self, call: CallRow) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        self.calls.insert(number, call);
        number
    }

    /// Whether a call is about an object that still exists, or about none.
    fn is_of_living(&self, call: &CallRow) -> bool {
        let process = self.processes.get(&call.thread).copied().unwrap_or(0);
        let ended = &self.ended;
        match (call.graph, call.event, call.stream) {
            (Some(graph), ..) => !ended.graphs.contains(&(process, graph.serial)),
            (_, Some((event, _)), _) => !ended.events.contains(&(process, event)),
            (_, _, Some(stream)) => !ended.streams.contains(&(process, stream)),
            _ => true,
        }
    }

    fn is_living(&self, row: &Row) -> bool {
        match row {
            Row::Stream(row) => !self.ended.streams.contains(&(row.process, row.serial)),
            Row::Event(row) => !self.ended.events.contains(&(row.process, row.serial)),
            _ => true,
        }
    }

    /// The functions, and batches of everything else.
    pub(super) fn seal(mut self) -> (TablesRow, Vec<RowBatch>) {
        let tables = std::mem::take(&mut self.tables);
        let mut encoder = Encoder::new();
        let mut batches = Vec::new();
        let mut put = |row: &Row| {
            if encoder.push(row) {
                batches.push(encoder.seal());
            }
        };
        let things = self.things.iter().filter(|row| self.is_living(row));
        things.for_each(&mut put);
        let anchors = self.anchors.values().flatten();
        anchors.for_each(|row| put(&Row::Anchor(*row)));
        self.losses.values().for_each(|row| put(&Row::Loss(*row)));
        self.costs.values().for_each(|row| put(&Row::Cost(*row)));
        let others = std::mem::take(&mut self.others).into_values();
        others.for_each(|row| put(&Row::OtherThread(row)));
        self.counters.iter().for_each(&mut put);
        let calls = self.calls.values().filter(|call| self.is_of_living(call));
        calls.for_each(|call| put(&Row::Call(call.clone())));
        encoder.set_open(self.open);
        batches.push(encoder.seal());
        (tables, batches)
    }
}

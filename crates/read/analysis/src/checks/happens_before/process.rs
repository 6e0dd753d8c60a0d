//! The order of one process's tasks, as far as its calls make it, and the memory that they use.

mod memory_uses;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ascend_trace_recording::{EventId, Generation, StreamId};

use super::action::{CallEffect, StreamPosition, TimedEffect};
use super::clock::{Clock, HostKnowledge};
use super::collective_buffers::Memberships;
use super::graphs::Graphs;
use super::left_copies::LeftCopies;
use super::memory::{MemoryHistory, MemoryUse};
use super::sync_events::{EventUse, HeldEvents, TaskPosition};
use super::written::DeviceMemory;
use super::{NotedCall, OrderFact};

/// Streams that are followed at a time.
const MOST_STREAMS: u32 = 1 << 12;
/// Largest number of events with kept recordings.
const MOST_EVENTS: usize = 1 << 16;
/// Recordings of one event that are remembered: a wait of another thread may name an older one.
const MOST_RECORDS: usize = 4;
/// Allocations that are remembered.
const MOST_ALLOCATIONS: usize = 1 << 20;
/// Memory that was given back, and is remembered.
const MOST_FREED: usize = 1 << 14;

/// A stream that is followed.
#[derive(Debug)]
struct Lane {
    slot: u32,
    /// The position before its first task.
    base: u64,
    /// The position of its last task that matters.
    top: u64,
    /// The predecessors of its next task, itself included.
    clock: Clock,
    /// From this position on, it waits for something that is not known, until the host knows that this is done.
    unknown: Option<u64>,
}

impl Lane {
    fn is_unknown(&self, host: &HostKnowledge) -> bool {
        self.unknown.is_some_and(|from| host.at(self.slot) < from)
    }

    fn position(&self, number: u32) -> u64 {
        self.base + u64::from(number) + 1
    }
}

/// The predecessors of a recording of an event, itself included.
#[derive(Debug)]
struct Record {
    generation: u32,
    slot: u32,
    position: u64,
    clock: Arc<Clock>,
}

/// Slots that streams have had, and where their positions go on.
#[derive(Debug, Default)]
struct Slots {
    count: u32,
    free: Vec<(u32, u64)>,
}

impl Slots {
    fn take(&mut self) -> Option<(u32, u64)> {
        if let Some(free) = self.free.pop() {
            return Some(free);
        }
        let slot = Some(self.count).filter(|slot| *slot < MOST_STREAMS)?;
        self.count += 1;
        Some((slot, 0))
    }
}

#[derive(Debug, Default)]
pub(super) struct Process {
    host: HostKnowledge,
    slots: Slots,
    lanes: HashMap<StreamId, Lane>,
    events: HashMap<EventId, Vec<Record>>,
    /// What calls that wait looked at when they began, by the number of the call.
    looks: HashMap<u32, Clock>,
    memory: MemoryHistory,
    written: DeviceMemory,
    /// The last copy to the host of each stream, by its slot.
    to_host: BTreeMap<u32, MemoryUse>,
    /// Those of devices that a call may have ended.
    left: LeftCopies,
    /// Begin, end, and whether it is the host's.
    allocations: BTreeMap<u64, (u64, bool)>,
    /// Memory that was given back and not allocated again: its end, and the call.
    freed: BTreeMap<u64, (u64, NotedCall)>,
    /// If streams may wait for unrecorded events: the streams that were made since.
    made: Option<HashSet<StreamId>>,
    graphs_wait: bool,
    graphs: Graphs,
    communicators: Memberships,
    held: HeldEvents,
    /// There were too many streams: nothing is said of the process.
    gave_up: bool,
}

impl Process {
    /// With `is_late`, the process had streams before the recording begins.
    pub(super) fn new(is_late: bool) -> Self {
        Self {
            made: is_late.then(HashSet::new),
            ..Self::default()
        }
    }

    pub(super) fn take(&mut self, action: TimedEffect, facts: &mut Vec<OrderFact>) {
        if self.gave_up {
            return;
        }
        let note = action.note;
        self.left.take(&action.act);
        match action.act {
            CallEffect::Looks(places) => self.look(note.number, &places),
            CallEffect::Learns => {
                if let Some(clock) = self.looks.remove(&note.number) {
                    self.learn(&clock);
                }
            }
            CallEffect::LearnsOf(event) => self.learn_of(event),
            CallEffect::Records(place, event) => self.record(place, event),
            CallEffect::Waits(stream, number, event) => {
                let is_needless = self.wait(stream, number, event);
                facts.push(OrderFact::Waited {
                    by: note,
                    is_needless,
                });
            }
            CallEffect::WaitsForUnknown(stream, number) => self.lose((stream, number)),
            CallEffect::CallsBack(stream, number) => {
                self.look(note.number, &[(stream, number)]);
                if let Some(clock) = self.looks.remove(&note.number) {
                    self.learn(&clock);
                }
                self.lose((stream, number));
            }
            CallEffect::Replays(place, graph) => {
                self.written.doubt_all();
                self.replay(place, graph, note, facts);
            }
            CallEffect::Captures(graph, used) => self.graphs.capture(graph, used),
            CallEffect::ChangesGraphs => self.graphs.change(),
            CallEffect::EndsGraph(graph) => self.graphs.end(graph),
            CallEffect::CapturesWait => self.graphs_wait = true,
            CallEffect::Uses(place, used) => {
                self.move_contents(Some(place), &used, note, facts);
                self.task_uses(place, &self.known(used), note, facts);
            }
            CallEffect::Communicates(place, buffers, has_peers) => {
                let used = self.communicators.memory_of(&buffers);
                match has_peers {
                    true => {
                        self.used_after_unknown(place, &used, note);
                        self.lose(place);
                    }
                    false => self.task_uses(place, &used, note, facts),
                }
            }
            CallEffect::Joins(handle, own) => self.communicators.join(handle, own),
            CallEffect::HostUses(used) => {
                self.move_contents(None, &used, note, facts);
                self.host_uses(&used, note, facts);
            }
            CallEffect::MayHostUse(place, used) => {
                self.move_contents(Some(place), &used, note, facts);
                self.may_host_use(place, used, note, facts);
            }
            CallEffect::MayWrite => self.written.doubt_all(),
            CallEffect::Mentions(addresses) => {
                addresses.into_iter().for_each(|it| self.written.doubt(it));
            }
            CallEffect::Allocates(range, is_host) => self.allocate(range, is_host),
            CallEffect::Renews(range) => self.allocate(range, false),
            CallEffect::Fails(addresses) => {
                let mut addresses = addresses.into_iter().flatten();
                facts.extend(addresses.find_map(|it| self.used_after_free(it, note)));
            }
            CallEffect::Frees(address, is_checked) => self.free(address, is_checked, note, facts),
            CallEffect::FreesInOrder(place, address) => {
                self.free_in_order(place, address, note, facts)
            }
            CallEffect::EndsEvent(event) => {
                self.events.remove(&event);
                self.held.end(event);
            }
            CallEffect::Holds(event, act) => self.hold(event, act, note, facts),
            CallEffect::MakesStream(stream) => {
                if let Some(made) = &mut self.made {
                    made.insert(stream);
                }
            }
            CallEffect::EndsStream(stream) => self.end_stream(stream),
            CallEffect::Drops(stream, number) => self.drop_tasks(stream, number, note, facts),
            CallEffect::Finalizes => {
                facts.extend(self.pending_copies(Some(note)));
                self.to_host.clear();
            }
            CallEffect::LeavesDevice(streams) => self.leave_device(&streams, note),
            CallEffect::Resets => {
                *self = Self {
                    left: std::mem::take(&mut self.left),
                    graphs_wait: self.graphs_wait,
                    communicators: std::mem::take(&mut self.communicators),
                    made: self.made.take(),
                    ..Self::default()
                };
            }
            CallEffect::Misses => self.miss(),
        }
        if self.gave_up {
            facts.push(OrderFact::Unknown(Some(action.process)));
        }
    }

    fn lane(&mut self, stream: StreamId) -> Option<&mut Lane> {
        let vacant = match self.lanes.entry(stream) {
            Entry::Occupied(known) => return Some(known.into_mut()),
            Entry::Vacant(vacant) => vacant,
        };
        let Some((slot, base)) = self.slots.take() else {
            self.gave_up = true;
            return None;
        };
        let made = self.made.as_ref();
        let is_late = made.is_some_and(|made| !made.contains(&stream));
        Some(vacant.insert(Lane {
            slot,
            base,
            top: base,
            clock: Clock::default(),
            unknown: is_late.then_some(base + 1),
        }))
    }

    /// The slot and position of a task that has been submitted.
    fn submitted(&mut self, (stream, number): StreamPosition) -> Option<(u32, u64)> {
        let lane = self.lane(stream)?;
        let position = lane.position(number);
        lane.top = lane.top.max(position);
        lane.clock.raise((lane.slot, position));
        Some((lane.slot, position))
    }

    fn look(&mut self, call: u32, places: &[StreamPosition]) {
        let mut clock = Clock::default();
        for place in places {
            let Some(lane) = self.lane(place.0) else {
                continue;
            };
            let position = (lane.slot, lane.position(place.1));
            clock.join(&lane.clock);
            clock.raise(position);
            let unknown = lane.unknown;
            clock.is_open |= unknown.is_some_and(|from| self.host.at(position.0) < from);
        }
        self.looks.insert(call, clock);
    }

    fn learn(&mut self, clock: &Clock) {
        clock
            .entries()
            .iter()
            .for_each(|entry| self.host.raise(*entry));
        if clock.is_open {
            self.learn_all();
        }
    }

    /// All that has been submitted may be done.
    fn learn_all(&mut self) {
        for lane in self.lanes.values() {
            self.host.raise((lane.slot, lane.top));
        }
    }

    fn learn_of(&mut self, event: Generation) {
        match self.find(event).map(|it| Arc::clone(&it.clock)) {
            Some(clock) => self.learn(&clock),
            None => self.learn_all(),
        }
    }

    fn find(&self, event: Generation) -> Option<&Record> {
        let records = self.events.get(&event.event)?;
        records.iter().find(|it| it.generation == event.number)
    }

    fn record(&mut self, place: StreamPosition, event: Generation) {
        let Some((slot, position)) = self.submitted(place) else {
            return;
        };
        let host = &self.host;
        let Some(lane) = self.lanes.get_mut(&place.0) else {
            return;
        };
        lane.clock.prune(host);
        let mut clock = lane.clock.clone();
        clock.is_open |= lane.is_unknown(host);
        if self.events.len() >= MOST_EVENTS && !self.events.contains_key(&event.event) {
            self.events.clear();
        }
        let records = self.events.entry(event.event).or_default();
        if records.len() >= MOST_RECORDS {
            records.remove(0);
        }
        records.push(Record {
            generation: event.number,
            slot,
            position,
            clock: Arc::new(clock),
        });
    }

    /// Returns whether the stream had this order without the wait. Knowledge of the host does not count: in another run, it may know
    /// less.
    fn wait(&mut self, stream: StreamId, number: Option<u32>, event: Option<Generation>) -> bool {
        let record = event.and_then(|event| self.find(event));
        let record = record.map(|it| (it.slot, it.position, Arc::clone(&it.clock)));
        let host_knows = |host: &HostKnowledge, (slot, position)| host.at(slot) >= position;
        match record {
            // It was done before: the host knows all that came before it.
            Some((slot, position, _)) if host_knows(&self.host, (slot, position)) => false,
            Some((slot, position, clock)) if !clock.is_open => {
                let Some(lane) = self.lane(stream) else {
                    return false;
                };
                let comes_before = lane.slot == slot || lane.clock.at(slot) >= position;
                let is_known = lane.unknown.is_none() && !lane.clock.is_open;
                lane.clock.join(&clock);
                is_known && comes_before
            }
            _ => {
                let top = self.lane(stream).map(|lane| lane.top - lane.base);
                let number = number.map_or(top.unwrap_or(0), u64::from);
                self.lose((stream, u32::try_from(number).unwrap_or(u32::MAX)));
                false
            }
        }
    }

    fn hold(&mut self, event: EventId, act: EventUse, note: NotedCall, facts: &mut Vec<OrderFact>) {
        let Some((slot, position)) = self.submitted(act.place()) else {
            return;
        };
        let Some(lane) = self.lanes.get(&act.place().0) else {
            return;
        };
        let (host, clock) = (&self.host, &lane.clock);
        let is_unknown = lane.is_unknown(host) || clock.is_open;
        let is_before = |it: &TaskPosition| {
            is_unknown || it.slot == slot || it.position <= host.at(it.slot).max(clock.at(it.slot))
        };
        let at = TaskPosition {
            slot,
            position,
            note,
        };
        facts.extend(self.held.take(event, act, at, is_before));
    }

    /// From here on the predecessors of a stream's tasks are not known.
    fn lose(&mut self, place: StreamPosition) {
        let Some((_, position)) = self.submitted(place) else {
            return;
        };
        if let Some(lane) = self.lanes.get_mut(&place.0) {
            lane.unknown = lane.unknown.max(Some(position));
        }
    }

    fn end_stream(&mut self, stream: StreamId) {
        if let Some(made) = &mut self.made {
            made.remove(&stream);
        }
        let Some(lane) = self.lanes.remove(&stream) else {
            return;
        };
        self.to_host.remove(&lane.slot);
        self.host.raise((lane.slot, lane.top));
        let from = self.host.at(lane.slot);
        self.slots.free.push((lane.slot, from));
    }

    fn drop_tasks(
        &mut self,
        stream: StreamId,
        number: u32,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        let Some(lane) = self.lane(stream) else {
            return;
        };
        let (slot, last, base) = (lane.slot, lane.position(number), lane.base);
        let known = self.host.at(slot).max(base);
        let copy = self.to_host.get(&slot).filter(|it| it.position > known);
        if known < last {
            facts.push(OrderFact::Dropped {
                by: note,
                tasks: last - known,
                copy: copy.map(|it| it.note),
            });
        }
    }

    /// A call begins that may end the device of these streams.
    fn leave_device(&mut self, streams: &[StreamId], by: NotedCall) {
        for stream in streams {
            let lane = self.lanes.get(stream);
            let Some(lane) = lane.filter(|it| !it.is_unknown(&self.host)) else {
                continue;
            };
            let Some(copy) = self.to_host.get(&lane.slot) else {
                continue;
            };
            let mut looks = self.looks.values();
            let is_awaited = looks.any(|clock| clock.at(lane.slot) >= copy.position);
            if copy.position > self.host.at(lane.slot) && !is_awaited {
                self.left.add(*stream, copy.note, by);
            }
        }
    }

    /// The copies to the host of which the host does not know that they are done, one for each stream.
    pub(super) fn pending_copies(&self, by: Option<NotedCall>) -> Vec<OrderFact> {
        let is_known = |slot: u32| {
            let mut lanes = self.lanes.values();
            let lane = lanes.find(|it| it.slot == slot);
            lane.is_some_and(|it| !it.is_unknown(&self.host))
        };
        let pending = self.to_host.values();
        let pending = pending.filter(|it| it.position > self.host.at(it.slot));
        let pending = pending.filter(|it| !self.gave_up && is_known(it.slot));
        let facts = pending.map(|copy| OrderFact::NotWaitedFor {
            copy: copy.note,
            by,
        });
        let left = self.left.facts();
        let left = left.filter(|_| by.is_none() && !self.gave_up);
        facts.chain(left).collect()
    }

    /// Calls were not recorded: streams may wait for anything, and memory may be anyone's.
    fn miss(&mut self) {
        self.memory.clear();
        self.written.clear();
        self.to_host.clear();
        self.events.clear();
        self.looks.clear();
        self.allocations.clear();
        self.held.clear();
        self.graphs.change();
        self.made = Some(HashSet::new());
        for lane in self.lanes.values_mut() {
            lane.clock = Clock::default();
            lane.unknown = Some(lane.top + 1);
        }
    }
}

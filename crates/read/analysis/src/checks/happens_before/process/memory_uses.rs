//! The memory that tasks and the host use: its allocations, its uses in order, and pools.

use std::ops::Range;

use super::super::action::{MemoryAccesses as Used, StreamPosition};
use super::super::area::Area;
use super::super::graphs::Graph;
use super::super::memory::{MemoryHistory, MemoryUse};
use super::super::{NotedCall, OrderFact};
use super::{MOST_ALLOCATIONS, MOST_FREED, Process};
use crate::checks::{EndedObject, UseAfterEnd};

impl Process {
    /// Without possible pageable memory of the host, which an older runtime copies itself.
    pub(super) fn known(&self, used: Used) -> Used {
        let is_ours = |area: &Area, is_host: bool| !is_host || self.is_pinned(&area.whole());
        let [reads, writes] = used.is_host;
        Used {
            reads: used.reads.filter(|area| is_ours(area, reads)),
            writes: used.writes.filter(|area| is_ours(area, writes)),
            ..used
        }
    }

    pub(super) fn is_pinned(&self, range: &Range<u64>) -> bool {
        let before = self.allocations.range(..=range.start).next_back();
        before.is_some_and(|(_, (end, is_host))| *is_host && range.end <= *end)
    }

    /// Whether it copies from a device to the host. A copy may leave the direction to the runtime.
    pub(super) fn is_to_host(&self, used: &Used) -> bool {
        let (Some(reads), Some(writes)) = (&used.reads, &used.writes) else {
            return false;
        };
        let is_pinned = |area: &Area| self.is_pinned(&area.whole());
        used.is_host[1] || is_pinned(writes) && !is_pinned(reads)
    }

    pub(super) fn task_uses(
        &mut self,
        place: StreamPosition,
        used: &Used,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        let Some((slot, position)) = self.submitted(place) else {
            return;
        };
        let is_to_host = self.is_to_host(used);
        let Some(lane) = self.lanes.get_mut(&place.0) else {
            return;
        };
        let host = &self.host;
        if lane.is_unknown(host) {
            return;
        }
        lane.clock.prune(host);
        let clock = &lane.clock;
        let is_before = |it: &MemoryUse| {
            let reached = host.at(it.slot).max(clock.at(it.slot));
            it.slot == slot || it.position <= reached
        };
        facts.extend(race(&self.memory, used, note, is_before));
        let by = MemoryUse {
            slot,
            position,
            note,
        };
        for range in used.reads.iter().flat_map(Area::ranges) {
            self.memory.read(&range, by, is_before);
        }
        if let Some(area) = &used.writes {
            for range in area.ranges() {
                self.memory.write(&range, by);
            }
            if is_to_host {
                self.to_host.insert(slot, by);
            }
        }
        self.memory.tidy(|it| it.position <= host.at(it.slot));
    }

    /// A task that comes after something unknown uses memory: earlier uses may come before it, and later ones need an order.
    pub(super) fn used_after_unknown(
        &mut self,
        place: StreamPosition,
        used: &Used,
        note: NotedCall,
    ) {
        let Some((slot, position)) = self.submitted(place) else {
            return;
        };
        let host = &self.host;
        let by = MemoryUse {
            slot,
            position,
            note,
        };
        for range in used.reads.iter().flat_map(Area::ranges) {
            self.memory.read(&range, by, |_| true);
        }
        for range in used.writes.iter().flat_map(Area::ranges) {
            self.memory.write(&range, by);
        }
        self.memory.tidy(|it| it.position <= host.at(it.slot));
    }

    /// A replay uses what its nodes use.
    pub(super) fn replay(
        &mut self,
        place: StreamPosition,
        serial: Option<u32>,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        let graph = serial.and_then(|serial| self.graphs.take(serial));
        let freed = graph.as_ref().and_then(Graph::freed);
        facts.extend(freed.map(|freed| OrderFact::ReplaysFreed { by: note, freed }));
        if self.graphs_wait {
            self.lose(place);
        } else if freed.is_none() {
            let uses = graph.iter().flat_map(Graph::uses);
            for used in uses {
                self.task_uses(place, &self.known(used.clone()), note, facts);
            }
        }
        if let Some((serial, graph)) = serial.zip(graph) {
            self.graphs.put(serial, graph);
        }
    }

    /// Follows which memory was written, and looks for copies to the host of memory that was not.
    pub(super) fn move_contents(
        &mut self,
        place: Option<StreamPosition>,
        used: &Used,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        let lane = place.and_then(|place| self.lanes.get(&place.0));
        let is_unknown = lane.is_some_and(|it| it.is_unknown(&self.host));
        match (&used.reads, &used.writes) {
            (Some(from), to) if used.is_host[1] => {
                let (missing, writer) = self.written.missing(from);
                if missing > 0 && !is_unknown {
                    facts.push(OrderFact::ReadsUnwritten {
                        by: note,
                        missing,
                        writer,
                    });
                }
                to.iter().for_each(|it| self.written.write(it, note));
            }
            // The memory that it reads may be written later.
            (Some(from), Some(to)) if !is_unknown => self.written.copy(from, to, note),
            (_, to) => to.iter().for_each(|it| self.written.write(it, note)),
        }
    }

    /// The host does it now: earlier submissions must be done.
    pub(super) fn host_uses(&mut self, used: &Used, note: NotedCall, facts: &mut Vec<OrderFact>) {
        let is_before = |it: &MemoryUse| it.position <= self.host.at(it.slot);
        facts.extend(race(&self.memory, used, note, is_before));
    }

    pub(super) fn may_host_use(
        &mut self,
        place: StreamPosition,
        used: Used,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        let sides = [&used.reads, &used.writes].into_iter().zip(used.is_host);
        let mut of_host = sides.filter(|(_, is_host)| *is_host);
        let is_pinned = |area: &Option<Area>| {
            let area = area.as_ref();
            area.is_some_and(|area| self.is_pinned(&area.whole()))
        };
        if of_host.all(|(area, _)| is_pinned(area)) {
            self.task_uses(place, &used, note, facts);
            return;
        }
        self.look(note.number, &[place]);
        if let Some(clock) = self.looks.remove(&note.number) {
            self.learn(&clock);
        }
    }

    pub(super) fn allocate(&mut self, range: Range<u64>, is_host: bool) {
        self.memory.forget(&range);
        let before = self.freed.range(..range.end).rev();
        let again = before.take_while(|it| it.1.0 > range.start);
        let again: Vec<u64> = again.map(|it| *it.0).collect();
        for address in again {
            self.freed.remove(&address);
        }
        if !is_host {
            self.written.allocate(&range);
        }
        if self.allocations.len() < MOST_ALLOCATIONS {
            self.allocations.insert(range.start, (range.end, is_host));
        }
    }

    pub(super) fn free(
        &mut self,
        address: u64,
        is_checked: bool,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        self.written.free(address);
        let Some((end, is_host)) = self.allocations.remove(&address) else {
            return;
        };
        let range = address..end;
        let is_before = |it: &MemoryUse| it.position <= self.host.at(it.slot);
        let shared = self.memory.conflict(&range, true, is_before);
        let shared = shared.filter(|_| is_checked);
        facts.extend(shared.map(|it| OrderFact::freed(it, note, is_host)));
        self.memory.forget(&range);
        self.graphs.free(&range, note);
        self.gave_back(range, note);
    }

    fn gave_back(&mut self, range: Range<u64>, note: NotedCall) {
        if self.freed.len() >= MOST_FREED {
            self.freed.clear();
        }
        self.freed.insert(range.start, (range.end, note));
    }

    /// A call failed that names this address: perhaps because the memory was given back before.
    pub(super) fn used_after_free(&self, address: u64, by: NotedCall) -> Option<OrderFact> {
        let (_, (end, ended)) = self.freed.range(..=address).next_back()?;
        (address < *end).then_some(OrderFact::UsedAfterEnd(UseAfterEnd {
            by,
            entity: EndedObject::Memory,
            ended: *ended,
        }))
    }

    /// A stream gives memory back to a pool: uses on other streams must come before it.
    pub(super) fn free_in_order(
        &mut self,
        place: StreamPosition,
        address: u64,
        note: NotedCall,
        facts: &mut Vec<OrderFact>,
    ) {
        self.written.free(address);
        let (Some((slot, _)), Some((end, is_host))) =
            (self.submitted(place), self.allocations.remove(&address))
        else {
            return;
        };
        let range = address..end;
        let lane = self.lanes.get(&place.0);
        if let Some(lane) = lane.filter(|it| !it.is_unknown(&self.host)) {
            let reached = |it: &MemoryUse| self.host.at(it.slot).max(lane.clock.at(it.slot));
            let is_before = |it: &MemoryUse| it.slot == slot || it.position <= reached(it);
            let shared = self.memory.conflict(&range, true, is_before);
            facts.extend(shared.map(|it| OrderFact::freed(it, note, is_host)));
        }
        self.memory.forget(&range);
        self.graphs.free(&range, note);
        self.gave_back(range, note);
    }
}

/// The race of a use of memory with an unordered earlier one: for its writes, or else for its reads.
fn race(
    memory: &MemoryHistory,
    used: &Used,
    note: NotedCall,
    is_before: impl Fn(&MemoryUse) -> bool + Copy,
) -> Option<OrderFact> {
    let writes = used.writes.as_ref().map(|area| (area, true));
    let reads = used.reads.as_ref().map(|area| (area, false));
    writes.into_iter().chain(reads).find_map(|(area, writes)| {
        let each = area.ranges();
        let mut each = each.filter_map(|it| memory.conflict(&it, writes, is_before));
        let mut shared = each.next()?;
        let first = shared.before.note.number;
        let others = each.filter(|it| it.before.note.number == first);
        shared.bytes += others.map(|it| it.bytes).sum::<u64>();
        Some(OrderFact::race(shared, note, writes))
    })
}

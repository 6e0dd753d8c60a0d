//! The memory that the tasks of captured graphs use.

use std::collections::HashMap;
use std::ops::Range;

use super::NotedCall;
use super::action::MemoryAccesses;

/// Graphs that are followed at a time.
const MOST_GRAPHS: usize = 1 << 12;
/// Uses of memory that are followed for each.
const MOST_USES: usize = 1 << 12;

#[derive(Debug, Default)]
pub(super) struct Graph {
    uses: Vec<MemoryAccesses>,
    /// The call that gave back memory which the graph uses.
    freed: Option<NotedCall>,
}

impl Graph {
    pub(super) fn uses(&self) -> &[MemoryAccesses] {
        &self.uses
    }

    pub(super) fn freed(&self) -> Option<NotedCall> {
        self.freed
    }

    fn touches(&self, range: &Range<u64>) -> bool {
        let mut all = self.uses.iter().flat_map(|it| [&it.reads, &it.writes]);
        all.any(|it| it.as_ref().is_some_and(|it| it.touches(range)))
    }
}

/// The graphs of a process by their serial numbers.
#[derive(Debug, Default)]
pub(super) struct Graphs {
    known: HashMap<u32, Graph>,
    /// Nodes are replaced: the memory that a graph uses is not known any more.
    change: bool,
}

impl Graphs {
    /// A task became a node.
    pub(super) fn capture(&mut self, serial: u32, used: MemoryAccesses) {
        if self.change || (self.known.len() >= MOST_GRAPHS && !self.known.contains_key(&serial)) {
            return;
        }
        let uses = &mut self.known.entry(serial).or_default().uses;
        if uses.len() < MOST_USES && !uses.contains(&used) {
            uses.push(used);
        }
    }

    pub(super) fn change(&mut self) {
        self.known.clear();
        self.change = true;
    }

    pub(super) fn end(&mut self, serial: u32) {
        self.known.remove(&serial);
    }

    /// Memory was given back.
    pub(super) fn free(&mut self, range: &Range<u64>, by: NotedCall) {
        let unharmed = self.known.values_mut().filter(|it| it.freed.is_none());
        for graph in unharmed {
            if graph.touches(range) {
                graph.freed = Some(by);
            }
        }
    }

    /// Takes out the facts about a graph. The caller puts them back.
    pub(super) fn take(&mut self, serial: u32) -> Option<Graph> {
        self.known.remove(&serial)
    }

    pub(super) fn put(&mut self, serial: u32, graph: Graph) {
        self.known.insert(serial, graph);
    }
}

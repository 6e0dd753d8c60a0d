//! Graphs of the traced program, captured or built by hand, named by serials that are never reused.
//!
//! A serial is given when the capture or the building begins; the runtime's handle leads to it as
//! soon as the handle is known.

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicU64};

use ascend_trace_format::record::pair;

use crate::objects::{Serials, keyed};
use crate::table::HandleTable;

/// A graph, keyed by its `aclmdlRI` handle.
pub(crate) struct GraphEntry {
    key: AtomicU64,
    /// 0 while there is no graph with this handle.
    serial: AtomicU32,
    /// Tasks that were put on its bound streams. A capture counts for itself.
    nodes: AtomicU32,
    /// Times it was started.
    replays: AtomicU32,
}

/// A captured task group, keyed by its handle.
struct GroupEntry {
    key: AtomicU64,
    graph: AtomicU32,
}

keyed!(GraphEntry, GroupEntry);

impl GraphEntry {
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "only initialises the table"
    )]
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        serial: AtomicU32::new(0),
        nodes: AtomicU32::new(0),
        replays: AtomicU32::new(0),
    };

    /// The graph word of a call on the graph as a whole.
    pub(crate) fn whole(&self) -> u64 {
        pair(self.serial.load(Acquire), 0)
    }

    /// The graph word of a call that added a node.
    pub(crate) fn node(&self) -> u64 {
        let index = self.nodes.fetch_add(1, Relaxed).wrapping_add(1);
        pair(self.serial.load(Acquire), index)
    }

    /// The graph word of a call that started the graph.
    pub(crate) fn replay(&self) -> u64 {
        let number = self.replays.fetch_add(1, Relaxed).wrapping_add(1);
        pair(self.serial.load(Acquire), number)
    }
}

impl GroupEntry {
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "only initialises the table"
    )]
    const NEW: Self = Self {
        key: AtomicU64::new(0),
        graph: AtomicU32::new(0),
    };
}

static GRAPHS: HandleTable<GraphEntry, 65_536> =
    HandleTable::new([const { GraphEntry::NEW }; 65_536]);
static GROUPS: HandleTable<GroupEntry, 65_536> =
    HandleTable::new([const { GroupEntry::NEW }; 65_536]);

pub(crate) static GRAPH_SERIALS: Serials = Serials::new();

/// The graph behind a handle.
pub(crate) fn of(handle: u64) -> Option<&'static GraphEntry> {
    GRAPHS
        .get(handle)
        .filter(|graph| graph.serial.load(Acquire) != 0)
}

/// The serial of the graph behind a handle, 0 when it is not known.
pub(crate) fn serial_of(handle: u64) -> u32 {
    of(handle).map_or(0, |graph| graph.serial.load(Acquire))
}

/// Learns the handle of a graph.
pub(crate) fn name(handle: u64, serial: u32) {
    let Some(graph) = GRAPHS.get_or_insert(handle) else {
        return;
    };
    if graph.serial.load(Relaxed) != serial {
        graph.nodes.store(0, Relaxed);
        graph.replays.store(0, Relaxed);
        graph.serial.store(serial, Release);
    }
}

/// The graph with this serial has ended; another graph may have its handle already.
pub(crate) fn forget(handle: u64, serial: u32) {
    if let Some(graph) = GRAPHS.get(handle) {
        let _ = graph.serial.compare_exchange(serial, 0, AcqRel, Relaxed);
    }
}

/// Learns the handle of a task group and its graph.
pub(crate) fn name_group(handle: u64, graph: u32) {
    if let Some(group) = GROUPS.get_or_insert(handle) {
        group.graph.store(graph, Release);
    }
}

/// The graph of a task group, 0 when it is not known.
pub(crate) fn of_group(handle: u64) -> u32 {
    GROUPS
        .get(handle)
        .map_or(0, |group| group.graph.load(Acquire))
}

/// Forgets everything after a fork.
pub(crate) fn forget_all() {
    if !GRAPH_SERIALS.restart() {
        return;
    }
    GRAPHS
        .iter()
        .for_each(|graph| graph.serial.store(0, Relaxed));
    GROUPS
        .iter()
        .for_each(|group| group.graph.store(0, Relaxed));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replays_and_nodes_count_from_one_for_each_graph() {
        name(0x6000, 901);
        let graph = of(0x6000).unwrap();
        assert_eq!(graph.whole(), pair(901, 0));
        assert_eq!(
            [graph.replay(), graph.replay()],
            [pair(901, 1), pair(901, 2)]
        );
        assert_eq!([graph.node(), graph.node()], [pair(901, 1), pair(901, 2)]);
        // Told again, nothing starts over; another graph with the handle does.
        name(0x6000, 901);
        assert_eq!(graph.replay(), pair(901, 3));
        name(0x6000, 902);
        assert_eq!(graph.replay(), pair(902, 1));
    }

    #[test]
    fn a_handle_that_was_used_again_is_not_forgotten() {
        name(0x6100, 911);
        name(0x6100, 912);
        forget(0x6100, 911);
        assert_eq!(serial_of(0x6100), 912);
        forget(0x6100, 912);
        assert!(of(0x6100).is_none());
    }

    #[test]
    fn a_task_group_leads_to_its_graph() {
        name_group(0x6200, 921);
        assert_eq!(of_group(0x6200), 921);
        assert_eq!(of_group(0x6300), 0);
    }
}

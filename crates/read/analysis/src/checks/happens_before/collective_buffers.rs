//! The memory that a collective uses: its buffers, as long as its count, its data type and the number of ranks say.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Fact, TaskKind};
use ascend_trace_recording::{Call, Function, Trace};

use super::action::MemoryAccesses;
use super::area::Area;
use crate::collectives::Collective;

/// Communicators that are remembered.
const MOST: usize = 1 << 12;

/// The part of this process in a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Membership {
    rank: u64,
    ranks: u64,
}

/// The communicators of a process, by handle.
#[derive(Debug, Default)]
pub(super) struct Memberships(HashMap<u64, Membership>);

impl Memberships {
    pub(super) fn join(&mut self, handle: u64, own: Membership) {
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(handle, own);
    }

    /// The memory of a collective. Of an unknown communicator, it is what each rank uses at least.
    pub(super) fn memory_of(&self, buffers: &CollectiveBuffers) -> MemoryAccesses {
        buffers.memory(self.0.get(&buffers.comm).copied())
    }
}

/// The communicator that a call makes, and the part of this process in it.
pub(super) fn joined(trace: &Trace, function: &Function, call: &Call) -> Option<(u64, Membership)> {
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let at = function.part(ArgPart::Communicator)?;
    let is_made = function.args.get(at).is_some_and(|it| it.out);
    let own = Membership {
        rank: word(ArgPart::Rank)?,
        ranks: word(ArgPart::Ranks)?,
    };
    word(ArgPart::Communicator)
        .filter(|_| is_made)
        .map(|it| (it, own))
}

/// The buffers of a collective, and how much of them it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CollectiveBuffers {
    comm: u64,
    gives: Option<u64>,
    takes: Option<u64>,
    /// Bytes of the whole buffer, or of the share of one rank.
    bytes: u64,
    /// The count is that of a share.
    is_share: bool,
    /// It puts the elements of all ranks together.
    reduces: bool,
    /// The rank that gives to all others, or takes from them.
    root: Option<u64>,
}

impl CollectiveBuffers {
    /// Nothing for other calls, and where the length is not known.
    pub(super) fn of(trace: &Trace, function: &Function, call: &Call) -> Option<Self> {
        if function.task != Some(TaskKind::Collective) {
            return None;
        }
        let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
        let collective = Collective::of(trace, call)?;
        let is_counted = function.is(Fact::CountsAll) || function.is(Fact::CountsShare);
        let bytes = collective.bytes().filter(|it| *it > 0 && is_counted)?;
        let found = Self {
            comm: collective.comm,
            gives: word(ArgPart::Reads),
            takes: word(ArgPart::Writes),
            bytes,
            is_share: function.is(Fact::CountsShare),
            reduces: function.part(ArgPart::Reduction).is_some(),
            root: word(ArgPart::Root),
        };
        (found.gives.is_some() || found.takes.is_some()).then_some(found)
    }

    /// What each rank uses at least.
    pub(super) fn least(&self) -> MemoryAccesses {
        self.memory(None)
    }

    /// The reads and writes of a rank. If the rank is not known, the only buffer of a broadcast counts as read.
    fn memory(&self, own: Option<Membership>) -> MemoryAccesses {
        let is_root = own.zip(self.root).map(|(own, root)| own.rank == root);
        let whole = self.bytes.saturating_mul(own.map_or(1, |it| it.ranks));
        // Scatters divide the buffer that they read. Others fill a buffer with the shares of all ranks.
        let divides = self.reduces || self.root.is_some();
        let (read, written) = match (self.is_share, divides) {
            (false, _) => (self.bytes, self.bytes),
            (true, true) => (whole, self.bytes),
            (true, false) => (self.bytes, whole),
        };
        let (reads, writes) = match (self.root, self.reduces, self.is_share) {
            (None, ..) => (true, true),
            (Some(_), true, _) => (true, is_root == Some(true)),
            (Some(_), false, true) => (is_root == Some(true), true),
            (Some(_), false, false) => (is_root != Some(false), is_root == Some(false)),
        };
        let area = |address: Option<u64>, bytes: u64, is_used: bool| {
            Area::of(address.filter(|_| is_used)?, bytes)
        };
        MemoryAccesses {
            reads: area(self.gives, read, reads),
            writes: area(self.takes, written, writes),
            ..MemoryAccesses::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that it reads at 1000 and writes at 9000. Its count is 8 bytes.
    fn used(
        (is_share, reduces, root): (bool, bool, Option<u64>),
        own: Option<(u64, u64)>,
    ) -> (u64, u64) {
        let buffers = CollectiveBuffers {
            comm: 1,
            gives: Some(1000),
            takes: Some(9000),
            bytes: 8,
            is_share,
            reduces,
            root,
        };
        let memory = buffers.memory(own.map(|(rank, ranks)| Membership { rank, ranks }));
        let length = |area: Option<Area>| area.map_or(0, |it| it.whole().end - it.whole().start);
        (length(memory.reads), length(memory.writes))
    }

    #[test]
    fn the_length_of_buffers_follows_from_the_kind_of_a_collective() {
        let (all_reduce, gather) = ((false, true, None), (true, false, None));
        let (reduce_scatter, reduce) = ((true, true, None), (false, true, Some(1)));
        let (broadcast, scatter) = ((false, false, Some(1)), (true, false, Some(1)));
        for (kind, own, expected) in [
            (all_reduce, Some((0, 4)), (8, 8)),
            (gather, Some((0, 4)), (8, 32)),
            (reduce_scatter, Some((0, 4)), (32, 8)),
            (reduce, Some((0, 4)), (8, 0)),
            (reduce, Some((1, 4)), (8, 8)),
            (broadcast, Some((0, 4)), (0, 8)),
            (broadcast, Some((1, 4)), (8, 0)),
            (scatter, Some((0, 4)), (0, 8)),
            (scatter, Some((1, 4)), (32, 8)),
            // The rank is not known.
            (gather, None, (8, 8)),
            (reduce, None, (8, 0)),
            (broadcast, None, (8, 0)),
            (scatter, None, (0, 8)),
        ] {
            assert_eq!(used(kind, own), expected, "{kind:?} {own:?}");
        }
    }
}

//! The order of a program's operations, by sets of operations instead of clocks.

use super::program::{BLOCK, EVENTS, RacyOp, STREAMS};

/// The blocks of memory in which two operations disturb each other.
fn shared(one: RacyOp, other: RacyOp) -> Vec<u64> {
    let mut blocks = Vec::new();
    for (begin, bytes, writes) in one.uses() {
        for (start, count, wrote) in other.uses() {
            let overlap = begin < start + count && start < begin + bytes;
            if overlap && (writes || wrote) {
                blocks.push(begin.max(start) / BLOCK * BLOCK);
            }
        }
    }
    blocks
}

/// A set of operations by their place in the program.
#[derive(Clone, Debug, Default)]
struct OpSet(Vec<u64>);

impl OpSet {
    fn add(&mut self, place: usize) {
        if self.0.len() <= place / 64 {
            self.0.resize(place / 64 + 1, 0);
        }
        self.0[place / 64] |= 1 << (place % 64);
    }

    fn has(&self, place: usize) -> bool {
        let word = self.0.get(place / 64).copied().unwrap_or(0);
        word & 1 << (place % 64) != 0
    }

    fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// The known order, up to some operation of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownOrder {
    pub(super) ops: Vec<RacyOp>,
    streams: [OpSet; STREAMS],
    host: OpSet,
    /// By event, recording by recording.
    records: [Vec<OpSet>; EVENTS],
    pub(super) live: Vec<u64>,
    /// Number of recordings, which a dropped one does not change.
    pub(super) recorded: [u32; EVENTS],
}

/// Operations by their places, of which nothing puts the two in order.
pub type OpConflict = (usize, usize);

impl KnownOrder {
    /// Operations that conflict with `op` and are not ordered before it.
    pub(super) fn conflicts(&self, op: RacyOp) -> Vec<usize> {
        let before = |place: usize| {
            let of_stream = op.stream().map(|stream| &self.streams[stream]);
            self.host.has(place) || of_stream.is_some_and(|set| set.has(place))
        };
        let places = 0..self.ops.len();
        let own = places.filter(|place| self.ops[*place].stream().is_some());
        own.filter(|place| !before(*place))
            .filter(|place| {
                let blocks = shared(self.ops[*place], op);
                blocks.iter().any(|block| !self.is_renewed(*place, *block))
            })
            .collect()
    }

    /// Whether a block was given back since an operation.
    fn is_renewed(&self, place: usize, block: u64) -> bool {
        self.ops[place..].contains(&RacyOp::Free(block))
    }

    pub(super) fn push(&mut self, op: RacyOp) {
        let place = self.ops.len();
        self.ops.push(op);
        match op {
            RacyOp::Copy(stream, ..) | RacyOp::Fill(stream, ..) => {
                let host = self.host.clone();
                self.streams[stream].join(&host);
                self.streams[stream].add(place);
            }
            RacyOp::Record(stream, event) => {
                let set = self.streams[stream].clone();
                self.records[event].push(set);
                self.recorded[event] += 1;
            }
            RacyOp::Wait(stream, event, number) => {
                let set = self.records[event][number as usize - 1].clone();
                self.streams[stream].join(&set);
            }
            RacyOp::SyncStream(stream) => self.host.join(&self.streams[stream].clone()),
            RacyOp::SyncEvent(event, number) | RacyOp::QueryEvent(event, number) => {
                self.host
                    .join(&self.records[event][number as usize - 1].clone());
            }
            RacyOp::SyncDevice => {
                for set in self.streams.clone() {
                    self.host.join(&set);
                }
            }
            RacyOp::Malloc(block) => self.live.push(block),
            RacyOp::Free(block) => self.live.retain(|it| *it != block),
            RacyOp::Blocking(..) => {}
        }
    }
}

/// All conflicts of a program.
pub fn conflicts(ops: &[RacyOp]) -> Vec<OpConflict> {
    let mut state = KnownOrder::default();
    let mut all = Vec::new();
    for (place, op) in ops.iter().enumerate() {
        all.extend(
            state
                .conflicts(*op)
                .into_iter()
                .map(|before| (before, place)),
        );
        state.push(*op);
    }
    all
}

/// Orders that the program allows, in which operations that conflict have changed places: the later one comes as
/// early as it can, or the earlier one as late as it can, and all else is as written.
pub fn changed_orders(ops: &[RacyOp]) -> Vec<Vec<usize>> {
    let before = predecessors(ops);
    let mut orders = Vec::new();
    for (early, late) in conflicts(ops) {
        let is_early = |place: usize| before[late].has(place);
        orders.push(with_first(ops.len(), late, is_early));
        let is_other = |place: usize| place != early && !before[place].has(early);
        orders.push(with_first(ops.len(), late, is_other));
    }
    orders
}

/// Some of those before an operation, then itself, then all others.
fn with_first(count: usize, late: usize, is_first: impl Fn(usize) -> bool) -> Vec<usize> {
    let (mut first, others): (Vec<usize>, Vec<usize>) =
        (0..late).partition(|place| is_first(*place));
    first.push(late);
    first.extend(others);
    first.extend(late + 1..count);
    first
}

/// The predecessors of each operation in any order. The host runs one operation after another.
fn predecessors(ops: &[RacyOp]) -> Vec<OpSet> {
    let mut state = KnownOrder::default();
    let mut by_host = OpSet::default();
    let mut all = Vec::new();
    for (place, op) in ops.iter().enumerate() {
        let of_stream = op.stream().map(|stream| &state.streams[stream]);
        let mut before = of_stream.cloned().unwrap_or_default();
        before.join(&state.host);
        before.join(&by_host);
        all.push(before);
        state.push(*op);
        if op.stream().is_none() {
            by_host.add(place);
        }
    }
    all
}

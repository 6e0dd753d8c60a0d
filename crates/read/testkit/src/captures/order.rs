//! The order of operations: vector clocks over streams.

use super::STREAMS;
use super::cells::{CELLS, Cell, CellWork};

type StreamClock = [u32; STREAMS];

/// An access: the stream and its tick.
type CellAccess = (usize, u32);

/// The order among tasks that run in the same place: on the device, or inside one graph.
#[derive(Clone, Debug)]
pub(super) struct TaskOrder {
    clocks: [StreamClock; STREAMS],
    /// Operations that the host has waited for.
    host: StreamClock,
    writes: [Option<CellAccess>; 2 * CELLS],
    /// Since the last write.
    reads: Vec<Vec<CellAccess>>,
}

/// The cells that a task, or a whole graph, reads and writes.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchedCells {
    pub(super) reads: Vec<Cell>,
    pub(super) writes: Vec<Cell>,
}

impl TouchedCells {
    pub(super) fn by<'w>(works: impl IntoIterator<Item = &'w CellWork>) -> Self {
        let mut touched = Self::default();
        for work in works {
            let (reads, write) = work.touches();
            touched.reads.extend(reads);
            touched.writes.push(write);
        }
        touched
    }
}

impl TaskOrder {
    pub(super) fn new() -> Self {
        Self {
            clocks: [[0; STREAMS]; STREAMS],
            host: [0; STREAMS],
            writes: [None; 2 * CELLS],
            reads: vec![Vec::new(); 2 * CELLS],
        }
    }

    /// The streams that `stream` must wait for before it may do this.
    pub(super) fn conflicts(&self, stream: usize, touched: &TouchedCells) -> Vec<usize> {
        let mut before: Vec<CellAccess> = Vec::new();
        for &cell in touched.reads.iter().chain(&touched.writes) {
            before.extend(self.writes[cell]);
        }
        for &cell in &touched.writes {
            before.extend(&self.reads[cell]);
        }
        let clock = self.clock(stream);
        let mut others: Vec<usize> = before
            .into_iter()
            .filter(|(other, tick)| clock[*other] < *tick)
            .map(|(other, _)| other)
            .collect();
        others.sort_unstable();
        others.dedup();
        others
    }

    fn clock(&self, stream: usize) -> StreamClock {
        let mut clock = self.clocks[stream];
        join(&mut clock, &self.host);
        clock
    }

    /// `stream` does it now.
    pub(super) fn submit(&mut self, stream: usize, touched: &TouchedCells) {
        self.clocks[stream] = self.clock(stream);
        self.clocks[stream][stream] += 1;
        let access = (stream, self.clocks[stream][stream]);
        for &cell in &touched.writes {
            self.writes[cell] = Some(access);
            self.reads[cell].clear();
        }
        for &cell in &touched.reads {
            self.reads[cell].push(access);
        }
    }

    /// `stream` waits for all earlier operations of `other`.
    pub(super) fn wait(&mut self, stream: usize, other: usize) {
        let clock = self.clock(other);
        join(&mut self.clocks[stream], &clock);
    }

    /// The host waits for a stream.
    pub(super) fn sync(&mut self, stream: usize) {
        let clock = self.clock(stream);
        join(&mut self.host, &clock);
    }
}

fn join(clock: &mut StreamClock, other: &StreamClock) {
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

//! Mistakes in programs: an order that a program needs is missing.

use super::Dice;
use super::order::{KnownOrder, conflicts};
use super::program::{BLOCK, EVENTS, INPUT, RacyOp, STREAMS, random_part};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RacyMistake {
    /// A stream does not wait for another one.
    DroppedWait,
    /// An event is recorded before the operation that should precede it.
    MovedRecord,
    /// Memory is freed while tasks use it.
    EarlyFree,
    /// The host does not wait for results that it uses.
    MissingJoin,
    /// The host waits for another stream, or for one stream instead of the device.
    NarrowedSync,
    /// A task writes to memory that others still use.
    ReusedBuffer,
}

pub const MISTAKES: [RacyMistake; 6] = [
    RacyMistake::DroppedWait,
    RacyMistake::MovedRecord,
    RacyMistake::EarlyFree,
    RacyMistake::MissingJoin,
    RacyMistake::NarrowedSync,
    RacyMistake::ReusedBuffer,
];

impl RacyMistake {
    /// The program with one such mistake, after which operations conflict.
    pub fn inject(self, ops: &[RacyOp], dice: &mut Dice) -> Option<Vec<RacyOp>> {
        for _ in 0..200 {
            let place = dice.roll(ops.len() as u64) as usize;
            let changed = self.at(place, ops, dice);
            let changed = changed.filter(|it| is_possible(it) && !conflicts(it).is_empty());
            if changed.is_some() {
                return changed;
            }
        }
        None
    }

    fn at(self, place: usize, ops: &[RacyOp], dice: &mut Dice) -> Option<Vec<RacyOp>> {
        let op = ops[place];
        match (self, op) {
            (Self::DroppedWait, RacyOp::Wait(..)) => Some(without(place, ops)),
            (
                Self::MissingJoin,
                RacyOp::SyncStream(_)
                | RacyOp::SyncEvent(..)
                | RacyOp::QueryEvent(..)
                | RacyOp::SyncDevice,
            ) => Some(without(place, ops)),
            (Self::MovedRecord, RacyOp::Record(_, event)) => {
                let earlier = place.checked_sub(1 + dice.roll(6) as usize)?;
                let between = &ops[earlier..place];
                // Whatever names the event means the same recording as before.
                let is_free = between.iter().all(|it| it.event() != Some(event));
                is_free.then(|| moved(place, earlier, ops))
            }
            (Self::EarlyFree, RacyOp::Free(_)) => {
                let earlier = place.checked_sub(1 + dice.roll(6) as usize)?;
                Some(moved(place, earlier, ops))
            }
            (Self::NarrowedSync, RacyOp::SyncDevice | RacyOp::SyncStream(_)) => {
                let other = RacyOp::SyncStream(dice.roll(STREAMS as u64) as usize);
                Some(replaced(place, other, ops))
            }
            (Self::ReusedBuffer, RacyOp::Copy(..) | RacyOp::Fill(..)) => {
                let to = random_part(&live_at(place, ops), dice);
                Some(replaced(place, op.to(to), ops))
            }
            _ => None,
        }
    }
}

impl RacyOp {
    fn event(self) -> Option<usize> {
        match self {
            Self::Record(_, event)
            | Self::Wait(_, event, _)
            | Self::SyncEvent(event, _)
            | Self::QueryEvent(event, _) => Some(event),
            _ => None,
        }
    }

    /// The same to another destination.
    fn to(self, to: u64) -> Self {
        match self {
            Self::Copy(stream, _, from, bytes) => Self::Copy(stream, to, from, bytes),
            Self::Fill(stream, _, bytes) => Self::Fill(stream, to, bytes),
            other => other,
        }
    }
}

fn without(place: usize, ops: &[RacyOp]) -> Vec<RacyOp> {
    let mut changed = ops.to_vec();
    changed.remove(place);
    changed
}

fn moved(place: usize, to: usize, ops: &[RacyOp]) -> Vec<RacyOp> {
    let mut changed = without(place, ops);
    changed.insert(to, ops[place]);
    changed
}

fn replaced(place: usize, by: RacyOp, ops: &[RacyOp]) -> Vec<RacyOp> {
    let mut changed = ops.to_vec();
    changed[place] = by;
    changed
}

/// The blocks that there are before an operation.
fn live_at(place: usize, ops: &[RacyOp]) -> Vec<u64> {
    let mut state = KnownOrder::default();
    ops[..place].iter().for_each(|op| state.push(*op));
    state.live
}

/// Whether the program uses memory only while it is allocated, and waits only for recorded events.
fn is_possible(ops: &[RacyOp]) -> bool {
    let mut recorded = [0; EVENTS];
    let mut live: Vec<u64> = Vec::new();
    ops.iter().all(|op| match *op {
        RacyOp::Record(_, event) => {
            recorded[event] += 1;
            true
        }
        RacyOp::Wait(_, event, number)
        | RacyOp::SyncEvent(event, number)
        | RacyOp::QueryEvent(event, number) => number <= recorded[event],
        RacyOp::Malloc(block) => {
            let is_new = !live.contains(&block);
            live.push(block);
            is_new
        }
        RacyOp::Free(block) => {
            let was = live.contains(&block);
            live.retain(|it| *it != block);
            was
        }
        RacyOp::Copy(_, to, from, _) | RacyOp::Blocking(to, from, _) => {
            is_live(&live, to) && is_live(&live, from)
        }
        RacyOp::Fill(_, to, _) => is_live(&live, to),
        _ => true,
    })
}

fn is_live(live: &[u64], address: u64) -> bool {
    address >= INPUT || live.contains(&(address / BLOCK * BLOCK))
}

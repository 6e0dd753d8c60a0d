//! Random programs, as a list of operations.

use super::Dice;
use super::order::KnownOrder;

pub const STREAMS: usize = 4;
pub const EVENTS: usize = 4;
/// Bytes of a block of memory. The address of the n-th one is n times this.
pub const BLOCK: u64 = 256;
const BLOCKS: u64 = 6;
/// Operations use such parts of a block, or all of it.
const PART: u64 = BLOCK / 4;
/// Host memory that is only read.
pub const INPUT: u64 = 1 << 20;
pub const INPUT_BYTES: u64 = 16 * PART;
/// Host memory that is only written, each part once.
pub const OUTPUT: u64 = 1 << 21;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RacyOp {
    /// Stream; destination, source, bytes.
    Copy(usize, u64, u64, u64),
    /// Stream; destination, bytes.
    Fill(usize, u64, u64),
    /// By the host itself: destination, source, bytes.
    Blocking(u64, u64, u64),
    /// Stream, event.
    Record(usize, usize),
    /// Stream, event, recording.
    Wait(usize, usize, u32),
    SyncStream(usize),
    /// Event, recording.
    SyncEvent(usize, u32),
    QueryEvent(usize, u32),
    SyncDevice,
    Malloc(u64),
    Free(u64),
}

impl RacyOp {
    /// Its reads and writes, as begin and bytes.
    pub(super) fn uses(self) -> Vec<(u64, u64, bool)> {
        match self {
            Self::Copy(_, to, from, bytes) | Self::Blocking(to, from, bytes) => {
                vec![(from, bytes, false), (to, bytes, true)]
            }
            Self::Fill(_, to, bytes) => vec![(to, bytes, true)],
            Self::Free(block) => vec![(block, BLOCK, true)],
            _ => Vec::new(),
        }
    }

    pub(super) fn stream(self) -> Option<usize> {
        match self {
            Self::Copy(stream, ..) | Self::Fill(stream, ..) => Some(stream),
            _ => None,
        }
    }
}

/// A program without a mistake.
pub fn correct(dice: &mut Dice, operations: usize) -> Vec<RacyOp> {
    let mut state = KnownOrder::default();
    (0..BLOCKS / 2).for_each(|block| state.push(RacyOp::Malloc(BLOCK * (1 + block))));
    for _ in 0..operations {
        let op = random(&state, dice);
        push(&mut state, dice, op);
    }
    state.ops
}

/// A program without a mistake of which all values are seen: memory is written before it is read, and the host reads
/// each block before its end and at the end of the program.
pub fn observed(dice: &mut Dice, operations: usize) -> Vec<RacyOp> {
    let mut state = KnownOrder::default();
    for block in 0..BLOCKS / 2 {
        push_new(&mut state, dice, BLOCK * (1 + block));
    }
    for _ in 0..operations {
        match random(&state, dice) {
            RacyOp::Malloc(block) => push_new(&mut state, dice, block),
            op => {
                if let RacyOp::Free(block) = op {
                    push_read(&mut state, dice, block);
                }
                push(&mut state, dice, op);
            }
        }
    }
    for block in state.live.clone() {
        push_read(&mut state, dice, block);
    }
    state.ops
}

/// Adds an operation, after its preconditions.
fn push(state: &mut KnownOrder, dice: &mut Dice, op: RacyOp) {
    for place in state.conflicts(op) {
        order(state, dice, place, op);
    }
    assert!(state.conflicts(op).is_empty(), "{op:?}");
    state.push(op);
}

fn push_new(state: &mut KnownOrder, dice: &mut Dice, block: u64) {
    state.push(RacyOp::Malloc(block));
    let from = INPUT + PART * dice.roll(13) as u64;
    push(state, dice, RacyOp::Blocking(block, from, BLOCK));
}

fn push_read(state: &mut KnownOrder, dice: &mut Dice, block: u64) {
    let to = OUTPUT + BLOCK * state.ops.len() as u64;
    push(state, dice, RacyOp::Blocking(to, block, BLOCK));
}

/// The next operation, of memory that there is.
fn random(state: &KnownOrder, dice: &mut Dice) -> RacyOp {
    let stream = dice.roll(STREAMS as u64) as usize;
    let (to, from, bytes) = (
        random_part(&state.live, dice),
        random_source(state, dice),
        PART,
    );
    let dead = (1..=BLOCKS)
        .map(|it| it * BLOCK)
        .find(|it| !state.live.contains(it));
    match dice.roll(15) {
        0 => RacyOp::Blocking(to, from, bytes),
        1 => RacyOp::Blocking(OUTPUT + BLOCK * state.ops.len() as u64, from, bytes),
        2..=4 => RacyOp::Fill(stream, to, bytes),
        5 if state.live.len() > 2 => RacyOp::Free(to / BLOCK * BLOCK),
        6 => dead.map_or(RacyOp::Fill(stream, to, bytes), RacyOp::Malloc),
        7 => RacyOp::Record(stream, dice.roll(EVENTS as u64) as usize),
        _ => RacyOp::Copy(stream, to, from, bytes),
    }
}

/// A part of one of these blocks.
pub(super) fn random_part(live: &[u64], dice: &mut Dice) -> u64 {
    let block = live[dice.roll(live.len() as u64) as usize];
    block + PART * dice.roll(4) as u64
}

fn random_source(state: &KnownOrder, dice: &mut Dice) -> u64 {
    if dice.roll(3) == 0 {
        INPUT + PART * dice.roll(16) as u64
    } else {
        random_part(&state.live, dice)
    }
}

/// Puts an earlier operation before one that follows.
fn order(state: &mut KnownOrder, dice: &mut Dice, place: usize, op: RacyOp) {
    if !state.conflicts(op).contains(&place) {
        return;
    }
    let Some(from) = state.ops[place].stream() else {
        return;
    };
    let event = dice.roll(EVENTS as u64) as usize;
    match (op.stream(), dice.roll(8)) {
        (_, 0) => state.push(RacyOp::SyncDevice),
        (_, 1) => state.push(RacyOp::SyncStream(from)),
        (None, choice) => {
            state.push(RacyOp::Record(from, event));
            let number = state.recorded[event];
            state.push(match choice % 2 {
                0 => RacyOp::SyncEvent(event, number),
                _ => RacyOp::QueryEvent(event, number),
            });
        }
        (Some(to), choice) => {
            state.push(RacyOp::Record(from, event));
            let number = state.recorded[event];
            // By way of another stream.
            let between = dice.roll(STREAMS as u64) as usize;
            let by_another = choice == 2 && between != from && between != to;
            if by_another {
                state.push(RacyOp::Wait(between, event, number));
                let next = (event + 1) % EVENTS;
                state.push(RacyOp::Record(between, next));
                state.push(RacyOp::Wait(to, next, state.recorded[next]));
            } else {
                state.push(RacyOp::Wait(to, event, number));
            }
        }
    }
}

//! Random programs that copy between streams, as a list of operations; what such a program puts in order, by sets of
//! operations instead of clocks; and its text as a timeline.

use std::fmt::Write as _;

use super::super::random::Dice;

pub(super) const STREAMS: usize = 4;
const EVENTS: usize = 4;
/// Bytes of a block of memory, and how many blocks there are.
const BLOCK: u64 = 256;
const BLOCKS: u64 = 6;
/// Addresses of host memory that is only read.
const INPUT: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// Stream; destination, source, bytes.
    Copy(usize, u64, u64, u64),
    Fill(usize, u64, u64),
    /// By the host itself.
    Blocking(u64, u64, u64),
    Record(usize, usize),
    /// Stream, event, recording.
    Wait(usize, usize, u32),
    SyncStream(usize),
    SyncEvent(usize, u32),
    QueryEvent(usize, u32),
    SyncDevice,
    Malloc(u64),
    Free(u64),
}

impl Op {
    /// Whether it puts other operations in order.
    pub(super) fn orders(self) -> bool {
        matches!(
            self,
            Self::Wait(..)
                | Self::SyncStream(_)
                | Self::SyncEvent(..)
                | Self::QueryEvent(..)
                | Self::SyncDevice
        )
    }

    /// What it reads and what it writes, as begin and bytes.
    fn uses(self) -> Vec<(u64, u64, bool)> {
        match self {
            Self::Copy(_, to, from, bytes) | Self::Blocking(to, from, bytes) => {
                vec![(from, bytes, false), (to, bytes, true)]
            }
            Self::Fill(_, to, bytes) => vec![(to, bytes, true)],
            Self::Free(block) => vec![(block, BLOCK, true)],
            _ => Vec::new(),
        }
    }

    fn stream(self) -> Option<usize> {
        match self {
            Self::Copy(stream, ..) | Self::Fill(stream, ..) => Some(stream),
            _ => None,
        }
    }
}

/// The blocks of memory in which two operations disturb each other.
fn shared(one: Op, other: Op) -> Vec<u64> {
    let mut blocks = Vec::new();
    for (begin, bytes, writes) in one.uses() {
        for (start, count, wrote) in other.uses() {
            let overlap = begin < start + count && start < begin + bytes;
            if overlap && (writes || wrote) {
                blocks.push(begin / BLOCK * BLOCK);
            }
        }
    }
    blocks
}

/// A set of operations by their place in the program.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
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

/// What has come before what, as far as a program went.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    ops: Vec<Op>,
    streams: [Set; STREAMS],
    host: Set,
    /// By event, recording by recording.
    records: [Vec<Set>; EVENTS],
    live: Vec<u64>,
    /// Recordings so far, which a dropped one does not change.
    pub(super) recorded: [u32; EVENTS],
}

/// Operations by their places, of which nothing puts the two in order.
pub(super) type Conflict = (usize, usize);

impl State {
    /// What an operation conflicts with that nothing has put before it.
    pub(super) fn conflicts(&self, op: Op) -> Vec<usize> {
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
        self.ops[place..].contains(&Op::Free(block))
    }

    pub(super) fn push(&mut self, op: Op) {
        let place = self.ops.len();
        self.ops.push(op);
        match op {
            Op::Copy(stream, ..) | Op::Fill(stream, ..) => {
                let host = self.host.clone();
                self.streams[stream].join(&host);
                self.streams[stream].add(place);
            }
            Op::Record(stream, event) => {
                let set = self.streams[stream].clone();
                self.records[event].push(set);
                self.recorded[event] += 1;
            }
            Op::Wait(stream, event, number) => {
                let set = self.records[event][number as usize - 1].clone();
                self.streams[stream].join(&set);
            }
            Op::SyncStream(stream) => self.host.join(&self.streams[stream].clone()),
            Op::SyncEvent(event, number) | Op::QueryEvent(event, number) => {
                self.host
                    .join(&self.records[event][number as usize - 1].clone());
            }
            Op::SyncDevice => {
                for set in self.streams.clone() {
                    self.host.join(&set);
                }
            }
            Op::Malloc(block) => self.live.push(block),
            Op::Free(block) => self.live.retain(|it| *it != block),
            Op::Blocking(..) => {}
        }
    }
}

/// All conflicts of a program.
pub(super) fn conflicts(ops: &[Op]) -> Vec<Conflict> {
    let mut state = State::default();
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

/// A program without a mistake.
pub(super) fn correct(dice: &mut Dice, operations: usize) -> Vec<Op> {
    let mut state = State::default();
    (0..BLOCKS / 2).for_each(|block| state.push(Op::Malloc(BLOCK * (1 + block))));
    for _ in 0..operations {
        let op = random(&state, dice);
        for place in state.conflicts(op) {
            order(&mut state, dice, place, op);
        }
        assert!(state.conflicts(op).is_empty(), "{op:?}");
        state.push(op);
    }
    state.ops
}

/// The next operation, of memory that there is.
fn random(state: &State, dice: &mut Dice) -> Op {
    let stream = dice.roll(STREAMS as u64) as usize;
    let live = &state.live;
    let block = live[dice.roll(live.len() as u64) as usize];
    let other = live[dice.roll(live.len() as u64) as usize];
    let part = |dice: &mut Dice| dice.roll(4) as u64 * (BLOCK / 4);
    let (to, bytes) = (block + part(dice), BLOCK / 4);
    let from = if dice.roll(3) == 0 {
        INPUT
    } else {
        other + part(dice)
    };
    let dead = (1..=BLOCKS)
        .map(|it| it * BLOCK)
        .find(|it| !live.contains(it));
    match dice.roll(14) {
        0 => Op::Blocking(to, from, bytes),
        1..=3 => Op::Fill(stream, to, bytes),
        4 if live.len() > 2 => Op::Free(block),
        5 => dead.map_or(Op::Fill(stream, to, bytes), Op::Malloc),
        6 => Op::Record(stream, dice.roll(EVENTS as u64) as usize),
        _ => Op::Copy(stream, to, from, bytes),
    }
}

/// Puts an earlier operation before one that follows.
fn order(state: &mut State, dice: &mut Dice, place: usize, op: Op) {
    if !state.conflicts(op).contains(&place) {
        return;
    }
    let Some(from) = state.ops[place].stream() else {
        return;
    };
    let event = dice.roll(EVENTS as u64) as usize;
    match (op.stream(), dice.roll(8)) {
        (_, 0) => state.push(Op::SyncDevice),
        (_, 1) => state.push(Op::SyncStream(from)),
        (None, choice) => {
            state.push(Op::Record(from, event));
            let number = state.recorded[event];
            state.push(match choice % 2 {
                0 => Op::SyncEvent(event, number),
                _ => Op::QueryEvent(event, number),
            });
        }
        (Some(to), choice) => {
            state.push(Op::Record(from, event));
            let number = state.recorded[event];
            // By way of another stream.
            let between = dice.roll(STREAMS as u64) as usize;
            let by_another = choice == 2 && between != from && between != to;
            if by_another {
                state.push(Op::Wait(between, event, number));
                let next = (event + 1) % EVENTS;
                state.push(Op::Record(between, next));
                state.push(Op::Wait(to, next, state.recorded[next]));
            } else {
                state.push(Op::Wait(to, event, number));
            }
        }
    }
}

/// The program as a timeline: the call of operation N begins at 10 N.
pub(super) fn text(ops: &[Op]) -> String {
    let mut text = String::new();
    for (place, op) in ops.iter().enumerate() {
        let (begin, end) = (10 * place, 10 * place + 5);
        let task = format!("[{end}..{}] by t1[{begin}..{end}]", end + 1);
        let call = format!("[{begin}..{end}]");
        let _ = match op {
            Op::Copy(stream, to, from, bytes) => {
                writeln!(text, "s{}: memcpy({bytes},{to},{from}){task}", stream + 1)
            }
            Op::Fill(stream, to, bytes) => {
                writeln!(text, "s{}: memset({bytes},{to},0){task}", stream + 1)
            }
            Op::Blocking(to, from, bytes) => {
                writeln!(text, "t1: aclrtMemcpy({bytes},{to},{from}){call}")
            }
            Op::Record(stream, event) => writeln!(text, "s{}: rec(E{event}){task}", stream + 1),
            Op::Wait(stream, event, number) => {
                writeln!(text, "s{}: wait(E{event}#{number}){task}", stream + 1)
            }
            Op::SyncStream(stream) => writeln!(text, "t1: sync(s{}){call}", stream + 1),
            Op::SyncEvent(event, number) => writeln!(text, "t1: sync(E{event}#{number}){call}"),
            Op::QueryEvent(event, number) => writeln!(text, "t1: query(E{event}#{number}){call}"),
            Op::SyncDevice => writeln!(text, "t1: sync(){call}"),
            Op::Malloc(block) => writeln!(text, "t1: aclrtMalloc({BLOCK},{block}){call}"),
            Op::Free(block) => writeln!(text, "t1: aclrtFree({block}){call}"),
        };
    }
    text
}

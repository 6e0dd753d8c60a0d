//! Results of a program when each operation ends before the next one begins, and its text for the
//! driver.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::testkit::racy::{BLOCK, INPUT, INPUT_BYTES, OUTPUT, RacyOp, changed_orders};

const WORD: u64 = 8;

/// Memory by the numbers of its words.
struct Memory(HashMap<u64, u64>);

impl Memory {
    fn new() -> Self {
        let words = 0..INPUT_BYTES / WORD;
        let input = |word: u64| (word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(
            words
                .map(|word| (INPUT / WORD + word, input(word)))
                .collect(),
        )
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        for word in 0..bytes / WORD {
            let value = self.0.get(&(from / WORD + word)).copied().unwrap_or(0);
            self.0.insert(to / WORD + word, value);
        }
    }

    fn fill(&mut self, to: u64, bytes: u64, byte: u8) {
        for word in 0..bytes / WORD {
            let value = u64::from_ne_bytes([byte; 8]);
            self.0.insert(to / WORD + word, value);
        }
    }
}

/// Neighbouring fills differ.
const fn byte(place: usize) -> u8 {
    (place % 251) as u8 + 1
}

/// The hash of all that the program copies to the host when its operations come in this order.
pub(super) fn hash(ops: &[RacyOp], order: impl Iterator<Item = usize>) -> u64 {
    let mut memory = Memory::new();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for place in order {
        match ops[place] {
            RacyOp::Copy(_, to, from, bytes) => memory.copy(to, from, bytes),
            RacyOp::Fill(_, to, bytes) => memory.fill(to, bytes, byte(place)),
            // Its contents are lost.
            RacyOp::Free(block) => memory.fill(block, BLOCK, 0),
            RacyOp::Blocking(to, from, bytes) => {
                memory.copy(to, from, bytes);
                let seen = if to >= OUTPUT { bytes / WORD } else { 0 };
                for word in 0..seen {
                    let value = memory.0[&(to / WORD + word)];
                    hash = (hash ^ value).wrapping_mul(0x100_0000_01b3);
                }
            }
            _ => {}
        }
    }
    hash
}

/// The same in the order of the program.
pub(super) fn right(ops: &[RacyOp]) -> u64 {
    hash(ops, 0..ops.len())
}

/// Is there an order in which something else is copied to the host?
pub(super) fn can_go_wrong(ops: &[RacyOp]) -> bool {
    let right = right(ops);
    let mut orders = changed_orders(ops).into_iter();
    orders.any(|order| hash(ops, order.into_iter()) != right)
}

/// The program as the driver reads it.
pub(super) fn text(ops: &[RacyOp]) -> String {
    let mut text = "P\n".to_owned();
    for (place, op) in ops.iter().enumerate() {
        let _ = match op {
            RacyOp::Copy(stream, to, from, bytes) => {
                writeln!(text, "c {stream} {to} {from} {bytes}")
            }
            RacyOp::Fill(stream, to, bytes) => {
                writeln!(text, "f {stream} {to} {bytes} {}", byte(place))
            }
            RacyOp::Blocking(to, from, bytes) => writeln!(text, "b {to} {from} {bytes}"),
            RacyOp::Record(stream, event) => writeln!(text, "r {stream} {event}"),
            RacyOp::Wait(stream, event, _) => writeln!(text, "w {stream} {event}"),
            RacyOp::SyncStream(stream) => writeln!(text, "s {stream}"),
            RacyOp::SyncEvent(event, _) => writeln!(text, "e {event}"),
            RacyOp::QueryEvent(event, _) => writeln!(text, "q {event}"),
            RacyOp::SyncDevice => writeln!(text, "d"),
            RacyOp::Malloc(block) => writeln!(text, "m {block}"),
            RacyOp::Free(block) => writeln!(text, "x {block}"),
        };
    }
    text
}

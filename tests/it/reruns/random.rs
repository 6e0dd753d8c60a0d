//! Random programs, and a random change of each.

use super::clocked::Clocked;
use super::judge::Pair;
use super::pairs::no_waits;
use super::script::{Op, Script, narrower};

/// Numbers that look random; the same seed always gives the same.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 20) % u64::from(limit)) as u32
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u32) as usize]
    }
}

/// The change, and the operations that the program needs for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangedOperation {
    /// Operations of this letter take another time.
    Operation(char),
    Copies,
    Launches,
    Waits,
    /// Syncs of this letter wait for a stream, an event, nothing.
    ToStream,
    ToEvent(char),
    ToNothing(char),
}

const KINDS: [ChangedOperation; 12] = [
    ChangedOperation::Operation('c'),
    ChangedOperation::Operation('f'),
    ChangedOperation::Operation('m'),
    ChangedOperation::Copies,
    ChangedOperation::Launches,
    ChangedOperation::Waits,
    ChangedOperation::ToStream,
    ChangedOperation::ToEvent('v'),
    ChangedOperation::ToEvent('y'),
    ChangedOperation::ToNothing('v'),
    ChangedOperation::ToNothing('y'),
    ChangedOperation::ToNothing('z'),
];

/// The name of a function by the letter of its operation.
fn function(letter: char) -> &'static str {
    match letter {
        'c' => "aclrtMemcpyAsync",
        'f' => "aclrtMemsetAsync",
        'm' => "aclrtReduceAsync",
        'v' => "DeviceSync",
        'y' => "StreamSync",
        _ => "EventSync",
    }
}

/// A program on its way.
struct Maker {
    dice: Dice,
    streams: u32,
    ops: Vec<Op>,
    /// The stream of the last record of each event.
    recorded: Vec<Option<u32>>,
    has_host_copies: bool,
}

impl Maker {
    fn new(mut dice: Dice, has_host_copies: bool) -> Self {
        let streams = 2 + dice.below(3);
        let makes = (0..streams).flat_map(|it| [Op::new('s', it, 0), Op::new('e', it, 0)]);
        Self {
            ops: makes.collect(),
            recorded: vec![None; streams as usize],
            dice,
            streams,
            has_host_copies,
        }
    }

    fn work(&mut self, stream: u32) {
        let letters: &[char] = if self.has_host_copies {
            &['c', 'f', 'm', 'i', 'u']
        } else {
            &['c', 'f', 'm']
        };
        let letter = self.dice.one_of(letters);
        let most = self.dice.one_of(&[8, 40, 120]);
        let length = 4 * (1 + self.dice.below(most));
        self.ops.push(Op::new(letter, stream, length));
    }

    fn step(&mut self) {
        let stream = self.dice.below(self.streams);
        let other = self.dice.below(self.streams);
        match self.dice.below(20) {
            0..=2 => {
                self.ops.push(Op::new('r', stream, stream));
                self.recorded[stream as usize] = Some(stream);
            }
            3..=4 if other != stream && self.recorded[other as usize].is_some() => {
                self.ops.push(Op::new('w', stream, other));
            }
            5 => self.ops.push(Op::new('v', 0, 0)),
            6 => self.ops.push(Op::new('y', stream, 0)),
            7 if self.recorded[stream as usize].is_some() => {
                self.ops.push(Op::new('z', stream, 0));
            }
            8 => {
                let length = 1 + self.dice.below(60);
                self.ops.push(Op::new('p', length, 0));
            }
            9 if self.dice.below(2) == 0 => {
                // Of one stream: which of several host functions runs first may depend on the host's threads.
                let length = 1 + self.dice.below(30);
                self.ops.push(Op::new('h', 0, length));
            }
            _ => self.work(stream),
        }
    }
}

fn scaled_copies(words: &[&str], script: &Script, factor: f64) -> (Vec<String>, Script) {
    let words = words.iter().map(|it| format!("{it} x{factor}")).collect();
    (words, script.scaled("ciu", factor))
}

/// For the last record of the stream that a sync waits for.
fn event_of(before: &[Op], stream: u32) -> Vec<Op> {
    let last = before
        .iter()
        .rev()
        .find(|op| op.kind == 'r' && op.b == stream);
    last.map(|it| Op::new('z', it.a, 0)).into_iter().collect()
}

/// A program of a seed with a change that it has something for.
pub(crate) fn pair(seed: u64) -> Pair {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..8 {
        dice.below(2);
    }
    let kind = dice.one_of(&KINDS);
    let has_host_copies = match kind {
        ChangedOperation::ToEvent(_) => false,
        ChangedOperation::ToStream => dice.below(2) == 0,
        _ => dice.below(3) == 0,
    };
    let mut maker = Maker::new(dice, has_host_copies);
    let length = 40 + maker.dice.below(80);
    for _ in 0..length {
        maker.step();
    }
    // The changed operations exist in the program.
    maker.ops.extend(
        Script::read("c 0 120;f 1 80;m 0 40;r 0 0;w 1 0;c 1 60;r 1 1;z 1;y 1;v;f 0 64;r 0 0;v").0,
    );
    // A program that ends drops its pending tasks: for any change, something waits for the last ones.
    let last = (0..maker.streams).map(|it| Op::new('y', it, 0));
    maker.ops.extend(last);
    let script = Script(maker.ops);
    let call = maker.dice.one_of(&[200, 1_000, 4_000]);
    let submit = maker.dice.one_of(&[1_000, 3_000, 8_000]);
    let queue = maker.dice.one_of(&["", "", ",queue=16"]);
    let factor = maker.dice.one_of(&[0.25, 0.5, 0.75, 1.5, 2.0]);
    let mut soft = format!("virtual_ns={call},submit_ns={submit}{queue}");
    let original = Clocked::new(&soft, &[&script]);
    let sync = |letter, to| vec![format!("sync={}->{to}", function(letter))];
    let (changes, changed) = match kind {
        // A copy of any direction is the same operation.
        ChangedOperation::Operation('c') => {
            scaled_copies(&["op=aclrtMemcpyAsync"], &script, factor)
        }
        ChangedOperation::Operation(letter) => {
            let words = vec![format!("op={} x{factor}", function(letter))];
            (words, script.scaled(&letter.to_string(), factor))
        }
        ChangedOperation::Copies => scaled_copies(&["copy"], &script, factor),
        ChangedOperation::Launches => {
            soft += &format!(",virtual_submit_ns={},submit_ns={}", call / 2, submit / 2);
            (vec!["launch x0.5".to_owned()], script.clone())
        }
        ChangedOperation::Waits => (vec![no_waits(1)], script.without_waits(1)),
        ChangedOperation::ToStream => (
            sync('v', "stream"),
            script.with_syncs('v', narrower::stream),
        ),
        ChangedOperation::ToEvent('v') => {
            (sync('v', "event"), script.with_syncs('v', narrower::event))
        }
        ChangedOperation::ToEvent(letter) => {
            let changed = script.with_each_sync(letter, |before, op| event_of(before, op.a));
            (sync(letter, "event"), changed)
        }
        ChangedOperation::ToNothing(letter) => (
            sync(letter, "none"),
            script.with_syncs(letter, narrower::none),
        ),
    };
    Pair {
        name: format!("seed {seed}"),
        original,
        changes,
        changed: Clocked::new(&soft, &[&changed]),
        captures: false,
    }
}

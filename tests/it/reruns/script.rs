//! Scripts for `tests/programs/reruns.c`: programs that can be changed as a change of `what-if` asks for.
//!
//! An operation is a line. S is a stream, E an event, G a graph, N microseconds of virtual time:
//!
//! | line | operation |
//! |---|---|
//! | `s S`, `e E` | make a stream, an event |
//! | `c S N`, `i S N`, `u S N` | copy on the device, from the host, to the host |
//! | `f S N`, `m S N`, `x S N` | fill, reduce, fill memory that nothing else uses |
//! | `b N` | copy from the host in the calling thread |
//! | `r E S`, `w S E` | record E on S; S waits for E |
//! | `y S`, `z E`, `v` | the host waits for a stream, an event, the device |
//! | `h S N`, `p N` | the host works: as a task of S, in the calling thread |
//! | `a N` | the host reads N bytes of what was copied to it |
//! | `G S`, `E S G`, `l G S` | begin a capture, end it, launch the graph |
//! | `q S`, `Q E`, `k E` | ask until a stream, the record of an event, the waits for an event are done |
//! | `n N`, `o N` | post a signal of the program; wait for a post of it |
//! | `H S N` | a function on the host, as a task of S, posts a signal |
//! | `t`, `j` | begin the second thread, wait for its end |

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) kind: char,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl Op {
    pub(crate) const fn new(kind: char, a: u32, b: u32) -> Self {
        Self { kind, a, b }
    }

    /// Does it put a task on a stream? That of a record is its second number.
    pub(crate) fn stream(self) -> Option<u32> {
        match self.kind {
            'c' | 'i' | 'u' | 'f' | 'm' | 'x' | 'w' | 'h' | 'H' => Some(self.a),
            'r' | 'l' => Some(self.b),
            _ => None,
        }
    }

    /// Does it copy from or to the host, as a task?
    pub(crate) fn is_of_host(self) -> bool {
        matches!(self.kind, 'i' | 'u')
    }
}

/// The operations of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script(pub(crate) Vec<Op>);

impl Script {
    /// Reads lines; `;` ends one as well.
    #[track_caller]
    pub(crate) fn read(text: &str) -> Self {
        let lines = text.split(['\n', ';']).map(str::trim);
        let ops = lines.filter(|it| !it.is_empty()).map(|line| {
            let mut words = line.split_whitespace();
            let kind = words.next().and_then(|it| it.chars().next()).unwrap();
            let mut number = || words.next().map_or(0, |it| it.parse().unwrap());
            Op::new(kind, number(), number())
        });
        Self(ops.collect())
    }

    pub(crate) fn text(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|Op { kind, a, b }| format!("{kind} {a} {b}\n"));
        lines.collect()
    }

    /// Every operation of these kinds takes a multiple of its time.
    pub(crate) fn scaled(&self, kinds: &str, factor: f64) -> Self {
        let scaled = |of: u32| (f64::from(of) * factor).round() as u32;
        let ops = self.0.iter().map(|op| match op.kind {
            'b' if kinds.contains('b') => Op {
                a: scaled(op.a),
                ..*op
            },
            kind if kinds.contains(kind) => Op {
                b: scaled(op.b),
                ..*op
            },
            _ => *op,
        });
        Self(ops.collect())
    }

    /// The stream waits for nothing.
    pub(crate) fn without_waits(&self, stream: u32) -> Self {
        let is_wait = |op: &Op| op.kind == 'w' && op.a == stream;
        Self(self.0.iter().copied().filter(|op| !is_wait(op)).collect())
    }

    /// In place of each sync of this kind comes what `instead` makes of the operations before it.
    pub(crate) fn with_syncs(&self, kind: char, instead: impl Fn(&[Op]) -> Vec<Op>) -> Self {
        self.with_each_sync(kind, |before, _| instead(before))
    }

    /// The same, where it depends on the sync as well.
    pub(crate) fn with_each_sync(
        &self,
        kind: char,
        instead: impl Fn(&[Op], Op) -> Vec<Op>,
    ) -> Self {
        let mut ops = Vec::new();
        for (place, op) in self.0.iter().enumerate() {
            if op.kind == kind {
                ops.extend(instead(&self.0[..place], *op));
            } else {
                ops.push(*op);
            }
        }
        Self(ops)
    }
}

/// The narrower waits of `what-if`, as a program would make them.
pub(crate) mod narrower {
    use super::Op;

    /// For the stream with the last copy to or from the host; without any, the one that was used last.
    pub(crate) fn stream(before: &[Op]) -> Vec<Op> {
        let mut latest = before.iter().rev();
        let copy = latest.clone().find(|op| op.is_of_host());
        let last = copy.or_else(|| latest.find(|op| op.stream().is_some()));
        let stream = last.and_then(|op| op.stream());
        stream.map(|it| Op::new('y', it, 0)).into_iter().collect()
    }

    /// For the last event record.
    pub(crate) fn event(before: &[Op]) -> Vec<Op> {
        let last = before.iter().rev().find(|op| op.kind == 'r');
        last.map(|it| Op::new('z', it.a, 0)).into_iter().collect()
    }

    pub(crate) fn none(_: &[Op]) -> Vec<Op> {
        Vec::new()
    }
}

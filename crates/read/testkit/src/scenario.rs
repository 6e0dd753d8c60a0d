//! Random programs with streams that are idle for arranged, known reasons.
//!
//! A program is a list of operations, one a line, for the interpreter in `tests/programs/script.c`:
//!
//! | line | operation |
//! |---|---|
//! | `s S`, `x S` | make, destroy stream S |
//! | `e E`, `d E` | make, destroy event E, of the kind that can be recorded again |
//! | `c S N` | copy N bytes on stream S; an option makes the runtime take 1 µs a byte |
//! | `r E S`, `w S E` | record E on S, let S wait for E |
//! | `y S`, `z E` | wait for a stream, for an event |
//! | `h S N` | a host function on S that takes N µs |
//! | `g S`, `o` | a host function on S that lasts until the next `o` |
//! | `p N` | the thread sleeps for N µs |
//!
//! Each operation but `p` and `o` is one call of the thread that runs the program, so its number finds
//! it in a trace. The host may take any time between two operations; so waits are arranged behind
//! gates, and only the host's causes depend on it.

/// The runtime's options that the programs are made for.
pub const SOFT: &str = "d2d_mbps=1,copy_ns=0,queue=64";

/// The expected result for one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpectedCause {
    /// The call of the task that could not continue, counted from 0 over the whole program.
    pub call: usize,
    pub cause: ExpectedReason,
}

/// Why the stream did nothing before the call's task, or in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedReason {
    /// It waited for the record that this call made, and in the end for the task of that one.
    EventWait {
        record: usize,
        root: usize,
    },
    /// It is a wait without a hold-up.
    NoWait,
    HostLate,
    /// The thread was inside this call.
    HostBlocked {
        call: usize,
    },
    /// The thread was submitting to the stream that this call made.
    QueueFull {
        stream: usize,
    },
    Callback,
    /// Until this call destroyed it, the stream had nothing more to do.
    Drained,
}

/// A program, and its expected results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenario {
    pub script: String,
    pub expected: Vec<ExpectedCause>,
    /// Calls that the program makes.
    pub calls: usize,
    /// Situations that it was put together from.
    pub cases: usize,
}

impl Scenario {
    /// A program of `cases` situations; the same seed always gives the same one.
    pub fn new(seed: u64, cases: usize) -> Self {
        let mut maker = ScenarioMaker {
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            scenario: Self::default(),
        };
        for _ in 0..cases {
            maker.case();
        }
        maker.scenario
    }
}

struct ScenarioMaker {
    random: u64,
    scenario: Scenario,
}

impl ScenarioMaker {
    /// One situation on separate streams and events.
    fn case(&mut self) {
        self.scenario.cases += 1;
        let streams = [0, 1, 2].map(|s| self.call(&format!("s {s}")));
        for event in 0..2 {
            self.call(&format!("e {event}"));
        }
        match self.below(9) {
            0 => self.wait(),
            1 => self.satisfied_wait(),
            2 => self.late(),
            3 => self.blocked(),
            4 => self.callback(),
            5 => self.drained(),
            6 => self.chain(),
            7 => self.recorded_again(),
            _ => self.full_queue(streams[0]),
        }
        for stream in 0..3 {
            self.call(&format!("y {stream}"));
        }
        for stream in 0..3 {
            self.call(&format!("x {stream}"));
        }
        for event in 0..2 {
            self.call(&format!("d {event}"));
        }
    }

    /// A stream waits for work that cannot begin before all has been submitted.
    fn wait(&mut self) {
        let gate = self.call("g 0");
        for _ in 0..=self.below(2) {
            self.copy(0, 20);
        }
        let record = self.call("r 0 0");
        let wait = self.call("w 1 0");
        self.copy(1, 20);
        self.line("o");
        self.call("y 1");
        self.expect(gate, ExpectedReason::Callback);
        self.expect(wait, ExpectedReason::EventWait { record, root: gate });
    }

    /// As `wait`, over two streams.
    fn chain(&mut self) {
        let gate = self.call("g 0");
        self.copy(0, 20);
        let first = self.call("r 0 0");
        let middle = self.call("w 1 0");
        self.copy(1, 20);
        let second = self.call("r 1 1");
        let last = self.call("w 2 1");
        self.copy(2, 20);
        self.line("o");
        self.call("y 2");
        let root = gate;
        self.expect(
            middle,
            ExpectedReason::EventWait {
                record: first,
                root,
            },
        );
        self.expect(
            last,
            ExpectedReason::EventWait {
                record: second,
                root,
            },
        );
    }

    /// Two waits for the same event, each for a different record.
    fn recorded_again(&mut self) {
        let gate = self.call("g 0");
        self.copy(0, 20);
        let first = self.call("r 0 0");
        let early = self.call("w 1 0");
        self.copy(0, 100);
        let second = self.call("r 0 0");
        let late = self.call("w 2 0");
        self.line("o");
        self.call("y 0");
        let root = gate;
        self.expect(
            early,
            ExpectedReason::EventWait {
                record: first,
                root,
            },
        );
        self.expect(
            late,
            ExpectedReason::EventWait {
                record: second,
                root,
            },
        );
    }

    /// The record was reached long before the wait was submitted.
    fn satisfied_wait(&mut self) {
        self.copy(0, 20);
        self.call("r 0 0");
        let sync = ["y 0", "z 0"][self.below(2) as usize];
        self.call(sync);
        let wait = self.call("w 1 0");
        self.copy(1, 20);
        self.expect(wait, ExpectedReason::NoWait);
    }

    /// The thread did other work before the next submission.
    fn late(&mut self) {
        self.copy(0, 20);
        self.call("y 0");
        let sleep = 300 + self.below(300);
        self.line(&format!("p {sleep}"));
        let next = self.copy(0, 20);
        self.expect(next, ExpectedReason::HostLate);
    }

    /// The thread waited for another stream before the next submission.
    fn blocked(&mut self) {
        self.copy(0, 20);
        self.copy(1, 2_000);
        let call = self.call("y 1");
        let next = self.copy(0, 20);
        self.expect(next, ExpectedReason::HostBlocked { call });
    }

    fn callback(&mut self) {
        self.copy(0, 20);
        let time = 100 + self.below(200);
        let function = self.call(&format!("h 0 {time}"));
        self.copy(0, 20);
        self.expect(function, ExpectedReason::Callback);
    }

    fn drained(&mut self) {
        self.copy(2, 20);
        self.call("y 2");
        let sleep = 200 + self.below(200);
        self.line(&format!("p {sleep}"));
        // After the situation come three syncs, then the streams are destroyed in turn.
        let end = self.scenario.calls + 3 + 2;
        self.expect(end, ExpectedReason::Drained);
    }

    /// The thread was held up by a stream that had no room left.
    fn full_queue(&mut self, full: usize) {
        self.copy(1, 20);
        for _ in 0..40 {
            self.copy(0, 150);
        }
        let next = self.copy(1, 20);
        self.expect(next, ExpectedReason::QueueFull { stream: full });
    }

    fn copy(&mut self, stream: usize, least: u64) -> usize {
        let bytes = least + self.below(least);
        self.call(&format!("c {stream} {bytes}"))
    }

    fn expect(&mut self, call: usize, cause: ExpectedReason) {
        self.scenario.expected.push(ExpectedCause { call, cause });
    }

    /// Adds an operation that is a call, and returns its number.
    fn call(&mut self, line: &str) -> usize {
        self.line(line);
        self.scenario.calls += 1;
        self.scenario.calls - 1
    }

    fn line(&mut self, line: &str) {
        self.scenario.script.push_str(line);
        self.scenario.script.push('\n');
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_program() {
        assert_eq!(Scenario::new(7, 20), Scenario::new(7, 20));
        assert_ne!(Scenario::new(7, 20).script, Scenario::new(8, 20).script);
    }

    #[test]
    fn calls_are_numbered_as_the_interpreter_makes_them() {
        let scenario = Scenario::new(3, 50);
        let is_call = |line: &&str| !line.starts_with(['p', 'o']);
        let lines: Vec<_> = scenario.script.lines().filter(is_call).collect();
        assert_eq!(lines.len(), scenario.calls);
        for ExpectedCause { call, cause } in &scenario.expected {
            let first = &lines[*call][..1];
            let fits = match cause {
                ExpectedReason::EventWait { record, root } => {
                    first == "w" && lines[*record].starts_with('r') && lines[*root].starts_with('g')
                }
                ExpectedReason::NoWait => first == "w",
                ExpectedReason::HostLate => first == "c",
                ExpectedReason::HostBlocked { call } => {
                    first == "c" && lines[*call].starts_with('y')
                }
                ExpectedReason::QueueFull { stream } => {
                    first == "c" && lines[*stream].starts_with('s')
                }
                ExpectedReason::Callback => first == "g" || first == "h",
                ExpectedReason::Drained => first == "x",
            };
            assert!(fits, "{call}: {} is {cause:?}", lines[*call]);
        }
    }
}

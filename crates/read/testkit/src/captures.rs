//! Random programs of captures, joins and replays, with their expected output.
//!
//! A program is a script for `tests/programs/capture_script.c`. It is free of races: streams and events
//! order all accesses to the same cells. So running everything in the order of the script, one
//! operation after another, gives the same results. That is the reference.

mod cells;
mod generate;
mod order;

pub use generate::script;

/// A script and its expected results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub text: String,
    /// Expected output of the program.
    pub output: String,
    /// In the order in which their captures begin.
    pub graphs: Vec<ExpectedGraph>,
}

/// A graph that the script captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedGraph {
    /// Expected result of the end of the capture.
    pub code: i32,
    /// Stream (counted from 0) and kind of task.
    pub nodes: Vec<(usize, &'static str)>,
    pub replays: u32,
}

/// Streams that a script uses.
pub const STREAMS: usize = 4;

/// Numbers that are the same in every run.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())]
    }
}

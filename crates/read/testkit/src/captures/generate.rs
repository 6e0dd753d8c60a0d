//! Writes scripts.

use std::fmt::Write as _;

use super::cells::{CellMemory, CellWork};
use super::order::{TaskOrder, TouchedCells};
use super::{Dice, ExpectedGraph, STREAMS, Script};

const UNJOINED: i32 = 107_025;
const STREAM_CAPTURED: i32 = 107_027;
const EVENT_CAPTURED: i32 = 107_028;
const NOT_CAPTURED: i32 = 107_029;
const MODE: i32 = 107_030;
const UNMATCHED: i32 = 107_036;

/// Modes as `aclmdlRICaptureMode` counts them.
const MODES: usize = 3;
const RELAXED: usize = 2;
/// Captures that are under way at one time, at most.
const AT_ONCE: usize = 2;
/// Graphs that a case keeps, at most.
const KEPT: usize = 4;

/// A script of `cases` cases; each begins afresh.
pub fn script(seed: u64, cases: usize) -> Script {
    let mut writer = ScriptWriter {
        dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1),
        script: Script {
            text: String::new(),
            output: String::new(),
            graphs: Vec::new(),
        },
        case: CaptureCase::new(),
    };
    for _ in 0..cases {
        writer.case();
    }
    writer.script
}

/// A capture under way.
#[derive(Debug)]
struct OpenCapture {
    /// Position among all graphs of the script.
    graph: usize,
    mode: usize,
    /// The origin first.
    streams: Vec<usize>,
    order: TaskOrder,
    works: Vec<CellWork>,
    /// The last event that was recorded in it.
    event: Option<usize>,
}

/// A graph that can be replayed.
#[derive(Debug)]
struct ReplayableGraph {
    graph: usize,
    slot: usize,
    works: Vec<CellWork>,
}

#[derive(Debug)]
struct CaptureCase {
    memory: CellMemory,
    order: TaskOrder,
    captures: Vec<OpenCapture>,
    graphs: Vec<ReplayableGraph>,
    slots: usize,
    events: usize,
    codes: Vec<i32>,
}

impl CaptureCase {
    fn new() -> Self {
        Self {
            memory: CellMemory::new(),
            order: TaskOrder::new(),
            captures: Vec::new(),
            graphs: Vec::new(),
            slots: 0,
            events: 0,
            codes: Vec::new(),
        }
    }

    fn is_captured(&self, stream: usize) -> bool {
        let mut captures = self.captures.iter();
        captures.any(|capture| capture.streams.contains(&stream))
    }

    fn free_streams(&self) -> Vec<usize> {
        (0..STREAMS)
            .filter(|stream| !self.is_captured(*stream))
            .collect()
    }
}

struct ScriptWriter {
    dice: Dice,
    script: Script,
    case: CaptureCase,
}

impl ScriptWriter {
    fn case(&mut self) {
        self.case = CaptureCase::new();
        self.line("c", None);
        for _ in 0..8 + self.dice.roll(30) {
            self.step();
        }
        while !self.case.captures.is_empty() {
            self.end_capture(0);
        }
        while let Some(graph) = self.case.graphs.pop() {
            if self.dice.chance(60) {
                self.replay(&graph);
            }
            self.line(&format!("f {}", graph.slot), Some(0));
        }
        self.line("o", None);
        let codes: Vec<String> = self.case.codes.iter().map(i32::to_string).collect();
        let memory = self.case.memory.text();
        let _ = writeln!(self.script.output, "{}: {memory}", codes.join(" "));
    }

    /// Writes a line; `code` is what its call returns.
    fn line(&mut self, line: &str, code: Option<i32>) {
        self.script.text.push_str(line);
        self.script.text.push('\n');
        self.case.codes.extend(code);
    }

    fn step(&mut self) {
        let captures = self.case.captures.len();
        match self.dice.roll(10) {
            0..=4 if captures > 0 => {
                let capture = self.dice.roll(captures);
                self.inside(capture);
            }
            5 if captures > 0 => {
                let capture = self.dice.roll(captures);
                self.end_capture(capture);
            }
            6 if captures > 0 => self.misuse(),
            7 | 8 if !self.case.graphs.is_empty() => {
                let place = self.dice.roll(self.case.graphs.len());
                let graph = self.case.graphs.swap_remove(place);
                self.replay(&graph);
                self.case.graphs.push(graph);
            }
            3 | 9 if captures < AT_ONCE && self.case.graphs.len() + captures < KEPT => {
                self.begin_capture();
            }
            _ => self.outside(),
        }
    }

    fn begin_capture(&mut self) {
        let free = self.case.free_streams();
        if free.len() < 2 {
            return;
        }
        let origin = self.dice.pick(&free);
        let mode = self.dice.roll(MODES);
        self.line(&format!("b {origin} {mode}"), Some(0));
        self.case.captures.push(OpenCapture {
            graph: self.script.graphs.len(),
            mode,
            streams: vec![origin],
            order: TaskOrder::new(),
            works: Vec::new(),
            event: None,
        });
        self.script.graphs.push(ExpectedGraph::default());
    }

    /// A task on the device, on a stream that is not being captured.
    fn outside(&mut self) {
        let free = self.case.free_streams();
        if free.is_empty() {
            return;
        }
        let stream = self.dice.pick(&free);
        if self.dice.chance(15) {
            self.line(&format!("y {stream}"), Some(0));
            self.case.order.sync(stream);
            return;
        }
        let work = CellWork::random(&mut self.dice);
        if self.order_outside(stream, &TouchedCells::by([&work])) {
            self.line(&work.line(stream), Some(0));
            self.case.memory.run(work);
        }
    }

    /// Lets `stream` wait for what its next task conflicts with. False when that cannot be.
    fn order_outside(&mut self, stream: usize, touched: &TouchedCells) -> bool {
        let others = self.case.order.conflicts(stream, touched);
        if others.iter().any(|other| self.case.is_captured(*other)) {
            return false;
        }
        for other in others {
            let event = self.new_event();
            self.line(&format!("r {event} {other}"), Some(0));
            self.line(&format!("w {stream} {event}"), Some(0));
            self.case.order.wait(stream, other);
        }
        self.case.order.submit(stream, touched);
        true
    }

    fn new_event(&mut self) -> usize {
        self.case.events += 1;
        self.case.events - 1
    }

    fn replay(&mut self, graph: &ReplayableGraph) {
        let free = self.case.free_streams();
        if free.is_empty() {
            return;
        }
        let stream = self.dice.pick(&free);
        if !self.order_outside(stream, &TouchedCells::by(&graph.works)) {
            return;
        }
        self.line(&format!("x {} {stream}", graph.slot), Some(0));
        for work in &graph.works {
            self.case.memory.run(*work);
        }
        self.script.graphs[graph.graph].replays += 1;
    }

    /// A task, or another stream, for a capture.
    fn inside(&mut self, place: usize) {
        let free = self.case.free_streams();
        let joined = self.case.captures[place].streams.clone();
        let stream = self.dice.pick(&joined);
        if self.dice.chance(30) && !free.is_empty() {
            let other = self.dice.pick(&free);
            self.link(place, stream, other);
            self.case.captures[place].streams.push(other);
            return;
        }
        let work = CellWork::random(&mut self.dice);
        let touched = TouchedCells::by([&work]);
        for other in self.case.captures[place].order.conflicts(stream, &touched) {
            self.link(place, other, stream);
        }
        self.add(place, stream, work);
    }

    fn add(&mut self, place: usize, stream: usize, work: CellWork) {
        self.line(&work.line(stream), Some(0));
        let capture = &mut self.case.captures[place];
        capture.order.submit(stream, &TouchedCells::by([&work]));
        capture.works.push(work);
        self.script.graphs[capture.graph]
            .nodes
            .push((stream, work.kind()));
    }

    /// Lets a stream wait for another one inside a capture.
    fn link(&mut self, place: usize, from: usize, to: usize) {
        let event = self.new_event();
        self.line(&format!("r {event} {from}"), Some(0));
        self.line(&format!("w {to} {event}"), Some(0));
        let capture = &mut self.case.captures[place];
        capture.order.wait(to, from);
        capture.event = Some(event);
        let nodes = &mut self.script.graphs[capture.graph].nodes;
        nodes.extend([(from, "record"), (to, "wait")]);
    }

    fn end_capture(&mut self, place: usize) {
        let streams = self.case.captures[place].streams.clone();
        let origin = streams[0];
        let mut away = streams[1..].to_vec();
        let fails = !away.is_empty() && self.dice.chance(25);
        let forgotten = (fails && self.dice.chance(50))
            .then(|| away.pop())
            .flatten();
        if let Some(stream) = forgotten {
            let work = CellWork::random(&mut self.dice);
            self.add(place, stream, work);
        }
        let late = away.last().copied();
        while !away.is_empty() {
            let next = self.dice.roll(away.len());
            let stream = away.swap_remove(next);
            // Some come back by way of another one.
            let to = match away.is_empty() || self.dice.chance(60) {
                true => origin,
                false => self.dice.pick(&away),
            };
            self.link(place, stream, to);
        }
        if let (true, None, Some(stream)) = (fails, forgotten, late) {
            let work = CellWork::random(&mut self.dice);
            self.add(place, stream, work);
        }
        let capture = self.case.captures.remove(place);
        let slot = self.case.slots;
        self.case.slots += 1;
        let code = if fails { UNJOINED } else { 0 };
        self.line(&format!("e {origin} {slot}"), Some(code));
        self.script.graphs[capture.graph].code = code;
        if !fails {
            self.case.graphs.push(ReplayableGraph {
                graph: capture.graph,
                slot,
                works: capture.works,
            });
        }
    }

    /// A call that is refused and changes nothing.
    fn misuse(&mut self) {
        let place = self.dice.roll(self.case.captures.len());
        let capture = &self.case.captures[place];
        let streams = capture.streams.clone();
        let event = capture.event;
        let stream = self.dice.pick(&streams);
        let blocks = self.case.captures.iter().any(|it| it.mode != RELAXED);
        // A slot that holds no graph.
        let slot = self.case.slots;
        match self.dice.roll(6) {
            0 => self.line(&format!("y {stream}"), Some(STREAM_CAPTURED)),
            1 => self.line(&format!("b {stream} 0"), Some(STREAM_CAPTURED)),
            2 => self.line("p", Some(if blocks { MODE } else { 0 })),
            3 if stream != streams[0] => {
                self.line(&format!("e {stream} {slot}"), Some(UNMATCHED));
            }
            4 => {
                if let Some(event) = event {
                    self.line(&format!("q {event}"), Some(EVENT_CAPTURED));
                }
            }
            _ => {
                if let Some(free) = self.case.free_streams().first() {
                    let line = format!("e {free} {slot}");
                    self.line(&line, Some(NOT_CAPTURED));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_script() {
        assert_eq!(script(7, 20), script(7, 20));
        assert_ne!(script(7, 20).text, script(8, 20).text);
    }

    #[test]
    fn scripts_hold_all_kinds_of_operations() {
        let script = script(1, 200);
        assert_eq!(script.output.lines().count(), 200);
        let failed = script.graphs.iter().filter(|graph| graph.code != 0);
        assert!(failed.count() > 10);
        let replays: u32 = script.graphs.iter().map(|graph| graph.replays).sum();
        assert!(replays > 200, "{replays}");
        let streams = |graph: &ExpectedGraph| {
            let mut streams: Vec<_> = graph.nodes.iter().map(|node| node.0).collect();
            streams.sort_unstable();
            streams.dedup();
            streams.len()
        };
        assert!(
            script
                .graphs
                .iter()
                .filter(|graph| streams(graph) >= 3)
                .count()
                > 20
        );
        for code in ["107027", "107028", "107029", "107030", "107036"] {
            assert!(script.output.contains(code), "{code}");
        }
    }
}

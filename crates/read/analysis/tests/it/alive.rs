//! Random programs that are slow and alive: at any time of a look, they do not hang.

use ascend_trace_analysis::hang::{Hangs, Report, Verdict};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::Timeline;

use super::random::Dice;

/// Each has a stream, and all submit from the begin on.
const THREADS: usize = 3;
const US: i64 = 1_000;
const MS: i64 = 1_000_000;

/// Items of the program before a look.
#[derive(Debug)]
enum Piece {
    /// A task on a stream: its operation, its time, and the time of its call.
    Task(usize, String, [i64; 2], usize, [i64; 2]),
    /// A call of a thread that submits nothing.
    Call(usize, String, [i64; 2]),
}

/// A program, piece by piece. Where nothing has moved, something does within 8 units of time, or within 3 times the
/// longest pause before.
struct Program<'d> {
    dice: &'d mut Dice,
    unit: i64,
    now: [i64; THREADS],
    ready: [i64; THREADS],
    events: usize,
    pieces: Vec<Piece>,
}

impl<'d> Program<'d> {
    fn new(dice: &'d mut Dice) -> Self {
        // With the last one, pauses are longer than all that would make a short one a hang.
        let unit = [MS, 100 * MS, 1_000 * MS, 5_000 * MS][dice.roll(4) as usize];
        let mut program = Self {
            dice,
            unit,
            now: [0, 10 * US, 20 * US],
            ready: [0; THREADS],
            events: 0,
            pieces: Vec::new(),
        };
        for thread in 0..THREADS {
            program.kernel(thread);
        }
        // All threads sleep, so that a long pause is nothing unusual.
        program.now = [4 * unit, 4 * unit + 10 * US, 4 * unit + 20 * US];
        program
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides as u64) as usize
    }

    fn task(&mut self, thread: usize, name: String, end: impl FnOnce(i64) -> i64) -> i64 {
        let called = self.now[thread];
        let returned = called + US;
        let begin = self.ready[thread].max(returned);
        let end = end(begin);
        self.pieces.push(Piece::Task(
            thread,
            name,
            [begin, end],
            thread,
            [called, returned],
        ));
        (self.now[thread], self.ready[thread]) = (returned, end);
        end
    }

    fn kernel(&mut self, thread: usize) {
        let name = ["Add", "MatMul", "Softmax"][self.roll(3)];
        let length = [self.unit / 10, self.unit, 7 * self.unit][self.roll(3)];
        self.task(thread, name.to_owned(), |begin| begin + length);
    }

    fn sync(&mut self, thread: usize) {
        let called = self.now[thread];
        let late = [10 * US, self.unit, 3 * self.unit][self.roll(3)];
        let returned = called.max(self.ready[thread]) + late;
        let name = format!("sync(s{})", thread + 1);
        self.pieces
            .push(Piece::Call(thread, name, [called, returned]));
        self.now[thread] = returned;
    }

    /// A thread waits for an event that another one, which does something else until then, records later.
    fn handshake(&mut self, thread: usize) {
        let other = (thread + 1 + self.roll(THREADS - 1)) % THREADS;
        let later = [self.unit / 10, self.unit, 8 * self.unit][self.roll(3)];
        let event = self.events;
        self.events += 1;
        let submitted = self.now[thread] + US;
        self.now[other] = self.now[other].max(submitted + later);
        // The wait is submitted first, and its record is known only then.
        let place = self.pieces.len();
        let recorded = self.task(other, format!("rec(E{event})"), |begin| begin);
        let record = self.pieces.split_off(place);
        self.task(thread, format!("wait(E{event}#0)"), |begin| {
            begin.max(recorded)
        });
        self.pieces.extend(record);
    }

    fn step(&mut self) {
        let first = (0..THREADS).min_by_key(|it| self.now[*it]);
        let thread = first.unwrap_or(0);
        match self.roll(5) {
            0 => self.sync(thread),
            1 | 2 => self.handshake(thread),
            3 => self.now[thread] += [self.unit, 8 * self.unit][self.roll(2)],
            _ => self.kernel(thread),
        }
    }

    /// The recorded part at a time: unfinished calls and tasks are open.
    fn until(&self, cut: i64) -> String {
        let time = |[begin, end]: [i64; 2]| match end <= cut {
            true => format!("[{begin}..{end}]"),
            false => "[?]".to_owned(),
        };
        let lines = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Task(stream, name, ran, thread, [called, returned]) => {
                let by = format!("by t{}[{called}..{returned}]", thread + 1);
                let time = time(*ran);
                (*returned <= cut).then(|| format!("s{}: {name}{time} {by}\n", stream + 1))
            }
            Piece::Call(thread, name, [called, returned]) => {
                let end = match *returned <= cut {
                    true => returned.to_string(),
                    false => format!("{cut}?"),
                };
                (*called < cut).then(|| format!("t{}: {name}[{called}..{end}]\n", thread + 1))
            }
        });
        lines.collect()
    }

    fn report(&self, cut: i64) -> Report {
        let text = self.until(cut);
        // Of `aclrtCreateEventWithFlag`: a wait is for the next record.
        let timeline = Timeline::of(&text).broken_off().with_events(1);
        let fold = Hangs::default().until(Some(cut));
        fold.of(&Window::whole(&timeline.trace()))
    }
}

#[test]
fn a_thousand_slow_programs_do_not_hang() {
    let mut verdicts = [0_usize; 2];
    for seed in 0..1_000 {
        let mut dice = Dice(seed);
        let mut program = Program::new(&mut dice);
        for _ in 0..12 {
            program.step();
        }
        let end = program.now.into_iter().max().unwrap_or(0);
        for _ in 0..4 {
            let cut = program.dice.roll(end as u64) + 1;
            let report = program.report(cut);
            let text = || format!("seed {seed} at {cut}\n{}\n{report:#?}", program.until(cut));
            match report.verdict {
                Verdict::Moving => verdicts[0] += 1,
                Verdict::Quiet => verdicts[1] += 1,
                Verdict::Hangs | Verdict::Ended => panic!("{}", text()),
            }
        }
    }
    // Both kinds of programs were among them.
    assert!(verdicts.iter().all(|it| *it > 500), "{verdicts:?}");
}

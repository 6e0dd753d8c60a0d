//! Random programs of everything that stalls: two ranks with two threads and three streams each, with waits,
//! blocking calls, full queues, notifies, values, callbacks, collectives, replays, and tasks without times.

use std::fmt::Write as _;

use super::random::Dice;

const RANKS: usize = 2;
const THREADS: usize = 2;
const STREAMS: usize = 3;
/// As many tasks fit into a queue of a timeline.
const QUEUE: usize = 8;
/// How long a call takes that does not block.
const CALL_NS: i64 = 1_000;

/// A random program of `operations` operations, as the text of a timeline.
pub(super) fn everything(dice: &mut Dice, operations: usize) -> String {
    let mut machine = Machine::new();
    for _ in 0..operations {
        machine.step(dice);
    }
    machine.text
}

#[derive(Clone, Default)]
struct Stream {
    /// When it has finished its submissions.
    ready: i64,
    /// When each of its tasks ends.
    ends: Vec<i64>,
}

#[derive(Clone, Default)]
struct Rank {
    /// Until when its threads are known.
    threads: [i64; THREADS],
    streams: [Stream; STREAMS],
    /// When each record happens, with the name of its event.
    records: Vec<(String, i64)>,
    /// The last value of its word in memory.
    value: i64,
}

struct Machine {
    ranks: [Rank; RANKS],
    text: String,
}

/// A thread of a rank.
#[derive(Clone, Copy)]
struct Thread(usize, usize);

impl Machine {
    fn new() -> Self {
        let mut ranks: [Rank; RANKS] = Default::default();
        let mut text = String::new();
        for (rank, of) in ranks.iter_mut().enumerate() {
            of.threads = [10, 20];
            let p = rank + 1;
            let _ = writeln!(
                text,
                "p{p}.t1: capture(s1)[0..1] of g1 end(s1)[4..5] of g1 HcclCommInitRootInfo(2,{rank},{p})[6..9]\n\
                 p{p}.s1@{rank}: K[captured] by t1[2..3] of g1\n\
                 p{p}.s2@{rank}: | p{p}.s3@{rank}:"
            );
        }
        Self { ranks, text }
    }

    /// The thread that comes first: calls begin in the order of the text.
    fn first(&self) -> Thread {
        let all = (0..RANKS).flat_map(|rank| (0..THREADS).map(move |thread| Thread(rank, thread)));
        let first = all.min_by_key(|it| self.ranks[it.0].threads[it.1]);
        first.unwrap_or(Thread(0, 0))
    }

    fn now(&mut self, Thread(rank, thread): Thread) -> &mut i64 {
        &mut self.ranks[rank].threads[thread]
    }

    /// A thread submits a task that runs for this time, and not before `least`: returns when it does.
    fn submit(
        &mut self,
        by: Thread,
        stream: usize,
        (what, graph): (&str, &str),
        (least, length): (i64, i64),
    ) -> (i64, i64) {
        let called = *self.now(by);
        let of = &mut self.ranks[by.0].streams[stream];
        let pending = of.ends.iter().filter(|end| **end > called).count();
        let room = pending.checked_sub(QUEUE).map(|over| {
            let first = of.ends.len() - pending + over;
            of.ends[first] + 50
        });
        let returned = room.unwrap_or(called + CALL_NS).max(called + CALL_NS);
        let begin = of.ready.max(returned);
        let end = (begin + length).max(least);
        of.ready = end;
        of.ends.push(end);
        *self.now(by) = returned;
        let (p, s, t) = (by.0 + 1, stream + 1, by.1 + 1);
        let _ = writeln!(
            self.text,
            "p{p}.s{s}: {what}[{begin}..{end}] by t{t}[{called}..{returned}]{graph}"
        );
        (begin, end)
    }

    /// A call that lasts until then.
    fn call(&mut self, by: Thread, what: &str, until: i64) {
        let called = *self.now(by);
        let returned = until.max(called + CALL_NS);
        *self.now(by) = returned;
        let (p, t) = (by.0 + 1, by.1 + 1);
        let _ = writeln!(self.text, "p{p}.t{t}: {what}[{called}..{returned}]");
    }

    fn step(&mut self, dice: &mut Dice) {
        let by = self.first();
        let stream = dice.roll(STREAMS as u64) as usize;
        let late = [10, 300, 9_000][dice.roll(3) as usize];
        let lasts = [500, 4_000, 40_000][dice.roll(3) as usize];
        match dice.roll(20) {
            0 | 1 => self.record(by, stream, dice),
            2 | 3 => self.wait(by, stream, dice),
            4..=7 => self.block(by, stream, late, dice),
            8 => *self.now(by) += 5 * late,
            9 => drop(self.submit(by, stream, ("hostfunc", ""), (0, lasts))),
            10 => self.notify(by, stream, dice),
            11 => self.value(by, stream, dice),
            12 | 13 => self.collective(by, stream, lasts, dice),
            14 => drop(self.submit(by, stream, ("graph", " of g1"), (0, lasts))),
            15 => self.untimed(by, stream),
            16 => self.burst(by, stream, lasts),
            _ => drop(self.submit(by, stream, ("K", ""), (0, lasts))),
        }
    }

    fn record(&mut self, by: Thread, stream: usize, dice: &mut Dice) {
        let records = self.ranks[by.0].records.len();
        // Some events are recorded again.
        let name = format!("E{}", dice.roll(records as u64 / 2 + 1));
        let (_, end) = self.submit(by, stream, (&format!("rec({name})"), ""), (0, 0));
        let records = &mut self.ranks[by.0].records;
        records.retain(|it| it.0 != name);
        records.push((name, end));
    }

    fn some_record(&self, by: Thread, dice: &mut Dice) -> Option<(String, i64)> {
        let records = &self.ranks[by.0].records;
        let place = dice.roll(records.len().max(1) as u64) as usize;
        records.get(place).cloned()
    }

    fn wait(&mut self, by: Thread, stream: usize, dice: &mut Dice) {
        if let Some((name, moment)) = self.some_record(by, dice) {
            self.submit(by, stream, (&format!("wait({name})"), ""), (moment, 0));
        }
    }

    /// A call that waits, and then takes a little longer.
    fn block(&mut self, by: Thread, stream: usize, late: i64, dice: &mut Dice) {
        let now = *self.now(by);
        let ready = |stream: &Stream| stream.ready.max(now);
        let streams = &self.ranks[by.0].streams;
        match dice.roll(6) {
            4 => {
                let (until, what) = (ready(&streams[stream]), format!("s{}", stream + 1));
                self.poll(by, &what, [1, 0], until, dice);
            }
            5 => {
                if let Some((name, moment)) = self.some_record(by, dice) {
                    self.poll(by, &name, [0, 1], moment.max(now), dice);
                }
            }
            0 => {
                let until = streams.iter().map(ready).max().unwrap_or(now);
                self.call(by, "sync()", until + late);
            }
            1 => {
                let until = ready(&streams[stream]);
                self.call(by, &format!("sync(s{})", stream + 1), until + late);
            }
            2 => {
                if let Some((name, moment)) = self.some_record(by, dice) {
                    self.call(by, &format!("sync({name})"), moment.max(now) + late);
                }
            }
            _ => {
                let until = ready(&streams[stream]) + late;
                let (p, s, t) = (by.0 + 1, stream + 1, by.1 + 1);
                *self.now(by) = until;
                let _ = writeln!(
                    self.text,
                    "p{p}.s{s}: memcpy(64)[host-copy] by t{t}[{now}..{until}]"
                );
            }
        }
    }

    /// A loop of queries until then, with the status of something that is busy, and of something that is done.
    fn poll(
        &mut self,
        by: Thread,
        what: &str,
        [busy, done]: [u32; 2],
        until: i64,
        dice: &mut Dice,
    ) {
        let pause = 1 + dice.roll(400);
        // Not all of a loop is written down where it takes long.
        for _ in 0..3 {
            let now = *self.now(by);
            if now >= until {
                break;
            }
            self.call(by, &format!("query({what},{busy})"), now);
            *self.now(by) += pause;
        }
        let now = *self.now(by);
        *self.now(by) = now.max(until);
        self.call(by, &format!("query({what},{done})"), until);
    }

    /// The other thread sets the signal that a stream of this one waits for.
    fn signal(&mut self, by: Thread, stream: usize, (wait, set): (&str, &str), dice: &mut Dice) {
        let other = Thread(by.0, 1 - by.1);
        let from = dice.roll(STREAMS as u64) as usize;
        if from == stream {
            return;
        }
        // The setting call must precede the wait: the text is in the order of streams, not of calls.
        let (_, moment) = self.submit(other, from, (set, ""), (0, 0));
        self.submit(by, stream, (wait, ""), (moment, 0));
    }

    fn notify(&mut self, by: Thread, stream: usize, dice: &mut Dice) {
        let number = 7 + dice.roll(2);
        let wait = format!("aclrtWaitAndResetNotify({number})");
        self.signal(by, stream, (&wait, &format!("notify({number})")), dice);
    }

    fn value(&mut self, by: Thread, stream: usize, dice: &mut Dice) {
        self.ranks[by.0].value += 1;
        let value = self.ranks[by.0].value;
        let wait = format!("aclrtValueWait(64,{value},{})", dice.roll(2));
        self.signal(by, stream, (&wait, &format!("value(64,{value})")), dice);
    }

    /// A collective of all ranks, sometimes with a separate communicator.
    fn collective(&mut self, by: Thread, stream: usize, lasts: i64, dice: &mut Dice) {
        let count = [64, 4_096][dice.roll(2) as usize];
        if dice.roll(12) == 0 {
            let alone = format!("HcclAllReduce({},{count})", 9 - dice.roll(2));
            self.submit(by, stream, (&alone, ""), (0, lasts));
            return;
        }
        let other = 1 - by.0;
        let peer = Thread(other, dice.roll(THREADS as u64) as usize);
        let begin = |machine: &Self, it: Thread| {
            let rank = &machine.ranks[it.0];
            rank.streams[stream].ready.max(rank.threads[it.1] + CALL_NS)
        };
        let end = begin(self, by).max(begin(self, peer)) + lasts;
        for it in [by, peer] {
            let what = format!("HcclAllReduce({},{count})", it.0 + 1);
            self.submit(it, stream, (&what, ""), (end, 0));
        }
    }

    fn untimed(&mut self, by: Thread, stream: usize) {
        let called = *self.now(by);
        let (p, s, t) = (by.0 + 1, stream + 1, by.1 + 1);
        *self.now(by) = called + CALL_NS;
        let returned = called + CALL_NS;
        let _ = writeln!(
            self.text,
            "p{p}.s{s}: K[contended] by t{t}[{called}..{returned}]"
        );
    }

    /// More than a queue holds.
    fn burst(&mut self, by: Thread, stream: usize, lasts: i64) {
        for _ in 0..QUEUE + 2 {
            self.submit(by, stream, ("K", ""), (0, lasts));
        }
    }
}

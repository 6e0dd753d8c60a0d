//! Recordings of the ranks of a made-up training job: hosts with different clocks, and steps that end
//! with a collective of all ranks.
//!
//! A step of a rank is a kernel, a small, a large and a small all-gather, and the call that waits for
//! them. A collective moves data after the last rank has joined it. Sometimes a rank is late at random.

use ascend_trace_recording::rows::{
    AnchorRow, CallRow, EndRow, FunctionRow, Row, SessionRow, TablesRow, TaskTimeRow,
};

use crate::Timeline;

const SECOND: i64 = 1_000_000_000;
/// Lengths in a step.
const KERNEL: i64 = 400_000;
const TRANSFER: i64 = 60_000;
const SMALL_TRANSFER: i64 = 12_000;
/// One step in this number is late, by at most `LATE`.
const RARE: i64 = 12;
const LATE: i64 = 500_000;
const BETWEEN: i64 = 100_000;
/// From the begin of a call to that of its task, and how long a call takes.
const LATENCY: i64 = 4_000;
const CALL: i64 = 1_500;

/// What every rank calls, once each: the rows of it are changed and used again.
const PATTERN: &str = "t1: HcclCommInitRootInfo(2,0,7)[0..10] sync(s1)[50..90]
    s1: MatMul[20..30] by t1[11..12] HcclAllGather(7,1024,4)[30..40] by t1[13..14]";

/// A job.
#[derive(Clone, Copy, Debug)]
pub struct ClusterJob {
    pub hosts: usize,
    /// On each host.
    pub ranks: usize,
    pub steps: u32,
    pub seed: u64,
    /// The kernels of this rank take half as long again.
    pub slow_rank: Option<usize>,
    /// On this host, collectives end later.
    pub slow_link: Option<usize>,
    /// In this step, all kernels take three times as long.
    pub slow_step: Option<u32>,
}

impl ClusterJob {
    pub fn all_ranks(&self) -> usize {
        self.hosts * self.ranks
    }

    pub fn host(&self, rank: usize) -> usize {
        rank / self.ranks
    }

    /// The session row of a rank's recording.
    pub fn session(&self, rank: usize) -> SessionRow {
        let host = self.host(rank);
        let clock = HostClock::of(self, host);
        SessionRow {
            command: vec!["./train".to_owned(), rank.to_string()],
            host: format!("node{host}"),
            boot_id: format!("boot{host}"),
            timing: "events".to_owned(),
            start_time: "2026-01-01T00:00:00.000000+00:00".to_owned(),
            start_ns: clock.reads(0),
            // Wall clocks differ by some milliseconds.
            start_realtime_ns: 1_767_225_600 * SECOND + (host as i64 * 7) % 5 * 1_000_000,
            ..SessionRow::default()
        }
    }

    /// How far the clock of a rank's host is ahead of the true time, at a true time.
    pub fn ahead(&self, rank: usize, truth: i64) -> i64 {
        HostClock::of(self, self.host(rank)).reads(truth) - truth
    }

    /// The reading of the clock of rank 0 at a reading of another rank's clock.
    pub fn on_reference(&self, rank: usize, reading: i64) -> i64 {
        let truth = HostClock::of(self, self.host(rank)).at(reading);
        HostClock::of(self, self.host(0)).reads(truth)
    }
}

/// The clock of a host.
#[derive(Clone, Copy, Debug)]
struct HostClock {
    offset: i64,
    rate: f64,
}

impl HostClock {
    fn of(job: &ClusterJob, host: usize) -> Self {
        let mut chance = Chance::new(job.seed * 1_000 + host as u64);
        Self {
            offset: 3_600 * SECOND + chance.below(20 * SECOND),
            rate: (chance.below(100_001) - 50_000) as f64 * 1e-9,
        }
    }

    fn reads(self, truth: i64) -> i64 {
        self.offset + truth + (truth as f64 * self.rate).round() as i64
    }

    /// The true time at which it reads this.
    fn at(self, reading: i64) -> i64 {
        let passed = (reading - self.offset) as f64;
        (passed / (1.0 + self.rate)).round() as i64
    }
}

/// Random numbers, the same everywhere.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as i64).rem_euclid(most.max(1))
    }
}

/// The functions that the recordings of a job describe.
pub fn tables() -> TablesRow {
    pattern().tables
}

fn pattern() -> Timeline {
    match Timeline::parse(PATTERN) {
        Ok(timeline) => timeline,
        Err(error) => unreachable!("{error}"),
    }
}

/// Runs a job and hands out the rows of each rank, in the order of its recording.
pub fn run(job: &ClusterJob, mut sink: impl FnMut(usize, Row)) {
    let pattern = RowPattern::new();
    let mut chance = Chance::new(job.seed);
    let mut ranks: Vec<RankState> = (0..job.all_ranks())
        .map(|it| RankState::new(job, it))
        .collect();
    for rank in &mut ranks {
        rank.begin(job, &pattern, &mut sink);
    }
    for step in 0..job.steps {
        for rank in &mut ranks {
            rank.compute(job, step, &mut chance);
        }
        let last = ranks.iter().map(|it| it.computed).max().unwrap_or(0);
        for rank in &mut ranks {
            rank.met = last + SMALL_TRANSFER + chance.below(1_000);
        }
        let last = ranks.iter().map(|it| it.met).max().unwrap_or(0);
        let moved = last + TRANSFER + chance.below(5_000);
        for rank in &mut ranks {
            let is_slow = job.slow_link == Some(job.host(rank.number));
            let later = if is_slow { 3 * TRANSFER } else { 0 };
            rank.moved = moved + later + chance.below(1_000);
        }
        let last = ranks.iter().map(|it| it.moved).max().unwrap_or(0);
        for rank in &mut ranks {
            let end = last + SMALL_TRANSFER + chance.below(1_000);
            rank.end_step(&pattern, end, &mut sink);
        }
    }
    for rank in &ranks {
        let end = EndRow {
            end_ns: rank.clock.reads(rank.now),
            exit_status: 0,
            ..EndRow::default()
        };
        sink(rank.number, Row::End(end));
    }
}

/// The rows that are used again.
struct RowPattern {
    rows: Vec<Row>,
    init: CallRow,
    kernel: CallRow,
    collective: CallRow,
    /// The arguments of the small one.
    small: Vec<u64>,
    sync: CallRow,
    time: TaskTimeRow,
}

impl RowPattern {
    fn new() -> Self {
        let Timeline { tables, rows, .. } = pattern();
        let functions: &[FunctionRow] = &tables.functions;
        let call = |name: &str| {
            let calls = rows.iter().filter_map(|row| match row {
                Row::Call(row) => Some(row),
                _ => None,
            });
            let mut own = calls.filter(|it| functions[usize::from(it.function)].name == name);
            own.next().cloned().unwrap_or_default()
        };
        let times = rows.iter().filter_map(|row| match row {
            Row::TaskTime(row) => Some(*row),
            _ => None,
        });
        let time = times.clone().next();
        let collective = call("HcclAllGather");
        let mut small = collective.args.clone();
        // Communicator, elements, stream.
        if let Some(count) = small.get_mut(1) {
            *count = 16;
        }
        Self {
            init: call("HcclCommInitRootInfo"),
            kernel: call("MatMul"),
            collective,
            small,
            sync: call("aclrtSynchronizeStream"),
            time: time.unwrap_or_else(|| unreachable!("the pattern has tasks")),
            rows,
        }
    }
}

/// A rank on its way through the steps. Moments are true ones.
struct RankState {
    number: usize,
    clock: HostClock,
    now: i64,
    computed: i64,
    /// The ends of the first and the second collective.
    met: i64,
    moved: i64,
    sequence: u32,
}

impl RankState {
    fn new(job: &ClusterJob, number: usize) -> Self {
        Self {
            number,
            clock: HostClock::of(job, job.host(number)),
            now: SECOND,
            computed: 0,
            met: 0,
            moved: 0,
            sequence: 0,
        }
    }

    fn begin(&self, job: &ClusterJob, pattern: &RowPattern, sink: &mut impl FnMut(usize, Row)) {
        for row in &pattern.rows {
            let row = match row {
                Row::Process(row) => {
                    let mut row = row.clone();
                    row.rank = self.number.to_string();
                    row.name = "train".to_owned();
                    row.begin_ns = self.clock.reads(0);
                    Row::Process(row)
                }
                Row::Thread(_) | Row::Context(_) | Row::Stream(_) => row.clone(),
                _ => continue,
            };
            sink(self.number, row);
        }
        let args = vec![job.all_ranks() as u64, self.number as u64, 7];
        let made = CallRow {
            args,
            ..pattern.init.clone()
        };
        let until = SECOND / 2;
        sink(self.number, self.call(made, SECOND / 4, until));
    }

    fn call(&self, row: CallRow, begin: i64, end: i64) -> Row {
        Row::Call(CallRow {
            begin_ns: self.clock.reads(begin),
            end_ns: self.clock.reads(end),
            ..row
        })
    }

    /// The device's clock runs at the true rate.
    fn device(truth: i64) -> i64 {
        truth + 77 * SECOND
    }

    fn compute(&mut self, job: &ClusterJob, step: u32, chance: &mut Chance) {
        let slow_rank = if job.slow_rank == Some(self.number) {
            3
        } else {
            2
        };
        let slow_step = if job.slow_step == Some(step) { 3 } else { 1 };
        let late = match chance.below(RARE) {
            0 => chance.below(LATE),
            _ => chance.below(20_000),
        };
        let length = KERNEL / 2 * slow_rank * slow_step + late;
        self.computed = self.now + LATENCY + length;
    }

    /// Ends the step at the end of its last collective, and writes its rows.
    fn end_step(&mut self, pattern: &RowPattern, end: i64, sink: &mut impl FnMut(usize, Row)) {
        let begin = self.now;
        let seen = end + LATENCY;
        let small = CallRow {
            args: pattern.small.clone(),
            ..pattern.collective.clone()
        };
        let tasks = [
            (&pattern.kernel, begin + LATENCY, self.computed),
            (&small, self.computed, self.met),
            (&pattern.collective, self.met, self.moved),
            (&small, self.moved, end),
        ];
        let mut called = begin;
        for (sequence, (call, ..)) in (self.sequence..).zip(tasks) {
            let mut row = call.clone();
            if let Some(task) = &mut row.task {
                task.sequence = sequence;
            }
            sink(self.number, self.call(row, called, called + CALL));
            called += 2 * CALL;
        }
        sink(self.number, self.call(pattern.sync.clone(), called, seen));
        for (sequence, (_, begin, end)) in (self.sequence..).zip(tasks) {
            let time = TaskTimeRow {
                sequence,
                begin_device_ns: Self::device(begin),
                end_device_ns: Self::device(end),
                seen_ns: self.clock.reads(seen),
                ..pattern.time
            };
            sink(self.number, Row::TaskTime(time));
        }
        let anchor = AnchorRow {
            process: pattern.time.process,
            device: 0,
            before_ns: self.clock.reads(seen) - 500,
            after_ns: self.clock.reads(seen) + 500,
            device_ns: Self::device(seen),
            source: 0,
        };
        sink(self.number, Row::Anchor(anchor));
        self.sequence += 4;
        self.now = seen + BETWEEN;
    }
}

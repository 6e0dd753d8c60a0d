//! A cluster: hosts with different clocks, and ranks that run collectives together.

use ascend_trace_analysis::align::{Comm, Lane, Participant, Recorded, Round};

const SECOND: i64 = 1_000_000_000;

/// A generator of random numbers, the same everywhere.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number from 0 up to but without this one.
    pub(super) fn below(&mut self, most: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as i64).rem_euclid(most.max(1))
    }
}

/// A clock that is `offset` ahead at the true time 0 and runs at its own rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostClock {
    offset: i64,
    rate: f64,
}

impl HostClock {
    /// Its reading at a true time.
    pub(super) fn reads(self, truth: i64) -> i64 {
        self.offset + truth + (truth as f64 * self.rate).round() as i64
    }

    /// The true time at which it reads this.
    pub(super) fn at(self, reading: i64) -> i64 {
        let passed = (reading - self.offset) as f64;
        (passed / (1.0 + self.rate)).round() as i64
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Hosts {
    pub(super) hosts: usize,
    /// Of each host.
    pub(super) ranks: usize,
}

/// A rank, and the communicators that it has part in.
#[derive(Clone, Debug)]
struct Rank {
    host: usize,
    comms: Vec<Comm>,
}

#[derive(Clone, Debug)]
pub(super) struct Cluster {
    clocks: Vec<HostClock>,
    ranks: Vec<Rank>,
    length: i64,
}

impl Cluster {
    /// One communicator of all ranks: collectives of random lengths, to which ranks come late at random.
    pub(super) fn random(seed: u64, hosts: Hosts, collectives: u32) -> Self {
        let mut chance = Chance::new(seed + 1);
        let mut cluster = Self::idle(&mut chance, hosts);
        let all: Vec<usize> = (0..hosts.hosts * hosts.ranks).collect();
        cluster.run(&mut chance, (&all, 0), collectives);
        cluster
    }

    /// Three hosts of a rank each, with communicators of the first two and the last two.
    pub(super) fn chain(seed: u64, collectives: u32) -> Self {
        let mut chance = Chance::new(seed + 1);
        let hosts = Hosts { hosts: 3, ranks: 1 };
        let mut cluster = Self::idle(&mut chance, hosts);
        cluster.run(&mut chance, (&[0, 1], 0), collectives);
        // With another size, so that it is a different one: its last rank has no recording.
        cluster.run(&mut chance, (&[1, 2], 1), collectives);
        cluster
    }

    /// Four hosts of a rank each: the first two and the last two have communicators of the same size, and all have one
    /// in which they are together, if that is wanted.
    pub(super) fn pairs(seed: u64, collectives: u32, with_all: bool) -> Self {
        let mut chance = Chance::new(seed + 1);
        let hosts = Hosts { hosts: 4, ranks: 1 };
        let mut cluster = Self::idle(&mut chance, hosts);
        cluster.run(&mut chance, (&[0, 1], 0), collectives);
        cluster.run(&mut chance, (&[2, 3], 0), collectives);
        if with_all {
            cluster.run(&mut chance, (&[0, 1, 2, 3], 0), collectives);
        }
        cluster
    }

    /// Four hosts of a rank each, in rows and columns of two: all communicators look the same, but have identities.
    pub(super) fn grid(seed: u64, collectives: u32) -> Self {
        let mut chance = Chance::new(seed + 1);
        let hosts = Hosts { hosts: 4, ranks: 1 };
        let mut cluster = Self::idle(&mut chance, hosts);
        let groups = [[0, 1], [2, 3], [0, 2], [1, 3]];
        for group in groups {
            cluster.run(&mut chance, (&group, 0), collectives);
            for rank in group {
                if let Some(made) = cluster.ranks[rank].comms.last_mut() {
                    made.identity = format!("{group:?}");
                }
            }
        }
        cluster
    }

    fn idle(chance: &mut Chance, hosts: Hosts) -> Self {
        let clocks = (0..hosts.hosts).map(|_| HostClock {
            offset: chance.below(20 * SECOND) - 10 * SECOND + 1_000 * SECOND,
            rate: (chance.below(100_001) - 50_000) as f64 * 1e-9,
        });
        let clocks = clocks.collect();
        let ranks = (0..hosts.hosts * hosts.ranks).map(|rank| Rank {
            host: rank / hosts.ranks,
            comms: Vec::new(),
        });
        let ranks = ranks.collect();
        Self {
            clocks,
            ranks,
            length: 0,
        }
    }

    /// Runs collectives on some ranks, and as many others that are not recorded.
    fn run(&mut self, chance: &mut Chance, (own, others): (&[usize], u64), collectives: u32) {
        let mut rounds: Vec<Vec<Round>> = vec![Vec::new(); own.len()];
        let mut now = SECOND;
        for number in 0..collectives {
            now += 1_000_000 + chance.below(40_000_000);
            // Mostly nearly at once, now and then one is late.
            let begins: Vec<i64> = own
                .iter()
                .map(|_| match chance.below(8) {
                    0 => now + chance.below(3_000_000),
                    _ => now + chance.below(30_000),
                })
                .collect();
            let last = begins.iter().copied().max().unwrap_or(now);
            let transfer = 15_000 + chance.below(60_000);
            for (place, (rank, begin)) in own.iter().zip(&begins).enumerate() {
                let clock = self.clocks[self.ranks[*rank].host];
                let end = last + transfer + chance.below(2_000);
                // Each end of a task is known to within its bar.
                let error = 300 + chance.below(700);
                let mut read = |truth: i64| clock.reads(truth) + chance.below(2 * error) - error;
                let (begin, end) = (read(*begin), read(end));
                rounds[place].push(Round {
                    number,
                    shape: 1,
                    bytes: None,
                    gives: true,
                    takes: true,
                    begin,
                    end,
                    error,
                });
            }
            now = last + transfer;
        }
        self.length = self.length.max(now);
        for (place, (rank, rounds)) in own.iter().zip(rounds).enumerate() {
            let rank = &mut self.ranks[*rank];
            let clock = self.clocks[rank.host];
            let mut lane = Lane::new("HcclAllReduce".to_owned(), None);
            rounds.into_iter().for_each(|it| lane.push(it));
            rank.comms.push(Comm {
                handle: place as u64 + 1,
                identity: String::new(),
                rank: place as u64,
                size: own.len() as u64 + others,
                made: (clock.reads(0), clock.reads(SECOND / 2)),
                lanes: vec![lane],
            });
        }
    }

    pub(super) fn clock(&self, recording: usize) -> HostClock {
        self.clocks[self.ranks[recording].host]
    }

    /// One of each rank. The wall clocks are right to a few milliseconds.
    pub(super) fn recordings(&self) -> Vec<Recorded> {
        let all = self.ranks.iter().enumerate();
        let all = all.map(|(number, rank)| {
            let clock = self.clocks[rank.host];
            let wall = 1_700_000_000 * SECOND + (rank.host as i64 * 7_919) % 11 * 1_000_000;
            Recorded {
                host: format!("host{}", rank.host),
                boot: format!("boot{}", rank.host),
                start_ns: clock.reads(0),
                start_realtime_ns: wall,
                span: (clock.reads(0), clock.reads(self.length)),
                participants: vec![Participant {
                    process: 1,
                    rank: Some(number as u64),
                    comms: rank.comms.clone(),
                    obstacle: None,
                }],
            }
        });
        all.collect()
    }
}

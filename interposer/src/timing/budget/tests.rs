use super::*;

/// 2 %.
const BUDGET: u32 = 200;

/// A stream with a queue: the device is busy, and the host is ahead.
struct Stream {
    account: Account,
    now_ns: i64,
    /// The time that a pair adds.
    price: u32,
}

impl Stream {
    fn new(price: u32) -> Self {
        Self {
            account: Account::new(),
            now_ns: 1_000_000_000,
            price,
        }
    }

    /// Tasks of `kind` for `ns` of the device. Returns the number of tasks with events, and the part of the time
    /// that these events took.
    fn run(&mut self, kind: u32, length: u32, ns: i64) -> (u32, f64) {
        let (mut timed, begin) = (0, self.now_ns);
        while self.now_ns < begin + ns {
            let offer = Offer {
                kind,
                is_work: true,
                known: Some(length + self.price),
                now_ns: self.now_ns,
            };
            self.now_ns += i64::from(length);
            if let Some(price) = self.account.takes(offer, BUDGET) {
                self.account.pay(price);
                timed += 1;
                self.account.settle(self.price.into(), price);
                self.now_ns += i64::from(self.price);
                self.account
                    .note_device(length + self.price, self.price, self.price, true);
            }
        }
        let cost = f64::from(timed) * f64::from(self.price);
        (timed, cost / (self.now_ns - begin) as f64)
    }
}

#[test]
fn events_take_their_part_of_the_time_at_each_duration() {
    for (kind, length) in [3_800, 11_800, 51_800, 201_800, 1_001_800]
        .into_iter()
        .enumerate()
    {
        let mut stream = Stream::new(4_800);
        // The begin is not counted.
        stream.run(100 + kind as u32, length, 1_000_000_000);
        let (timed, part) = stream.run(100 + kind as u32, length, 1_000_000_000);
        assert!(part <= 0.0185, "{length}: {part}");
        let all = 1_000_000_000 / (i64::from(length) + 4_800);
        let most = (0.0175 / 4_800.0 * 1e9) as i64;
        assert!(
            i64::from(timed) >= all.min(most),
            "{length}: {timed} of {all}"
        );
    }
}

/// The begin of a stream counts: its events never take more than the budget, or than 1.43 times the loan.
#[test]
fn events_of_the_begin_are_in_the_budget() {
    for (kind, price) in [(160, 3_000), (161, 6_600), (162, 25_000)] {
        let mut stream = Stream::new(price);
        // Nothing is read before the first 300 tasks were submitted.
        let mut unread = Vec::new();
        let (mut cost, begin) = (0, stream.now_ns);
        for task in 0..150_000 {
            let offer = Offer {
                kind,
                is_work: true,
                known: (task >= 300).then_some(10_000 + price),
                now_ns: stream.now_ns,
            };
            stream.now_ns += 10_000;
            if let Some(paid) = stream.account.takes(offer, BUDGET) {
                stream.account.pay(paid);
                unread.push(paid);
                cost += i64::from(price);
                stream.now_ns += i64::from(price);
            }
            if task >= 300 {
                for paid in unread.drain(..) {
                    let length = 10_000 + price;
                    stream.account.settle(price.into(), paid);
                    stream.account.note_device(length, price, price, true);
                }
            }
            let part = (stream.now_ns - begin) / 50;
            // The first tasks pay an assumed price.
            let first = 3_500_000.max(3_500_000 / i64::from(UNKNOWN_NS) * i64::from(price));
            assert!(cost <= part.max(first), "{price}: {cost} of {part}, {task}");
        }
        let part = cost as f64 / (stream.now_ns - begin) as f64;
        assert!((0.014..0.0185).contains(&part), "{price}: {part}");
    }
}

#[test]
fn a_change_of_phase_shows_within_100_ms_and_nothing_oscillates() {
    let mut stream = Stream::new(4_800);
    stream.run(110, 1_000_000, 1_000_000_000);
    for _ in 0..5 {
        let (_, part) = stream.run(111, 2_000, 100_000_000);
        assert!(part < 0.03, "{part}");
        let (timed, part) = stream.run(110, 1_000_000, 100_000_000);
        assert!(timed >= 99 && part < 0.02, "{timed} {part}");
    }
    let parts: Vec<f64> = (0..20)
        .map(|_| stream.run(111, 2_000, 20_000_000).1)
        .collect();
    let later = parts.get(5..).unwrap();
    assert!(
        later.iter().all(|part| (0.013..0.0195).contains(part)),
        "{parts:?}"
    );
}

#[test]
fn long_and_rare_tasks_come_before_short_and_frequent_ones() {
    let mut stream = Stream::new(4_800);
    stream.run(120, 3_000, 1_000_000_000);
    let (mut long, mut rare) = (0, 0);
    for _ in 0..1_000 {
        stream.run(120, 3_000, 600_000);
        long += stream.run(121, 300_000, 1).0;
        rare += stream.run(122, 8_000, 1).0;
    }
    assert_eq!(long, 1_000, "a long task pays for its events");
    // About a second: a sample each 25 ms.
    assert!(rare >= 30, "{rare}");
}

#[test]
fn a_thread_without_a_processor_does_not_end_the_samples() {
    let account = Account::new();
    account.note_host(7_000_000);
    account.note_device(20_000, 0, 0, false);
    let offer = |task: i64| Offer {
        kind: 150,
        is_work: true,
        known: Some(20_000),
        now_ns: task * 20_000,
    };
    let mut taken = 0;
    for task in 100_000..150_000 {
        if let Some(price) = account.takes(offer(task), BUDGET) {
            account.pay(price);
            account.note_host(1_000);
            taken += i32::from(task >= 125_000);
        }
    }
    // Half a second earns 9 ms.
    assert!((8_000..=9_500).contains(&taken), "{taken}");
}

#[test]
fn the_smallest_budget_times_some_tasks() {
    let account = Account::new();
    account.note_device(1_000_000, 5_000, 9_000, true);
    let offer = |task: i64| Offer {
        kind: 140,
        is_work: true,
        known: Some(1_000_000),
        now_ns: task * 1_000_000,
    };
    let taken = |from: i64| {
        let tasks = (from..from + 1_000).filter_map(|task| account.takes(offer(task), 1));
        tasks.inspect(|price| account.pay(*price)).count()
    };
    // A second earns 90 µs, so 34 seconds repay the loan.
    for second in 1..40 {
        taken(second * 1_000);
    }
    let taken = taken(40_000);
    assert!((9..=10).contains(&taken), "{taken}");
}

#[test]
fn the_host_counts_where_the_stream_waits_for_it() {
    let account = Account::new();
    (0..50).for_each(|_| account.note_host(2_000));
    account.note_host(9_000_000);
    account.note_device(5_000, 0, 0, false);
    assert!(
        (2_000..2_200).contains(&account.price()),
        "one thread had no processor"
    );
    let offer = |now_ns| Offer {
        kind: 130,
        is_work: true,
        known: Some(5_000),
        now_ns,
    };
    // A task each 20 µs: 1.8 % of the time are 360 ns.
    let taken = |from: i64| {
        let tasks = (0..20_000).filter_map(|task| {
            let price = account.takes(offer(from + task * 20_000), BUDGET)?;
            account.pay(price);
            Some(price)
        });
        tasks.count()
    };
    taken(1_000_000_000);
    assert!((3_100..3_700).contains(&taken(1_400_000_000)));
    (0..50).for_each(|_| account.note_device(5_000, 0, 0, true));
    assert_eq!(account.price(), 0);
    assert_eq!(taken(1_800_000_000), 20_000);
}

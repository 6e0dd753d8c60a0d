use ascend_trace_recording::TaskTime;
use ascend_trace_recording::rows::*;
use proptest::prelude::*;

mod driver;
mod recording;

use recording::{DeviceClock, KnownRecording, SECOND, TICK};

fn off_by((time, truth): &(TaskTime, (i64, i64))) -> i64 {
    (time.begin - truth.0).abs().max((time.end - truth.1).abs())
}

/// The largest of `values` but for the given share of them.
fn quantile(mut values: Vec<i64>, share: f64) -> i64 {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * share) as usize]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mapped_times_are_true_within_their_error(
        offset in -1_000_000 * SECOND..1_000_000 * SECOND,
        drift in -100.0..100.0_f64,
        seed in any::<u64>(),
        start in 0..100_000 * SECOND,
        anchors in 1..80_usize,
        pace in 1_000_i64..300_000_000,
        band in 500_i64..30_000,
        preempted in 0..100_i64,
        ended in any::<bool>(),
    ) {
        let mut recording = KnownRecording::new(DeviceClock::steady(offset, drift), seed);
        let mut now = start;
        for _ in 0..anchors {
            now += recording.random.below(pace);
            let late = recording.random.below(100) < preempted;
            recording.anchor(now, if late { 50 * band } else { band });
            let begin = now + recording.random.below(pace);
            let end = begin + recording.random.below(pace);
            recording.task(begin, end, 1_000_000, 5_000_000);
        }
        // Some before the first anchor, some after the last.
        recording.task(start - pace, start, 1_000_000, 10_000_000);
        recording.task(now + pace, now + 3 * pace, 1_000_000, 10_000_000);
        for judged in recording.judge(&recording.load(ended)) {
            let off = off_by(&judged);
            prop_assert!(off <= judged.0.error, "off by {off}: {judged:?}");
        }
    }

    #[test]
    fn clocks_that_run_far_too_fast_or_slow_have_true_bars(
        drift in prop_oneof![Just(-1000.0), Just(-250.0), Just(250.0), Just(1000.0), -1000.0..1000.0_f64],
        seed in any::<u64>(),
        anchors in 1..80_i64,
        pace in 1_000_i64..300_000_000,
        band in 500_i64..30_000,
        ended in any::<bool>(),
    ) {
        let mut recording = KnownRecording::new(DeviceClock::steady(5 * SECOND, drift), seed);
        let mut now = SECOND;
        for _ in 0..anchors {
            now += recording.random.below(pace);
            recording.anchor(now, band);
            let begin = now + recording.random.below(pace);
            let end = begin + recording.random.below(pace);
            recording.task(begin, end, 1_000_000, 5_000_000);
        }
        recording.task(now + pace, now + 3 * pace, 1_000_000, 10_000_000);
        let trace = recording.load(ended);
        let clock = trace.clocks()[0];
        prop_assert!(!clock.is_unusual || f64::abs(drift) > 199.9);
        for judged in recording.judge(&trace) {
            let off = off_by(&judged);
            // A deviation that nothing shows is not reckoned with.
            let is_assumed_away = f64::abs(drift) > 200.0 && !clock.is_unusual;
            prop_assert!(is_assumed_away || off <= judged.0.error, "off by {off}: {judged:?}");
        }
        prop_assert_eq!((clock.steps, clock.mistakes), (0, 0));
        if let Some(found) = clock.drift_ppm {
            prop_assert!((found - drift).abs() < 25.0, "{found} instead of {drift}");
        }
    }

    #[test]
    fn a_deviation_that_comparisons_show_is_known_and_allowed_for_at_once(
        beyond in 1.0..800.0_f64,
        is_slow in any::<bool>(),
        seed in any::<u64>(),
        band in 500_i64..30_000,
        far in 1..100_i64,
    ) {
        let drift = if is_slow { -200.0 - beyond } else { 200.0 + beyond };
        let mut recording = KnownRecording::new(DeviceClock::steady(5 * SECOND, drift), seed);
        recording.anchor(SECOND, band);
        // Far enough for the clock to be fast, or slow, by a quarter of the allowed rate.
        let open = 1.1 * 2.0 * (band + 2 * TICK) as f64;
        let shown = (open / (beyond * 0.75e-6 + 200e-6)) as i64;
        let next = SECOND + shown;
        recording.anchor(next, band);
        recording.task(next, next + far * band, SECOND, SECOND);
        for judged in recording.judged() {
            prop_assert!(off_by(&judged) <= judged.0.error, "{judged:?}");
        }
        // And far enough to leave none.
        let proven = (open / (beyond * 1e-6)) as i64;
        if proven < SECOND / 2 {
            recording.anchor(SECOND + proven + band, band);
            prop_assert!(recording.load(true).clocks()[0].is_unusual);
        }
    }

    #[test]
    fn without_anchors_the_tasks_themselves_are_enough(
        drift in -100.0..100.0_f64,
        seed in any::<u64>(),
        tasks in 1..60_i64,
    ) {
        let mut recording = KnownRecording::new(DeviceClock::steady(5 * SECOND, drift), seed);
        let mut now = 10 * SECOND;
        for _ in 0..tasks {
            now += recording.random.below(10_000_000);
            let begin = now + recording.random.below(3_000);
            let end = begin + recording.random.below(20_000);
            let (launched, seen) = (1 + recording.random.below(9_000), recording.random.below(30_000));
            recording.task(begin, end, launched, seen);
        }
        for judged in recording.judged() {
            prop_assert!(off_by(&judged) <= judged.0.error, "{judged:?}");
        }
    }
}

#[test]
fn an_hour_with_few_anchors_stays_within_their_bands() {
    let mut recording = KnownRecording::new(DeviceClock::steady(123_456_789, 87.0), 7);
    for at in 0..3600 {
        recording.anchor(at * SECOND, 10_000);
        recording.task(
            at * SECOND + SECOND / 3,
            at * SECOND + SECOND / 2,
            SECOND,
            SECOND,
        );
    }
    let judged = recording.judged();
    assert!(judged.iter().all(|task| off_by(task) <= task.0.error));
    assert!(quantile(judged.iter().map(|task| task.0.error).collect(), 0.99) <= 5_000);
    let clock = recording.load(true).clocks()[0];
    assert!((clock.drift_ppm.unwrap() - 87.0).abs() < 0.1, "{clock:?}");
    assert_eq!((clock.process, clock.device, clock.anchors), (0, 0, 3600));
    assert!(clock.median_error_ns < clock.max_error_ns && clock.max_error_ns <= 5_000);
}

#[test]
fn many_anchors_make_the_clock_known_much_better_than_each_of_them() {
    let mut recording = KnownRecording::new(DeviceClock::steady(123_456_789, -87.0), 7);
    for at in 0..3000 {
        recording.anchor(at * SECOND / 50, 10_000);
        recording.task(
            at * SECOND / 50 + 1_000,
            at * SECOND / 50 + 1_000_000,
            SECOND,
            SECOND,
        );
    }
    let judged = recording.judged();
    assert!(judged.iter().all(|task| off_by(task) <= task.0.error));
    assert!(quantile(judged.iter().map(off_by).collect(), 0.99) <= 500);
    assert!(quantile(judged.iter().map(|task| task.0.error).collect(), 0.99) <= 1_000);
}

#[test]
fn a_drift_that_swings_is_followed() {
    let clock = DeviceClock {
        swing_ppm: 3.0,
        ..DeviceClock::steady(-55, -40.0)
    };
    let mut recording = KnownRecording::new(clock, 3);
    for at in 0..18_000 {
        let now = at * SECOND / 100;
        recording.anchor(now, 8_000);
        recording.task(now + 1_000_000, now + 6_000_000, SECOND, SECOND);
    }
    let judged = recording.judged();
    let inside = judged
        .iter()
        .filter(|task| off_by(task) <= task.0.error)
        .count();
    assert!(
        inside * 1000 >= judged.len() * 999,
        "{inside} of {}",
        judged.len()
    );
    let off = quantile(judged.iter().map(off_by).collect(), 0.99);
    assert!(off <= 1_000, "{off}");
}

#[test]
fn the_error_grows_where_there_are_no_anchors() {
    let clock = DeviceClock {
        swing_ppm: 2.0,
        ..DeviceClock::steady(0, 10.0)
    };
    let mut recording = KnownRecording::new(clock, 9);
    for group in [0, 20, 40, 60] {
        for at in 0..200 {
            recording.anchor(group * SECOND + at * SECOND / 100, 1_000);
        }
    }
    for at in 1..600 {
        recording.task(
            at * SECOND / 10,
            at * SECOND / 10 + 1_000,
            100 * SECOND,
            100 * SECOND,
        );
    }
    // Without this the tasks would be bounds themselves.
    for row in &mut recording.rows {
        if let Row::TaskTime(row) = row {
            row.seen_ns = 0;
        }
    }
    let judged = recording.judged();
    let far_off = judged.iter().map(off_by).max().unwrap();
    assert!(
        far_off > 5_000,
        "the clock bends between the groups: {far_off}"
    );
    for task in judged {
        assert!(off_by(&task) <= task.0.error, "{task:?}");
    }
}

#[test]
fn later_anchors_sharpen_earlier_times_when_the_recording_has_ended() {
    let mut recording = KnownRecording::new(DeviceClock::steady(0, 10.0), 9);
    for at in 0..4 {
        recording.anchor(at * SECOND, 500_000);
        recording.task(at * SECOND + 600_000, at * SECOND + 700_000, SECOND, SECOND);
    }
    for at in 400..800 {
        recording.anchor(at * SECOND / 100, 3_000);
    }
    let error = |ended: bool| {
        let judged = recording.judge(&recording.load(ended));
        assert!(judged.iter().all(|task| off_by(task) <= task.0.error));
        judged[0].0.error
    };
    assert!(
        10 * error(true) < error(false),
        "{} {}",
        error(true),
        error(false)
    );
}

#[test]
fn wide_anchors_change_nothing() {
    let tight = |with_wide: bool| {
        let mut recording = KnownRecording::new(DeviceClock::steady(99, 50.0), 11);
        let mut wide = KnownRecording::new(recording.clock, 12);
        for at in 0..200 {
            recording.anchor(at * SECOND / 50, 4_000);
            wide.anchor(at * SECOND / 50 + SECOND / 100, 3_000_000);
        }
        recording.busy(SECOND, 2 * SECOND, 400_000);
        if with_wide {
            // Wide, but the reading is not at its edge: at least 4 us from either end.
            recording
                .rows
                .extend(wide.rows.into_iter().filter(|row| match row {
                    Row::Anchor(row) => {
                        let truth = row.device_ns - 99;
                        truth - row.before_ns > 10_000 && row.after_ns - truth > 10_000
                    }
                    _ => false,
                }));
        }
        recording.judged()
    };
    let (without, with) = (tight(false), tight(true));
    let moved = without
        .iter()
        .zip(&with)
        .map(|(a, b)| (a.0.begin - b.0.begin).abs());
    assert!(moved.max().unwrap() <= TICK);
    let worse = without
        .iter()
        .zip(&with)
        .map(|(a, b)| b.0.error - a.0.error);
    assert!(worse.max().unwrap() <= TICK);
}

#[test]
fn durations_and_distances_on_a_device_are_exact_to_two_ticks() {
    for drift in [-100.0, 0.0, 100.0] {
        let mut recording = KnownRecording::new(DeviceClock::steady(1 << 50, drift), 5);
        for at in 0..500 {
            recording.anchor(at * 10_000_000, 6_000);
        }
        recording.busy(SECOND / 10, 4 * SECOND, 2_000_000);
        let judged = recording.judged();
        let duration = |(time, truth): &(TaskTime, (i64, i64))| {
            ((time.end - time.begin) - (truth.1 - truth.0)).abs()
        };
        assert!(judged.iter().map(duration).max().unwrap() <= 2 * TICK);
        let gaps = judged
            .windows(2)
            .map(|pair| (pair[1].0.begin - pair[0].0.end).abs());
        assert!(gaps.max().unwrap() <= TICK);
    }
}

#[test]
fn a_clock_of_whole_microseconds_is_noticed() {
    let clock = DeviceClock {
        tick: 1_000,
        ..DeviceClock::steady(77, 20.0)
    };
    let mut recording = KnownRecording::new(clock, 21);
    for at in 0..300 {
        recording.anchor(at * 5_000_000, 300);
        recording.task(
            at * 5_000_000 + 1_000,
            at * 5_000_000 + 900_000,
            1_000,
            SECOND,
        );
    }
    for judged in recording.judged() {
        assert!(off_by(&judged) <= judged.0.error, "{judged:?}");
        assert!(judged.0.error <= 3_000, "{judged:?}");
    }
}

#[test]
fn a_clock_that_jumps_ahead_is_picked_up_again() {
    let mut recording = KnownRecording::new(DeviceClock::steady(0, 10.0), 2);
    for at in 0..100 {
        recording.anchor(at * 10_000_000, 5_000);
    }
    // The device was reset: its clock jumps far ahead of where it was.
    recording.clock.offset = 1_000 * SECOND;
    for at in 100..200 {
        recording.anchor(at * 10_000_000, 5_000);
    }
    recording.task(
        SECOND + SECOND / 2,
        SECOND + SECOND / 2 + 1_000,
        2_000,
        50_000,
    );
    let judged = recording.judged();
    assert!(off_by(&judged[0]) <= judged[0].0.error);
    assert!(judged[0].0.error < 10_000);
}

/// Anchors and a task now and then, for a second of the host from `from` on.
fn a_second(recording: &mut KnownRecording, from: i64) {
    for at in 0..100 {
        recording.anchor(from + at * 10_000_000, 5_000);
        if at % 10 == 5 {
            let begin = from + at * 10_000_000 + 2_000_000;
            recording.task(begin, begin + 1_000_000, 2_000, 50_000);
        }
    }
}

#[track_caller]
fn all_are_within(recording: &KnownRecording, error: i64) {
    for judged in recording.judged() {
        assert!(off_by(&judged) <= judged.0.error, "{judged:?}");
        assert!(judged.0.error <= error, "{judged:?}");
    }
}

#[test]
fn a_host_that_was_suspended_is_a_step_and_no_mistake() {
    const HOUR: i64 = 3_600 * SECOND;
    let mut recording = KnownRecording::new(DeviceClock::steady(77 * SECOND, -60.0), 5);
    a_second(&mut recording, SECOND);
    // The host's clock stood still meanwhile, the device's did not.
    recording.clock.offset += HOUR;
    a_second(&mut recording, 2 * SECOND);
    recording.clock.offset += HOUR;
    a_second(&mut recording, 3 * SECOND);
    all_are_within(&recording, 10_000);
    let trace = recording.load(true);
    let clock = trace.clocks()[0];
    assert_eq!((clock.steps, clock.mistakes), (2, 0));
    assert!((clock.drift_ppm.unwrap() + 60.0).abs() < 5.0, "{clock:?}");
}

#[test]
fn a_task_during_which_the_host_was_suspended_has_a_bar_that_says_so() {
    const MINUTE: i64 = 60 * SECOND;
    let mut recording = KnownRecording::new(DeviceClock::steady(0, 20.0), 6);
    a_second(&mut recording, SECOND);
    recording.task(2 * SECOND, 2 * SECOND + 3_000_000, 2_000, 50_000);
    let Some(Row::TaskTime(time)) = recording.rows.last_mut() else {
        panic!("the last row is the task's");
    };
    // It ended after the host had been woken up.
    time.end_device_ns += MINUTE;
    recording.clock.offset += MINUTE;
    a_second(&mut recording, 2 * SECOND + 4_000_000);
    let judged = recording.judged();
    assert!(judged.iter().all(|it| off_by(it) <= it.0.error));
    let long = judged.iter().filter(|it| it.0.error > SECOND).count();
    assert!(long <= 1, "only this one");
}

#[test]
fn comparisons_that_contradict_all_others_are_left_out_and_counted() {
    let mut recording = KnownRecording::new(DeviceClock::steady(0, 30.0), 7);
    a_second(&mut recording, SECOND);
    recording.clock.offset += 40_000_000;
    recording.anchor(2 * SECOND, 5_000);
    recording.clock.offset -= 40_000_000;
    a_second(&mut recording, 2 * SECOND + 100_000_000);
    all_are_within(&recording, 10_000);
    let clock = recording.load(true).clocks()[0];
    assert_eq!((clock.steps, clock.mistakes), (0, 1));
}

/// The same device time then has two host times, by such a mapping: bars must be as wide as that.
#[test]
fn a_device_that_restarts_has_wide_error_bars() {
    let mut recording = KnownRecording::new(DeviceClock::steady(1_000 * SECOND, 10.0), 8);
    a_second(&mut recording, SECOND);
    // Its clock counts from the start of its processor.
    recording.clock.offset = -2 * SECOND;
    a_second(&mut recording, 3 * SECOND);
    for judged in recording.judged() {
        assert!(off_by(&judged) <= judged.0.error, "{judged:?}");
    }
}

#[test]
fn a_task_does_not_start_before_its_launch_call() {
    let mut recording = KnownRecording::new(DeviceClock::steady(0, 0.0), 2);
    for at in 0..100 {
        recording.anchor(at * 1_000, 40);
    }
    // The start event of an idle stream completed 700 ns before the launch.
    recording.task(50_000, 60_000, -700, 10_000);
    let time = recording.judged()[0].0;
    assert_eq!(time.begin, 50_700);
    assert!((time.end - 60_000).abs() <= time.error);
}

#[test]
fn a_drift_that_nothing_supports_is_not_known() {
    let mut recording = KnownRecording::new(DeviceClock::steady(SECOND, 0.0), 3);
    for count in 1..=3 {
        recording.anchor(count * 100_000, 10_000);
        let begin = count * 100_000 + 20_000;
        recording.task(begin, begin + 10_000, 5_000, 5_000);
        let clock = recording.load(true).clocks()[0];
        assert_eq!(clock.drift_ppm, None, "{clock:?}");
    }
}

/// Two comparisons a millisecond apart leave a rate of 2,000 ppm open, which no clock has.
#[test]
fn comparisons_without_a_rate_leave_the_limits_of_clocks() {
    let mut recording = KnownRecording::new(DeviceClock::steady(SECOND, 30.0), 5);
    recording.anchor(SECOND, 1_000);
    recording.anchor(SECOND + 1_000_000, 1_000);
    let begin = SECOND + 20_000_000;
    recording.task(begin, begin + 1_000, SECOND, SECOND);
    let judged = recording.judged();
    assert!(off_by(&judged[0]) <= judged[0].0.error, "{judged:?}");
    // 400 ppm over 20 ms, and the bands.
    assert!(judged[0].0.error < 10_000, "{judged:?}");
}

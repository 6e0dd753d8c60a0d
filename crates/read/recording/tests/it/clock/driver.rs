//! Readings of a device's clock by the driver, in addition to those of events.

use super::recording::*;
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{TaskTime, Trace};
use ascend_trace_testkit::whole::from_rows;

use proptest::prelude::*;

/// From submission to execution on an idle stream.
const LATENCY: i64 = 3_000;

/// The same recording without the driver's readings.
fn without_driver(recording: &KnownRecording) -> Trace {
    let rows = recording.rows.iter();
    let rows = rows.filter(|row| !matches!(row, Row::Anchor(row) if row.source == 1));
    let rows = rows.cloned().chain([Row::End(EndRow::default())]);
    from_rows(SessionRow::default(), TablesRow::default(), rows)
}

/// By how much a time's ends are off the true ones.
fn off((time, truth): &(TaskTime, (i64, i64))) -> i64 {
    (time.begin - truth.0).abs().max((time.end - truth.1).abs())
}

fn mean_error(judged: &[(TaskTime, (i64, i64))]) -> i64 {
    let sum: i64 = judged.iter().map(|(time, _)| time.error).sum();
    sum / judged.len().max(1) as i64
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    seconds: i64,
    /// Distance of tasks and comparisons.
    step: i64,
    /// Width of the driver's readings.
    band: i64,
    /// Distance of its readings.
    every: i64,
}

/// Tasks on an idle stream, with an event on it now and then and the driver's readings.
fn idle(clock: DeviceClock, phase: i64, seed: u64, plan: Plan) -> KnownRecording {
    let mut recording = KnownRecording::new(clock, seed);
    recording.phase = phase;
    let mut driver = SECOND;
    let mut now = SECOND;
    while now < SECOND + plan.seconds * SECOND {
        while driver <= now {
            recording.driver(driver, plan.band);
            driver += plan.every;
        }
        let (lost, length) = (recording.random.below(400), recording.random.below(50_000));
        recording.idle_task(now, LATENCY, 100 + lost, 5_000 + length);
        now += plan.step / 2 + recording.random.below(plan.step);
    }
    recording
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_truth_is_inside_bars_at_most_twice_as_wide_as_without_the_driver(
        offset in -1_000_000_000_000..1_000_000_000_000_i64,
        drift in -180.0..180.0_f64,
        phase in -499..=499_i64,
        step in prop_oneof![Just(2_000_000_i64), Just(40_000_000), Just(700_000_000)],
        band in prop_oneof![Just(300_i64), Just(4_000), Just(400_000)],
        every in prop_oneof![Just(100_000_000_i64), Just(1_000_000_000)],
        seed in any::<u64>(),
    ) {
        let plan = Plan { seconds: 4, step, band, every };
        let recording = idle(DeviceClock::steady(offset, drift), phase, seed, plan);
        let alone = recording.judge(&without_driver(&recording));
        let trace = recording.load(true);
        prop_assert!(!trace.clocks()[0].driver_disagrees);
        prop_assert!(trace.clocks()[0].driver_anchors > 0);
        for (with, without) in recording.judge(&trace).iter().zip(&alone) {
            prop_assert!(off(with) <= with.0.error, "{with:?} {without:?}");
            // On an idle stream the latency may have been learnt too long by all that events leave open.
            prop_assert!(with.0.error <= 2 * without.0.error, "{with:?} {without:?}");
            let length = (with.0.end - with.0.begin) - (with.1.1 - with.1.0);
            prop_assert!(length.abs() <= 2 * with.0.local_error, "{with:?} {without:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The bounds in a file's index are as true as all bounds.
    #[test]
    fn the_truth_is_inside_the_bars_of_a_file(
        offset in -1_000_000_000_000..1_000_000_000_000_i64,
        drift in -180.0..180.0_f64,
        phase in -499..=499_i64,
        step in prop_oneof![Just(200_000_i64), Just(2_000_000), Just(40_000_000)],
        record in prop_oneof![Just(0_i64), Just(900), Just(2_500)],
        seed in any::<u64>(),
    ) {
        let clock = DeviceClock::steady(offset, drift);
        let plan = Plan { seconds: 0, step, band: 300, every: 100_000_000 };
        let mut recording = idle(clock, phase, seed, plan);
        for number in 0..200 {
            let now = SECOND + number * step;
            if (number * step) % plan.every < step {
                recording.driver(now - step / 2, plan.band);
            }
            recording.idle_task_with_records(now, LATENCY, record);
        }
        for judged in recording.judge(&recording.read()) {
            prop_assert!(off(&judged) <= judged.0.error, "{judged:?}");
        }
    }
}

#[test]
fn bars_are_much_narrower_where_submissions_take_long() {
    let clock = DeviceClock::steady(7_000_000_123, 31.0);
    let plan = Plan {
        seconds: 6,
        step: 40_000_000,
        band: 1_000,
        every: 100_000_000,
    };
    let recording = idle(clock, 250, 77, plan);
    let (alone, both) = (
        recording.judge(&without_driver(&recording)),
        recording.judged(),
    );
    let device_bars =
        |judged: &[(TaskTime, _)]| judged.iter().map(|it| it.0.local_error).sum::<i64>();
    // The mapping's rate is another one, but hardly.
    let (within, before) = (device_bars(&both), device_bars(&alone));
    assert!(within <= before + before / 50, "{within} {before}");
    let (alone, both) = (mean_error(&alone), mean_error(&both));
    println!("mean bar {alone} ns by events, {both} ns with the driver");
    assert!(both * 3 < alone * 2, "{both} {alone}");
}

#[test]
fn a_driver_with_another_clock_is_left_out() {
    let clock = DeviceClock::steady(7_000_000_123, 31.0);
    let plan = Plan {
        seconds: 3,
        step: 40_000_000,
        band: 1_000,
        every: 100_000_000,
    };
    let recording = idle(clock, 60_000, 5, plan);
    let (alone, trace) = (without_driver(&recording), recording.load(true));
    assert!(trace.clocks()[0].driver_disagrees);
    let times = |trace: &Trace| trace.tasks().iter().map(|it| it.time).collect::<Vec<_>>();
    assert_eq!(times(&trace), times(&alone));
}

#[test]
fn readings_of_an_unknown_source_are_ignored() {
    let clock = DeviceClock::steady(7_000_000_123, 31.0);
    let plan = Plan {
        seconds: 2,
        step: 40_000_000,
        band: 1_000,
        every: 100_000_000,
    };
    let mut recording = idle(clock, 0, 5, plan);
    let alone = recording.judge(&without_driver(&recording));
    for row in &mut recording.rows {
        if let Row::Anchor(row) = row {
            row.source = 200;
        }
    }
    assert_eq!(recording.judged(), alone);
}

/// Rates that are far off are proven much sooner by narrow bounds.
#[test]
fn an_unusual_rate_is_known_and_the_truth_inside() {
    for drift in [-900.0, -300.0, 300.0, 900.0] {
        let plan = Plan {
            seconds: 2,
            step: 5_000_000,
            band: 2_000,
            every: 10_000_000,
        };
        let recording = idle(DeviceClock::steady(77, drift), -300, 9, plan);
        let trace = recording.load(true);
        assert!(trace.clocks()[0].is_unusual && !trace.clocks()[0].driver_disagrees);
        for judged in recording.judge(&trace) {
            assert!(off(&judged) <= judged.0.error, "{drift} {judged:?}");
        }
    }
}

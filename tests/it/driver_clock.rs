//! The driver's clock in addition to the events': its readings are true and narrow bars, and without
//! readings everything is as before.

use ascend_trace_format::api::AnchorSource;
use ascend_trace_recording::Trace;
use ascend_trace_recording::file::FileContents;
use ascend_trace_recording::rows::{AnchorRow, Row};
use ascend_trace_testkit::whole::from_rows;
use serde_json::Value;

use crate::support::accuracy::Accuracy;
use crate::support::{Recording, Run, Tables, program, run, tool, truth};

/// The tick of the devices, on any card.
const TICK_NS: i64 = 20;
/// The host's counter is known this well.
const COUNTER_NS: i64 = 1_000;
const TASKS: usize = 5_000;

fn record(soft: &str, tasks: usize) -> Recording {
    let soft = format!(
        "tick_ns={TICK_NS},submit_ns=20000,clock_offset_ns=412345678901/-98765432101,{soft}"
    );
    let phases = Run::new(&program("phases"));
    phases
        .words(&[&tasks.to_string(), "7"])
        .soft(&soft)
        .traced()
}

fn contents(recording: &Recording) -> FileContents {
    let file = std::fs::File::open(recording.trace()).unwrap();
    let (contents, warnings) = ascend_trace_recording::file::read(file).unwrap();
    assert_eq!(warnings, []);
    contents
}

fn driver_rows(contents: &FileContents) -> Vec<AnchorRow> {
    let rows = contents.rows.iter().filter_map(|row| match row {
        Row::Anchor(row) if row.source == AnchorSource::Driver as u8 => Some(*row),
        _ => None,
    });
    rows.collect()
}

fn output(recording: &Recording, words: &[&str]) -> String {
    let outcome = run(tool().args(words).arg(recording.trace()));
    assert_eq!(outcome.status, 0, "{outcome}");
    outcome.out()
}

fn devices(recording: &Recording) -> Vec<Value> {
    let info: Value = serde_json::from_str(&output(recording, &["info", "--json"])).unwrap();
    info["devices"].as_array().unwrap().clone()
}

/// Makes recordings, longer and longer, until one has this number of readings of each device's clock: a
/// quick machine ends before them, and on a busy one the reading thread may get no processor in time.
/// The assertions of `check` hold in all of them.
#[track_caller]
fn with_readings(
    least: u64,
    record: impl Fn(usize) -> Recording,
    check: impl Fn(&Recording),
) -> Recording {
    const TRIES: u32 = 40;
    const MOST_DOUBLINGS: u32 = 5;
    let mut seen = Vec::new();
    for tried in 0..TRIES {
        let recording = record(TASKS << tried.min(MOST_DOUBLINGS));
        check(&recording);
        let devices = devices(&recording);
        let counts = devices.iter().map(|it| it["driver_anchors"].as_u64());
        let counts: Vec<u64> = counts.map(Option::unwrap).collect();
        if !counts.is_empty() && counts.iter().all(|count| *count >= least) {
            return recording;
        }
        seen.push(counts);
    }
    panic!("no recording has {least} readings of each device: {seen:?}");
}

#[track_caller]
fn is_honest(recording: &Recording) {
    let tables = Tables::of(recording);
    let log = recording.truth();
    let accuracy = Accuracy::of(&tables, &truth::matched(&tables.tasks, &log));
    assert!(accuracy.tasks() > 1000);
    assert_eq!(accuracy.dishonest(), [""; 0]);
}

#[test]
fn readings_are_true_and_bars_narrower() {
    for soft in [
        "drift_ppm=40/-60",
        "drift_ppm=-150/0,driver_ns=3000,driver_jitter_ns=20000",
        "drift_ppm=90/-90,driver_ns=300000,record_ns=1200,record_jitter_ns=400",
    ] {
        let recording = with_readings(4, |tasks| record(soft, tasks), is_honest);
        let contents = contents(&recording);
        let rows = driver_rows(&contents);
        let readings = truth::readings(&recording.truth());
        for row in &rows {
            let is_this = |it: &&truth::Reading| {
                it.count * TICK_NS == row.device_ns && it.device == i64::from(row.device)
            };
            let mut truth = readings.iter().filter(is_this);
            let (from, to) = (row.before_ns - COUNTER_NS, row.after_ns + COUNTER_NS);
            assert!(truth.any(|it| from <= it.at && it.at <= to), "{row:?}");
        }
        for device in devices(&recording) {
            assert_eq!(device["driver_disagrees"], false, "{device}");
        }
        let info = output(&recording, &["info"]);
        assert!(info.contains("by driver"), "{info}");

        let trace = |with_driver: bool| {
            let is_kept =
                |row: &&Row| with_driver || !matches!(row, Row::Anchor(row) if row.source != 0);
            let rows = contents.rows.iter().filter(is_kept).cloned();
            from_rows(contents.session.clone(), contents.tables.clone(), rows)
        };
        let errors = |trace: &Trace| -> Vec<i64> {
            let times = trace.tasks().iter().filter_map(|task| task.time);
            times.map(|time| time.error).collect()
        };
        let (with, without) = (errors(&trace(true)), errors(&trace(false)));
        assert_eq!(with.len(), without.len());
        // On an idle stream a latency that was learnt too long is unknown in full; with events alone
        // half of it is in the place of the mapping. The unknown part between two host times depends on
        // the mapping's rate, which is another one.
        let pairs = || with.iter().zip(&without);
        let beyond = |times: i64| {
            pairs()
                .filter(|(with, without)| **with > times * **without + **without / 20 + 2)
                .count()
        };
        assert!(beyond(2) * 100 < with.len(), "{soft}: {}", beyond(2));
        let halved = pairs().filter(|(with, without)| **with * 2 < **without);
        let (halved, wider) = (halved.count(), beyond(1));
        let mean = |errors: &[i64]| errors.iter().sum::<i64>() / errors.len() as i64;
        println!(
            "{soft}: {} tasks, mean bar {} ns by events, {} ns with the driver, {halved} less than half, {wider} wider",
            with.len(),
            mean(&without),
            mean(&with)
        );
        if !soft.contains("driver_ns") {
            assert!(halved >= 10, "{halved} of {}", with.len());
        }
    }
}

#[test]
fn a_driver_without_a_clock_changes_nothing() {
    for driver in ["unsupported", "fails"] {
        let recording = record(&format!("drift_ppm=40/-60,driver={driver}"), TASKS);
        is_honest(&recording);
        assert_eq!(driver_rows(&contents(&recording)), []);
        assert_eq!(truth::readings(&recording.truth()).len(), 0);
        for device in devices(&recording) {
            assert_eq!(device["driver_anchors"], 0, "{device}");
        }
    }
}

/// The driver's numbers are not the program's where it is given some devices only.
#[test]
fn a_program_on_the_second_device_gets_its_clock() {
    let record = |_| {
        let run = Run::new(&program("default_stream")).variable("ASCEND_RT_VISIBLE_DEVICES", "1");
        run.soft("clock_offset_ns=5000000000/-7000000000,drift_ppm=40/-60")
            .traced()
    };
    let recording = with_readings(1, record, |_| {});
    let [device] = &devices(&recording)[..] else {
        panic!("one device");
    };
    assert_eq!(
        (&device["device"], &device["driver_disagrees"]),
        (&0.into(), &false.into())
    );
}

use ascend_trace_analysis::{Dependencies, EdgeKind};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::{chrome, csv, perfetto};

/// Numbers that are the same in every run.
pub(crate) struct RandomNumbers(pub(crate) u64);

impl RandomNumbers {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % sides
    }
}

/// A timeline with many touching and empty tasks, several waiters per event, and nested calls.
pub(crate) fn random_text(dice: &mut RandomNumbers, items: u64) -> String {
    let streams = 1 + dice.roll(4) as usize;
    let mut now = vec![100; streams];
    let mut text = String::new();
    let mut events: Vec<i64> = Vec::new();
    for _ in 0..items {
        let stream = dice.roll(streams as u64) as usize;
        let begin = now[stream] + [0, 0, 1, 50][dice.roll(4) as usize];
        let length = [0, 1, 2, 30, 3000][dice.roll(5) as usize];
        let name = format!("s{}@{} by t{}:", stream + 1, stream % 2, stream + 1);
        let item = match dice.roll(4) {
            0 => {
                events.push(begin);
                now[stream] = begin;
                format!("rec(E{})[{begin}]", events.len() - 1)
            }
            1 if !events.is_empty() => {
                let event = dice.roll(events.len() as u64) as usize;
                let end = begin.max(events[event]);
                now[stream] = end;
                format!("wait(E{event})[{begin}..{end}]")
            }
            2 if dice.roll(4) == 0 => "K[captured]".to_owned(),
            _ => {
                now[stream] = begin + length;
                format!("K{}[{begin}..{}]", dice.roll(3), begin + length)
            }
        };
        text += &format!("{name} {item}\n");
    }
    let mut time = now.iter().copied().max().unwrap_or(0).max(20_000);
    for _ in 0..dice.roll(8) {
        let end = time + dice.roll(50) as i64;
        let what = match dice.roll(3) {
            0 => format!("sync(s{})", 1 + dice.roll(streams as u64)),
            1 => "sync()".to_owned(),
            _ => "other(1)".to_owned(),
        };
        text += &format!("t9: {what}[{time}..{end}]\n");
        if dice.roll(2) == 0 && end - time > 2 {
            text += &format!("t9: inner(2)[{}..{}]\n", time + dice.roll(2) as i64, end);
        }
        time = end + dice.roll(2) as i64;
    }
    text
}

fn check(trace: &Trace, text: &str) -> u64 {
    let imported = chrome::chrome(trace);
    chrome::check_slices(trace, &imported);
    csv::check(trace);
    let other = perfetto::perfetto(trace);
    chrome::check_slices(trace, &other);
    perfetto::check_same(trace, &other);
    #[cfg(feature = "parquet")]
    super::parquet::check(trace);
    let omitted = imported.other["omitted_flows"].as_u64().expect("a count");
    let all = Dependencies::of(trace).all(trace).count() as u64;
    assert_eq!(imported.flows.len() as u64 + omitted, all, "{text}");
    let omitted_there = other.other["omitted_flows"].as_u64().expect("a count");
    assert_eq!(other.flows.len() as u64 + omitted_there, all, "{text}");
    omitted
}

#[test]
fn random_timelines_survive_every_format() {
    let mut dice = RandomNumbers(1);
    let mut waits = 0;
    for _ in 0..150 {
        let items = dice.roll(40);
        let text = random_text(&mut dice, items);
        let timeline = Timeline::of(&text);
        let trace = timeline.trace();
        let untimed = trace.tasks().iter().filter(|it| it.time.is_none()).count();
        assert_eq!(check(&trace, &text), untimed as u64, "{text}");
        let imported = chrome::chrome(&trace);
        let expected = chrome::expected_flows(&trace);
        assert_eq!(chrome::flows(&imported), expected, "{text}");
        perfetto::check_flows(&trace, &text);
        waits += Dependencies::of(&trace).count(EdgeKind::RecordToWait);
    }
    assert!(waits > 150, "{waits} waits are too few to mean anything");
}

/// A long trace through every format; returns the number of its tasks.
fn check_long(items: u64) -> usize {
    let text = random_text(&mut RandomNumbers(3), items);
    let timeline = Timeline::of(&text);
    let trace = timeline.trace();
    check(&trace, "a long text");
    trace.tasks().len()
}

#[test]
fn a_long_trace_survives_every_format() {
    assert!(check_long(3000) > 2500);
}

/// `cargo test --release -p ascend-trace-export -- --ignored a_million`
#[test]
#[ignore = "takes minutes and gigabytes"]
fn a_million_tasks_survive_every_format() {
    assert!(check_long(1_050_000) >= 1_000_000);
}

#[test]
fn times_that_contradict_each_other_lose_no_slice() {
    // The clock mapping errs: tasks overlap their neighbours and end before their causes.
    let mut dice = RandomNumbers(2);
    for _ in 0..150 {
        let items = dice.roll(40);
        let text = random_text(&mut dice, items);
        let mut timeline = Timeline::of(&text);
        for row in &mut timeline.rows {
            if let Row::TaskTime(time) = row {
                time.begin_device_ns += dice.roll(40) as i64 - 20;
                time.end_device_ns = time.begin_device_ns.max(time.end_device_ns);
            }
        }
        check(&timeline.trace(), &text);
    }
}

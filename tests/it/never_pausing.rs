//! Programs with a host that never rests: some thread waits for the device nearly all the time. The tool must still read
//! the times of all tasks.

use serde_json::Value;

use crate::support::run::{self, has_few_places};
use crate::support::{Run, compile::program, tool};

/// More tasks than the tool keeps times of one stream for.
const BURSTS: u64 = 600;
const TASKS: u64 = BURSTS * 20;

/// The counts of tasks of a program that waits like this.
#[track_caller]
fn tasks(how: &str, chip: &str, options: &[&str]) -> Value {
    let recording = Run::new(&program("never_pausing"))
        .words(&[how, &BURSTS.to_string()])
        .options(options)
        .soft(&format!("memset_mbps=100{chip}"))
        .traced();
    assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
    let mut info = tool();
    info.args(["info", "--json"]).arg(recording.trace());
    let info: Value = serde_json::from_str(&crate::support::run(&mut info).out()).unwrap();
    info["tasks"].clone()
}

#[track_caller]
fn are_timed(how: &str, chip: &str, options: &[&str]) {
    let tasks = tasks(how, chip, options);
    let (all, timed) = (tasks["count"].as_u64(), tasks["timed"].as_u64());
    let (Some(all), Some(timed)) = (all, timed) else {
        panic!("{tasks}");
    };
    assert!(all >= TASKS, "{how}: {tasks}");
    // Now and then three tasks are timed as a whole, to learn what pairs add.
    let left_out = tasks["untimed"]["not-sampled"].as_u64().unwrap_or(0);
    let is_by_events = options.contains(&"events");
    assert!(
        left_out == 0 || !is_by_events && left_out * 20 <= all,
        "{how}: {tasks}"
    );
    // A thread that loses its processor while it submits keeps others out.
    let contended = tasks["untimed"]["contended"].as_u64().unwrap_or(0);
    assert!(contended * 100 <= all, "{how}: {tasks}");
    // A thread that loses its processor while it reads times keeps others from asking how full the queue is.
    let unasked = tasks["untimed"]["queue-full"].as_u64().unwrap_or(0);
    assert!(unasked * 20 <= all, "{how}: {tasks}");
    assert!(
        (timed + left_out + contended + unasked) * 1000 >= all * 999,
        "{how}{chip} {options:?}: {tasks}"
    );
}

/// Does nothing on cards with few places in a stream: the tool leaves most short tasks out there.
fn hold(ways: &[&str]) {
    let is_other_card = std::env::var(run::CHIP).is_ok_and(|chip| !chip.starts_with("910_"));
    for how in ways.iter().filter(|_| !has_few_places()) {
        are_timed(how, "", &["--timing", "events"]);
        if !is_other_card && *how != "beside" {
            // There, a query waits as long as a synchronisation.
            are_timed(how, ",chip=950", &["--timing", "chained"]);
        }
    }
}

#[test]
fn times_are_read_after_waits_for_events() {
    hold(&["event", "timed", "streams"]);
}

#[test]
fn times_are_read_after_waits_for_what_waits_itself() {
    hold(&["other", "notify", "value"]);
}

#[test]
fn times_are_read_after_waits_for_streams_and_devices() {
    hold(&["stream", "device"]);
}

#[test]
fn times_are_read_while_a_host_only_asks() {
    hold(&["query", "asked"]);
}

#[test]
fn times_are_read_while_host_functions_and_callbacks_show_done_tasks() {
    hold(&["host", "report"]);
}

/// Where the runtime itself looks at all streams, a question about one waits for no synchronisation.
#[test]
fn times_are_read_while_another_thread_waits_all_the_time() {
    if std::env::var(run::CHIP).is_ok() {
        return;
    }
    hold(&["limited", "beside"]);
}

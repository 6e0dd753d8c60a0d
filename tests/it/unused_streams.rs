//! Streams that never had a task are listed, and count nowhere.

use serde_json::Value;

use crate::support::{Run, program, screen::Screen, tool};

/// The table of streams in a text.
#[track_caller]
fn streams_of(text: &str) -> &str {
    let mut parts = text.split("\n\n");
    parts.find(|it| it.starts_with("Streams")).unwrap()
}

#[test]
fn streams_without_tasks_are_in_no_sum_and_in_one_line() {
    let recording = Run::new(&program("many_streams")).traced();
    let said = |arguments: &[&str]| {
        let mut command = tool();
        command.args(arguments).arg(recording.trace());
        crate::support::run(&mut command).expect(0).out()
    };
    let json = |arguments: &[&str]| -> Value { serde_json::from_str(&said(arguments)).unwrap() };

    let stats = json(&["stats", "--json"]);
    let streams = stats["streams"].as_array().unwrap();
    let (used, unused): (Vec<&Value>, Vec<&Value>) =
        streams.iter().partition(|row| row["tasks"] != 0);
    assert_eq!(used.len(), 2);
    assert!(unused.len() >= 30, "{}", unused.len());
    for row in unused.iter() {
        assert!(row["begin_ns"].is_null(), "{row}");
        assert_eq!(row["causes"].as_array().map(Vec::len), Some(0), "{row}");
    }
    // The sums are those of the two streams.
    let total = |rows: &[&Value], cause: &str| -> i64 {
        let causes = rows.iter().filter_map(|row| row["causes"].as_array());
        let own = causes.flatten().filter(|it| it["cause"] == cause);
        own.filter_map(|it| it["total_ns"].as_i64()).sum()
    };
    let rows = stats["stall_causes"].as_array().unwrap();
    let drained = rows.iter().find(|row| row["cause"] == "drained");
    let drained = drained
        .and_then(|row| row["total_ns"].as_i64())
        .unwrap_or(0);
    assert_eq!(drained, total(&used, "drained"));
    let device = &stats["devices"][0];
    assert_eq!(device["streams"], 2);

    let text = said(&["stats"]);
    let line = format!(
        "{} streams without tasks are in none of the tables",
        unused.len()
    );
    assert!(text.contains(&line), "{text}");
    let table = streams_of(&text);
    assert_eq!(table.lines().count(), 2 + used.len(), "{table}");
    let info = json(&["info", "--json"]);
    assert_eq!(
        info["streams"].as_array().map(Vec::len),
        Some(streams.len())
    );
    let text = said(&["info"]);
    let all = streams.len();
    let line = format!("streams      {all}, {} without tasks\n", unused.len());
    assert!(text.contains(&line), "{text}");
    let table = streams_of(&text);
    assert_eq!(table.lines().count(), 2 + used.len(), "{table}");
}

#[test]
fn the_view_has_one_line_for_streams_without_tasks_and_opens_it() {
    let recording = Run::new(&program("many_streams")).traced();
    let mut command = tool();
    command.arg("view").arg(recording.trace());
    let screen = Screen::start(command, 50, 120);
    screen.until("streams without tasks");
    screen.press("q");
    screen.finish().expect(0);
}

use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{RangeRow, Row};
use ascend_trace_sqlite::SQLITE;
use ascend_trace_testkit::Timeline;

use super::database::{Exported, by_python, csv, example};

/// Every cell is that of the CSV table, with every column in its place.
#[track_caller]
fn check(trace: &Trace) {
    let exported = Exported::of(&SQLITE, trace);
    for (name, expected) in csv(trace) {
        let query = format!("SELECT * FROM \"{name}\" ORDER BY rowid");
        let mut found = vec![exported.columns(&query)];
        found.extend(exported.rows(&query));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn every_cell_is_that_of_the_csv_tables() {
    check(&example());
    check(&Trace::default());
}

#[test]
fn texts_of_any_kind_survive() {
    let mut timeline = Timeline::of("t1: call(1)[0..100]");
    let mut rows = timeline.rows.iter();
    let thread = rows.find_map(|row| match row {
        Row::Thread(thread) => Some((thread.process, thread.thread)),
        _ => None,
    });
    let (process, thread) = thread.expect("a thread");
    let names = [
        "it's \"quoted\"",
        "日本 ü",
        "a,b;DROP TABLE calls",
        "line\nend",
        "NULL",
        "7",
    ];
    let ranges = names.iter().zip(0..).map(|(name, at)| {
        Row::Range(RangeRow {
            process,
            thread,
            begin_ns: at,
            end_ns: at + 1,
            domain: 0,
            name: (*name).to_owned(),
        })
    });
    let end = timeline.rows.len() - 1;
    timeline.rows.splice(end..end, ranges);
    let trace = timeline.trace();
    check(&trace);
    let exported = Exported::of(&SQLITE, &trace);
    let found = exported
        .rows("SELECT name FROM ranges ORDER BY begin_ns")
        .concat();
    assert_eq!(found, names);
}

#[test]
fn views_agree_with_the_tables() {
    let trace = example();
    let exported = Exported::of(&SQLITE, &trace);
    let total = "SELECT count(*), sum(end_ns - begin_ns) FROM tasks WHERE begin_ns IS NOT NULL";
    let totals = exported.rows(total);
    assert_ne!(totals[0][0], "0");
    let launches = "SELECT count(*), sum(duration_ns) FROM launches";
    assert_eq!(exported.rows(launches), totals);
    assert_eq!(
        exported
            .rows("SELECT name, tasks, untimed, total_ns FROM operations WHERE kind = 'kernel'"),
        [
            ["A", "1", "0", "9000"],
            ["B", "1", "0", "20000"],
            ["C", "1", "0", "8000"],
            ["D", "1", "0", "1000"]
        ]
    );
    let tasks = "SELECT count(*) FROM tasks";
    assert_eq!(
        exported.rows("SELECT sum(tasks) FROM streams"),
        exported.rows(tasks)
    );
    let calls = "SELECT count(*), sum(end_ns - begin_ns) FROM calls";
    let called = "SELECT sum(calls), sum(total_ns) FROM functions_called";
    assert_eq!(exported.rows(called), exported.rows(calls));
    let stalls = "SELECT count(*), sum(length_ns) FROM stalls";
    let idle = "SELECT sum(stalls), sum(total_ns) FROM idle_time";
    assert_eq!(exported.rows(idle), exported.rows(stalls));
}

#[test]
fn a_search_by_number_uses_an_index() {
    let exported = Exported::of(&SQLITE, &example());
    for query in [
        "SELECT * FROM calls WHERE call = 3",
        "SELECT * FROM tasks WHERE task = 3",
        "SELECT * FROM tasks WHERE begin_ns BETWEEN 5 AND 9",
    ] {
        let plan = exported.rows(&format!("EXPLAIN QUERY PLAN {query}"));
        let used = plan.iter().flatten().any(|it| it.contains("USING INDEX"));
        assert!(used, "{query}: {plan:?}");
    }
}

#[test]
fn the_recording_is_described() {
    let exported = Exported::of(&SQLITE, &example());
    let about = exported.rows("SELECT about FROM recording");
    let about: serde_json::Value = serde_json::from_str(&about[0][0]).expect("JSON");
    assert_eq!(about["tool"], "ascend-trace");
    let tasks = exported.rows("SELECT count(*) FROM tasks");
    assert_eq!(about["tasks"].to_string(), tasks[0][0]);
    let role = "SELECT role FROM functions WHERE name = 'aclrtSynchronizeStream'";
    assert_eq!(exported.rows(role), [["sync-stream"]]);
}

/// Another reader than the library that wrote it.
#[test]
fn python_reads_the_same_times() {
    let trace = example();
    let exported = Exported::of(&SQLITE, &trace);
    let script = "
import json, sys
try:
    import sqlite3
except ImportError:
    sys.exit(77)
database = sqlite3.connect(sys.argv[1])
check = database.execute('PRAGMA integrity_check').fetchone()[0]
rows = database.execute('SELECT task, begin_ns, end_ns FROM tasks ORDER BY rowid').fetchall()
print(json.dumps({'check': check, 'rows': rows}))";
    let Some(found) = by_python(script, &exported.path()) else {
        return;
    };
    assert_eq!(found["check"], "ok");
    let tasks = &csv(&trace)["tasks"];
    let place = |name| tasks[0].iter().position(|it| it == name).expect(name);
    let places = ["task", "begin_ns", "end_ns"].map(place);
    let number = |text: &String| text.parse::<i64>().ok();
    let expected: Vec<_> = tasks[1..]
        .iter()
        .map(|row| places.map(|place| number(&row[place])))
        .collect();
    assert_eq!(found["rows"], serde_json::json!(expected));
}

use ascend_trace_export::Csv;
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::Row;
use ascend_trace_testkit::Timeline;

use super::chrome::chrome;
use super::csv::rows;
use super::memory::export;
use super::perfetto::perfetto;

/// Two processes that both have the pid 1, as in two containers, or one before and after `exec`.
fn one_pid() -> Trace {
    let text = "p3.s1: A[10..20] rec(E)[20] B[60..70]
                p3.t1: sync(s1)[21..22]
                p5.s1: A[10..20] rec(E)[20] B[60..70]
                p5.t1: sync(s1)[21..22]";
    let mut timeline = Timeline::of(text);
    for row in &mut timeline.rows {
        if let Row::Process(process) = row {
            process.pid = 1;
            process.name = "app".to_owned();
            process.command = format!("app\0--number={}", process.process);
        }
    }
    timeline.trace()
}

#[test]
fn every_table_distinguishes_processes_with_the_same_pid() {
    let files = export(&Csv, &one_pid());
    for (table, columns) in [
        ("calls", &["process"][..]),
        ("tasks", &["process"]),
        ("stalls", &["process"]),
        ("dependencies", &["from_process", "to_process"]),
    ] {
        let rows = rows(&files, &format!("{table}.csv"));
        let of = |number: &str| {
            let own = rows
                .iter()
                .filter(|row| columns.iter().all(|it| row[*it] == number));
            own.count()
        };
        assert!(of("3") > 0, "{table}");
        assert_eq!(
            (of("3"), of("3") + of("5")),
            (of("5"), rows.len()),
            "{table}"
        );
        for row in &rows {
            let pid = columns[0].replace("process", "pid");
            assert_eq!(row[&pid], "1", "{table}");
        }
    }
}

#[test]
fn slices_say_which_process_they_are_of_where_a_pid_is_that_of_another() {
    let trace = one_pid();
    for imported in [chrome(&trace), perfetto(&trace)] {
        let of = |number: Option<u64>| {
            let own = imported.slices.iter();
            own.filter(|it| it.args["process"].as_u64() == number)
                .count()
        };
        assert!(of(None) > 0);
        assert_eq!(
            (of(None), of(Some(5))),
            (of(Some(5)), imported.slices.len() / 2)
        );
    }
}

//! Arrows and counters of `trace_view.json`, as Perfetto's trace processor imports them, compared with the tables.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use ascend_trace_export::{Ascend, Csv};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;

use super::agreement::{EXAMPLES, FlowEnd, dependencies};
use super::allocations;
use super::csv::rows;
use super::memory::{MemorySink, export};
use super::tools::{rows_of_query, skip};

fn trace_processor() -> Option<OsString> {
    let shell = std::env::var_os("TRACE_PROCESSOR_SHELL");
    if shell.is_none() {
        skip("TRACE_PROCESSOR_SHELL names no trace processor");
    }
    shell
}

/// The only file of this name in an export.
fn text<'f>(files: &'f MemorySink, name: &str) -> &'f str {
    let names = files.names().into_iter();
    let names: Vec<_> = names.filter(|it| it.ends_with(name)).collect();
    let [own] = names[..] else {
        panic!("{name}: {names:?}")
    };
    files.text(own)
}

/// Writes the timeline of an export to a folder.
fn trace_view(files: &MemorySink, folder: &Path) -> PathBuf {
    let file = folder.join("trace_view.json");
    std::fs::write(&file, text(files, "trace_view.json")).expect("a file");
    file
}

#[track_caller]
fn check_no_error(shell: &OsStr, file: &Path) {
    let lost =
        "select name, value from stats where severity in ('error', 'data_loss') and value > 0;";
    let lost = rows_of_query(shell, file, lost);
    assert!(lost.is_empty(), "{lost:?}");
}

/// Arrows by name and ends: whether an end is a task, and its call. An arrow to a mark leads to the slice around it.
const ARROWS: &str = "
    with subject as (
        select id, case when category = 'released' then parent_id else id end as slice from slice
    ), part as (
        select subject.id, extract_arg(slice.arg_set_id, 'args.err_ns') is not null as is_task,
            extract_arg(slice.arg_set_id, 'args.call') as call
        from subject join slice on slice.id = subject.slice
    )
    select extract_arg(flow.arg_set_id, 'name'), a.is_task, a.call, b.is_task, b.call
    from flow join part as a on a.id = flow.slice_out join part as b on b.id = flow.slice_in;";

/// How often an arrow with a name leads from one end to the other.
type ArrowCounts = BTreeMap<(String, FlowEnd, FlowEnd), usize>;

fn imported_arrows(shell: &OsStr, file: &Path) -> ArrowCounts {
    let mut arrows = ArrowCounts::new();
    for row in rows_of_query(shell, file, ARROWS) {
        let end = |at: usize| (row[at] == "1", row[at + 1].parse().expect("a call"));
        *arrows.entry((row[0].clone(), end(1), end(3))).or_default() += 1;
    }
    arrows
}

fn arrows_of_tables(trace: &Trace) -> ArrowCounts {
    let mut arrows = ArrowCounts::new();
    for (kind, flows) in dependencies(trace) {
        let name = match kind.as_str() {
            "launch" => "HostToDevice",
            kind => kind,
        };
        for ((from, to), count) in flows {
            arrows.insert((name.to_owned(), from, to), count);
        }
    }
    arrows
}

#[test]
fn the_trace_processor_finds_every_dependency_in_the_timeline() {
    let Some(shell) = trace_processor() else {
        return;
    };
    let mut names = Vec::new();
    for text in EXAMPLES {
        let trace = timeline(text);
        let folder = tempfile::tempdir().expect("a folder");
        // Each rank has a file; these processes have no rank.
        let file = trace_view(&export(&Ascend::PLAIN, &trace), folder.path());
        check_no_error(&shell, &file);
        let expected = arrows_of_tables(&trace);
        assert_eq!(imported_arrows(&shell, &file), expected, "{text}");
        names.extend(expected.into_keys().map(|it| it.0));
    }
    names.sort();
    names.dedup();
    let all = [
        "HostToDevice",
        "captured",
        "host-function",
        "host-resume",
        "record-wait",
        "replay",
        "signal-wait",
        "sync",
    ];
    assert_eq!(names, all);
}

/// A counter: when it changed, and to which value.
type CounterValues = Vec<(i64, i64)>;

/// The values after changes by amounts, where they differ from those before.
fn values(mut changes: Vec<(i64, i64)>) -> CounterValues {
    changes.sort_unstable();
    let mut values = CounterValues::new();
    let (mut value, mut written) = (0, 0);
    for (place, (at, by)) in changes.iter().enumerate() {
        value += by;
        let is_last = changes.get(place + 1).is_none_or(|next| next.0 != *at);
        if is_last && value != written {
            values.push((*at, value));
            written = value;
        }
    }
    values
}

fn imported_counters(shell: &OsStr, file: &Path) -> BTreeMap<String, CounterValues> {
    let query = "select track.name, counter.ts, cast(counter.value as int) from counter
        join track on track.id = counter.track_id order by counter.ts;";
    let mut counters: BTreeMap<String, CounterValues> = BTreeMap::new();
    for row in rows_of_query(shell, file, query) {
        let number = |at: usize| row[at].parse::<i64>().expect("a number");
        let values = counters.entry(row[0].clone()).or_default();
        values.push((number(1), number(2)));
    }
    counters
}

/// The counters of queues and streams, from the tables: times of the host's clock.
fn counters_of_tables(trace: &Trace) -> BTreeMap<String, CounterValues> {
    let files = export(&Csv, trace);
    let calls: BTreeMap<String, i64> = rows(&files, "calls.csv")
        .iter()
        .map(|it| (it["call"].clone(), it["begin_ns"].parse().expect("a time")))
        .collect();
    let mut changes: BTreeMap<String, Vec<(i64, i64)>> = BTreeMap::new();
    for task in rows(&files, "tasks.csv") {
        let time = |name: &str| task[name].parse::<i64>().expect("a time");
        let queue = format!("queued on stream {} tasks", task["stream_id"]);
        let queue = changes.entry(queue).or_default();
        queue.extend([(calls[&task["call"]], 1), (time("end_ns"), -1)]);
        let busy = changes.entry("busy streams".to_owned()).or_default();
        busy.extend([(time("begin_ns"), 1), (time("end_ns"), -1)]);
    }
    let counters = changes.into_iter();
    counters.map(|(name, it)| (name, values(it))).collect()
}

#[test]
fn the_trace_processor_finds_the_queues_of_the_tables() {
    let Some(shell) = trace_processor() else {
        return;
    };
    let trace = timeline(
        "s1: A[1000..1500] by t1[100..200] B[1500..2000] by t1[300..400] C[5000..6000] by t1[500..600]
         s2: D[1200..5500] by t1[700..800]",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = trace_view(&export(&Ascend::PLAIN, &trace), folder.path());
    check_no_error(&shell, &file);
    let expected = counters_of_tables(&trace);
    assert_eq!(expected["busy streams"].len(), 6);
    // The times of the file count from a point that is not the begin of the host's clock.
    let first = "select ts from slice where name = 'A' and category = 'kernel';";
    let first = rows_of_query(&shell, &file, first);
    let base = first[0][0].parse::<i64>().expect("a time") - 1000;
    let mut found = imported_counters(&shell, &file);
    let values = found.values_mut().flatten();
    values.for_each(|it| it.0 -= base);
    assert_eq!(found, expected);
}

#[test]
fn the_trace_processor_finds_the_memory_of_the_tables() {
    let Some(shell) = trace_processor() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let files = export(&Ascend::PLAIN, &allocations::trace());
    let file = trace_view(&files, folder.path());
    check_no_error(&shell, &file);
    let mut reader = csv::Reader::from_reader(text(&files, "memory_record.csv").as_bytes());
    let records = reader.deserialize::<BTreeMap<String, String>>();
    let mut expected = CounterValues::new();
    for row in records {
        let row = row.expect("a row");
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        let at = (number("Timestamp(us)") * 1000.0).round() as i64;
        let bytes = (number("Total Reserved(MB)") * f64::from(1 << 20)).round() as i64;
        expected.push((at, bytes));
    }
    assert!(expected.len() > 2, "{expected:?}");
    let found = imported_counters(&shell, &file);
    let names: Vec<&String> = found.keys().filter(|it| it.starts_with("memory")).collect();
    let [name] = names[..] else {
        panic!("{found:?}")
    };
    assert_eq!(found[name], expected);
}

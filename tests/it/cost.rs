//! The reported tracer overhead must add up to the real one.

use ascend_trace_recording::{Cost, ProcessId, ThreadId, Trace};
use ascend_trace_testkit::whole::opened;
use serde_json::Value;

use crate::support::run::has_few_places;
use crate::support::{Recording, Run, Tables, program, run, tool, truth};

fn info(recording: &Recording) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(recording.trace()));
    assert_eq!(outcome.status, 0, "{outcome}");
    serde_json::from_str(&outcome.out()).unwrap()
}

fn open(recording: &Recording) -> Trace {
    let (trace, warnings) = opened(recording.trace()).unwrap();
    assert_eq!(warnings, []);
    trace
}

/// Sums that only ever grow.
fn grows(series: &[Cost]) -> bool {
    series.windows(2).all(|two| {
        let (before, after) = (two[0], two[1]);
        after.at > before.at
            && after.calls >= before.calls
            && after.events >= before.events
            && after.own_ns() >= before.own_ns()
    })
}

#[test]
fn the_tools_own_cost_adds_up_thread_by_thread() {
    let recording = Run::new(&program("phases"))
        .words(&["4000", "9"])
        .compared();
    let (trace, info) = (open(&recording), info(&recording));
    let injected = truth::read(&recording.truth())
        .iter()
        .filter(|entry| entry.is_tracers())
        .count() as u64;
    let (costs, cost) = (trace.costs(), &info["cost"]);
    let total = costs.total();
    assert!(injected > 4000);
    // The program may end while the tool records events: for a comparison of clocks of each device, and on a busy machine for more.
    // Some of these were counted and never ran, or ran and were not counted yet.
    let is_injected = |count: u64| (injected - 8..=injected + 8).contains(&count);
    assert!(is_injected(total.events), "{total:?}, {injected} injected");
    let count = cost["injected_events"].as_u64();
    assert!(count.is_some_and(is_injected), "{count:?} of {injected}");
    assert_eq!(cost["timed_tasks"], total.tasks);
    assert_eq!(total.calls, trace.calls().len() as u64);
    let per_call = cost["host_ns_per_call"].as_f64().unwrap();
    assert!((1.0..20_000.0).contains(&per_call), "{per_call}");
    assert!(total.timing_ns > 0 && total.reading_ns > 0, "{total:?}");
    let host_ns = cost["host_ns"].as_u64().unwrap();
    assert!(host_ns >= total.recording_ns + total.timing_ns, "{info}");
    let process = costs.of_process(&trace, ProcessId(0));
    assert!(grows(&process));
    assert_eq!(process.last().map(|last| last.events), Some(total.events));
    let mut calls = 0;
    for (thread, series) in costs.threads() {
        assert!(grows(series), "{series:?}");
        assert_eq!(series, costs.of_thread(thread));
        let last = series.last().unwrap();
        assert_eq!(last.calls, trace.thread_calls(thread).len() as u64);
        calls += last.calls;
    }
    assert_eq!(calls, total.calls);
}

#[test]
fn recording_alone_has_a_cost_too() {
    let run = Run::new(&program("burst")).words(&["4", "500"]);
    let recording = run.options(&["--timing", "off"]).compared();
    let (trace, info) = (open(&recording), info(&recording));
    let total = trace.costs().total();
    assert_eq!((total.tasks, total.events, total.timing_ns), (0, 0, 0));
    assert_eq!(total.calls, trace.calls().len() as u64);
    assert!(total.recording_ns > 0, "{total:?}");
    assert_eq!(info["cost"]["host_ns"], total.recording_ns);
    let threads = (0..trace.threads().len() as u32).map(ThreadId);
    let measured = threads.filter(|thread| !trace.costs().of_thread(*thread).is_empty());
    assert!(measured.count() > 1);
}

/// Copies, each after a sync of the one before. The pauses are long enough that the clocks are compared
/// after the next sync, between the two copies.
const STEPS: &str = "p 30000\nc 0 20\ny 0\nc 0 20\ny 0\n";

/// What each look of the tool's at an event takes in the runtime.
const LOOK_NS: i64 = 20_000_000;

#[test]
fn idleness_that_the_tool_has_made_is_not_blamed_on_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, format!("s 0\n{}x 0\n", STEPS.repeat(6))).unwrap();
    let run = Run::new(&program("script")).words(&[path.to_str().unwrap()]);
    let soft = format!("d2d_mbps=1,copy_ns=0,query_ns={LOOK_NS}");
    let tables = Tables::of(&run.soft(&soft).traced());
    let gaps = tables
        .stalls
        .iter()
        .filter(|row| !row.text("meanwhile").is_empty());
    let mut found = 0;
    for gap in gaps {
        let parts: Vec<(&str, i64)> = gap.text("meanwhile").split("; ").map(part).collect();
        let sum: i64 = parts.iter().map(|part| part.1).sum();
        assert_eq!(sum, gap.number("length_ns"), "{gap:?}");
        let own = parts.iter().find(|part| part.0 == "tracer-overhead");
        let own = own.map_or(0, |part| part.1);
        if own > LOOK_NS / 2 {
            let is_most = own * 2 > sum;
            assert!(
                !is_most || gap.text("cause") == "tracer-overhead",
                "{gap:?}"
            );
            found += 1;
        }
    }
    // The clocks are compared after some of the syncs, if not at the first use of the stream. A card with few places
    // for events is never asked: the syncs themselves bring its times.
    assert!(found > 0 || has_few_places(), "{:?}", tables.stalls);
}

/// Name and nanoseconds of one part of a thread's activity.
fn part(text: &str) -> (&str, i64) {
    let mut words = text.split(' ');
    let name = words.next().unwrap_or_default();
    let time = words.nth(1).and_then(|it| it.parse().ok());
    (name, time.unwrap_or_else(|| panic!("{text}")))
}

//! What the tool says of its own cost must add up to what it did.

use ascend_trace_model::{Cost, ProcessId, ThreadId, Trace};
use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool, truth};

fn info(recording: &Recording) -> Value {
    let outcome = run(tool().args(["info", "--json"]).arg(recording.trace()));
    assert_eq!(outcome.status, 0, "{outcome}");
    serde_json::from_str(&outcome.out()).unwrap()
}

fn open(recording: &Recording) -> Trace {
    let (trace, warnings) = Trace::open(recording.trace()).unwrap();
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
    // The program's end may come upon a comparison of clocks. One a device may be recorded and never
    // run; the one that is just being made may have run and not been counted yet.
    let is_injected = |told: u64| (injected - 1..=injected + 2).contains(&told);
    assert!(is_injected(total.events), "{total:?}");
    let told = cost["injected_events"].as_u64();
    assert!(told.is_some_and(is_injected), "{told:?} of {injected}");
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
    let recording = Run::new(&program("threads")).options(&["--timing", "off"]);
    let recording = recording.compared();
    let (trace, info) = (open(&recording), info(&recording));
    let total = trace.costs().total();
    assert_eq!((total.tasks, total.events, total.timing_ns), (0, 0, 0));
    assert_eq!(total.calls, trace.calls().len() as u64);
    assert!(total.recording_ns > 0, "{total:?}");
    assert_eq!(info["cost"]["host_ns"], total.recording_ns);
    let threads = (0..trace.threads().len() as u32).map(ThreadId);
    let told = threads.filter(|thread| !trace.costs().of_thread(*thread).is_empty());
    assert!(told.count() > 1);
}

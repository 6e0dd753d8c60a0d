//! The layer below AscendCL: libraries that use it alone show their work, calls of AscendCL represent
//! its use of the layer, and the tracer does not assume that it sees all submissions.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::engine;
use crate::support::accuracy::Accuracy;
use crate::support::compile::{self, built, soft};
use crate::support::{CsvRow, Run, Tables, program, run, tool, truth};

const C: &[&str] = &["-std=gnu11", "-O1", "-pthread", "-ldl"];
const LIBRARY: &[&str] = &["-std=gnu11", "-O1", "-shared", "-fPIC"];

fn library(file: &str, source: &str, options: &[&str]) -> PathBuf {
    built(file, source, &[LIBRARY, options].concat())
}

fn linked(name: &str, options: &[&str]) -> PathBuf {
    let rest = ["-Wl,--no-as-needed", "-lascendcl"];
    built(name, &format!("{name}.c"), &[options, C, &rest].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The program's calls are in the trace, each once.
#[track_caller]
fn all_have_times(tables: &Tables, made: u64) {
    assert_eq!(tables.calls.len() as u64, made);
    assert!(tables.calls.iter().all(|call| call.text("depth") == "0"));
}

#[test]
fn calls_of_a_library_below_acl_are_recorded() {
    const ROUNDS: usize = 12;
    let library = library("below_library.so", "below_library.c", &["-lruntime"]);
    let program = Run::new(&built("below", "below.c", C));
    let words = [text(&library), &ROUNDS.to_string()];
    for run in [program.clone(), engine::patched(&program)] {
        let recording = run.words(&words).compared();
        let tables = Tables::of(&recording);
        all_have_times(&tables, recording.number("made "));
        let matched = truth::matched(&tables.tasks, &recording.truth());
        assert_eq!(matched.len(), ROUNDS * 13);
        tables.all_timed();
        let accuracy = Accuracy::of(&tables, &matched);
        let dishonest = accuracy.dishonest();
        assert!(dishonest.is_empty(), "{dishonest:#?}");
        for kind in ["record-wait", "signal-wait"] {
            let edges = tables.dependencies.iter();
            let edges = edges.filter(|edge| edge.text("kind") == kind);
            assert_eq!(edges.count(), ROUNDS, "{kind}");
        }
        busy(&recording.trace(), &matched);
    }
}

/// The streams are busy for as long as their tasks ran.
#[track_caller]
fn busy(trace: &Path, matched: &[(&CsvRow, truth::TruthLogTask)]) {
    let stats = run(tool().arg("stats").arg(trace).arg("--json")).expect(0);
    let stats: Value = serde_json::from_str(&stats.out()).unwrap();
    let streams = stats["streams"].as_array().unwrap();
    let busy: i64 = (streams.iter())
        .map(|stream| stream["busy_ns"].as_i64().unwrap())
        .sum();
    let worked = ["kernel", "memcpy", "memset"];
    let truly: i64 = matched
        .iter()
        .filter(|(task, entry)| {
            worked.contains(&entry.kind.as_str()) && task.text("untimed").is_empty()
        })
        .map(|(_, entry)| entry.end - entry.begin)
        .sum();
    assert!(truly > 0 && busy >= truly * 9 / 10, "{busy} of {truly}");
}

/// On a card, each function of AscendCL calls one of the layer below, which is in another library.
#[test]
fn calls_inside_an_acl_call_are_represented_by_it() {
    let layers = library("below_layers.so", "below_layers.c", &["-lascendcl"]);
    let programs = [
        layered("way_direct", &layers),
        layered("default_stream", &layers),
        layered("own_times", &layers),
        layered("reuse", &layers),
        layered("last_task", &layers),
    ];
    for program in programs {
        let run = Run::new(&program).soft("catch");
        let tables = Tables::of(&run.compared());
        assert!(!tables.calls.is_empty());
        for call in &tables.calls {
            assert_eq!(call.text("depth"), "0", "{call:?}");
            assert!(call.text("name").starts_with("acl"), "{call:?}");
        }
        let captured = |reason: &&&str| !["captured", "bound-stream"].contains(*reason);
        let untimed = tables.untimed_but_for_the_card();
        let others: Vec<_> = untimed.iter().filter(captured).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

/// On a card a call of AscendCL that is put aside, or counted as lost, calls the layer below as any other.
#[test]
fn each_call_counts_once_in_handlers_and_in_threads_that_can_be_cancelled() {
    let layers = library("below_layers.so", "below_layers.c", &["-lascendcl"]);
    let rest = ["-Wl,--no-as-needed", "-lascendcl"];
    let options = [&[text(&layers)], C, &rest].concat();
    for (name, words) in [("handler_storm", &["usual"][..]), ("fragile", &[])] {
        let source = format!("../hostile/{name}.c");
        let program = built(&format!("layered_{name}"), &source, &options);
        let recording = Run::new(&program).words(words).traced();
        assert_eq!(recording.outcome.status, 0, "{}", recording.outcome);
        let info = run(tool().arg("info").arg(recording.trace()).arg("--json")).expect(0);
        let info: Value = serde_json::from_str(&info.out()).unwrap();
        let recorded = info["calls"]["count"].as_u64().unwrap();
        let lost = info["lost"]["calls"].as_u64().unwrap();
        assert_eq!(
            recording.number("made "),
            recorded + lost,
            "{name}: {lost} lost"
        );
        assert!(name != "fragile" || lost == 0, "{lost} lost");
    }
}

/// A program of the tests, on a runtime of two layers.
fn layered(name: &str, layers: &Path) -> PathBuf {
    let rest = ["-Wl,--no-as-needed", "-lascendcl"];
    let options = [&[text(layers)], C, &rest].concat();
    built(&format!("layered_{name}"), &format!("{name}.c"), &options)
}

/// Calls of the layer by another library are children of its call, and one task; facts from these calls
/// belong to them.
#[test]
fn calls_below_acl_inside_another_librarys_call_are_its_children() {
    let library = library("below_nested.so", "below_nested_library.c", &["-lascendcl"]);
    let options = [&[text(&library)], C, &["-Wl,--no-as-needed", "-lascendcl"]].concat();
    let program = built("below_nested", "way_nested.c", &options);
    let tables = Tables::of(&Run::new(&program).soft("catch").compared());
    assert_eq!(tables.count_calls("HcclBarrier"), 5);
    let inner = tables.calls.iter().filter(|call| call.text("depth") == "1");
    let launches = inner.filter(|call| call.text("name") == "rtKernelLaunch");
    assert_eq!(launches.count(), 15);
    let tasks: Vec<_> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(tasks, ["HcclBarrier"; 5]);
    tables.all_timed();
}

#[test]
fn captures_of_either_layer_are_respected() {
    let recording = Run::new(&program("below_mixed")).soft("catch").compared();
    let tables = Tables::of(&recording);
    let of = |reason: &str| {
        let tasks = tables.tasks.iter();
        tasks.filter(|task| task.text("untimed") == reason).count()
    };
    assert_eq!(of("captured"), 7 + 2, "{:?}", tables.untimed());
    assert_eq!(of(""), 6 * 2 + 1, "{:?}", tables.untimed());
    let graphs = tables.tasks.iter();
    let graphs = graphs.filter(|task| task.text("kind") == "graph");
    assert_eq!(graphs.count(), 7);
}

/// A query that is inside the runtime when its stream goes reads freed memory; softacl ends the process then.
#[test]
fn tasks_submitted_below_acl_are_not_queried() {
    let recording = Run::new(&compile::hostile("below_apart"))
        .words(&["16"])
        .soft("catch,query_ns=20000")
        .compared();
    let tables = Tables::of(&recording);
    all_have_times(&tables, recording.number("made "));
    assert_eq!(tables.tasks.len(), 16 * 6 * 30);
    for task in &tables.tasks {
        if task.text("untimed").is_empty() {
            let length = task.number("end_ns") - task.number("begin_ns");
            assert!((0..1_000_000_000).contains(&length), "{task:?}");
        }
    }
}

/// With chained timing a task begins where the one before it ended, unless other work came between
/// them: an unknown function may submit any.
#[test]
fn functions_of_which_nothing_is_known_break_a_chain() {
    let Some(offset) = offset_of("aclrtMemsetAsync") else {
        return;
    };
    let library = library("libruntime_newer.so", "below_unknown_library.c", &[]);
    let program = linked("below_unknown", &[text(&library)]);
    let recording = Run::new(&program)
        .words(&[&offset])
        .options(&["--timing", "chained"])
        .compared();
    let tables = Tables::of(&recording);
    assert_eq!(tables.count_calls("rtsNewlyMade"), 10);
    assert_eq!(tables.count_calls("rtSetStreamOverflowSwitch"), 10);
    assert_eq!(tables.tasks.len(), 60);
    let truth = truth::read(&recording.truth());
    let fills = truth.iter().filter(|entry| entry.kind == "memset");
    let shortest = fills.map(|entry| entry.end - entry.begin).min().unwrap();
    let timed = tables.tasks.iter();
    let timed: Vec<_> = timed
        .filter(|task| task.text("untimed").is_empty())
        .collect();
    assert!(timed.len() > 50, "{:?}", tables.untimed());
    for task in timed {
        let length = task.number("end_ns") - task.number("begin_ns");
        // A thread that loses its processor between an event and its task makes both bars wide.
        let sure = length - 2 * task.number("err_device_ns");
        assert!(sure < shortest / 2, "{sure} of {shortest}: {task:?}");
    }
}

/// Offset of a function of the software runtime in its file; `None`, and a message, without the
/// necessary tool.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn offset_of(name: &str) -> Option<String> {
    let library = soft().lib.join("libascendcl.so");
    let Ok(output) = Command::new("nm").arg("-D").arg(library).output() else {
        eprintln!("skipped: there is no `nm`");
        return None;
    };
    let out = String::from_utf8(output.stdout).unwrap();
    let line = out.lines().find(|line| line.ends_with(&format!(" {name}")));
    line.map(|line| line.split(' ').next().unwrap().to_owned())
}

/// A name alone does not make a function one of the runtime's.
#[test]
fn functions_of_others_that_are_named_alike_are_left_alone() {
    let library = library("libforeign.so", "below_foreign_library.c", &[]);
    let tables = Tables::of(&Run::new(&linked("below_foreign", &[text(&library)])).compared());
    let names: Vec<_> = tables.calls.iter().map(|call| call.text("name")).collect();
    assert_eq!(names, ["aclInit", "aclFinalize"]);
}

//! What the program calls things is what the trace calls them, and the trace tells what was caught.

use super::{C, LINKED, compare, library, program, text};
use crate::support::{Recording, Run, run, tool};

fn info(recording: &Recording) -> serde_json::Value {
    let mut command = tool();
    command.arg("info").arg(recording.trace()).arg("--json");
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

fn named() -> Recording {
    let kernel = library("way_named_kernel", &[]);
    let program = program("way_named", LINKED);
    Run::new(&program).words(&[text(&kernel)]).compared()
}

#[test]
fn tasks_are_named_by_their_kernels_and_threads_by_their_last_name() {
    let recording = named();
    let tables = crate::support::Tables::of(&recording);
    let names: Vec<_> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(names, ["way_kernel"; 3]);
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export
        .args(["--format", "chrome", "-o"])
        .arg(recording.beside("t.json"));
    run(&mut export).expect(0);
    let chrome = std::fs::read_to_string(recording.beside("t.json")).unwrap();
    assert!(chrome.contains("renamed-later"));
    let document: serde_json::Value = serde_json::from_str(&chrome).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    let ranges = events.filter(|event| event["cat"] == "mstx" && event["ph"] != "X");
    let ranges: Vec<_> = ranges
        .map(|event| {
            (
                event["ph"].as_str().unwrap(),
                event["name"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        ("b", "step"),
        ("e", "step"),
        ("n", "loss is nan"),
        ("b", "epoch"),
        ("e", "epoch"),
    ];
    assert_eq!(ranges, expected);
    assert_eq!(info(&recording)["ranges"], 3);
}

#[test]
fn stubs_of_launches_below_the_interface_have_names() {
    let runtime = library("way_launch_library", &["-lascendcl"]);
    let options = [LINKED, &[text(&runtime)]].concat();
    let tables = compare(&Run::new(&program("way_launch", &options)));
    let names: Vec<_> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(names, ["add_custom_0", "mul_custom_1", "add_custom_0"]);
}

#[test]
fn the_trace_tells_what_was_caught_and_what_was_not() {
    let recording = Run::new(&program("way_handle", C)).compared();
    let info = info(&recording);
    let coverage = info["coverage"].as_array().unwrap();
    let functions = |library: &serde_json::Value| library["functions"].as_array().unwrap().clone();
    let soft = coverage
        .iter()
        .find(|it| {
            it["library"]
                .as_str()
                .is_some_and(|path| path.contains("libascendcl"))
        })
        .unwrap();
    assert!(soft["exported"].as_u64().unwrap() > 1000);
    assert_eq!(soft["called"], 11);
    let fill = functions(soft)
        .into_iter()
        .find(|it| it["name"] == "aclrtMemsetAsync")
        .unwrap();
    assert_eq!(fill["calls"], 3);
    assert_eq!(fill["ways"], serde_json::json!(["linked", "fetched"]));
    let nowhere = coverage.iter().find(|it| it["library"].is_null()).unwrap();
    let of = |name: &str| {
        let all = functions(nowhere);
        all.into_iter()
            .find(|it| it["name"] == name)
            .map(|it| it["ways"].clone())
    };
    assert_eq!(of("rtKernelLaunch"), Some(serde_json::json!(["absent"])));
    assert_eq!(of("aclrtUnheardOf"), Some(serde_json::json!(["unseen"])));
}

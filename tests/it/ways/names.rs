//! The trace uses the program's names of things, and lists the intercepted functions.

use std::collections::BTreeMap;

use super::{C, LINKED, compare, library, program, text};
use crate::support::compile::built_from;
use crate::support::{Recording, Run, run, tool};

fn info(recording: &Recording) -> serde_json::Value {
    let mut command = tool();
    command.arg("info").arg(recording.trace()).arg("--json");
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

fn chrome(recording: &Recording) -> serde_json::Value {
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export
        .args(["--format", "chrome", "-o"])
        .arg(recording.beside("t.json"));
    run(&mut export).expect(0);
    let chrome = std::fs::read_to_string(recording.beside("t.json")).unwrap();
    serde_json::from_str(&chrome).unwrap()
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
    let document = chrome(&recording);
    assert!(document.to_string().contains("renamed-later"));
    let events = document["traceEvents"].as_array().unwrap().iter();
    let ranges = events.filter(|event| event["cat"] == "mstx");
    let mut ranges: Vec<_> = ranges
        .map(|event| {
            let has_length = event["dur"].as_f64().unwrap() > 0.0;
            (event["name"].as_str().unwrap(), has_length)
        })
        .collect();
    ranges.sort();
    let expected = [("epoch", true), ("loss is nan", false), ("step", true)];
    assert_eq!(ranges, expected);
    assert_eq!(info(&recording)["ranges"], 3);
}

/// The begin that the names of `long_names` share.
fn long_begin() -> String {
    "kernel_of_".repeat(15)
}

#[test]
fn long_names_stay_whole_and_different() {
    let kernels = library("long_names_kernels", &[]);
    let program = Run::new(&program("long_names", LINKED));
    let recording = program.words(&[text(&kernels)]).compared();
    let tables = crate::support::Tables::of(&recording);
    let mut whole = BTreeMap::new();
    for task in &tables.tasks {
        let (name, is_long) = (task.text("name"), !task.text("whole_name").is_empty());
        assert_eq!(is_long, name != "short_kernel");
        assert_eq!(is_long, name.contains("…#"), "{name}");
        let known = whole.insert(name.to_owned(), task.text("whole_name"));
        assert!(known.is_none_or(|it| it == task.text("whole_name")));
    }
    let names: Vec<_> = whole.into_values().collect();
    let expected = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|last| long_begin() + last);
    let mut long: Vec<_> = names.into_iter().filter(|it| !it.is_empty()).collect();
    long.sort_unstable();
    assert_eq!(long, expected);
    let document = chrome(&recording);
    let events = document["traceEvents"].as_array().unwrap();
    let wholes = events
        .iter()
        .filter_map(|it| it["args"]["whole_name"].as_str());
    let wholes: std::collections::BTreeSet<_> = wholes.collect();
    assert!(
        wholes
            .iter()
            .copied()
            .eq(expected.iter().map(String::as_str))
    );
}

#[test]
fn messages_of_collectives_are_operations_with_arguments() {
    let kernels = library("long_names_kernels", &[]);
    let program = Run::new(&program("long_names", LINKED));
    let recording = program.words(&[text(&kernels), "1"]).traced();
    let folder = recording.beside("csv");
    let mut export = tool();
    export.arg("export").arg(recording.trace());
    export.args(["--format", "csv", "-o"]).arg(&folder);
    run(&mut export).expect(0);
    let ranges = std::fs::read_to_string(folder.join("ranges.csv")).unwrap();
    let ranges = crate::support::tables::parse(&ranges);
    let counts = ranges.iter().map(|range| {
        assert_eq!(range.text("name"), "HcclAllReduce");
        let args: BTreeMap<String, String> = serde_json::from_str(range.text("args")).unwrap();
        assert_eq!(args["groupName"], "hccl_world_group_of_all_ranks");
        args["count"].clone()
    });
    let expected = (16..25).map(|count| count.to_string());
    assert!(counts.eq(expected));
}

#[test]
fn stubs_of_launches_below_the_interface_have_names() {
    let runtime = library("way_launch_library", &["-lascendcl"]);
    // The first library of two is searched first: softacl also has launches.
    let options = [&[text(&runtime)], LINKED].concat();
    let tables = compare(&Run::new(&program("way_launch", &options)));
    let names: Vec<_> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(names, ["add_custom_0", "mul_custom_1", "add_custom_0"]);
}

#[test]
fn operators_have_the_types_and_dimensions_of_their_tensors() {
    let recording = Run::new(&program("way_operands", LINKED)).compared();
    let tables = crate::support::Tables::of(&recording);
    let tasks = tables.tasks.iter();
    let recorded: Vec<_> = tasks
        .map(|task| (task.text("name"), task.text("shapes")))
        .collect();
    let add = "self float32 [4, 2]; other float32 [4, 2]; alpha Scalar float32 2; \
               out float32 [4, 2]";
    let expected = [
        ("aclnnRelu", "self float16 [2, 3, 4]; out float16 [2, 3, 4]"),
        ("aclnnAdd", add),
        ("aclnnCast", "self int32 []; out int64 []"),
    ];
    assert_eq!(recorded, expected);
    let mut calls = tables.calls.iter();
    let axes = calls.find(|call| call.text("name") == "aclCreateIntArray");
    super::passed(axes.unwrap(), r#""value":"[2, 3, 4]""#);
    let calls = tables.calls.iter();
    let mut made = calls.filter(|call| call.text("name") == "aclCreateTensor");
    super::passed(made.next_back().unwrap(), r#""viewDims":null"#);
    let chrome = chrome(&recording);
    let events = chrome["traceEvents"].as_array().unwrap().iter();
    let shapes = events.filter(|event| event["args"]["shapes"] == add);
    // Both calls and the task.
    assert_eq!(shapes.count(), 3);
}

#[test]
fn copies_show_their_direction_and_that_the_host_made_them() {
    let recording = Run::new(&crate::support::program("pageable_copy")).compared();
    let tables = crate::support::Tables::of(&recording);
    let tasks = tables.tasks.iter();
    let recorded: Vec<_> = tasks
        .map(|task| {
            let host = task.text("untimed") == "host-copy";
            (task.text("direction"), task.text("bytes"), host)
        })
        .collect();
    let round = [
        ("H2D", "65536", true),
        ("D2H", "65536", true),
        ("D2H", "65536", false),
    ];
    assert_eq!(recorded, round.repeat(4));
    let chrome = chrome(&recording);
    let events = chrome["traceEvents"].as_array().unwrap().iter();
    let pageable = events.filter(|event| event["args"]["pageable"] == true);
    let ways: Vec<_> = pageable
        .map(|event| event["args"]["direction"].as_str().unwrap())
        .collect();
    assert_eq!(ways, ["H2D", "D2H"].repeat(4));
}

#[test]
fn the_trace_lists_intercepted_and_missed_functions() {
    let recording = Run::new(&program("way_handle", C)).compared();
    let info = info(&recording);
    assert_eq!(info["processes"][0]["devices"], serde_json::json!([1]));
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
    assert!(soft["hooked"].as_u64().unwrap() > 1000);
    let named = functions(soft).len();
    assert!(
        named < 100,
        "{named}: those that were not requested are counted"
    );
    let nowhere = coverage.iter().find(|it| it["library"].is_null()).unwrap();
    let of = |name: &str| {
        let all = functions(nowhere);
        all.into_iter()
            .find(|it| it["name"] == name)
            .map(|it| it["ways"].clone())
    };
    assert_eq!(of("rtFusionLaunch"), Some(serde_json::json!(["absent"])));
    assert_eq!(of("aclrtUnheardOf"), Some(serde_json::json!(["absent"])));
}

#[test]
fn a_function_that_the_tables_lack_is_caught_only_where_a_library_has_it() {
    let library = built_from(
        "libnewer.so",
        "int aclrtBrandNew(void);\nint aclrtBrandNew(void) { return 7; }\n",
        &["-shared", "-fPIC"],
    );
    let fetch = built_from("fetch_newer", FETCH_NEWER, &["-lascendcl", "-ldl"]);
    let run = Run::new(&fetch).words(&[library.to_str().unwrap()]);
    let recording = run.compared();
    let output = crate::support::run(tool().arg("info").arg(recording.trace())).expect(0);
    let lines = "Looked up by name, in no library\n  function\n  aclrtOlder\n  aclrtOldest\n";
    assert!(output.out().contains(lines), "{output}");
    let info = info(&recording);
    let coverage = info["coverage"].as_array().unwrap().iter();
    let functions = coverage.flat_map(|it| it["functions"].as_array().unwrap().clone());
    let found: BTreeMap<_, _> = functions
        .filter(|it| {
            ["aclrtBrandNew", "aclrtOlder", "aclrtOldest"].contains(&it["name"].as_str().unwrap())
        })
        .map(|it| (it["name"].as_str().unwrap().to_owned(), it["ways"].clone()))
        .collect();
    let expected = [
        ("aclrtBrandNew", vec!["absent", "untyped"]),
        ("aclrtOlder", vec!["absent"]),
        ("aclrtOldest", vec!["absent"]),
    ];
    let expected = expected.map(|(name, ways)| (name.to_owned(), serde_json::json!(ways)));
    assert_eq!(found, BTreeMap::from(expected));
}

const FETCH_NEWER: &str = r#"
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#define RTLD_ANY ((void *)0)
int aclInit(const char *config);
int main(int count, char **words)
{
    aclInit(NULL);
    void *own = dlopen(NULL, RTLD_LAZY);
    void *newer = dlopen(count > 1 ? words[1] : "", RTLD_LAZY);
    int (*there)(void) = (int (*)(void))dlsym(newer, "aclrtBrandNew");
    printf("%d ", there != NULL ? there() : 0);
    printf("%d ", dlsym(own, "aclrtBrandNew") == NULL);
    printf("%d ", dlsym(newer, "aclrtOlder") == NULL && dlerror() != NULL && dlerror() == NULL);
    printf("%d\n", dlsym(RTLD_ANY, "aclrtOldest") == NULL && dlerror() != NULL);
    return 0;
}
"#;

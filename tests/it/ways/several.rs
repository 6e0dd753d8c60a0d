//! More than one library has a say: versions, one name in two libraries, calls inside calls.

use super::{C, LINKED, compare, library, names, passed, program, text};
use crate::support::compile::built;
use crate::support::program as test_program;
use crate::support::{Run, Tables};

#[test]
fn versions_of_a_function_are_distinguished() {
    let script = std::env::temp_dir().join(format!("ascend-trace-{}.map", std::process::id()));
    std::fs::write(&script, "TEST_1 { };\nTEST_2 { } TEST_1;\n").unwrap();
    let map = format!("-Wl,--version-script={}", text(&script));
    let two = library("way_versions_library", &[&map]);
    std::fs::remove_file(&script).unwrap();
    let run = Run::new(&program("way_versions", C)).words(&[text(&two)]);
    let tables = compare(&run);
    assert_eq!(names(&tables), ["aclrtGetDevice"; 3]);
    for (call, value) in tables.calls.iter().zip([1, 2, 2]) {
        passed(call, &format!("\"deviceId\":{value}"));
    }
}

#[test]
fn one_name_in_two_libraries() {
    let library = |own: &str| {
        let define = format!("-DOWN={own}");
        let options = [super::LIBRARY, &[&define]].concat();
        let source = "way_two_libraries_library.c";
        built(&format!("way_library_{own}.so"), source, &options)
    };
    let (one, two) = (library("1"), library("2"));
    let run = Run::new(&program("way_two_libraries", C)).words(&[text(&one), text(&two)]);
    let tables = compare(&run);
    assert_eq!(tables.count_calls("aclrtGetDevice"), 8000);
    assert_eq!(tables.count_calls("aclblasGemmEx"), 2);
    for code in ["11", "22"] {
        let answered = tables.calls.iter().filter(|call| call.text("ret") == code);
        assert_eq!(answered.count(), 4000);
    }
}

#[test]
fn launches_below_the_interface() {
    let runtime = library("way_launch_library", &["-lascendcl"]);
    // The first library of two is searched first: softacl also has launches.
    let options = [&[text(&runtime)], LINKED].concat();
    let tables = compare(&Run::new(&program("way_launch", &options)));
    let launches = tables
        .outer_calls()
        .filter(|call| call.text("name").starts_with("rtKernel"));
    let launches: Vec<_> = launches.collect();
    assert_eq!(launches.len(), 4);
    passed(launches[1], "\"blockDim\":16");
    passed(launches[2], "\"flags\":3");
    assert_eq!(launches[3].text("ret"), "107000");
    let kinds: Vec<_> = tables.tasks.iter().map(|task| task.text("kind")).collect();
    assert_eq!(kinds, ["kernel"; 3]);
    tables.all_timed();
}

#[test]
fn calls_inside_a_call_are_its_children_and_one_task() {
    let collectives = library("way_nested_library", &["-lascendcl"]);
    // The first library of two is asked first.
    let options = [&[text(&collectives)], LINKED].concat();
    let tables = compare(&Run::new(&program("way_nested", &options)));
    assert_eq!(tables.count_calls("HcclBarrier"), 5);
    let inner = tables.calls.iter().filter(|call| call.text("depth") == "1");
    let inner: Vec<_> = inner.map(|call| call.text("name")).collect();
    let expected = [
        "aclrtGetRunMode",
        "aclrtLaunchHostFunc",
        "aclrtLaunchHostFunc",
    ];
    assert_eq!(inner, expected.repeat(5));
    let tasks: Vec<_> = tables.tasks.iter().map(|task| task.text("name")).collect();
    assert_eq!(tasks, ["HcclBarrier"; 5]);
    tables.all_timed();
}

#[test]
fn a_variable_number_of_arguments() {
    let log = library("way_variadic_library", &[]);
    let program = program("way_variadic", &[text(&log)]);
    let recording = Run::new(&program).compared();
    assert!(
        recording
            .outcome
            .out()
            .contains("10.5 11 12 13 14 15 16 17 18")
    );
    let tables = Tables::of(&recording);
    assert_eq!(names(&tables), ["aclAppLog"; 3]);
    for (call, level) in tables.calls.iter().zip(1..) {
        passed(call, &format!("\"line\":1{level}"));
        passed(call, "\"file\":\"way_variadic.c\"");
    }
    passed(&tables.calls[1], "\"fmt\":\"%d %s %g %ld\\n\"");
}

#[test]
fn a_fork_in_the_middle_of_a_call() {
    let tables = compare(&Run::new(&program("way_fork", LINKED)));
    assert_eq!(tables.processes().len(), 2);
    let asked = |depth: &str| {
        let calls = tables.calls.iter();
        let calls = calls.filter(|call| call.text("name") == "aclrtGetRunMode");
        calls.filter(|call| call.text("depth") == depth).count()
    };
    assert_eq!((asked("0"), asked("1")), (2, 0), "the child begins afresh");
    assert_eq!(tables.count_calls("aclrtLaunchCallback"), 2);
}

#[test]
fn the_last_task_is_the_programs_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ids");
    let run = Run::new(&test_program("last_task")).words(&[text(&file)]);
    let recording = run.traced();
    recording.outcome.clone().expect(0);
    let log = std::fs::read_to_string(recording.truth()).unwrap();
    let entries = log
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let fills = entries.filter(|entry| entry["kind"] == "memset");
    let expected: Vec<String> = fills.map(|entry| entry["seq"].to_string()).collect();
    let ids = std::fs::read_to_string(&file).unwrap();
    assert_eq!(ids.lines().collect::<Vec<_>>(), expected);
}

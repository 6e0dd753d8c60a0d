//! Which function is called where several libraries have one of a name: the one that the caller would
//! be bound to without us.

use std::path::{Path, PathBuf};

use super::counts::balanced;
use crate::engine;
use crate::support::Run;
use crate::support::compile::{built, soft};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/scopes.c");
const LIBRARY: &[&str] = &["-std=gnu11", "-O1", "-shared", "-fPIC"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A library with a function of the name, which returns eleven times its number.
fn owner(number: u32) -> PathBuf {
    let define = format!("-DOWN={number}");
    let options = [LIBRARY, &[&define]].concat();
    let output = format!("libscope_owner_{number}.so");
    built(&output, "way_two_libraries_library.c", &options)
}

/// A library that needs others in this order.
fn needing(name: &str, define: &str, needed: &[&Path], more: &[&str]) -> PathBuf {
    let mut options = [LIBRARY, &[define, "-Wl,--no-as-needed"], more].concat();
    let folders: Vec<String> = needed
        .iter()
        .map(|path| format!("-Wl,-rpath,{}", path.parent().unwrap().display()))
        .collect();
    options.extend(needed.iter().map(|path| text(path)));
    options.extend(folders.iter().map(String::as_str));
    built(&format!("libscope_{name}.so"), SOURCE, &options)
}

/// A plugin that is linked to these: bound lazily, and when it is loaded.
fn plugins(name: &str, needed: &[&Path]) -> [PathBuf; 2] {
    ["lazy", "now"].map(|binding| {
        let name = format!("{name}_{binding}");
        let binding = format!("-Wl,-z,{binding}");
        needing(&name, "-DPLUGIN", needed, &[&binding])
    })
}

fn host() -> PathBuf {
    built("scopes", SOURCE, &["-std=gnu11", "-O1", "-ldl"])
}

/// Runs it bare and with each engine: the plugins return these values, and each call is in the trace.
#[track_caller]
fn answers(run: &Run, expected: &[u32]) {
    for run in [run.clone(), engine::patched(run)] {
        let recording = run.compared();
        let out = recording.outcome.out();
        let lines = out.lines().filter(|line| !line.starts_with("made "));
        let answers: Vec<u32> = lines
            .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
            .collect();
        assert_eq!(answers, expected.repeat(2), "{out}");
        balanced(&recording);
    }
}

#[track_caller]
fn opened(words: &[String], expected: &[u32]) {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    answers(&Run::new(&host()).words(&words), expected);
}

fn how(how: &str, path: &Path) -> String {
    format!("{how}:{}", path.display())
}

#[test]
fn a_plugin_calls_the_functions_of_its_linked_library() {
    let (one, two) = (owner(1), owner(2));
    let [first, first_now] = plugins("one", &[&one]);
    let [second, second_now] = plugins("two", &[&two]);
    opened(
        &[first, second_now, second, first_now].map(|path| how("local", &path)),
        &[11, 22, 22, 11],
    );
}

#[test]
fn a_plugin_calls_its_own_library_and_not_a_better_known_one() {
    let one = owner(1);
    let known = soft().lib.join("libascendcl.so");
    for plugin in plugins("one", &[&one]) {
        opened(&[how("local", &known), how("local", &plugin)], &[11]);
        opened(&[how("local", &plugin), how("local", &known)], &[11]);
    }
    let [both, _] = plugins("both", &[&one, &known]);
    opened(&[how("local", &known), how("local", &both)], &[11]);
}

#[test]
fn what_serves_everybody_comes_before_a_plugins_own() {
    let (one, two) = (owner(1), owner(2));
    for plugin in plugins("one", &[&one]) {
        opened(&[how("global", &two), how("local", &plugin)], &[22]);
        let preloaded = Run::new(&host()).words(&[&how("local", &plugin)]);
        answers(&preloaded.variable("LD_PRELOAD", text(&two)), &[22]);
    }
}

/// Behind our back: a library that was preloaded before ours is what everybody gets, plugins included.
#[test]
fn a_library_that_was_preloaded_before_ours_stays_the_first() {
    let (one, two) = (owner(1), owner(2));
    let script = "LD_PRELOAD=\"$2 $LD_PRELOAD\"; export LD_PRELOAD; exec \"$0\" \"$1\"";
    for plugin in plugins("one", &[&one]) {
        let words = [
            "-c",
            script,
            text(&host()),
            &how("local", &plugin),
            text(&two),
        ]
        .map(str::to_owned);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run = Run::new(Path::new("/bin/sh")).words(&words);
        let out = run.compared().outcome.out();
        assert!(out.starts_with("0: 22 2\n"), "{out}");
    }
}

#[test]
fn a_plugin_that_asked_for_it_has_its_own_first() {
    let (one, two) = (owner(1), owner(2));
    let [_, plugin] = plugins("one", &[&one]);
    opened(&[how("global", &two), how("deep", &plugin)], &[11]);
}

#[test]
fn a_library_that_came_with_a_plugin_is_bound_in_the_plugins_order() {
    let (one, two) = (owner(1), owner(2));
    for (plugin, binding) in plugins("one", &[&one]).iter().zip(["lazy", "now"]) {
        // It needs another library of the name before the one with the caller.
        let name = format!("root_{binding}");
        let root = needing(&name, "-DNOTHING", &[&two, plugin], &[]);
        opened(&[how("local", &root), how("local", plugin)], &[22, 22]);
    }
}

#[test]
fn a_separate_namespace_is_left_alone() {
    let (one, two) = (owner(1), owner(2));
    let [plugin, _] = plugins("one", &[&one]);
    let [other, _] = plugins("two", &[&two]);
    opened(&[how("local", &other), how("apart", &plugin)], &[22, 11]);
}

#[test]
fn the_version_that_a_plugin_asks_for_is_the_one_that_it_gets() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("versions.map");
    std::fs::write(&script, "TEST_1 { };\nTEST_2 { } TEST_1;\n").unwrap();
    let map = format!("-Wl,--version-script={}", text(&script));
    let options = [LIBRARY, &[&map]].concat();
    let versions = built("libscope_versions.so", "way_versions_library.c", &options);
    let plugin = |name: &str, define: &[&str]| needing(name, "-DPLUGIN", &[&versions], define);
    let old = plugin("version_1", &["-DVERSION=\"TEST_1\""]);
    let new = plugin("version_2", &[]);
    let words = [how("local", &old), how("local", &new)];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let run = Run::new(&host()).words(&words);
    for run in [run.clone(), engine::patched(&run)] {
        let recording = run.compared();
        let out = recording.outcome.out();
        assert!(out.starts_with("0: 0 1\n1: 0 2\n"), "{out}");
        balanced(&recording);
    }
}

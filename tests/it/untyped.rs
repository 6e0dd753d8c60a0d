//! Functions that no table has: calls of every kind of argument and result, by every way to get a
//! function, are counted exactly, and the program gets the same results as without the tracer.

mod memory;
mod named;
mod operators;
mod passing;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::compile::built;
use crate::support::{Run, Tables};

const C: &[&str] = &["-std=gnu11", "-O1", "-pthread", "-ldl"];
const LIBRARY: &[&str] = &["-std=gnu11", "-O1", "-shared", "-fPIC", "-fexceptions"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn own_library() -> PathBuf {
    built("libopapi_own.so", "untyped_library.c", LIBRARY)
}

/// A program or library that is linked to the functions, with further options.
fn linked(output: &str, options: &[&str]) -> PathBuf {
    let own = own_library();
    let folder = format!("-Wl,-rpath,{}", text(own.parent().unwrap()));
    let options = [&["-std=gnu11", "-O1"], options, &[text(&own), &folder]].concat();
    built(output, "untyped_linked.c", &options)
}

/// How often each function was called, by the program itself and within other calls.
fn counts(tables: &Tables) -> BTreeMap<&str, (usize, usize)> {
    let mut counts = BTreeMap::new();
    for call in &tables.calls {
        let count: &mut (usize, usize) = counts.entry(call.text("name")).or_default();
        match call.text("depth") {
            "0" => count.0 += 1,
            _ => count.1 += 1,
        }
    }
    counts
}

/// The calls of `untyped_run`. `aclOwnForwardImpl` does the work of `aclOwnForward`, and
/// `acl_own_lists` is not AscendCL's.
const RUN: [(&str, (usize, usize)); 18] = [
    ("AclOwnUpper", (1, 0)),
    ("HcclOwnReduce", (1, 0)),
    ("aclOwnAgain", (0, 3)),
    ("aclOwnErrno", (1, 0)),
    ("aclOwnFloat", (1, 0)),
    ("aclOwnForward", (1, 0)),
    ("aclOwnFour", (1, 0)),
    ("aclOwnLarge", (1, 0)),
    ("aclOwnLong", (1, 0)),
    ("aclOwnMixed", (1, 0)),
    ("aclOwnNothing", (1, 0)),
    ("aclOwnPlain", (2, 5)),
    ("aclOwnPointer", (1, 0)),
    ("aclOwnRecursive", (1, 2)),
    ("aclOwnTwo", (1, 0)),
    ("aclOwnVariadic", (1, 0)),
    ("aclOwnVisit", (1, 1)),
    ("mstxOwnMark", (1, 0)),
];

/// The calls of `linked_run`, which runs that twice and makes some more.
fn linked_calls() -> BTreeMap<&'static str, (usize, usize)> {
    let mut expected =
        BTreeMap::from(RUN.map(|(name, (outer, inner))| (name, (2 * outer, 2 * inner))));
    for name in ["aclOwnPlain", "aclOwnMixed", "aclOwnForward"] {
        expected.get_mut(name).unwrap().0 += 1;
    }
    expected
}

#[test]
fn fetched_by_name() {
    let own = own_library();
    let program = built("untyped_fetched", "untyped_fetched.c", C);
    let recording = Run::new(&program).words(&[text(&own)]).compared();
    let tables = Tables::of(&recording);
    assert_eq!(counts(&tables), BTreeMap::from(RUN));
    let result = |name: &str| {
        let call = tables.calls.iter().find(|call| call.text("name") == name);
        call.unwrap().text("ret").to_owned()
    };
    assert_eq!(result("aclOwnPlain"), "-9");
    assert_eq!(result("aclOwnErrno"), "6");
    assert_eq!(result("mstxOwnMark"), "6");
    assert!(tables.tasks.is_empty());
}

#[test]
fn linked_and_bound_at_the_first_call_or_at_the_start() {
    let now: &[&str] = &["-DUNTYPED_MAIN", "-Wl,-z,now,-z,relro"];
    let without_plt: &[&str] = &["-DUNTYPED_MAIN", "-fno-plt", "-Wl,-z,now,-z,relro"];
    let fixed: &[&str] = &["-DUNTYPED_MAIN", "-no-pie", "-fno-pie"];
    for (name, options) in [
        ("untyped_lazy", &["-DUNTYPED_MAIN", "-Wl,-z,lazy"][..]),
        ("untyped_now", now),
        ("untyped_without_plt", without_plt),
        ("untyped_fixed", fixed),
    ] {
        let run = Run::new(&linked(name, options));
        let tables = Tables::of(&run.compared());
        assert_eq!(counts(&tables), linked_calls(), "{name}");
    }
    let run = Run::new(&linked("untyped_lazy", &[])).variable("LD_BIND_NOW", "1");
    assert_eq!(counts(&Tables::of(&run.compared())), linked_calls());
}

#[test]
fn linked_to_by_libraries_that_are_loaded_late() {
    let host = built("untyped_late", "untyped_late.c", C);
    let late = |name: &str, options: &[&str]| {
        let options = [&["-shared", "-fPIC"], options].concat();
        text(&linked(&format!("{name}.so"), &options)).to_owned()
    };
    let lazy = late("untyped_late_lazy", &["-Wl,-z,lazy"]);
    let now = late("untyped_late_now", &["-Wl,-z,now,-z,relro"]);
    let without_plt = late("untyped_late_without_plt", &["-fno-plt", "-Wl,-z,now"]);
    let deep = format!("+{}", late("untyped_late_deep", &["-Wl,-z,lazy"]));
    for library in [&lazy, &now, &without_plt, &deep] {
        let tables = Tables::of(&Run::new(&host).words(&[library]).compared());
        assert_eq!(counts(&tables), linked_calls(), "{library}");
    }
    let all = Run::new(&host).words(&[&deep, &without_plt, &lazy, &now]);
    let calls = linked_calls();
    let four_times = calls
        .into_iter()
        .map(|(name, count)| (name, (count.0 * 4, count.1 * 4)));
    assert_eq!(counts(&Tables::of(&all.compared())), four_times.collect());
}

#[test]
fn called_by_the_constructor_of_a_library_that_is_loaded_late() {
    let own = own_library();
    let folder = format!("-Wl,-rpath,{}", text(own.parent().unwrap()));
    let source = "untyped_constructor.c";
    let options = ["-shared", "-fPIC", text(&own), &folder];
    let library = built("untyped_constructor.so", source, &options);
    let host = built("untyped_constructed", source, &["-DUNTYPED_MAIN", "-ldl"]);
    let run = Run::new(&host).words(&[text(&library)]);
    let tables = Tables::of(&run.compared());
    // Calls before the first lookup of a name bypass the tool (docs/HOOKING.md).
    assert_eq!(counts(&tables), BTreeMap::from([("aclOwnPlain", (2, 0))]));
}

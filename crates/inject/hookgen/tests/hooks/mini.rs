//! The emitters on a small table, and refused tables.

use std::path::Path;

use ascend_trace_format::api::ArgKind;
use ascend_trace_hookgen::{ApiModel, HookSpec, HookTable, Tables, emit_hooks, emit_table};

const SPEC: &str = include_str!("mini/hooks.toml");

fn table(spec: &str) -> Result<HookTable, String> {
    let model = ApiModel::parse(Tables {
        functions: &[("api.tsv", include_str!("mini/api.tsv"))],
        enums: include_str!("mini/enums.tsv"),
        structs: include_str!("mini/structs.tsv"),
    })
    .unwrap();
    let spec = HookSpec::parse(spec).map_err(|error| error.to_string())?;
    HookTable::build(&model, &spec).map_err(|error| error.to_string())
}

/// Compares with a committed file; `UPDATE_EXPECT=1` writes it instead.
fn expect(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/hooks/mini")
        .join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs; if that is meant, run with UPDATE_EXPECT=1. Now it is:\n{actual}"
    );
}

#[test]
fn wrappers_are_emitted_as_expected() {
    expect("hooks.rs.expected", &emit_hooks(&table(SPEC).unwrap()));
}

#[test]
fn the_table_is_emitted_as_expected() {
    expect("api_table.rs.expected", &emit_table(&table(SPEC).unwrap()));
}

#[test]
fn a_group_that_is_not_chosen_is_left_out() {
    assert!(table(SPEC).unwrap().hook("aclrtOther").is_none());
    let both = SPEC.replace(
        r#"groups = ["runtime"]"#,
        r#"groups = ["runtime", "other"]"#,
    );
    assert!(table(&both).unwrap().hook("aclrtOther").is_some());
}

/// The error of the table when `from` stands as `to` in the file.
fn refusal(from: &str, to: &str) -> String {
    assert!(SPEC.contains(from));
    table(&SPEC.replace(from, to)).unwrap_err()
}

#[test]
fn an_array_of_integers_needs_integers_and_a_length() {
    let problem =
        "hooks.toml: aclrtEventElapsedTime: ms: it is no array of 64-bit integers with a length";
    for kind in ["in integers", "in integers:startEvent"] {
        assert_eq!(
            refusal("args.ms = \"out\"", &format!("args.ms = \"{kind}\"")),
            problem
        );
    }
    let table = HookTable::embedded().unwrap();
    for (name, position, count) in [("aclCreateTensor", 0, 1), ("aclInitTensor", 1, 2)] {
        let arg = &table.hook(name).unwrap().args[position];
        assert_eq!((arg.kind, arg.count), (ArgKind::Integers, Some(count)));
    }
}

#[test]
fn names_that_do_not_exist_are_refused() {
    assert_eq!(
        refusal("[functions.aclInit]", "[functions.aclNit]"),
        "hooks.toml: aclNit: no table has this function"
    );
    assert_eq!(
        refusal("args.ms", "args.msec"),
        "hooks.toml: aclrtEventElapsedTime: it has no argument `msec`"
    );
    assert_eq!(
        refusal("bytes = \"count\"", "bytes = \"length\""),
        "hooks.toml: aclrtMemcpyAsync: it has no argument `length`"
    );
    assert_eq!(
        refusal("role = \"initialize\"", "role = \"init\""),
        "hooks.toml: aclInit: `init` is not a role"
    );
    assert_eq!(
        refusal("task = \"hostfunc\"", "task = \"host\""),
        "hooks.toml: aclrtLaunchCallback: `host` is not a kind of task"
    );
    assert_eq!(
        refusal("args.ms = \"out\"", "args.ms = \"out number\""),
        "hooks.toml: aclrtEventElapsedTime: ms: `number` is not a kind of argument"
    );
    assert!(refusal("timed = false", "time = false").contains("unknown field `time`"));
    assert_eq!(
        refusal("groups = [\"runtime\"", "groups = [\"rt\""),
        "hooks.toml: rt: no such group"
    );
}

#[test]
fn parts_that_no_function_has_are_refused() {
    assert_eq!(
        refusal("of = [\"hostfunc\"]", "of = [\"hostfunction\"]"),
        "hooks.toml: hostfunction: parts are said for it, and no function is"
    );
    assert_eq!(
        refusal("of = [\"aclrtCreate*\"]", "of = [\"aclrtMake*\"]"),
        "hooks.toml: aclrtMake*: parts are said for it, and no function is"
    );
    assert_eq!(
        refusal("source = [\"src\"]", "source = [\"from\"]"),
        "hooks.toml: from: no function has such an argument as its `source`"
    );
    assert_eq!(
        refusal("source = [\"src\"]", "sauce = [\"src\"]"),
        "hooks.toml: sauce: no such part"
    );
    assert_eq!(
        refusal("is = [\"by-flags\"]", "is = [\"by-night\"]"),
        "hooks.toml: by-night: no such fact"
    );
    let twice = "source = [\"src\"]\n\n[[parts]]\nof = [\"aclrtMemcpy*\"]\nsource = [\"dst\"]";
    assert_eq!(
        refusal("source = [\"src\"]", twice),
        "hooks.toml: aclrtMemcpyAsync: two arguments are its `source`"
    );
}

#[test]
fn roles_that_do_not_fit_the_function_are_refused() {
    assert_eq!(
        refusal("role = \"initialize\"", "role = \"sync-stream\""),
        "hooks.toml: aclInit: the role sync-stream on a function that takes no stream"
    );
    assert_eq!(
        refusal("role = \"create-stream\"", "role = \"destroy-stream\""),
        "hooks.toml: aclrtCreateStream: the role destroy-stream on a function that takes no stream"
    );
    assert_eq!(
        refusal("role = \"sync-stream\"", "role = \"task\""),
        "hooks.toml: aclrtSynchronizeStream: \
         the role task on a function that does not submit a task"
    );
    assert_eq!(
        refusal("role = \"sync-stream\"", ""),
        "hooks.toml: aclrtSynchronizeStream: \
         it blocks the host: give it a role, or say under `plain` why not"
    );
    assert_eq!(
        refusal("bytes = \"count\"", "bytes = \"dst\""),
        "hooks.toml: aclrtMemcpyAsync: the argument under `bytes` is no size"
    );
}

#[test]
fn kinds_that_do_not_fit_the_type_are_refused() {
    assert_eq!(
        refusal("args.ms = \"out\"", "args.ms = \"out size\""),
        "hooks.toml: aclrtEventElapsedTime: ms: `size` does not suit float *"
    );
    assert_eq!(
        refusal("bytes = \"count\"", "bytes = \"count\"\nargs.dst = \"out\""),
        "hooks.toml: aclrtMemcpyAsync: dst: it does not point to a single value"
    );
    assert_eq!(
        refusal(
            "bytes = \"count\"",
            "bytes = \"count\"\nargs.count = \"out\""
        ),
        "hooks.toml: aclrtMemcpyAsync: count: no value can be read behind it"
    );
}

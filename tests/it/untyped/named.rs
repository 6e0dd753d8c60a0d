//! Operators without a wrapper that the table of operators has: names and values of their parameters, and the tensors
//! that they write.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::checks::{SOFT, found};
use crate::support::compile::built;
use crate::support::{CsvRow, Run, Tables, place};

/// The program; none where the software runtime has no operators.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn program() -> Option<Run> {
    if !place::has_operators() {
        eprintln!("skipped: the command has no feature operators");
        return None;
    }
    let options = ["-std=gnu11", "-O1", "-ldl", "-lascendcl"];
    Some(Run::new(&built(
        "named_operators",
        "named_operators.c",
        &options,
    )))
}

/// The arguments of the call that planned an operator, but for handles and addresses.
fn arguments(tables: &Tables, name: &str) -> BTreeMap<String, Value> {
    let name = format!("aclnn{name}GetWorkspaceSize");
    let call = tables.calls.iter().find(|it| it.text("name") == name);
    let call = call.unwrap_or_else(|| panic!("no call of {name}"));
    let all: BTreeMap<String, Value> = serde_json::from_str(call.text("args")).unwrap();
    let is_value = |it: &Value| !it.as_str().is_some_and(|text| text.starts_with("0x"));
    all.into_iter()
        .filter(|(_, value)| is_value(value))
        .collect()
}

#[track_caller]
fn expect(tables: &Tables, name: &str, expected: &[(&str, Value)]) {
    let expected = expected
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    let mut found = arguments(tables, name);
    found.remove("workspaceSize");
    assert_eq!(found, expected.collect(), "{name}");
}

#[test]
fn parameters_of_every_kind_have_names_and_values() {
    let Some(run) = program() else { return };
    let tables = Tables::of(&run.words(&["kinds"]).compared());
    expect(&tables, "LayerNorm", &[("eps", 0.25.into())]);
    let rates = [
        ("lr", 0.5.into()),
        ("beta1", 0.75.into()),
        ("beta2", 0.875.into()),
        ("weightDecay", 0.125.into()),
        ("eps", 0.0625.into()),
        ("amsgrad", 0.into()),
        ("maximize", 1.into()),
    ];
    expect(&tables, "ApplyAdamWV2", &rates);
    expect(&tables, "Cat", &[("dim", (-2).into())]);
    let sum = [("dim", (-1).into()), ("dtype", "ACL_FLOAT".into())];
    expect(&tables, "Cumsum", &sum);
    expect(&tables, "ConstantPadNd", &[]);
    expect(&tables, "Addmm", &[("cubeMathType", 1.into())]);
    let order = [
        ("stable", 1.into()),
        ("dim", (-1).into()),
        ("descending", 0.into()),
    ];
    expect(&tables, "Sort", &order);
    expect(&tables, "GeluBackwardV2", &[]);
    expect(&tables, "InplaceTril", &[("diagonal", (-1).into())]);
    // It failed, so its executor is not known. The first arguments are.
    expect(&tables, "Tril", &[("diagonal", 1.into())]);
}

#[test]
fn operands_have_the_names_of_the_parameters() {
    let Some(run) = program() else { return };
    let tables = Tables::of(&run.words(&["kinds"]).compared());
    let shapes = |it: &CsvRow| (it.text("name").to_owned(), it.text("shapes").to_owned());
    let tasks = tables
        .tasks
        .iter()
        .filter(|it| it.text("name").starts_with("aclnn"));
    let found: Vec<_> = tasks.map(shapes).collect();
    let expected = [
        // Its weight and its bias are missing.
        (
            "aclnnLayerNorm",
            "input float32 [2, 4]; normalizedShape IntArray [4]; out float32 [2, 4]; \
             meanOutOptional float32 [2, 1]; rstdOutOptional float32 [2, 1]",
        ),
        (
            "aclnnApplyAdamWV2",
            "varRef float32 [2, 4]; mRef float32 [2, 4]; vRef float32 [2, 4]; grad float32 [2, 4]; step float32 []",
        ),
        ("aclnnCat", "tensors TensorList of 2; out float32 [4, 4]"),
        ("aclnnCumsum", "self float32 [2, 4]; out float32 [2, 4]"),
        (
            "aclnnConstantPadNd",
            "self float32 [2, 4]; pad IntArray [1, 1, 0, 1]; value Scalar float32 2; out float32 [3, 6]",
        ),
        (
            "aclnnAddmm",
            "self float32 [2, 2]; mat1 float32 [2, 4]; mat2 float32 [4, 2]; beta Scalar float32 0.5; \
             alpha Scalar float32 2; out float32 [2, 2]",
        ),
        (
            "aclnnSort",
            "self float32 [2, 4]; valuesOut float32 [2, 4]; indicesOut int64 [2, 4]",
        ),
        (
            "aclnnGeluBackwardV2",
            "gradOutput float32 [2, 4]; self float32 [2, 4]; gradInput float32 [2, 4]",
        ),
        ("aclnnInplaceTril", "selfRef float32 [2, 4]"),
    ];
    let expected = expected.map(|(name, shapes)| (name.to_owned(), shapes.to_owned()));
    assert_eq!(found, expected);
}

#[track_caller]
fn findings(run: &Run, case: &str) -> Vec<String> {
    let recording = run.clone().words(&[case]).soft(SOFT).traced();
    recording.outcome.clone().expect(0);
    found(&recording.trace())
}

#[test]
fn races_on_every_output_are_found() {
    let Some(run) = program() else { return };
    for case in [
        "output_not_waited_for",
        "second_output_not_waited_for",
        "in_place",
        "moments_not_waited_for",
    ] {
        assert_eq!(findings(&run, case), ["data-race"], "{case}");
    }
    for case in ["two_readers", "ordered"] {
        assert_eq!(findings(&run, case), [""; 0], "{case}");
    }
}

/// A library may have an operator of the same name with other parameters: another release, or one of the user's.
#[test]
fn an_operator_with_other_parameters_has_operands_without_names() {
    let library = built(
        "libopapi_other.so",
        "other_operators_library.c",
        &["-std=gnu11", "-O1", "-shared", "-fPIC", "-lascendcl"],
    );
    let options = ["-std=gnu11", "-O1", "-ldl", "-lascendcl"];
    let program = built("other_operators", "other_operators.c", &options);
    let tables = Tables::of(
        &Run::new(&program)
            .words(&[library.to_str().unwrap()])
            .compared(),
    );
    let shapes: Vec<&str> = tables.tasks.iter().map(|it| it.text("shapes")).collect();
    let unnamed = "arg 0 float32 [4, 2]; arg 2 float32 [4, 2]";
    assert_eq!(shapes, [unnamed, unnamed, unnamed]);
    let name = "aclnnTrilGetWorkspaceSize";
    let calls = tables.calls.iter().filter(|it| it.text("name") == name);
    let arguments: Vec<&str> = calls.map(|it| it.text("args")).collect();
    assert_eq!(arguments, ["{}"; 4]);
}

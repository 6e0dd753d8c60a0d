//! The committed headers: current, and true to the tables.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, outside #[test]"
)]

mod checks;
mod compile;

use std::path::{Path, PathBuf};

use ascend_trace_hookgen::{ApiModel, HeaderPlan, emit_headers};

fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../include")
}

#[test]
fn the_committed_headers_equal_those_of_the_generator() {
    let model = ApiModel::embedded().unwrap();
    let plan = HeaderPlan::embedded().unwrap();
    for (path, text) in emit_headers(&model, &plan).unwrap() {
        let committed = std::fs::read_to_string(include_folder().join(&path)).unwrap_or_default();
        assert!(
            committed == text,
            "include/{path} is out of date: run\n  \
             cargo run -p ascend-trace-hookgen --bin hookgen -- headers include"
        );
    }
}

#[test]
fn no_header_is_committed_that_the_generator_does_not_emit() {
    let plan = HeaderPlan::embedded().unwrap();
    let emitted: Vec<PathBuf> = plan
        .paths()
        .map(|path| include_folder().join(path))
        .collect();
    let mut open = vec![include_folder()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                assert!(emitted.contains(&path), "{} is not emitted", path.display());
            }
        }
    }
}

#[test]
fn each_header_compiles_on_its_own_and_twice() {
    let plan = HeaderPlan::embedded().unwrap();
    for path in plan.paths() {
        let source = format!("#include \"{path}\"\n#include \"{path}\"\nint used(void);\n");
        compile::both(&include_folder(), &source);
    }
}

#[test]
fn constants_layouts_and_signatures_are_those_of_the_tables() {
    let checks = checks::from_tables();
    // The scope must not shrink unnoticed: the runtime and the operators have this many.
    assert!(
        checks.functions >= 484,
        "only {} functions are checked",
        checks.functions
    );
    assert!(
        checks.constants >= 700,
        "only {} constants are checked",
        checks.constants
    );
    assert!(
        checks.types >= 103,
        "only {} types are checked",
        checks.types
    );
    compile::both(&include_folder(), &checks.source);
}

#[test]
fn a_wrong_constant_or_signature_is_noticed() {
    let source = "#include \"acl/acl.h\"\nACL_STATIC_ASSERT(ACL_EVENT_SYNC == 2);\n";
    assert!(!compile::accepts_c(
        &include_folder(),
        &checks::with_prelude(source)
    ));
    let source = "#include \"acl/acl.h\"\naclError (*f)(aclrtStream *) = aclrtDestroyEvent;\n";
    assert!(!compile::accepts_c(
        &include_folder(),
        &checks::with_prelude(source)
    ));
}

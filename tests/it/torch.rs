//! PyTorch, where `ASCEND_TRACE_TORCH_PYTHON` names an interpreter that has torch and torch_npu
//! (docs/HOOKING.md says how to get one).

use std::path::Path;

use crate::support::{Run, Tables, run, tool};

#[test]
fn torch_sees_the_same_and_no_fetched_function_is_missed() {
    let Some(python) = std::env::var_os("ASCEND_TRACE_TORCH_PYTHON") else {
        eprintln!("skipped: ASCEND_TRACE_TORCH_PYTHON names no interpreter");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/torch_small.py");
    let run_it = Run::new(Path::new(&python)).words(&[script.to_str().unwrap()]);
    let recording = run_it.compared();
    recording.outcome.clone().expect(0);
    let tables = Tables::of(&recording);
    assert!(tables.count_calls("aclInit") == 1 && !tables.tasks.is_empty());
    let mut info = tool();
    info.arg("info").arg(recording.trace()).arg("--json");
    let info: serde_json::Value = serde_json::from_str(&run(&mut info).expect(0).out()).unwrap();
    let libraries = info["coverage"].as_array().unwrap().iter();
    let functions = libraries.flat_map(|library| library["functions"].as_array().unwrap());
    let unseen = functions.filter(|it| it["ways"].as_array().unwrap().contains(&"unseen".into()));
    let unseen: Vec<_> = unseen.map(|it| it["name"].as_str().unwrap()).collect();
    // Operators that the table does not have are a matter of their own, and are told.
    let missed: Vec<_> = unseen
        .iter()
        .filter(|name| !name.starts_with("aclnn"))
        .collect();
    assert!(missed.is_empty(), "{missed:?}");
}

//! Under load and over time: results, resources, messages.

use std::process::Command;
use std::time::Duration;

use crate::support::{case, compile, library_dir, programs_dir, run_case, run_command};

/// More than any of them takes next to other work.
const LIMIT: Duration = Duration::from_secs(900);

#[track_caller]
fn tool(name: &str, argument: &str) {
    let program = compile(&programs_dir().join("tools").join(name));
    let mut command = Command::new(program);
    let output = run_command(command.arg(argument), library_dir(), &[], LIMIT);
    let output = output.unwrap_or_else(|| panic!("{name} {argument} hangs"));
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{}\n{out}{err}", output.status);
}

#[test]
fn threads_on_64_streams_compute_the_sequential_result() {
    tool("stress.c", "10");
}

#[test]
#[ignore = "a soak of a minute"]
fn threads_on_64_streams_compute_the_same_for_a_minute() {
    tool("stress.c", "60");
}

#[test]
fn random_graphs_compute_the_sequential_result() {
    tool("graphs.c", "1000");
}

#[test]
#[ignore = "a soak"]
fn a_hundred_thousand_random_graphs_compute_the_sequential_result() {
    tool("graphs.c", "100000");
}

#[test]
fn destroyed_objects_leave_nothing_behind() {
    tool("churn.c", "2000");
}

#[test]
#[ignore = "a soak"]
fn a_hundred_thousand_destroyed_objects_leave_nothing_behind() {
    tool("churn.c", "100000");
}

#[test]
fn verbose_reports_a_missing_function_once() {
    let case = case("i_errors", "missing_features_say_so");
    let output = run_case(&case, library_dir(), "verbose", Duration::from_secs(300));
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        said,
        "softacl: aclrtSnapShotProcessBackup is not supported (207000)\n"
    );
}

#[test]
fn verbose_reports_the_fault_of_an_executor() {
    let case = case("o_aclnn", "an_executor_is_used_once");
    let output = run_case(&case, library_dir(), "verbose", Duration::from_secs(300));
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    for wanted in [
        "softacl: aclnnAdd: no executor, or one that was used up",
        "softacl: aclnnAdd: the executor is NULL",
        "softacl: aclnnMul: the executor is one of aclnnAdd",
    ] {
        assert!(said.lines().any(|line| line == wanted), "{said}");
    }
}

#[test]
fn an_invalid_option_is_explained_and_the_manual_names_every_valid_one() {
    let case = case("m_runtime", "an_invalid_option_ends_in_aclinit");
    let output = run_case(
        &case,
        library_dir(),
        "frobnicate=1",
        Duration::from_secs(300),
    );
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    let line = said.lines().next().unwrap();
    let (before, known) = line.split_once("; known are ").unwrap();
    assert_eq!(before, "softacl: unknown option `frobnicate`");
    let manual = std::fs::read_to_string(crate::stubs::manual()).unwrap();
    for key in known.split(", ") {
        assert!(
            manual.contains(&format!("`{key}`")),
            "{key} is not in the manual"
        );
    }
    assert!(known.split(", ").count() >= 20, "{known}");
}

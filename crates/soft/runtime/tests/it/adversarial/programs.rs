//! Programs that check their results do so in a hostile order, too.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{
    cases, compile, compile_sources, crate_dir, library_dir, programs_dir, run_command,
};

const LIMIT: Duration = Duration::from_secs(900);
/// One in which all streams are starved, one in which one is, and one in which they change.
const SEEDS: [u64; 3] = [0, 3, 9];

/// Sections with cases that check results, and not that tasks of several streams overlap.
const SECTIONS: [&str; 7] = [
    "c_events",
    "d_notifies",
    "e_callbacks",
    "f_capture",
    "g_memory",
    "h_kernels",
    "q_hccl",
];

/// It measures the time between two events around a kernel, in the host's time.
const MEASURES: &str = "kernels_of_a_shared_object_run";

#[track_caller]
fn passes(program: &Path, arguments: &[&str], options: &str) {
    for seed in SEEDS {
        let options = format!("{options},order=adversarial,noise_seed={seed}");
        let mut command = Command::new(program);
        let env = [("SOFTACL", options.as_str())];
        let output = run_command(command.args(arguments), library_dir(), &env, LIMIT);
        let output = output.unwrap_or_else(|| panic!("{} hangs, {options}", program.display()));
        assert!(
            output.status.success(),
            "{}, {options}: {output:?}",
            program.display()
        );
    }
}

fn examples() -> PathBuf {
    crate_dir().join("../../../examples")
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "c"));
    files.sort();
    files
}

#[test]
fn examples_have_the_same_results_in_any_order() {
    for source in sources(&examples()) {
        let name = Path::new("examples").join(source.file_name().unwrap());
        passes(&compile_sources(&name, &[source]), &[], "");
    }
}

#[test]
fn demos_compute_the_same_in_any_order() {
    let demo = compile_sources(Path::new("demo.c"), &sources(&examples().join("demo")));
    for name in ["overlap", "pipeline", "stall", "transformer"] {
        passes(&demo, &[name, "3"], "virtual_ns=1000");
    }
}

#[test]
fn random_graphs_compute_the_same_in_any_order() {
    passes(
        &compile(&programs_dir().join("tools/graphs.c")),
        &["100"],
        "",
    );
}

#[test]
fn conformance_cases_pass_in_any_order() {
    let cases = SECTIONS.iter().flat_map(|section| cases(section));
    for case in cases.filter(|case| !case.is_called(MEASURES)) {
        passes(&compile(&case.source), &case.words(), &case.options);
    }
}

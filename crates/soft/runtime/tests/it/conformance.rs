//! The conformance cases, one behaviour each, by section of the semantics.

use std::time::Duration;

use crate::cases::Case;
use crate::support::{
    SECTIONS, case, cases, compile, library_dir, programs_dir, run, run_case, scratch, succeeds,
};

const LIMIT: Duration = Duration::from_secs(300);

/// Runs one case and returns the number of checks that it made.
fn passes(case: &Case, options: &str) -> Result<u32, String> {
    let output = run_case(case, library_dir(), options, LIMIT);
    let output = output.ok_or("it did not end")?;
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if !output.status.success() {
        return Err(format!("{}\n{out}{err}", output.status));
    }
    let count = out
        .lines()
        .find_map(|line| line.strip_suffix(" checks")?.parse().ok());
    count.ok_or_else(|| format!("it did not count its checks:\n{out}{err}"))
}

#[track_caller]
fn section_passes(section: &str) {
    all_pass(section, |case| &case.options);
}

#[track_caller]
fn all_pass(section: &str, options: impl Fn(&Case) -> &str) {
    let mut failed = String::new();
    for case in cases(section) {
        match passes(&case, options(&case)) {
            Ok(count) => assert!(count > 0, "{case} checks nothing"),
            Err(why) => failed.push_str(&format!("\n{case}: {why}")),
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

fn all() -> Vec<Case> {
    SECTIONS.iter().flat_map(|it| cases(it)).collect()
}

#[test]
fn the_cases_are_found_with_their_options() {
    let all = all();
    assert!(all.len() >= 200, "only {} cases", all.len());
    let chip = case("p_chips", "a_stream_of_310p_takes_1024_tasks");
    assert_eq!(chip.options, "chip=310p");
    assert_eq!(chip.words(), ["a_stream_of_310p_takes_1024_tasks"]);
    let kernels = case("h_kernels", "kernels_of_a_shared_object_run");
    assert_eq!(kernels.words(), [""; 0]);
}

#[test]
fn the_cases_hold_at_least_two_hundred_checks() {
    let count = |text: &str| text.matches("EXPECT(").count() + text.matches("OK(").count();
    let written: usize = all().iter().map(|case| count(&case.text)).sum();
    assert!(written >= 200, "there are only {written} checks");
}

/// A library that defines every name and does nothing would pass cases that check too little.
#[test]
fn a_library_that_does_nothing_fails_nine_of_ten_cases() {
    const SHORT: Duration = Duration::from_secs(10);
    let dir = null_library();
    let all = all();
    let passes = |case: &&Case| {
        let output = run_case(case, &dir, &case.options, SHORT);
        output.is_some_and(|output| output.status.success())
    };
    let fooled: Vec<_> = all.iter().filter(passes).collect();
    assert!(
        fooled.len() * 10 <= all.len(),
        "{fooled:#?} pass on a library that does nothing"
    );
}

/// Builds a `libascendcl.so` with functions that all return zero.
fn null_library() -> std::path::PathBuf {
    let dir = scratch("null");
    let source = dir.join("null.c");
    let functions = crate::stubs::function_names();
    let text: String = functions
        .iter()
        .map(|name| format!("long {name}() {{ return 0; }}\n"))
        .collect();
    std::fs::write(&source, text).unwrap();
    let mut cc = std::process::Command::new("cc");
    cc.args(["-shared", "-fPIC", "-w", "-Wl,-soname,libascendcl.so", "-o"])
        .arg(dir.join("libascendcl.so"))
        .arg(&source);
    succeeds(&mut cc);
    dir
}

#[test]
fn init_devices_contexts_and_default_streams_follow_section_a() {
    section_passes("a_devices");
}

#[test]
fn streams_follow_section_b() {
    section_passes("b_streams");
}

#[test]
fn events_follow_section_c() {
    section_passes("c_events");
}

#[test]
fn notifies_and_values_follow_section_d() {
    section_passes("d_notifies");
}

#[test]
fn callbacks_follow_section_e() {
    section_passes("e_callbacks");
}

#[test]
fn captures_follow_section_f() {
    section_passes("f_capture");
}

/// The output of a capture case is compared between runs with and without a tracer.
#[test]
fn capture_cases_print_the_same_each_time() {
    let printed = |case: &Case| {
        let output = run_case(case, library_dir(), &case.options, LIMIT);
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let cases = cases("f_capture");
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    for case in cases {
        assert_eq!(printed(&case), printed(&case), "{case}");
    }
}

#[test]
fn memory_follows_section_g() {
    section_passes("g_memory");
}

#[test]
fn kernels_follow_section_h() {
    section_passes("h_kernels");
}

#[test]
fn errors_follow_section_i() {
    section_passes("i_errors");
}

#[test]
fn time_options_and_processes_follow_section_m() {
    section_passes("m_runtime");
}

#[test]
fn operators_follow_their_documents() {
    section_passes("o_aclnn");
}

#[test]
fn chips_differ_as_documented() {
    section_passes("p_chips");
}

#[test]
fn collectives_meet_between_threads_and_processes() {
    section_passes("q_hccl");
}

#[test]
fn mspti() {
    section_passes("r_mspti");
}

/// A stream that another thread asks about must not go: on a card the query would use freed memory.
#[test]
fn destroying_a_stream_under_a_query_ends_the_process() {
    let source = programs_dir().join("tools/destroyed_under_a_query.c");
    let env = [("SOFTACL", "catch,query_ns=300000000")];
    let output = run(&compile(&source), library_dir(), &env, LIMIT).unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("a stream was destroyed while"), "{output:?}");
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn the_default_accepts_what_samples_of_all_versions_do() {
    all_pass("n_strict", |_| "");
}

#[test]
fn strict_mode_follows_the_latest_version() {
    all_pass("n_strict", |_| "strict");
}

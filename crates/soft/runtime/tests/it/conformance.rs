//! The conformance programs, one behaviour each, by section of the semantics.

use std::path::Path;
use std::time::Duration;

use crate::support::{SECTIONS, compile, library_dir, options, programs, run, scratch, succeeds};

const LIMIT: Duration = Duration::from_secs(300);

/// Runs one program and returns how many checks it made.
fn passes(source: &Path, options: &str) -> Result<u32, String> {
    let binary = compile(source);
    let output = run(&binary, library_dir(), &[("SOFTACL", options)], LIMIT);
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
    all_pass(section, options);
}

#[track_caller]
fn all_pass(section: &str, options: impl Fn(&Path) -> String) {
    let mut failed = String::new();
    for source in programs(section) {
        match passes(&source, &options(&source)) {
            Ok(count) => assert!(count > 0, "{} checks nothing", source.display()),
            Err(why) => failed.push_str(&format!("\n{}: {why}", source.display())),
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn the_programs_hold_at_least_two_hundred_checks() {
    let count = |text: &str| text.matches("EXPECT(").count() + text.matches("OK(").count();
    let sources = SECTIONS.iter().flat_map(|section| programs(section));
    let written: usize = sources
        .map(|source| count(&std::fs::read_to_string(source).unwrap()))
        .sum();
    assert!(written >= 200, "there are only {written} checks");
}

/// A library that defines every name and does nothing would pass programs that check too little.
#[test]
fn a_library_that_does_nothing_fails_nine_of_ten_programs() {
    const SHORT: Duration = Duration::from_secs(10);
    let dir = null_library();
    let all: Vec<_> = SECTIONS
        .iter()
        .flat_map(|section| programs(section))
        .collect();
    let fooled: Vec<_> = all
        .iter()
        .filter(|source| {
            let env = options(source);
            let output = run(&compile(source), &dir, &[("SOFTACL", &env)], SHORT);
            output.is_some_and(|output| output.status.success())
        })
        .collect();
    assert!(all.len() >= 50, "only {} programs", all.len());
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

/// Output of a capture program is compared between runs with and without a tracer.
#[test]
fn capture_programs_print_the_same_each_time() {
    let printed = |source: &Path| {
        let env = options(source);
        let output = run(&compile(source), library_dir(), &[("SOFTACL", &env)], LIMIT);
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let sources = programs("f_capture");
    assert!(sources.len() >= 60, "only {} programs", sources.len());
    for source in sources {
        assert_eq!(printed(&source), printed(&source), "{}", source.display());
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
    let source = crate::support::programs_dir().join("tools/destroyed_under_a_query.c");
    let env = [("SOFTACL", "catch,query_ns=300000000")];
    let output = run(&compile(&source), library_dir(), &env, LIMIT).unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("a stream was destroyed while"), "{output:?}");
    assert!(!output.status.success(), "{output:?}");
}

#[test]
fn the_default_accepts_what_samples_of_all_versions_do() {
    all_pass("n_strict", |_| String::new());
}

#[test]
fn strict_mode_follows_the_latest_version() {
    all_pass("n_strict", |_| "strict".to_owned());
}

//! The conformance programs, one behaviour each, by section of the semantics.

use std::path::Path;
use std::time::Duration;

use crate::support::{compile, library_dir, programs, run};

const LIMIT: Duration = Duration::from_secs(60);

/// Options that a program needs: the comment `SOFTACL: …` in its first lines.
fn options(source: &Path) -> String {
    let text = std::fs::read_to_string(source).unwrap();
    let mut lines = text.lines().take(4);
    lines
        .find_map(|line| line.split_once("SOFTACL: "))
        .map_or(String::new(), |(_, options)| {
            options.trim_end_matches("*/").trim().to_owned()
        })
}

/// Runs one program and returns how many checks it made.
fn passes(source: &Path) -> Result<u32, String> {
    let binary = compile(source);
    let output = run(
        &binary,
        library_dir(),
        &[("SOFTACL", &options(source))],
        LIMIT,
    );
    let _ = std::fs::remove_file(&binary);
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
fn section_passes(section: &str) -> u32 {
    let mut checks = 0;
    let mut failed = String::new();
    for source in programs(section) {
        match passes(&source) {
            Ok(count) => checks += count,
            Err(why) => failed.push_str(&format!("\n{}: {why}", source.display())),
        }
    }
    assert!(failed.is_empty(), "{failed}");
    checks
}

#[test]
fn init_devices_contexts_and_default_streams_follow_section_a() {
    section_passes("a_devices");
}

#[test]
fn events_follow_section_c() {
    section_passes("c_events");
}

#[test]
fn callbacks_follow_section_e() {
    section_passes("e_callbacks");
}

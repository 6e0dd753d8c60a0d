//! ThreadSanitizer on the conformance programs. The library is built for it from a copy of the
//! sources. Its locks are in these sources (`sync/`), so the checker knows them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::cases::cases_of;
use crate::support::{
    SECTIONS, cases, crate_dir, include_dir, programs_dir, run_command, scratch, succeeds,
};

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The checker cannot follow a child that starts threads.
const FORKS: &str = "a_forked_child_starts_over";

#[test]
#[ignore = "builds the library again and takes a minute"]
fn thread_sanitizer_finds_no_race() {
    let dir = scratch("tsan");
    if !is_available(&dir) {
        println!("skipped: no compiler with ThreadSanitizer");
        return;
    }
    let library = library(&dir);
    let mut reports = String::new();
    let all = SECTIONS.iter().flat_map(|section| cases(section));
    let tools = ["stress.c", "graphs.c"].map(|name| programs_dir().join("tools").join(name));
    let tools = tools.iter().flat_map(|source| cases_of(source));
    let mut source = PathBuf::new();
    let mut binary = PathBuf::new();
    for case in all.chain(tools).filter(|case| !case.is_called(FORKS)) {
        if source != case.source {
            binary = compile(&case.source, &library, &dir);
            source.clone_from(&case.source);
        }
        let suppressions = here().join("suppressions.txt");
        let checker = format!("exitcode=66 suppressions={}", suppressions.display());
        let env = [("SOFTACL", case.options.clone()), ("TSAN_OPTIONS", checker)];
        let env = env.each_ref().map(|(key, value)| (*key, value.as_str()));
        // The checker wants its addresses where no randomness has put them.
        let mut command = Command::new("setarch");
        // Seconds of the load, or random graphs.
        let words = match case.is_called("graphs") {
            true => vec!["200"],
            false if case.name.is_none() => vec!["3"],
            false => case.words(),
        };
        command.arg("-R").arg(&binary).args(words);
        let output = run_command(&mut command, &library, &env, Duration::from_secs(120));
        let output = output.unwrap_or_else(|| panic!("{case} did not end"));
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            reports.push_str(&format!("\n{case}: {}\n{said}", output.status));
        }
    }
    assert!(reports.is_empty(), "{reports}");
}

fn here() -> PathBuf {
    crate_dir().join("tests/tsan")
}

fn is_available(dir: &Path) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.env("RUSTC_BOOTSTRAP", "1").args([
        "-Zsanitizer=thread",
        "--print=cfg",
        "--target",
        TARGET,
    ]);
    let probe = dir.join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-fsanitize=thread", "-o"])
        .arg(dir.join("probe"))
        .arg(&probe);
    let mut runs = Command::new("setarch");
    runs.arg("-R").arg(dir.join("probe"));
    cfg!(target_arch = "x86_64")
        && [rustc, cc, runs]
            .iter_mut()
            .all(|command| command.output().is_ok_and(|output| output.status.success()))
}

/// Builds the library for the checker and returns its folder.
fn library(dir: &Path) -> PathBuf {
    let project = dir.join("project");
    let _ = std::fs::remove_dir_all(project.join("src"));
    copy_sources(&crate_dir().join("src"), &project.join("src"));
    std::fs::copy(crate_dir().join("build.rs"), project.join("build.rs")).unwrap();
    let manifest = "[package]\nname = \"softacl\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
        [lib]\nname = \"ascendcl\"\ncrate-type = [\"cdylib\"]\n\
        [dependencies]\nlibc = \"0.2\"\n\
        half = { version = \"~2.4\", default-features = false }\n\
        matrixmultiply = { version = \"0.3\", default-features = false, features = [\"std\"] }\n\
        [profile.release]\ndebug = \"line-tables-only\"\n[workspace]\n";
    std::fs::write(project.join("Cargo.toml"), manifest).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .current_dir(&project)
        .args(["build", "--release", "--offline", "--target", TARGET])
        .env("CARGO_TARGET_DIR", project.join("target"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env(
            "RUSTFLAGS",
            "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer -Awarnings",
        );
    succeeds(&mut cargo);
    let folder = dir.join("lib64");
    std::fs::create_dir_all(&folder).unwrap();
    let built = project
        .join("target")
        .join(TARGET)
        .join("release/libascendcl.so");
    std::fs::copy(built, folder.join("libascendcl.so")).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-fno-builtin", "-o"])
        .arg(folder.join("libtsan_memory.so"))
        .arg(here().join("memory.c"));
    succeeds(&mut cc);
    folder
}

fn copy_sources(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_sources(&path, &target);
            continue;
        }
        std::fs::copy(path, target).unwrap();
    }
}

fn compile(source: &Path, library: &Path, dir: &Path) -> PathBuf {
    let binary = dir.join(source.file_stem().unwrap());
    let mut cc = Command::new("cc");
    cc.args([
        "-fsanitize=thread",
        "-std=gnu11",
        "-O1",
        "-g",
        "-pthread",
        "-o",
    ])
    .arg(&binary)
    .arg(source)
    .arg(format!("-I{}", include_dir().display()))
    .arg(format!("-L{}", library.display()))
    .args([
        "-lascendcl",
        "-Wl,--no-as-needed",
        "-ltsan_memory",
        "-ldl",
        "-lm",
    ]);
    succeeds(&mut cc);
    binary
}

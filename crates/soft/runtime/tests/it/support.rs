//! Compiling and running C programs against a library directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

// A file and no crate: these tests depend on no crate of the project.
#[path = "../../../../read/testkit/src/compiled.rs"]
#[expect(unreachable_pub, reason = "it is public where it is a part of a crate")]
mod compiled;
use compiled::compiled;

use crate::cases::{Case, cases_in};

pub(crate) fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn include_dir() -> PathBuf {
    crate_dir().join("../../../include")
}

pub(crate) fn programs_dir() -> PathBuf {
    crate_dir().join("tests/programs")
}

/// A directory for this run's files.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// The directory of the library under test, laid out as CANN is: every name in `lib64`.
pub(crate) fn library_dir() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let exe = std::env::current_exe().unwrap();
        let built = exe.parent().unwrap().join("libascendcl.so");
        let dir = scratch("softacl").join("lib64");
        std::fs::create_dir_all(&dir).unwrap();
        let library = dir.join("libascendcl.so");
        if std::fs::read_link(&library).ok().as_deref() != Some(&built) {
            let _ = std::fs::remove_file(&library);
            std::os::unix::fs::symlink(&built, &library).unwrap();
        }
        dir
    })
}

/// The folders of the conformance cases, one for each section.
pub(crate) const SECTIONS: [&str; 15] = [
    "a_devices",
    "b_streams",
    "c_events",
    "d_notifies",
    "e_callbacks",
    "f_capture",
    "g_memory",
    "h_kernels",
    "i_errors",
    "m_runtime",
    "n_strict",
    "o_aclnn",
    "p_chips",
    "q_hccl",
    "r_mspti",
];

/// The cases of a section.
pub(crate) fn cases(section: &str) -> Vec<Case> {
    cases_in(&programs_dir().join(section))
}

impl Case {
    /// Whether it has this name, or its program.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let own = self.name.as_deref();
        own.or(self.source.file_stem().and_then(|it| it.to_str())) == Some(name)
    }
}

/// The case of a section that has this name.
#[track_caller]
pub(crate) fn case(section: &str, name: &str) -> Case {
    let mut cases = cases(section).into_iter();
    cases.find(|it| it.is_called(name)).expect("a case")
}

/// Runs a case with a library and options of it; `None` when it had to be stopped.
pub(crate) fn run_case(
    case: &Case,
    library: &Path,
    options: &str,
    limit: Duration,
) -> Option<Output> {
    let mut command = Command::new(compile(&case.source));
    run_command(
        command.args(case.words()),
        library,
        &[("SOFTACL", options)],
        limit,
    )
}

/// Compiles a program; later callers of this run get the finished binary.
#[track_caller]
pub(crate) fn compile(source: &Path) -> PathBuf {
    static DONE: Mutex<BTreeMap<PathBuf, Arc<OnceLock<PathBuf>>>> = Mutex::new(BTreeMap::new());
    let slot = Arc::clone(DONE.lock().unwrap().entry(source.to_owned()).or_default());
    slot.get_or_init(|| compile_now(source)).clone()
}

#[track_caller]
fn compile_now(source: &Path) -> PathBuf {
    let relative = source.strip_prefix(programs_dir()).unwrap();
    compile_sources(relative, &[source.to_owned()])
}

/// Compiles a program of several files, under a name.
#[track_caller]
pub(crate) fn compile_sources(name: &Path, sources: &[PathBuf]) -> PathBuf {
    let name = name.with_extension("").to_string_lossy().replace('/', "-");
    let binary = scratch("programs").join(name);
    let mut cc = Command::new("cc");
    cc.args([
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-pthread",
    ])
    .args(sources)
    .arg(format!("-I{}", include_dir().display()))
    .arg(format!("-L{}", library_dir().display()))
    .args(["-lascendcl", "-ldl", "-lm"]);
    if let Some(output) = compiled(&cc, &binary).unwrap() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{cc:?}:\n{complaint}");
    }
    binary
}

/// Runs a tool that has to succeed.
#[track_caller]
pub(crate) fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{complaint}");
}

/// Runs a program with the library; `None` when it had to be stopped.
pub(crate) fn run(
    program: &Path,
    library: &Path,
    env: &[(&str, &str)],
    limit: Duration,
) -> Option<Output> {
    run_command(&mut Command::new(program), library, env, limit)
}

/// As `run`, for a command with arguments.
pub(crate) fn run_command(
    command: &mut Command,
    library: &Path,
    env: &[(&str, &str)],
    limit: Duration,
) -> Option<Output> {
    run_input(command.stdin(Stdio::null()), library, env, limit)
}

/// The same with an input.
pub(crate) fn run_input(
    command: &mut Command,
    library: &Path,
    env: &[(&str, &str)],
    limit: Duration,
) -> Option<Output> {
    let mut child = command
        .env("LD_LIBRARY_PATH", library)
        .env_remove("SOFTACL")
        .env_remove("SOFTACL_TRUTH")
        .env_remove("ASCEND_RT_VISIBLE_DEVICES")
        .envs(env.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Some(child.wait_with_output().unwrap())
}

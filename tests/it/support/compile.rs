//! Compiling the C programs, once per run of the tests, the way a user would.
#![expect(clippy::print_stderr, reason = "skipped tests say why")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use ascend_trace_testkit::compiled::compiled;

use super::process::{run, scratch, tool};

/// The software runtime as the command unpacks it.
pub(crate) struct Soft {
    pub(crate) include: PathBuf,
    pub(crate) lib: PathBuf,
}

/// Where `ascend-trace soft` says that headers and libraries are.
pub(crate) fn soft() -> &'static Soft {
    static SOFT: OnceLock<Soft> = OnceLock::new();
    SOFT.get_or_init(|| Soft {
        include: ask_soft("--include-dir"),
        lib: ask_soft("--lib-dir"),
    })
}

fn ask_soft(what: &str) -> PathBuf {
    let outcome = run(tool().args(["soft", what])).expect(0);
    assert_eq!(outcome.err(), "");
    PathBuf::from(outcome.out().trim_end())
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A C program of `examples/`, compiled as README says.
#[track_caller]
pub(crate) fn example(name: &str) -> PathBuf {
    let source = repository().join("examples").join(format!("{name}.c"));
    once(&source, &["-lascendcl", "-lpthread"])
}

/// A C program of `tests/programs/`.
#[track_caller]
pub(crate) fn program(name: &str) -> PathBuf {
    let source = repository()
        .join("tests/programs")
        .join(format!("{name}.c"));
    once(&source, &["-std=gnu11", "-O1", "-pthread", "-lascendcl"])
}

/// A C program of `tests/hostile/`.
#[track_caller]
pub(crate) fn hostile(name: &str) -> PathBuf {
    let source = repository().join("tests/hostile").join(format!("{name}.c"));
    once(&source, &["-std=gnu11", "-O1", "-pthread", "-lascendcl"])
}

/// A C program of `tests/hostile/`, compiled in another way to a file of this name; `None`, and a message, where
/// that compiler cannot do so.
#[track_caller]
pub(crate) fn hostile_by(output: &str, name: &str, compiler: &[&str]) -> Option<PathBuf> {
    let source = repository().join("tests/hostile").join(format!("{name}.c"));
    let path = slot(Path::new(output), || {
        let (first, rest) = compiler.split_first().unwrap();
        let mut command = Command::new(first);
        command.args(["-std=gnu11", "-O1", "-pthread"]).arg(source);
        command.arg("-I").arg(&soft().include).args(rest);
        kept(&command, &scratch().join("programs").join(output)).unwrap_or_default()
    });
    if path.as_os_str().is_empty() {
        eprintln!(
            "skipped: `{}` does not build programs here",
            compiler.join(" ")
        );
        return None;
    }
    Some(path)
}

/// What links a program to the software runtime.
pub(crate) fn linked() -> [String; 3] {
    let lib = soft().lib.display().to_string();
    [
        format!("-L{lib}"),
        "-lascendcl".to_owned(),
        format!("-Wl,-rpath-link,{lib}"),
    ]
}

/// A source file of `tests/hostile/`, with further options.
#[track_caller]
pub(crate) fn hostile_with(file: &str, options: &[&str]) -> PathBuf {
    let source = repository().join("tests/hostile").join(file);
    let source = source.to_str().unwrap();
    built(file.split('.').next().unwrap(), source, options)
}

/// As [`program`], with further options; it links to nothing unless they say so.
#[track_caller]
pub(crate) fn program_with(name: &str, options: &[&str]) -> PathBuf {
    let source = repository()
        .join("tests/programs")
        .join(format!("{name}.c"));
    once(&source, options)
}

/// A file of `tests/programs/`, compiled to a file of this name. Two of one source need two names.
#[track_caller]
pub(crate) fn built(output: &str, source: &str, options: &[&str]) -> PathBuf {
    let is_cxx = Path::new(source).extension().is_some_and(|it| it == "cc");
    built_with(if is_cxx { "c++" } else { "cc" }, output, source, options)
}

/// As [`built`], with a compiler of one's own.
#[track_caller]
pub(crate) fn built_with(compiler: &str, output: &str, source: &str, options: &[&str]) -> PathBuf {
    let source = repository().join("tests/programs").join(source);
    let output = Path::new(output);
    slot(output, || compile(compiler, &source, output, options))
}

/// A program or library with a source that the test makes.
#[track_caller]
pub(crate) fn built_from(output: &str, source: &str, options: &[&str]) -> PathBuf {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("made.c");
    std::fs::write(&file, source).unwrap();
    built(output, file.to_str().unwrap(), options)
}

type Compiled = Arc<OnceLock<PathBuf>>;

/// Compiles unless this run has done so already; others wait for the one that does.
#[track_caller]
fn once(source: &Path, options: &[&str]) -> PathBuf {
    let output = Path::new(source.file_stem().unwrap());
    slot(source, || compile("cc", source, output, options))
}

/// What this run has compiled under that name; the first that asks compiles, and others wait for it.
pub(crate) fn slot(name: &Path, compile: impl FnOnce() -> PathBuf) -> PathBuf {
    static ALL: LazyLock<Mutex<HashMap<PathBuf, Compiled>>> = LazyLock::new(Mutex::default);
    let slot = Arc::clone(ALL.lock().unwrap().entry(name.to_owned()).or_default());
    slot.get_or_init(compile).clone()
}

#[track_caller]
fn compile(compiler: &str, source: &Path, output: &Path, options: &[&str]) -> PathBuf {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror"]).arg(source);
    command.arg("-I").arg(&soft().include);
    command.arg("-L").arg(&soft().lib);
    command.arg(format!("-Wl,-rpath-link,{}", soft().lib.display()));
    command.args(options);
    kept(&command, &scratch().join("programs").join(output)).unwrap_or_else(|said| panic!("{said}"))
}

/// The compiler's result for its arguments, in this file; or its error messages.
pub(crate) fn kept(compiler: &Command, program: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    match compiled(compiler, program) {
        Ok(Some(output)) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{compiler:?}: {}\n{said}", output.status))
        }
        Ok(_) => Ok(program.to_owned()),
        Err(error) => Err(format!("{compiler:?}: {error}")),
    }
}

/// The folder of the software runtime's conformance cases.
pub(crate) fn conformance_programs() -> PathBuf {
    repository().join("crates/soft/runtime/tests/programs")
}

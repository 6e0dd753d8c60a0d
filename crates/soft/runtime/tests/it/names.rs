//! The runtime under all the names by which programs know it: linked and opened, it is one runtime.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use crate::support::{include_dir, library_dir, programs_dir, run_command, scratch, succeeds};

const SONAME: &str = "libascendcl.so";
const LIMIT: Duration = Duration::from_secs(300);

/// The libraries that programs are mostly linked to.
const LINKED: [&str; 6] = ["ascendcl", "acl_rt", "opapi", "hccl", "nnopbase", "runtime"];

/// Every name, the runtime's own first.
fn names() -> impl Iterator<Item = &'static str> {
    let aliases = include_str!("../../library_names.txt").lines();
    std::iter::once(SONAME).chain(aliases)
}

/// A folder `lib64` with all names, as `ascend-trace soft --lib-dir` gives it.
fn lib64(name: &str, place: fn(&Path, &Path)) -> PathBuf {
    let dir = scratch(name).join("lib64");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let library = dir.join(SONAME);
    std::fs::copy(library_dir().join(SONAME), &library).unwrap();
    for alias in names().skip(1) {
        place(&library, &dir.join(alias));
    }
    dir
}

fn link(library: &Path, alias: &Path) {
    std::os::unix::fs::symlink(library.file_name().unwrap(), alias).unwrap();
}

fn copy(library: &Path, alias: &Path) {
    std::fs::copy(library, alias).unwrap();
}

/// Compiles `names.c`; `libraries` are the names after `-l`.
fn program(name: &str, folder: &Path, libraries: &[&str]) -> PathBuf {
    let binary = scratch("names").join(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&binary)
        .arg(programs_dir().join("tools/names.c"))
        .arg(format!("-I{}", include_dir().display()))
        .arg(format!("-L{}", folder.display()))
        .arg("-Wl,--no-as-needed");
    if !libraries.is_empty() {
        cc.arg("-DLINKED");
    }
    cc.args(libraries.iter().map(|library| format!("-l{library}")));
    succeeds(cc.arg("-ldl"));
    binary
}

/// Runs a program with LD_LIBRARY_PATH alone; it opens the libraries that are named.
fn runs(binary: &Path, folder: &Path, opened: &[String]) -> Output {
    let mut command = Command::new(binary);
    command.args(opened);
    run_command(&mut command, folder, &[], LIMIT).expect("it did not end")
}

#[track_caller]
fn succeeded(output: &Output) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{complaint}", output.status);
}

fn sonames() -> Vec<String> {
    names().map(str::to_owned).collect()
}

fn paths(folder: &Path) -> Vec<String> {
    names()
        .map(|name| folder.join(name).to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_program_linked_to_any_library_shares_the_runtime_with_every_name() {
    let folder = lib64("linked", link);
    let opened = [sonames(), paths(&folder)].concat();
    for library in LINKED {
        let binary = program(&format!("linked-{library}"), &folder, &[library]);
        succeeded(&runs(&binary, &folder, &opened));
    }
    let binary = program("linked-all", &folder, &LINKED);
    succeeded(&runs(&binary, &folder, &opened));
}

#[test]
fn a_program_that_links_nothing_opens_one_runtime_by_name_and_by_path() {
    let folder = lib64("opened", link);
    let binary = program("opened", &folder, &[]);
    succeeded(&runs(&binary, &folder, &sonames()));
    // A path needs no search, and no name has been loaded before it.
    succeeded(&runs(&binary, Path::new("/"), &paths(&folder)));
    let mixed: Vec<String> = paths(&folder)
        .into_iter()
        .zip(sonames().into_iter().rev())
        .flat_map(|(path, name)| [path, name])
        .collect();
    succeeded(&runs(&binary, &folder, &mixed));
}

/// Programs that were built on a machine with CANN ask for the names of its libraries, which here
/// are links: the loader has to see one file behind them.
#[test]
fn a_program_built_against_other_libraries_of_these_names_starts_and_shares_the_runtime() {
    let folder = lib64("started", link);
    let opened = [sonames(), paths(&folder)].concat();
    let built = scratch("elsewhere");
    for library in LINKED {
        foreign_library(&built, library);
    }
    for libraries in LINKED.chunks(1).chain([&LINKED[..]]) {
        let name = format!("built-{}", libraries.join("-"));
        let binary = program(&name, &built, libraries);
        let alone = runs(&binary, Path::new("/"), &[]);
        assert!(
            !alone.status.success(),
            "{name} does not ask for its library"
        );
        succeeded(&runs(&binary, &folder, &opened));
    }
}

/// A library with its own name inside and the functions that `names.c` uses.
fn foreign_library(folder: &Path, library: &str) {
    const FUNCTIONS: [&str; 8] = [
        "aclInit",
        "aclFinalizeReference",
        "aclrtSetDevice",
        "aclrtCreateStream",
        "aclrtStreamGetId",
        "aclrtLaunchHostFunc",
        "aclrtSynchronizeStream",
        "aclrtDestroyStream",
    ];
    let source = folder.join(format!("{library}.c"));
    let text: String = FUNCTIONS
        .iter()
        .map(|function| format!("int {function}() {{ return 1; }}\n"))
        .collect();
    std::fs::write(&source, text).unwrap();
    let name = format!("lib{library}.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-w", "-o"])
        .arg(folder.join(&name))
        .arg(&source)
        .arg(format!("-Wl,-soname,{name}"));
    succeeds(&mut cc);
}

/// A fault that the tests above would miss without a look: copies are several runtimes.
#[test]
fn copies_instead_of_links_are_found_out() {
    let folder = lib64("copied", copy);
    let binary = program("copied", &folder, &[]);
    let output = runs(&binary, &folder, &sonames()[..3]);
    assert!(!output.status.success(), "three runtimes looked like one");
}

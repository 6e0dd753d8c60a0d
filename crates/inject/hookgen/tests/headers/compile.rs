//! Running the system's C and C++ compilers.

use std::path::Path;
use std::process::{Command, Output};

const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// The source must compile as C11 and, where there is a C++ compiler, as C++17.
pub(crate) fn both(include: &Path, source: &str) {
    let output = run("cc", &["-std=c11"], "c", include, source).expect("no C compiler `cc`");
    assert!(
        output.status.success(),
        "C11: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    match run("c++", &["-std=c++17"], "cpp", include, source) {
        Some(output) => {
            assert!(
                output.status.success(),
                "C++17: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        None => println!("skipped as C++17: no C++ compiler `c++`"),
    }
}

pub(crate) fn accepts_c(include: &Path, source: &str) -> bool {
    let output = run("cc", &["-std=c11"], "c", include, source).expect("no C compiler `cc`");
    output.status.success()
}

/// Output of the compiler, or `None` without such a compiler.
fn run(
    compiler: &str,
    standard: &[&str],
    suffix: &str,
    include: &Path,
    source: &str,
) -> Option<Output> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("check").with_extension(suffix);
    std::fs::write(&file, source).unwrap();
    Command::new(compiler)
        .args(standard)
        .args(WARNINGS)
        .arg("-I")
        .arg(include)
        .arg("-fsyntax-only")
        .arg(&file)
        .output()
        .ok()
}

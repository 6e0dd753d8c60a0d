//! The tested command and its place: the one that was built with these tests, or one for another
//! architecture that the kernel starts in an emulator. These tests and their compilers run outside of
//! the emulator in either case: only the command and the programs are in it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Names the command for the other architecture, in cargo's folder for it. `cc` and `c++` must be
/// compilers for that, then.
const EMULATED: &str = "ASCEND_TRACE_TEST_EMULATED";

fn emulated() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let path = PATH.get_or_init(|| std::env::var_os(EMULATED).map(PathBuf::from));
    path.as_deref()
}

pub(crate) fn is_emulated() -> bool {
    emulated().is_some()
}

/// Whether the command under test has the operators of the software runtime. The one in an emulator is built without features.
pub(crate) fn has_operators() -> bool {
    cfg!(feature = "operators") && !is_emulated()
}

/// The command under test.
pub(crate) fn command() -> &'static Path {
    emulated().unwrap_or(Path::new(env!("CARGO_BIN_EXE_ascend-trace")))
}

/// A library that cargo has built for tests.
pub(crate) fn library(name: &str) -> PathBuf {
    match emulated() {
        Some(command) => command.with_file_name("deps").join(name),
        // Beside this test, among the packages it was built with.
        None => std::env::current_exe().unwrap().with_file_name(name),
    }
}

/// A folder for files that the tests of one run share and later runs may use again.
pub(crate) fn scratch() -> PathBuf {
    let name = if is_emulated() { "it-emulated" } else { "it" };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

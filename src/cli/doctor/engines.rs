//! Which engines can be used here: the ways to catch calls (docs/ENGINES.md).

use std::path::Path;

use ascend_trace_format::engine::ENTRY;

use super::{DoctorFinding, finding, note};
use crate::launch::elf::{self, ProgramFile};
use crate::unpack;
use ascend_trace_collector::exports;

/// Where the kernel says whether a thread waits, and where.
const STANDING: &str = "/proc/self/syscall";

pub(super) fn found() -> Vec<DoctorFinding> {
    let preload =
        "the default: wrappers that are found by name, stubs for functions that no table has";
    vec![
        finding("engine preload", Ok(preload.to_owned())),
        patching(),
    ]
}

/// Nobody needs it, so nothing about it is a problem.
fn patching() -> DoctorFinding {
    let what = "engine frida";
    let usable = unpack::engine()
        .map_err(|error| format!("{error:#}"))
        .and_then(|path| judge(&path).map(|()| path));
    let path = match usable {
        Ok(path) => path,
        Err(reason) => return note(what, reason),
    };
    let shown = path.display();
    match std::fs::read_to_string(STANDING) {
        Ok(_) => finding(what, Ok(format!("{shown}, for `record --engine frida`"))),
        Err(error) => note(
            what,
            format!(
                "{shown}, for `record --engine frida`, but only of programs that have one thread when they \
                 load a library of AscendCL: {STANDING} cannot be read ({error})"
            ),
        ),
    }
}

/// Whether this process could load it as an engine, without doing so.
fn judge(path: &Path) -> Result<(), String> {
    let shown = path.display();
    match elf::inspect(path).map_err(|error| format!("{error:#}"))? {
        ProgramFile::Foreign { machine } => {
            let own = std::env::consts::ARCH;
            return Err(format!(
                "{shown} is built for {machine}, this machine is {own}"
            ));
        }
        ProgramFile::Other => return Err(format!("{shown} is not a library")),
        ProgramFile::Dynamic(_) | ProgramFile::Static => {}
    }
    let exports = exports::of(path);
    let is_engine = |export: &exports::ExportedFunction| export.name.as_bytes() == ENTRY.to_bytes();
    match exports.iter().any(is_engine) {
        true => Ok(()),
        false => Err(format!("{shown} is not an engine of ascend-trace")),
    }
}

//! `doctor`: what tracing would meet here, or with a given program.

mod engines;
mod measure;
mod runtime;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::{TickSource, Timing};
use ascend_trace_format::window::Window;

use super::args::DoctorArgs;
use crate::launch::elf::{DynamicProgram, ProgramFile};
use crate::launch::{Environment, find_program, glibc, libraries, preflight};
use crate::output::print;
use crate::text_table::TableRows;
use crate::unpack;
use ascend_trace_collector::clock::TickClock;
use ascend_trace_collector::session;
use ascend_trace_tables as tables;

/// One thing that was looked at.
struct DoctorFinding {
    what: &'static str,
    state: FindingState,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FindingState {
    Fine,
    Note,
    Problem,
}

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let mut environment = Environment::default();
    let mut findings = vec![command(), interposer(), memory(), clock(), working_folder()];
    findings.extend(engines::found());
    findings.extend(soft());
    match &args.soft {
        Some(options) => {
            super::record::check_soft(options).map_err(|failure| anyhow::anyhow!("{failure}"))?;
            let folder = unpack::soft()?.lib;
            environment.soften(&folder, options);
            findings.extend(runtime::soft(&folder));
        }
        None => {
            findings.push(installed());
            findings.extend(runtime::found());
        }
    }
    findings.extend(runtime::preloads(std::env::var_os("LD_PRELOAD").as_deref()));
    if let Some(name) = args.app.first() {
        findings.extend(program(name, &environment));
    }
    let state = |it: &&DoctorFinding| match it.state {
        FindingState::Fine => "ok",
        FindingState::Note => "note",
        FindingState::Problem => "PROBLEM",
    };
    let table = TableRows::of(&findings)
        .left("", |it| it.what)
        .left("", state)
        .left("", |it| it.text.clone())
        .table();
    print(table.render(0).trim_start_matches('\n'))?;
    if let Some(device) = args.measure {
        let measured = measure::on_device(device, &environment)?;
        print(&format!("\n{measured}"))?;
    }
    let problems = findings
        .iter()
        .filter(|finding| finding.state == FindingState::Problem)
        .count();
    match problems {
        0 => Ok(()),
        1 => anyhow::bail!("1 problem prevents tracing"),
        many => anyhow::bail!("{many} problems prevent tracing"),
    }
}

fn finding(what: &'static str, result: Result<String, String>) -> DoctorFinding {
    match result {
        Ok(text) => DoctorFinding {
            what,
            state: FindingState::Fine,
            text,
        },
        Err(text) => DoctorFinding {
            what,
            state: FindingState::Problem,
            text,
        },
    }
}

fn note(what: &'static str, text: impl Into<String>) -> DoctorFinding {
    DoctorFinding {
        what,
        state: FindingState::Note,
        text: text.into(),
    }
}

/// What this file needs of the host that it is copied to.
fn command() -> DoctorFinding {
    let needed = std::env::current_exe()
        .ok()
        .and_then(|own| glibc::needed(&own));
    let text = match needed {
        Some((major, minor)) => format!("for glibc {major}.{minor} and newer"),
        None => "linked statically".to_owned(),
    };
    finding("command", Ok(text))
}

fn interposer() -> DoctorFinding {
    let functions = tables::FUNCTIONS.len();
    let found = unpack::interposer();
    finding(
        "interposer",
        found
            .map(|found| {
                let (major, minor) = glibc::needed(&found.file).unwrap_or_default();
                let path = found.file.display();
                format!("{path}, {functions} functions, for glibc {major}.{minor} and newer")
            })
            .map_err(|error| format!("{error:#}")),
    )
}

fn memory() -> DoctorFinding {
    let arena = session::create(
        (Timing::Off, 0),
        0,
        TickSource::Monotonic,
        (Window::ALWAYS, Filters::NONE),
        session::BUDGET,
    );
    let folder = |path: &Path| path.parent().unwrap_or(path).display().to_string();
    finding(
        "shared memory",
        arena
            .map(|arena| folder(arena.path()))
            .map_err(|error| format!("{error:#}")),
    )
}

fn clock() -> DoctorFinding {
    match TickClock::start().source() {
        TickSource::Counter => finding("clock", Ok("the processor's counter".to_owned())),
        TickSource::Monotonic => note(
            "clock",
            "CLOCK_MONOTONIC: the processor's counter is not steady here, calls cost a little more",
        ),
    }
}

fn working_folder() -> DoctorFinding {
    match unpack::check_writable(Path::new(".")) {
        Ok(()) => finding(
            "working folder",
            Ok("traces can be written here".to_owned()),
        ),
        Err(error) => note(
            "working folder",
            format!("not writable ({error}): use --output"),
        ),
    }
}

fn installed() -> DoctorFinding {
    let what = "CANN";
    match std::env::var_os("ASCEND_HOME_PATH").map(PathBuf::from) {
        Some(home) if home.join("lib64").join("libascendcl.so").exists() => {
            finding(what, Ok(home.display().to_string()))
        }
        Some(home) => note(
            what,
            format!(
                "ASCEND_HOME_PATH is {}, but lib64/libascendcl.so is not there",
                home.display()
            ),
        ),
        None => note(
            what,
            "ASCEND_HOME_PATH is not set: source set_env.sh, or use --soft",
        ),
    }
}

fn soft() -> Option<DoctorFinding> {
    let found = unpack::soft();
    cfg!(feature = "softacl").then(|| {
        finding(
            "software runtime",
            found
                .map(|soft| soft.lib.display().to_string())
                .map_err(|error| format!("{error:#}")),
        )
    })
}

fn program(name: &OsString, environment: &Environment) -> Vec<DoctorFinding> {
    let checked = find_program::find(name, std::env::var_os("PATH").as_deref())
        .and_then(|path| preflight::check(&path).map(|kind| (path, kind)));
    let (path, kind) = match checked {
        Ok(found) => found,
        Err(failure) => return vec![finding("program", Err(failure.to_string()))],
    };
    match kind {
        ProgramFile::Dynamic(dynamic) => {
            let text = format!("{}, loaded by {}", path.display(), dynamic.interpreter);
            let mut findings = vec![finding("program", Ok(text))];
            findings.extend(program_libraries(&path, &dynamic, environment));
            findings
        }
        _ => vec![note(
            "program",
            format!(
                "{}: a script; the programs that it starts are traced",
                path.display()
            ),
        )],
    }
}

fn program_libraries(
    path: &Path,
    dynamic: &DynamicProgram,
    environment: &Environment,
) -> Vec<DoctorFinding> {
    let found = libraries::list(path, dynamic, environment);
    let mut findings = Vec::new();
    for library in &found {
        match &library.path {
            None => {
                let text = format!("the loader does not find {}", library.name);
                findings.push(finding("library", Err(text)));
            }
            Some(path) if libraries::is_acl(&library.name) => {
                findings.push(finding("library", runtime::library(path, "linked")));
            }
            Some(_) => {}
        }
    }
    if !found.iter().any(|library| libraries::is_acl(&library.name)) {
        findings.push(note(
            "library",
            "not linked to AscendCL; calls are seen only if it loads the library later",
        ));
    }
    findings
}

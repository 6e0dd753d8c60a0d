//! Why a recording has no calls in it, as far as that can be known, and what to do about it.

use super::nested;
use super::summary::SummaryInput;
use crate::launch::elf::ProgramFile;
use crate::launch::libraries::{self, is_acl};
use crate::quote::quoted_path;
use crate::unpack::INTERPOSER_VARIABLE;

/// Programs that start others as another user, and keep running.
const USER_CHANGERS: [&str; 4] = ["runuser", "su", "sudo", "doas"];
/// Memory of a program for the library and its tables, in addition to the recording's.
const LIBRARY_BYTES: u64 = 32 << 20;

pub(super) fn explained(recorded: &SummaryInput<'_>) -> Vec<String> {
    if recorded.ended.outcome.counts.filtered > 0 {
        return vec![
            "the filters left out all calls: give --only and --skip other values".to_owned(),
        ];
    }
    let mut lines = vec!["no AscendCL call was seen".to_owned()];
    if let Some(text) = nested::description(&recorded.ended.outcome.nested) {
        lines.push(text);
        return lines;
    }
    let status = recorded.ended.status;
    let missing = match status {
        127 => missing_libraries(recorded),
        _ => Vec::new(),
    };
    if !missing.is_empty() {
        lines.push(format!("the loader did not find {}", missing.join(", ")));
        if missing.iter().any(|name| is_acl(name)) {
            lines.push(no_runtime_advice(recorded));
        }
        return lines;
    }
    match known_reason(recorded) {
        Some(reason) => lines.push(reason),
        None => lines.extend(possible_reasons(recorded)),
    }
    if status == 127 {
        lines.push(
            "status 127 means that a command or a library was not found, perhaps libascendcl.so"
                .to_owned(),
        );
        lines.push(no_runtime_advice(recorded));
    }
    lines
}

/// A certain reason why the tracer was not loaded.
fn known_reason(recorded: &SummaryInput<'_>) -> Option<String> {
    let exit = recorded.ended.exit;
    let own = rustix::process::geteuid().as_raw();
    if let Some(user) = exit.user.filter(|user| *user != own) {
        return Some(format!(
            "the program went on as user {user}, who can read neither the tracer's library nor the recording's \
             memory. Record as that user: put ascend-trace after the command that changes the user"
        ));
    }
    let name = recorded.launch.program.file_name().unwrap_or_default();
    if let Some(name) = USER_CHANGERS.iter().find(|known| name == **known) {
        return Some(format!(
            "{name} starts programs as another user, who can read neither the tracer's library nor the \
             recording's memory. Record as that user: {name} … -- ascend-trace ./app"
        ));
    }
    let needed = recorded.memory + LIBRARY_BYTES;
    let space = exit.space.filter(|space| *space < needed)?;
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Some(format!(
        "the program's address space was limited to {} MiB (ulimit -v). Recording needs {} MiB of it: raise \
         the limit by this amount",
        mib(space),
        mib(needed),
    ))
}

/// Possible reasons.
fn possible_reasons(recorded: &SummaryInput<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    match recorded.ended.outcome.attached {
        0 => {
            if let Some(path) = std::env::var_os(INTERPOSER_VARIABLE) {
                let path = path.display();
                lines.push(format!(
                    "{INTERPOSER_VARIABLE} names {path}, which may be from another version"
                ));
            }
            lines.push(
                "no process has joined the recording. Check that the program, and each program that it starts, is \
                 dynamically linked to glibc. They must keep LD_PRELOAD and ASCEND_TRACE_SESSION in their \
                 environment. They must have no limits on their address space (ulimit -v) or files, and must \
                 not run by sudo or inside a container"
                    .to_owned(),
            );
        }
        attached => {
            let attached = match attached {
                1 => "1 process".to_owned(),
                many => format!("{many} processes"),
            };
            lines.push(format!(
                "{attached} joined the recording, but called no AscendCL function that was intercepted. Check that \
                 the program reached its AscendCL code, and that it is linked against libascendcl.so, not a \
                 static copy. What it starts must keep LD_PRELOAD in its environment"
            ));
        }
    }
    lines
}

/// The libraries of AscendCL that the program's loader does not find.
fn missing_libraries(recorded: &SummaryInput<'_>) -> Vec<String> {
    let ProgramFile::Dynamic(dynamic) = recorded.kind else {
        return Vec::new();
    };
    let launch = recorded.launch;
    let found = libraries::list(&launch.program, dynamic, &launch.environment);
    let missing = found.into_iter().filter(|library| library.path.is_none());
    missing.map(|library| library.name).collect()
}

fn no_runtime_advice(recorded: &SummaryInput<'_>) -> String {
    let program = recorded.plan.words.first();
    let program = program.map(quoted_path).unwrap_or_default();
    format!(
        "source the set_env.sh of your CANN installation first, or run without an NPU: \
         ascend-trace --soft {program}"
    )
}

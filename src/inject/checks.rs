//! Whether a process may be changed at all.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::bail;
use rustix::process::Signal;

use super::file_name;
use crate::launch::elf::{self, ProgramFile};
use crate::processes::{maps, place, status};

/// The kernel's setting for who may trace whom.
const SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Refuses a process that cannot have the library, or in which loading it is not safe.
pub(super) fn may_be_changed(pid: u32, library: &Path) -> anyhow::Result<()> {
    same_user(pid)?;
    fitting_program(pid)?;
    same_files(pid, library)?;
    if let Some(tracer) = status(pid, "TracerPid").filter(|it| it != "0") {
        bail!("process {pid} is traced by process {tracer}, such as a debugger: end that first");
    }
    if status(pid, "State").is_some_and(|it| it.starts_with('T')) {
        bail!("process {pid} is stopped: let it run on first, for example with `kill -CONT {pid}`");
    }
    let ignored = status(pid, "SigIgn").and_then(|it| u64::from_str_radix(&it, 16).ok());
    if ignored.is_some_and(|it| it & (1 << (Signal::SEGV.as_raw() - 1)) != 0) {
        bail!(
            "process {pid} ignores SIGSEGV, which shows the end of a call: start it with `ascend-trace arm APP`"
        );
    }
    free_system_calls(pid)
}

/// All of its identities are this user's.
fn same_user(pid: u32) -> anyhow::Result<()> {
    let own = rustix::process::geteuid().as_raw().to_string();
    let users = status(pid, "Uid").unwrap_or_default();
    if users.split_whitespace().any(|user| user != own) {
        bail!(
            "process {pid} has rights of several users (setuid): the library is put into no such program"
        );
    }
    Ok(())
}

fn fitting_program(pid: u32) -> anyhow::Result<()> {
    match elf::inspect(&place(pid, "exe"))? {
        ProgramFile::Foreign { machine } => bail!(
            "process {pid} is a program for {machine}: use an ascend-trace that was built for it"
        ),
        ProgramFile::Static => return Err(statically_linked(pid)),
        ProgramFile::Dynamic(_) | ProgramFile::Other => {}
    }
    let maps = maps(pid)?;
    let names = || {
        maps.lines()
            .filter_map(|line| line.find('/').map(|at| file_name(&line[at..])))
    };
    if names().any(|it| it.starts_with("ld-musl")) {
        bail!(
            "process {pid} uses the C library musl, and the library needs glibc: check that you named the right process"
        );
    }
    if !names().any(is_c_library) {
        return Err(statically_linked(pid));
    }
    Ok(())
}

fn statically_linked(pid: u32) -> anyhow::Error {
    anyhow::anyhow!(
        "process {pid} is linked statically, and has no loader for the library: check that you named the right process"
    )
}

/// Whether a file is glibc, by its name.
pub(super) fn is_c_library(name: &str) -> bool {
    name.starts_with("libc.so.6") || name.starts_with("libc-2.")
}

/// The process sees the library at the same path.
fn same_files(pid: u32, library: &Path) -> anyhow::Result<()> {
    let own = fs::metadata(library)?;
    let relative = library.strip_prefix("/").unwrap_or(library);
    let there = fs::metadata(place(pid, "root").join(relative));
    let is_same = match &there {
        Ok(there) => (there.dev(), there.ino()) == (own.dev(), own.ino()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(refusal(pid, error));
        }
        Err(_) => false,
    };
    if !is_same {
        bail!(
            "process {pid} does not see the file {}: attach in its container",
            library.display()
        );
    }
    Ok(())
}

/// The process may make the system calls that loading needs, as far as that can be known: it has no filter that this process has
/// not.
fn free_system_calls(pid: u32) -> anyhow::Result<()> {
    let filters = |pid: u32| {
        let mode = status(pid, "Seccomp")?.parse::<u32>().ok()?;
        let count = status(pid, "Seccomp_filters").and_then(|it| it.parse::<u32>().ok());
        // Without a count, one filter is as many as can be known.
        Some((mode, count.unwrap_or(mode / 2)))
    };
    let own = filters(std::process::id()).unwrap_or((0, 0));
    let (mode, count) = filters(pid).unwrap_or((0, 0));
    if mode == 1 || count > own.1 {
        bail!(
            "process {pid} has given system calls up (seccomp), and loading the library could end it: start it with `ascend-trace arm APP`"
        );
    }
    Ok(())
}

/// Why the kernel does not let a process be traced.
pub(super) fn refusal(pid: u32, error: &io::Error) -> anyhow::Error {
    if error.kind() != io::ErrorKind::PermissionDenied {
        return anyhow::Error::msg(format!("{error}"))
            .context(format!("cannot stop a thread of process {pid}"));
    }
    let scope = fs::read_to_string(SCOPE).unwrap_or_default();
    anyhow::Error::msg(not_permitted(pid, scope.trim()))
}

fn not_permitted(pid: u32, scope: &str) -> String {
    match scope {
        "1" | "2" => format!(
            "the kernel does not let this user trace process {pid} (kernel.yama.ptrace_scope is {scope}): give this command CAP_SYS_PTRACE, \
             set that to 0, or start the program with `ascend-trace arm APP`"
        ),
        "3" => format!(
            "the kernel lets no process trace process {pid} (kernel.yama.ptrace_scope is 3, which stays until a reboot): start the program with \
             `ascend-trace arm APP`"
        ),
        _ => format!(
            "the kernel does not let this user trace process {pid}: give this command CAP_SYS_PTRACE (`docker run --cap-add SYS_PTRACE`), \
             or start the program with `ascend-trace arm APP`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_of_the_kernel_says_what_to_set() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(refusal(7, &denied).to_string().contains("process 7"));
        for (scope, advice) in [
            ("0", "--cap-add SYS_PTRACE"),
            ("1", "ptrace_scope is 1"),
            ("2", "ptrace_scope is 2"),
            ("3", "until a reboot"),
            ("", "CAP_SYS_PTRACE"),
        ] {
            let text = not_permitted(7, scope);
            assert!(text.contains(advice), "{text}");
            assert!(text.contains("ascend-trace arm APP"), "{text}");
        }
        let other = refusal(7, &io::Error::other("x"));
        assert_eq!(format!("{other:#}"), "cannot stop a thread of process 7: x");
    }

    #[test]
    fn the_c_library_is_known_by_its_file() {
        for name in ["libc.so.6", "libc-2.31.so"] {
            assert!(is_c_library(name), "{name}");
        }
        for name in ["libcap.so.2", "libc++.so.1", "ld-musl-x86_64.so.1"] {
            assert!(!is_c_library(name), "{name}");
        }
    }

    #[test]
    fn this_process_may_have_the_library_and_sees_its_own_files() {
        let own = std::process::id();
        let exe = std::env::current_exe().unwrap();
        may_be_changed(own, &exe).unwrap();
    }
}

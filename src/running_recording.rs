//! Finds the recording that a running process has part in: by the session that it has mapped or was started with, by
//! the recorder that made this session, and by the file that this recorder writes.
//!
//! All of it is read from `/proc`, so neither the process nor the recorder notices.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_format::armed::ARMED_VARIABLE;
use ascend_trace_format::session::SESSION_VARIABLE;
use ascend_trace_ring::maker;

use crate::armed_process::{page_folder, requested_session};
use crate::launch::terminal_keeper;
use crate::processes::{maps, place, status};

/// Suffix of the name of a removed file.
const REMOVED: &str = " (deleted)";

/// A recording that goes on.
#[derive(Debug)]
pub(crate) struct RunningRecording {
    /// Its name, as far as it has one.
    pub(crate) name: PathBuf,
    pub(crate) file: File,
}

/// The recording of a traced process, or of a recorder.
pub(crate) fn recording_of(pid: u32) -> anyhow::Result<RunningRecording> {
    let session = session_of(pid)?;
    let recorder = maker(&session).filter(|_| is_recorded(&session));
    let Some(recorder) = recorder else {
        bail!(
            "the recorder of process {pid} is not there: it was ended, or runs in another container. Give the file of \
             the recording"
        );
    };
    let written = written_by(recorder).map_err(|error| refusal(recorder, error))?;
    written.with_context(|| {
        format!(
            "the recording of process {pid} goes to a pipe or a device: it cannot be read while it is made"
        )
    })
}

/// The session that a process records into, has made, or was started with.
pub(crate) fn session_of(pid: u32) -> anyhow::Result<PathBuf> {
    let maps = maps(pid).map_err(|error| refusal(pid, error))?;
    let mapped = mapped(&maps, pid);
    // The process joins another recording with its next call, if its recorder was lost and replaced.
    let next = mapped.as_ref().filter(|it| !is_recorded(it));
    let next = next.and_then(|_| requested(pid));
    if let Some(session) = next.filter(|it| is_recorded(it)).or(mapped) {
        return Ok(session);
    }
    let environment = fs::read(place(pid, "environ")).map_err(|error| refusal(pid, error))?;
    let session = variable(&environment, SESSION_VARIABLE);
    let is_armed = variable(&environment, ARMED_VARIABLE).is_some() || page_folder(&maps).is_some();
    if let Some(session) = session.clone().filter(|_| !is_armed) {
        return Ok(session);
    }
    if status(pid, "State").is_some_and(|state| state.starts_with(['Z', 'X'])) {
        bail!("process {pid} has ended: give the file of its recording");
    }
    if is_armed {
        if let Some(session) = requested(pid) {
            return Ok(session);
        }
        if session.is_some() {
            bail!(
                "process {pid} is not recorded: it joins a server (`ascend-trace serve`) with its next AscendCL call, if one runs"
            );
        }
        bail!(
            "process {pid} is armed, and no recorder is attached to it: `ascend-trace attach {pid}` attaches one"
        );
    }
    match kept_by(pid) {
        Some(recorder) => session_of(recorder),
        None => bail!(
            "process {pid} is not recorded: it was started without ascend-trace, or with an empty environment"
        ),
    }
}

/// The session that an armed process was asked for. That of a server is a link.
fn requested(pid: u32) -> Option<PathBuf> {
    let session = requested_session(pid)?;
    Some(fs::read_link(&session).unwrap_or(session))
}

/// Whether the recorder of a session runs.
fn is_recorded(session: &Path) -> bool {
    maker(session).is_some_and(|it| has_open(it, session))
}

/// Why a process cannot be looked at.
fn refusal(pid: u32, error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!("there is no process {pid}"),
        io::ErrorKind::PermissionDenied => anyhow::anyhow!(
            "no permission to look at process {pid}: run this as its user, or as root"
        ),
        // It has ended while it was looked at.
        _ if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {
            anyhow::anyhow!("there is no process {pid}")
        }
        _ => anyhow::Error::new(error).context(format!("cannot look at process {pid}")),
    }
}

/// The session among the files that a process has mapped. A recorder that is itself recorded has two.
fn mapped(maps: &str, pid: u32) -> Option<PathBuf> {
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let paths = paths.map(|path| PathBuf::from(path.strip_suffix(REMOVED).unwrap_or(path)));
    let mut sessions: Vec<PathBuf> = paths.filter(|path| maker(path).is_some()).collect();
    sessions.sort_by_key(|path| maker(path) != Some(pid));
    sessions.into_iter().next()
}

/// A path in an environment, as `/proc/PID/environ` has it.
fn variable(environment: &[u8], name: &str) -> Option<PathBuf> {
    let mut all = environment.split(|byte| *byte == 0);
    let value = all.find_map(|it| it.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    let value = std::str::from_utf8(value).ok()?;
    (!value.is_empty()).then(|| value.into())
}

/// The recorder of the screen that a process keeps.
fn kept_by(pid: u32) -> Option<u32> {
    let words = fs::read(place(pid, "cmdline")).ok()?;
    let word = words.split(|byte| *byte == 0).nth(1)?;
    let parent = || status(pid, "PPid")?.parse().ok();
    (word == terminal_keeper::WORD.as_bytes()).then(parent)?
}

/// The numbers of a process's open files, the lowest first.
fn descriptors(pid: u32) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(place(pid, "fd"))?.flatten();
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Where an open file of a process leads.
fn descriptor(pid: u32, number: u32) -> PathBuf {
    place(pid, "fd").join(number.to_string())
}

/// Whether a process has a file open: another process may have its number now.
pub(crate) fn has_open(pid: u32, path: &Path) -> bool {
    let leads_there = |number: &u32| {
        let found = fs::read_link(descriptor(pid, *number));
        found.is_ok_and(|it| {
            it.to_string_lossy().trim_end_matches(REMOVED) == path.to_string_lossy()
        })
    };
    match descriptors(pid) {
        Ok(numbers) => numbers.iter().any(leads_there),
        // It is another user's, which is said when its files are looked for.
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

/// The trace file that a recorder writes, if it is one.
fn written_by(recorder: u32) -> io::Result<Option<RunningRecording>> {
    let mut found = Vec::new();
    for number in descriptors(recorder)? {
        let path = descriptor(recorder, number);
        let name = place(recorder, "fdinfo").join(number.to_string());
        let info = fs::read_to_string(name).unwrap_or_default();
        // Only regular files may be opened: opening others can take data away from their reader.
        let is_file = fs::metadata(&path).is_ok_and(|it| it.is_file());
        if is_file && is_written(&info) && is_trace(&path) {
            found.push((!is_locked(&info), number));
        }
    }
    found.sort_unstable();
    let open = |(_, number): &(bool, u32)| {
        let path = descriptor(recorder, *number);
        let (name, file) = (fs::read_link(&path).ok()?, File::open(&path).ok()?);
        Some(RunningRecording { name, file })
    };
    Ok(found.iter().find_map(open))
}

fn is_trace(path: &Path) -> bool {
    matches!(ascend_trace_recording::file::recognise(path), Ok(true))
}

/// Whether a file is open for writing, by `/proc/PID/fdinfo`.
fn is_written(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|it| u32::from_str_radix(it.trim(), 8).ok());
    flags.is_some_and(|it| it & 0b11 != 0)
}

/// Whether the process holds the file's lock, as a recorder does.
fn is_locked(info: &str) -> bool {
    info.lines().any(|line| line.starts_with("lock:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "/dev/shm/ascend-trace-0/session-41-0";

    #[test]
    fn sessions_are_found_in_mapped_files() {
        let maps = format!(
            "7f00-7f10 r-xp 00000000 fe:00 1 /usr/lib/libc.so.6\n\
             7f10-7f20 rw-p 00000000 00:00 0 \n\
             7f20-7f30 rw-s 00000000 00:01 9 {SESSION}{REMOVED}\n\
             7f30-7f40 rw-s 00000000 00:01 9 /dev/shm/ascend-trace-0/session-42-1\n"
        );
        assert_eq!(mapped(&maps, 9), Some(SESSION.into()));
        let own = mapped(&maps, 42);
        assert_eq!(own, Some("/dev/shm/ascend-trace-0/session-42-1".into()));
        assert_eq!(mapped("", 42), None);
    }

    #[test]
    fn variables_are_found_by_their_whole_names() {
        let environment = b"A=1\0AB=/x\0B=\0";
        assert_eq!(variable(environment, "AB"), Some("/x".into()));
        assert_eq!(variable(environment, "B"), None);
        assert_eq!(variable(environment, "C"), None);
    }

    #[test]
    fn open_files_are_described() {
        assert!(is_written("pos:\t0\nflags:\t0100001\nmnt_id:\t29\n"));
        assert!(is_written("flags:\t0100002\n"));
        assert!(!is_written("flags:\t0100000\n") && !is_written(""));
        assert!(is_locked(
            "pos:\t0\nlock:\t1: FLOCK  ADVISORY  WRITE 7 fe:00:1 0 EOF\n"
        ));
        assert!(!is_locked("pos:\t0\n"));
    }

    #[test]
    fn a_process_that_cannot_be_read_is_reported() {
        let message = |error: io::ErrorKind| refusal(7, error.into()).to_string();
        assert_eq!(message(io::ErrorKind::NotFound), "there is no process 7");
        assert!(message(io::ErrorKind::PermissionDenied).starts_with("no permission"));
        let error = recording_of(std::process::id()).unwrap_err();
        assert!(error.to_string().contains("is not recorded"), "{error}");
    }
}

//! Finds a process that a recorder can attach to: by the page that it has mapped, or by the folder that it was started with.
//! Read from `/proc`, so the process does not notice.

use std::ffi::{CStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::bail;
use rustix::time::{ClockId, clock_gettime};

use ascend_trace_collector::session;
use ascend_trace_format::armed::{ARMED_VARIABLE, PAGE_PREFIX};
use ascend_trace_format::session::SESSION_VARIABLE;
use ascend_trace_ring::{page_name, private_folder};

use crate::processes::{maps, place, status};

/// Suffix of the name of a removed file.
const REMOVED: &str = " (deleted)";

/// Time limit for `arm` to become its program: it may unpack the library first.
const STARTING: Duration = Duration::from_secs(10);
/// A younger process may be a shell that is about to start `arm`.
const NEW: Duration = Duration::from_secs(1);
/// The unit of times in `/proc`, on all architectures.
const TICKS_PER_SECOND: u64 = 100;

/// A process that was started by `ascend-trace arm`.
#[derive(Debug)]
pub(crate) struct ArmedProgram {
    pub(crate) pid: u32,
    /// Its command line.
    pub(crate) words: Vec<OsString>,
    /// Where its page is, or will be.
    pub(crate) page: PathBuf,
    /// Libraries of the software runtime are in this process, if they are in this folder.
    maps: String,
    /// When it was started, as the kernel counts.
    started: Option<u64>,
    /// The library came into it while it ran.
    pub(crate) is_injected: bool,
}

/// Whether a process has the library, or was started so that it will have it, or with a recording.
///
/// # Errors
/// There is no such process, or it may not be looked at.
pub(crate) fn has_library(pid: u32) -> anyhow::Result<bool> {
    let maps = own_maps(pid)?;
    let environment = environment(pid)?;
    Ok(page_folder(&maps).is_some()
        || value_of(&environment, ARMED_VARIABLE).is_some()
        || is_recorded(&environment))
}

/// The process with this number, which `arm` may be about to start.
///
/// # Errors
/// As [`find`].
pub(crate) fn find_soon(pid: u32) -> anyhow::Result<ArmedProgram> {
    let until = Instant::now() + STARTING;
    loop {
        let found = find(pid);
        if found.is_ok() || !is_starting(pid) || Instant::now() >= until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is new, or is this tool, which may become a program.
fn is_starting(pid: u32) -> bool {
    let file = |pid: &str| fs::read_link(format!("/proc/{pid}/exe")).ok();
    let is_tool = file("self").is_some_and(|own| file(&pid.to_string()) == Some(own));
    is_tool || age(pid).is_some_and(|it| it < NEW)
}

/// The time since the start of a process.
fn age(pid: u32) -> Option<Duration> {
    let since_boot = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(since_boot.tv_sec).ok()?;
    let started = started(pid)? / TICKS_PER_SECOND;
    Some(Duration::from_secs(seconds.saturating_sub(started)))
}

/// The process with this number.
///
/// # Errors
/// It does not exist, belongs to another user, or was not started by `ascend-trace arm`.
pub(crate) fn find(pid: u32) -> anyhow::Result<ArmedProgram> {
    let maps = own_maps(pid)?;
    let started = started(pid);
    let Some(name) = name(pid) else {
        bail!(
            "process {pid} is in a pid namespace that cannot be seen from here: attach in its container"
        );
    };
    let page = match mapped(&maps, &name) {
        Some(page) => page,
        // A new file would not be the page that the process looks at.
        None if mapped(&maps, &format!("{name}{REMOVED}")).is_some() => bail!(
            "the page of process {pid} was removed from its folder, so it cannot be asked: start the program again"
        ),
        None => folder(pid, &maps)?.join(&name),
    };
    let words = fs::read(place(pid, "cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0);
    let mut words: Vec<OsString> = words.map(|it| OsString::from_vec(it.to_vec())).collect();
    // Each word has a zero after it.
    words.pop();
    let is_injected = environment(pid).is_ok_and(|it| value_of(&it, ARMED_VARIABLE).is_none());
    Ok(ArmedProgram {
        pid,
        words,
        page,
        maps,
        started,
        is_injected,
    })
}

/// The mappings of a process of this user that has not ended.
fn own_maps(pid: u32) -> anyhow::Result<String> {
    let maps = maps(pid).map_err(|error| refusal(pid, &error))?;
    if status(pid, "State").is_none_or(|state| state.starts_with(['Z', 'X'])) {
        bail!("there is no process {pid}: it has ended");
    }
    let owner = fs::metadata(place(pid, ""));
    let owner = owner.map_err(|error| refusal(pid, &error))?.uid();
    let user = rustix::process::geteuid().as_raw();
    if owner != user {
        bail!("process {pid} belongs to user {owner}, and this is user {user}: attach as its user");
    }
    Ok(maps)
}

impl ArmedProgram {
    /// Whether it runs on the software runtime in this folder.
    pub(crate) fn is_soft(&self, libraries: &Path) -> bool {
        let folder = libraries.to_string_lossy();
        self.maps.lines().any(|line| {
            let path = line.find('/').map_or("", |at| &line[at..]);
            Path::new(path)
                .parent()
                .is_some_and(|it| it.as_os_str() == folder.as_ref())
        })
    }

    /// Whether it runs. Another process may have its number.
    pub(crate) fn runs(&self) -> bool {
        let is_over = status(self.pid, "State").is_none_or(|it| it.starts_with(['Z', 'X']));
        !is_over && started(self.pid) == self.started
    }
}

/// Why a process cannot be looked at.
fn refusal(pid: u32, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            anyhow::anyhow!("no permission to look at process {pid}: attach as its user")
        }
        _ => anyhow::anyhow!("there is no process {pid}"),
    }
}

/// The private folder in which processes make their pages, and servers their links.
///
/// # Errors
/// No folder for shared memory can be used.
pub(crate) fn shared_folder() -> io::Result<PathBuf> {
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for base in session::candidates() {
        match private_folder(&base) {
            Ok(folder) => return Ok(folder),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The name of its page: by its number in its own pid namespace.
fn name(pid: u32) -> Option<String> {
    let namespace = fs::metadata(place(pid, "ns/pid")).ok()?.ino();
    let numbers = status(pid, "NSpid").unwrap_or_else(|| pid.to_string());
    let own = numbers.split_whitespace().last()?.parse().ok()?;
    let name = page_name(namespace, own);
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    Some(name.to_str().ok()?.to_owned())
}

/// The page among the files that a process has mapped. A forked child may have its parent's as well.
fn mapped(maps: &str, name: &str) -> Option<PathBuf> {
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut own = paths.filter(|path| path.rsplit('/').next() == Some(name));
    own.next().map(PathBuf::from)
}

/// The folder of the page that a process has from its parent, if the library came into that while it ran.
pub(crate) fn page_folder(maps: &str) -> Option<PathBuf> {
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_page = |path: &&Path| {
        let name = path.file_name().and_then(|it| it.to_str());
        name.is_some_and(|it| it.starts_with(PAGE_PREFIX))
    };
    paths
        .filter(is_page)
        .find_map(Path::parent)
        .map(Path::to_owned)
}

fn environment(pid: u32) -> anyhow::Result<Vec<u8>> {
    fs::read(place(pid, "environ")).map_err(|error| refusal(pid, &error))
}

/// The value of a variable in an environment.
fn value_of<'a>(environment: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut all = environment.split(|byte| *byte == 0);
    all.find_map(|it| it.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The folder that a process was started with, or has from its parent.
fn folder(pid: u32, maps: &str) -> anyhow::Result<PathBuf> {
    let environment = environment(pid)?;
    let own = value_of(&environment, ARMED_VARIABLE).filter(|it| it.starts_with(b"/"));
    let own = own.map(|it| PathBuf::from(OsString::from_vec(it.to_vec())));
    match own.or_else(|| page_folder(maps)) {
        Some(folder) => Ok(folder),
        _ if is_recorded(&environment) => bail!(
            "process {pid} was started with a recording, and takes no other one: `ascend-trace ctl {pid} status` shows it"
        ),
        _ => bail!(
            "process {pid} is not armed: start it with `ascend-trace arm APP`, or use `ascend-trace attach --inject {pid}`"
        ),
    }
}

/// Whether the environment of a process names a session.
fn is_recorded(environment: &[u8]) -> bool {
    value_of(environment, SESSION_VARIABLE).is_some_and(|it| !it.is_empty())
}

/// The session that a recorder wants this process in. The process may not have joined it yet.
pub(crate) fn requested_session(pid: u32) -> Option<PathBuf> {
    let maps = maps(pid).ok()?;
    let name = name(pid)?;
    let page = match mapped(&maps, &name) {
        Some(page) => page,
        None => folder(pid, &maps).ok()?.join(name),
    };
    ascend_trace_ring::requested_session(&page)
}

fn started(pid: u32) -> Option<u64> {
    const STARTED: usize = 19;
    let stat = fs::read_to_string(place(pid, "stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(STARTED)?.parse().ok()
}

/// Removes links in this folder to sessions that are not there any more: those of killed servers and recorders.
pub(crate) fn remove_stale_links(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_link = entry.file_type().is_ok_and(|it| it.is_symlink());
        if is_link && fs::metadata(entry.path()).is_err() {
            // Another command may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes pages in this folder of processes that have ended. Those of other pid namespaces stay.
pub(crate) fn remove_stale(folder: &Path) {
    let Ok(namespace) = fs::metadata("/proc/self/ns/pid") else {
        return;
    };
    let own = format!("{PAGE_PREFIX}{}-", namespace.ino());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|it| it.strip_prefix(&own));
        if let Some(pid) = pid.and_then(|it| it.parse().ok())
            && started(pid).is_none()
        {
            // Another command may have been quicker.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_sessions_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (session, gone) = (
            folder.path().join("session-1-1"),
            folder.path().join("gone"),
        );
        fs::write(&session, "").unwrap();
        let links = ["server-a", "server-b"].map(|name| folder.path().join(name));
        for (link, target) in links.iter().zip([&session, &gone]) {
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        remove_stale_links(folder.path());
        let stays = links.map(|link| link.symlink_metadata().is_ok());
        assert_eq!(stays, [true, false]);
    }

    #[test]
    fn a_process_without_the_library_is_refused_with_what_to_do() {
        let own = find(std::process::id()).unwrap_err().to_string();
        assert!(
            own.contains("is not armed") && own.contains("ascend-trace arm"),
            "{own}"
        );
        let none = find(u32::MAX >> 1).unwrap_err().to_string();
        assert!(none.contains("there is no process"), "{none}");
    }

    #[test]
    fn a_page_is_found_by_its_whole_name() {
        let maps = "7f00-7f10 rw-s 0 00:01 9 /dev/shm/ascend-trace-0/armed-5-41\n\
                    7f10-7f20 rw-s 0 00:01 9 /dev/shm/ascend-trace-0/armed-5-4\n";
        let page = mapped(maps, "armed-5-4");
        assert_eq!(page, Some("/dev/shm/ascend-trace-0/armed-5-4".into()));
        assert_eq!(mapped(maps, "armed-5-1"), None);
        assert!(mapped("7f00 /x/armed-5-4 (deleted)\n", "armed-5-4").is_none());
    }

    #[test]
    fn a_child_has_the_folder_of_its_parents_page() {
        let maps = "7f00-7f10 r-xp 0 00:01 9 /lib/libc.so.6\n\
                    7f00-7f10 rw-s 0 00:01 9 /dev/shm/ascend-trace-0/armed-5-41\n";
        assert_eq!(page_folder(maps), Some("/dev/shm/ascend-trace-0".into()));
        assert_eq!(page_folder("7f00-7f10 rw-p 0 00:00 0 [heap]\n"), None);
        let environment = b"A=1\0ASCEND_TRACE_ARMED=/x\0B=";
        assert_eq!(
            value_of(environment, "ASCEND_TRACE_ARMED"),
            Some(&b"/x"[..])
        );
        assert_eq!(value_of(environment, "ASCEND_TRACE"), None);
    }

    #[test]
    fn pages_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let namespace = fs::metadata("/proc/self/ns/pid").unwrap().ino();
        let own = std::process::id();
        let page =
            |namespace: u64, pid: u32| folder.path().join(format!("armed-{namespace}-{pid}"));
        let all = [
            page(namespace, own),
            page(1, 7),
            page(namespace, u32::MAX >> 1),
        ];
        all.iter().for_each(|path| fs::write(path, "").unwrap());
        remove_stale(folder.path());
        assert_eq!(all.map(|path| path.exists()), [true, true, false]);
    }
}

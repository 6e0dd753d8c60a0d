//! Processes that outlive the program that started them.

use std::path::Path;
use std::time::Duration;

use crate::output::print_status;
use crate::processes;

/// Time between looks at which of them are left.
const INTERVAL: Duration = Duration::from_millis(100);

/// Waits until no process is part of the session any more, or the user has had enough.
pub(super) fn wait(session: &Path, is_interrupted: impl Fn() -> bool) {
    let mut reported = false;
    while !is_interrupted() {
        let left = attached(session);
        if left.is_empty() {
            return;
        }
        if !reported {
            reported = true;
            let pids: Vec<String> = left.iter().map(ToString::to_string).collect();
            print_status(format!(
                "the program has ended; what it left behind is recorded (pid {}), \
                 until it ends or Ctrl-C ends the recording",
                pids.join(", ")
            ));
        }
        std::thread::sleep(INTERVAL);
    }
}

/// The processes that have the session mapped, but for the tool itself.
pub(super) fn attached(session: &Path) -> Vec<u32> {
    let own = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != own && maps(*pid, session))
        .collect()
}

fn maps(pid: u32, session: &Path) -> bool {
    let wanted = session.to_string_lossy();
    // Processes of other users cannot be read, and are not ours.
    let maps = processes::maps(pid);
    maps.is_ok_and(|maps| maps.lines().any(|line| line.ends_with(wanted.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_that_map_the_file_are_found() {
        let own = std::process::id();
        let program = std::fs::read_link("/proc/self/exe").unwrap();
        assert!(maps(own, &program));
        assert!(!maps(own, Path::new("/dev/shm/ascend-trace-0-0")));
        assert!(!attached(&program).contains(&own));
    }
}

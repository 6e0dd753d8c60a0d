//! Where the session's shared memory is put.

use std::path::{Path, PathBuf};

use anyhow::Context;

use ascend_trace_format::filter::Filters;
use ascend_trace_format::session::{TickSource, Timing};
use ascend_trace_format::window::Window;
use ascend_trace_ring::{Arena, ArenaError, SessionSettings};

use crate::tables;

/// Default memory for records that the collector has not read yet. Mapped memory counts as the
/// program's too, so this is most of the memory that tracing adds to it.
pub const BUDGET: usize = 24 << 20;
/// Names a folder that is tried before all others.
const FOLDER_VARIABLE: &str = "ASCEND_TRACE_MEMORY";
/// The error of the system for a process that may not have more memory.
const NO_MEMORY: i32 = rustix::io::Errno::NOMEM.raw_os_error();
/// A directory with less room than this is passed over.
const LEAST: u64 = 32 << 20;

/// Makes a session that records up to `stacks` frames of each call's stack, 0 for none. With `Timing::Auto`, events take
/// at most `share` of a stream's time, in parts of `WHOLE_BUDGET`. It is in the first directory that has room for it: usually `/dev/shm`, but that is small in containers. On a disk
/// it works as well, but the kernel may write it back.
pub fn create(
    (timing, share): (Timing, u32),
    stacks: u32,
    ticks: TickSource,
    (window, filters): (Window, Filters),
    most: usize,
) -> anyhow::Result<Arena> {
    let settings = SessionSettings {
        timing,
        ticks,
        table_hash: tables::TABLE_HASH,
        stacks,
        window,
        filters,
        budget: share,
    };
    let mut failure = None;
    for directory in candidates() {
        let budget = match budget(free_bytes(&directory), most) {
            Some(budget) => budget,
            None => continue,
        };
        match Arena::create(&directory, budget, settings) {
            Ok(arena) => return Ok(arena),
            // No other folder would change that.
            Err(ArenaError::Room { source, .. } | ArenaError::Map { source, .. })
                if source.raw_os_error() == Some(NO_MEMORY) =>
            {
                anyhow::bail!(
                    "{} MiB of shared memory do not fit: raise `ulimit -v`, or give a smaller --buffer",
                    budget >> 20
                );
            }
            Err(error) => failure = Some(error),
        }
    }
    let advice = "no place for the recording's shared memory: give /dev/shm or /tmp 32 MB of room";
    match failure {
        Some(error) => Err(error).context(advice),
        None => anyhow::bail!(advice),
    }
}

/// Folders in which sessions may be, in the order in which they are tried.
pub fn candidates() -> Vec<PathBuf> {
    let run = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let run = run.filter(|path| path.is_absolute());
    let named = std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from);
    [named, Some("/dev/shm".into()), run, Some("/tmp".into())]
        .into_iter()
        .flatten()
        .collect()
}

/// Half of the free memory, so that the traced program finds room there too.
fn budget(free: u64, most: usize) -> Option<usize> {
    (free >= LEAST).then(|| usize::try_from(free / 2).unwrap_or(most).min(most))
}

fn free_bytes(directory: &Path) -> u64 {
    rustix::fs::statvfs(directory).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_directory_is_used_in_part_and_a_tiny_one_not_at_all() {
        assert_eq!(budget(64 << 30, BUDGET), Some(BUDGET));
        assert_eq!(budget(64 << 20, BUDGET), Some(BUDGET));
        assert_eq!(budget(64 << 20, 1 << 30), Some(32 << 20));
        assert_eq!(budget(16 << 20, BUDGET), None);
    }

    #[test]
    fn a_missing_directory_has_no_room() {
        assert_eq!(free_bytes(Path::new("/nonexistent-directory")), 0);
    }
}

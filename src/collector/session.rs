//! Where the session's shared memory is put.

use std::path::{Path, PathBuf};

use anyhow::Context;

use ascend_trace_format::session::{TickSource, Timing};
use ascend_trace_ring::{Arena, SessionSettings};

use crate::tables;

/// Memory for records that the collector has not read yet; only what a burst needs is taken.
pub(crate) const BUDGET: usize = 256 << 20;
/// A directory with less room than this is passed over.
const LEAST: u64 = 32 << 20;

/// Makes the session in the first directory that has room for it.
pub(crate) fn create(timing: Timing, ticks: TickSource) -> anyhow::Result<Arena> {
    let settings = SessionSettings {
        timing,
        ticks,
        table_hash: tables::TABLE_HASH,
    };
    let mut failure = None;
    for directory in candidates() {
        let budget = match budget(free_bytes(&directory)) {
            Some(budget) => budget,
            None => continue,
        };
        match Arena::create(&directory, budget, settings) {
            Ok(arena) => return Ok(arena),
            Err(error) => failure = Some(error),
        }
    }
    let advice = "no place for the recording's shared memory: give /dev/shm or /tmp 32 MB of room";
    match failure {
        Some(error) => Err(error).context(advice),
        None => anyhow::bail!(advice),
    }
}

fn candidates() -> Vec<PathBuf> {
    let run = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let run = run.filter(|path| path.is_absolute());
    [Some("/dev/shm".into()), run, Some("/tmp".into())]
        .into_iter()
        .flatten()
        .collect()
}

/// Half of what is free, so that the traced program finds room there too.
fn budget(free: u64) -> Option<usize> {
    (free >= LEAST).then(|| usize::try_from(free / 2).unwrap_or(BUDGET).min(BUDGET))
}

fn free_bytes(directory: &Path) -> u64 {
    rustix::fs::statvfs(directory).map_or(0, |stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_directory_is_used_in_part_and_a_tiny_one_not_at_all() {
        assert_eq!(budget(64 << 30), Some(BUDGET));
        assert_eq!(budget(64 << 20), Some(32 << 20));
        assert_eq!(budget(16 << 20), None);
    }

    #[test]
    fn a_missing_directory_has_no_room() {
        assert_eq!(free_bytes(Path::new("/nonexistent-directory")), 0);
    }
}

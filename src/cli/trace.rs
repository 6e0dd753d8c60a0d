//! Opens the trace that a command is about.

use std::path::Path;

use anyhow::Context;

use ascend_trace_model::{Archive, Trace, Warning};

use crate::output::say;

/// The whole trace; what is damaged or missing in it is said.
pub(crate) fn open(path: &Path) -> anyhow::Result<Trace> {
    let (trace, warnings) =
        Trace::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    say_all(path, &warnings);
    Ok(trace)
}

/// A trace that is in memory, or one that is too long for that.
pub(crate) enum Opened {
    Whole(Box<Trace>),
    Long(Box<Archive>),
}

/// The trace, however long it is: one with fewer than `short` calls and task times is read whole, and
/// what is said of it is as exact as it can be. What is damaged in a long one is known only of the
/// parts that have been read.
pub(crate) fn open_any(path: &Path, short: u64) -> anyhow::Result<Opened> {
    // What comes through a pipe can only be read once, from begin to end.
    if std::fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        return Ok(Opened::Whole(Box::new(open(path)?)));
    }
    let archive = archive_of(path)?;
    let rows = archive.rows();
    if rows >= short {
        return Ok(Opened::Long(Box::new(archive)));
    }
    drop(archive);
    let counted = Trace::open_counted(path, rows)
        .with_context(|| format!("cannot open {}", path.display()))?;
    if let Some((trace, warnings)) = counted {
        say_all(path, &warnings);
        return Ok(Opened::Whole(Box::new(trace)));
    }
    Ok(Opened::Long(Box::new(archive_of(path)?)))
}

fn archive_of(path: &Path) -> anyhow::Result<Archive> {
    Archive::open(path, |_, _| true).with_context(|| format!("cannot open {}", path.display()))
}

pub(crate) fn say_all(path: &Path, warnings: &[Warning]) {
    for warning in warnings {
        say(format!("{}: {warning}", path.display()));
    }
}

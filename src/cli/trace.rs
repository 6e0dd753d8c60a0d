//! Opens the trace that a command is about.

use std::path::Path;

use anyhow::Context;

use ascend_trace_model::{Archive, Trace, Warning};

use crate::error::INCOMPLETE;
use crate::output::say;

/// A trace that is in memory, or one that is too long for that.
pub(crate) enum Opened {
    Whole(Box<Trace>, Vec<Warning>),
    Long(Box<Archive>),
}

/// How much of a recording is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Condition {
    /// What cannot be read, in words.
    pub(crate) damage: Vec<String>,
    pub(crate) ended: bool,
    /// Calls and other records that could not be recorded.
    pub(crate) lost: u64,
}

impl Condition {
    pub(crate) fn of(trace: &Trace, warnings: &[Warning]) -> Self {
        let damage = warnings.iter().filter(|warning| warning.is_damage());
        let losses = trace.losses();
        Self {
            damage: damage.map(Warning::to_string).collect(),
            ended: trace.end().is_some(),
            lost: losses.calls.saturating_add(losses.others),
        }
    }

    /// Of a trace of which only is known whether it is damaged.
    pub(crate) fn of_read(trace: &Trace) -> Self {
        let mut condition = Self::of(trace, &[]);
        if trace.is_damaged() {
            condition.damage.push("damaged".to_owned());
        }
        condition
    }

    /// The status of a command that has done what it was asked for.
    pub(crate) fn status(&self, strict: bool) -> u8 {
        let is_partial = !self.ended || self.lost > 0;
        match !self.damage.is_empty() || (strict && is_partial) {
            true => INCOMPLETE,
            false => 0,
        }
    }
}

impl Opened {
    /// Looks for damage in all of the file where that was asked for: a long one is not read through
    /// otherwise.
    pub(crate) fn check(&mut self, strict: bool) -> anyhow::Result<()> {
        match self {
            Self::Long(archive) if strict => archive.check().context("cannot check the file"),
            _ => Ok(()),
        }
    }

    /// How complete it is, as far as it has been read.
    pub(crate) fn condition(&self) -> Condition {
        match self {
            Self::Whole(trace, warnings) => Condition::of(trace, warnings),
            Self::Long(archive) => Condition::of(archive.things(), &archive.final_warnings()),
        }
    }

    /// First and last moment of the recording.
    pub(crate) fn span(&self) -> Option<(i64, i64)> {
        match self {
            Self::Whole(trace, _) => trace.span(),
            Self::Long(archive) => archive.span(),
        }
    }
}

/// Rows of a part of a long recording that is read by the index, alone.
const MOST_OF_PART: u64 = 400_000;

/// A small part of a long recording, found by the index. `None` where the range holds much of it: then
/// all of it is read from its begin.
pub(crate) fn small_part(
    archive: &mut Archive,
    range: Option<(i64, i64)>,
) -> anyhow::Result<Option<Trace>> {
    let Some(range) = range else {
        return Ok(None);
    };
    let rows = archive.rows_in(range);
    if rows > MOST_OF_PART || rows > archive.rows() / 4 {
        return Ok(None);
    }
    // One that is fuller than the index told is read like the others.
    Ok(archive.window_with_graphs(range, MOST_OF_PART).ok())
}

/// The trace, however long it is: one with fewer than `short` calls and task times is read whole, and
/// what is said of it is as exact as it can be. What is damaged in a long one is known only of the
/// parts that have been read.
pub(crate) fn open_any(path: &Path, short: u64) -> anyhow::Result<Opened> {
    let context = || format!("cannot open {}", path.display());
    // What comes through a pipe can only be read once, from begin to end.
    if std::fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        let (trace, warnings) = Trace::open(path).with_context(context)?;
        return Ok(Opened::Whole(Box::new(trace), warnings));
    }
    let archive = archive_of(path)?;
    let rows = archive.rows();
    if rows >= short {
        return Ok(Opened::Long(Box::new(archive)));
    }
    // Not both at once in memory.
    drop(archive);
    if let Some((trace, warnings)) = Trace::open_counted(path, rows).with_context(context)? {
        return Ok(Opened::Whole(Box::new(trace), warnings));
    }
    Ok(Opened::Long(Box::new(archive_of(path)?)))
}

fn archive_of(path: &Path) -> anyhow::Result<Archive> {
    let mut archive = Archive::open(path, |_, _| true)
        .with_context(|| format!("cannot open {}", path.display()))?;
    // Of a recording that goes on this is what it is now.
    archive
        .close()
        .with_context(|| format!("cannot read {}", path.display()))?;
    Ok(archive)
}

/// Says what of the file is damaged or missing.
pub(crate) fn say_warnings(path: &Path, opened: &Opened) {
    let found;
    let warnings = match opened {
        Opened::Whole(_, warnings) => warnings,
        Opened::Long(archive) => {
            found = archive.final_warnings();
            &found
        }
    };
    for warning in warnings {
        say(format!("{}: {warning}", path.display()));
    }
}

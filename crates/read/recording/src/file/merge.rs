//! Several recordings become one file, on one clock.
//!
//! The inputs are read side by side, a piece at a time: always the one with the least progress. So the
//! rows of all of them arrive nearly in the order of their times, as those of one recording do, and no
//! input is in memory as a whole.

mod coverage;
mod functions;
mod renumber;
mod source;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};

use crate::rows::{EndRow, Row, SessionRow, TablesRow};

use super::error::{OpenError, Warning};
use super::writer::Writer;
use coverage::MergedCoverage;
use functions::MergedFunctions;
use renumber::FreeNumbers;
use source::MergeSource;

/// A recording to merge.
pub struct MergeInput<'a> {
    pub file: File,
    /// Numbers of its processes in the merged file.
    pub processes: BTreeMap<u32, u32>,
    /// Maps its times to those of the merged file, and keeps their order.
    pub time: &'a dyn Fn(i64) -> i64,
}

/// Why recordings cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The input of this number cannot be read.
    #[error("{1}")]
    Input(usize, OpenError),
    #[error(transparent)]
    Output(io::Error),
    #[error("they call more than 65,535 different functions: merge fewer of them")]
    Functions,
}

/// What every source writes to.
struct MergeTarget<W: Write> {
    writer: Writer<W>,
    numbers: FreeNumbers,
    functions: MergedFunctions,
    coverages: MergedCoverage,
    end: EndRow,
}

/// Writes the rows of all inputs to one file. Returns the output, and the unreadable parts of each
/// input.
///
/// # Errors
/// When an input cannot be read, or the output cannot be written.
pub fn merge<W: Write>(
    inputs: Vec<MergeInput<'_>>,
    session: &SessionRow,
    output: W,
) -> Result<(W, Vec<Vec<Warning>>), MergeError> {
    let known = inputs.iter().flat_map(|it| it.processes.values());
    let mut shared = MergeTarget {
        writer: Writer::create(output, session, &TablesRow::default())
            .map_err(MergeError::Output)?,
        numbers: FreeNumbers::after(known.copied().max().unwrap_or(0)),
        functions: MergedFunctions::default(),
        coverages: MergedCoverage::default(),
        end: EndRow {
            end_ns: i64::MIN,
            exit_status: 0,
            ..EndRow::default()
        },
    };
    let mut sources: Vec<MergeSource<'_>> = inputs.into_iter().map(MergeSource::new).collect();
    while let Some(next) = least_far(&sources) {
        sources[next].advance(next, &mut shared)?;
    }
    let warnings = sources.iter().enumerate().map(|(number, it)| {
        let warnings = it.warnings();
        warnings.map_err(|error| MergeError::Input(number, error))
    });
    let warnings = warnings.collect::<Result<_, _>>()?;
    Ok((shared.finish()?, warnings))
}

/// The source with the least progress of those that have more.
fn least_far(sources: &[MergeSource<'_>]) -> Option<usize> {
    let open = sources.iter().enumerate().filter(|(_, it)| !it.is_done());
    open.min_by_key(|(_, it)| it.reached())
        .map(|(number, _)| number)
}

impl<W: Write> MergeTarget<W> {
    fn push(&mut self, row: Row) -> Result<(), MergeError> {
        self.writer.push(row).map_err(MergeError::Output)
    }

    /// The file ends with the last of them, and with the first status that is not 0. Where one ended before its program, no status is
    /// known.
    fn end(&mut self, end: &EndRow) {
        self.end.end_ns = self.end.end_ns.max(end.end_ns);
        if self.end.reason.is_empty() {
            self.end.reason.clone_from(&end.reason);
        }
        if self.end.exit_status == 0 {
            self.end.exit_status = end.exit_status;
        }
    }

    fn finish(mut self) -> Result<W, MergeError> {
        for row in std::mem::take(&mut self.coverages).rows() {
            self.push(row)?;
        }
        let end = self.end;
        self.writer.finish(end).map_err(MergeError::Output)
    }
}

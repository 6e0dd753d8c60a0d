//! One of the inputs, on its way into the merged file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use ascend_trace_format::record::Counter;

use crate::rows::{CallRow, CounterRow, EndRow, Row};

use super::super::budget::Budget;
use super::super::decode::{Decoder, FileItem};
use super::super::error::{OpenError, Warning};
use super::super::whole::pump;
use super::renumber::NumberMap;
use super::{MergeError, MergeInput, MergeTarget};

/// Number of bytes of an input that are read at a time.
const READ_BYTES: usize = 1 << 16;

pub(super) struct MergeSource<'a> {
    file: File,
    decoder: Decoder,
    room: Vec<u8>,
    own: NumberMap<'a>,
    /// The latest time of its calls.
    reached: i64,
    /// The running calls, as far as they are known.
    open: Vec<CallRow>,
    has_end: bool,
    is_done: bool,
}

impl<'a> MergeSource<'a> {
    pub(super) fn new(input: MergeInput<'a>) -> Self {
        Self {
            file: input.file,
            decoder: Decoder::new(Budget::unlimited()),
            room: Vec::new(),
            own: NumberMap::new(input.processes, input.time),
            reached: i64::MIN,
            open: Vec::new(),
            has_end: false,
            is_done: false,
        }
    }

    pub(super) fn reached(&self) -> i64 {
        self.reached
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// The unreadable parts, once everything has been read.
    pub(super) fn warnings(&self) -> Result<Vec<Warning>, OpenError> {
        self.decoder.finish()
    }

    /// Reads on, and passes on what that completes.
    pub(super) fn advance<W: Write>(
        &mut self,
        number: usize,
        shared: &mut MergeTarget<W>,
    ) -> Result<(), MergeError> {
        let Self {
            file,
            decoder,
            room,
            own,
            reached,
            open,
            has_end,
            ..
        } = self;
        let mut passed = Ok(());
        let mut take = |item: FileItem| {
            if passed.is_err() {
                return;
            }
            passed = match item {
                FileItem::Session(_) => Ok(()),
                FileItem::Tables(tables) => own.tables(tables, shared),
                FileItem::Open(calls) => {
                    *open = calls;
                    Ok(())
                }
                FileItem::Row(Row::End(end)) => {
                    *has_end = true;
                    shared.end(&EndRow {
                        end_ns: own.time(end.end_ns),
                        ..end
                    });
                    Ok(())
                }
                FileItem::Row(row) => pass_on(own, row, reached, shared),
            };
        };
        let count = pump(file, decoder, (room, READ_BYTES), &mut take)
            .map_err(|error| MergeError::Input(number, error))?;
        passed?;
        if count == 0 {
            self.is_done = true;
            self.close(shared)?;
        }
        Ok(())
    }

    /// Calls that were under way when a recording broke off did not return.
    fn close<W: Write>(&mut self, shared: &mut MergeTarget<W>) -> Result<(), MergeError> {
        let open = std::mem::take(&mut self.open);
        if self.has_end {
            return Ok(());
        }
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for call in open {
            if let Some(process) = self.own.process_of(call.thread) {
                *counts.entry(process).or_default() += 1;
            }
            pass_on(&mut self.own, Row::Call(call), &mut self.reached, shared)?;
        }
        for (process, value) in counts {
            shared.push(Row::Counter(CounterRow {
                process,
                what: Counter::OpenCalls as u16,
                value,
            }))?;
        }
        // It existed at least until then.
        let end_ns = self.reached;
        shared.end(&EndRow {
            end_ns,
            exit_status: 0,
            ..EndRow::default()
        });
        Ok(())
    }
}

fn pass_on<W: Write>(
    own: &mut NumberMap<'_>,
    row: Row,
    reached: &mut i64,
    shared: &mut MergeTarget<W>,
) -> Result<(), MergeError> {
    let row = own.row(row, &mut shared.numbers);
    match row {
        Row::Coverage(row) => {
            shared.coverages.take(row);
            Ok(())
        }
        row => {
            if let Row::Call(call) = &row {
                *reached = call.end_ns.max(*reached);
            }
            shared.push(row)
        }
    }
}

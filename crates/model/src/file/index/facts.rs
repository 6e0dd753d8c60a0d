//! The columns of calls that the index needs. Arguments and names are passed over.

use crate::file::call::{GraphColumn, column};
use crate::file::column::Cursors;
use crate::rows::GraphRef;

const THREAD_SLOTS: usize = 64;
const STREAM_SLOTS: usize = 256;

/// What the index keeps account of in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallFacts {
    pub(super) thread: u32,
    pub(super) function: u16,
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) ret: i64,
    pub(super) depth: u8,
    pub(super) device: u32,
    pub(super) stream: Option<u32>,
    pub(super) task: Option<TaskFacts>,
    pub(super) graph: Option<GraphRef>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskFacts {
    pub(super) sequence: u32,
    pub(super) kind: u8,
    pub(super) untimed: u8,
}

/// Reads the calls of a table one after another.
pub(super) struct Calls<'a> {
    cursors: Cursors<'a>,
    left: u32,
    ends: [i64; THREAD_SLOTS],
    sequences: [u32; STREAM_SLOTS],
    graphs: GraphColumn,
}

impl<'a> Calls<'a> {
    /// `None` when this is no table of calls.
    pub(super) fn new(payload: &'a [u8]) -> Option<Self> {
        let cursors = Cursors::new(payload, column::ALL.len())?;
        Some(Self {
            left: cursors.rows(),
            cursors,
            ends: [0; THREAD_SLOTS],
            sequences: [0; STREAM_SLOTS],
            graphs: GraphColumn::default(),
        })
    }

    fn take(&mut self) -> Option<CallFacts> {
        let cursors = &mut self.cursors;
        let thread: u32 = cursors.take_as(column::THREAD)?;
        let end = &mut self.ends[thread as usize % THREAD_SLOTS];
        let begin = end.wrapping_add(cursors.take_signed(column::BEGIN)?);
        *end = begin.wrapping_add(cursors.take_signed(column::DURATION)?);
        let end = (*end).max(begin);
        let stream = cursors.take_option(column::STREAM)?;
        Some(CallFacts {
            thread,
            function: cursors.take_as(column::FUNCTION)?,
            begin,
            end,
            ret: cursors.take_signed(column::RET)?,
            depth: cursors.take_as(column::DEPTH)?,
            device: cursors.take_option(column::DEVICE)?.unwrap_or(0),
            stream,
            task: match cursors.take(column::TASK)? {
                0 => None,
                next => {
                    let sequence = &mut self.sequences[stream.unwrap_or(0) as usize % STREAM_SLOTS];
                    let step = cursors.take_signed(column::SEQUENCE)?;
                    let next_sequence = i64::from(*sequence).checked_add(step)?;
                    *sequence = u32::try_from(next_sequence).ok()?;
                    Some(TaskFacts {
                        sequence: *sequence,
                        kind: u8::try_from(next - 1).ok()?,
                        untimed: cursors.take_as(column::UNTIMED)?,
                    })
                }
            },
            graph: self.graphs.take(cursors)?,
        })
    }
}

impl Iterator for Calls<'_> {
    type Item = CallFacts;

    fn next(&mut self) -> Option<CallFacts> {
        self.left = self.left.checked_sub(1)?;
        let call = self.take();
        if call.is_none() {
            self.left = 0;
        }
        call
    }
}

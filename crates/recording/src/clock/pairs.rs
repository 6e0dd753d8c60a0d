//! The time that event pairs add to the tasks between them. The tool learns it for each device, over the whole recording.

use ascend_trace_format::record::figure::{Figure, unpacked};

use crate::counters::Counters;

use super::place::Reading;

/// Durations of event records on a device, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// The median, and the largest distance from it.
    record: Option<(i64, i64)>,
}

impl Pairs {
    /// The durations that a process has learnt of a device.
    pub(crate) fn of(counters: &Counters, process: u32, device: u32) -> Self {
        let figure = |figure: Figure| {
            let value = counters.get(&(process, figure.code(device)?))?;
            Some(i64::from(unpacked(*value).1))
        };
        Self {
            record: figure(Figure::RecordNs).zip(figure(Figure::RecordOpenNs)),
        }
    }

    /// A reading with the durations as they are known in the end. When it was read, fewer samples were known.
    pub(super) fn known(self, reading: Reading) -> Reading {
        match self.record {
            Some((record, open)) if reading.is_of_events => Reading {
                record,
                record_open: reading.record_open.max(open),
                ..reading
            },
            _ => reading,
        }
    }
}

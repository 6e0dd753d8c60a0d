//! By how much longer kernels are by events than by the log. Where both are read, the difference corrects the times of all
//! kernels of the device, with an entry in the log or without.

use std::collections::BTreeMap;

use ascend_trace_format::record::figure::{self, Figure};
use ascend_trace_format::time::HostNs;
use ascend_trace_recording::rows::{CounterRow, Row, TaskTimeRow};

use super::clock_offset::LogClockOffset;
use super::entry::LoggedSpan;

/// Tasks that wait for the time of the other source.
const MOST_WAITING: usize = 1 << 14;
/// Differences that are kept of a device, and the least that show anything.
const MOST_SAMPLES: usize = 1 << 12;
const LEAST_SAMPLES: usize = 16;
/// A kernel that began later than its end event had been submitted, by more than submitting takes, had waited in a queue.
/// Else its begin event was reached before the kernel came.
const WAITED_NS: i64 = 30_000;
/// One in this number of samples may be left out.
const RARE: usize = 2_000;

/// A task by its stream and its number there.
type StreamTaskNumber = (u32, u32);

/// A kernel by the log.
#[derive(Clone, Copy, Debug)]
struct Logged {
    device: u32,
    span: LoggedSpan,
    /// The begin of the call that submitted it.
    launched: HostNs,
}

/// The same by events.
#[derive(Clone, Copy, Debug)]
struct Timed {
    length: i64,
    /// The end event was submitted this long after the begin of the call.
    submitting_ns: u32,
}

/// The differences of one device.
#[derive(Clone, Debug, Default)]
struct Samples {
    all: Vec<i64>,
    /// The number of them that the trace knows.
    reported: usize,
}

/// The differences of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct Added {
    logged: BTreeMap<StreamTaskNumber, Logged>,
    timed: BTreeMap<StreamTaskNumber, Timed>,
    devices: BTreeMap<u32, Samples>,
}

impl Added {
    /// Events have shown when a task ran.
    pub(super) fn timed(&mut self, row: &TaskTimeRow) {
        if row.submitting_ns > 0 {
            let timed = Timed {
                length: row.end_device_ns.saturating_sub(row.begin_device_ns),
                submitting_ns: row.submitting_ns,
            };
            keep(&mut self.timed, (row.stream, row.sequence), timed);
        }
    }

    /// The log has shown when a kernel ran.
    pub(super) fn logged(
        &mut self,
        of: StreamTaskNumber,
        device: u32,
        span: LoggedSpan,
        launched: i64,
    ) {
        let launched = HostNs::new(launched);
        let logged = Logged {
            device,
            span,
            launched,
        };
        keep(&mut self.logged, of, logged);
    }

    /// Compares tasks with times of both sources.
    pub(super) fn settle(
        &mut self,
        process: u32,
        axes: &BTreeMap<u32, LogClockOffset>,
        rows: &mut Vec<Row>,
    ) {
        let (timed, devices) = (&mut self.timed, &mut self.devices);
        self.logged.retain(|of, logged| {
            let Some(timed) = timed.remove(of) else {
                return true;
            };
            let samples = devices.entry(logged.device).or_default();
            let difference = axes
                .get(&logged.device)
                .and_then(|axis| difference(*axis, *logged, timed));
            if samples.all.len() < MOST_SAMPLES {
                samples.all.extend(difference);
            }
            false
        });
        for (device, samples) in devices {
            samples.push_rows(process, *device, rows);
        }
    }
}

/// By how much longer a task is by events; `None` if it had not certainly waited in a queue.
fn difference(axis: LogClockOffset, logged: Logged, timed: Timed) -> Option<i64> {
    let begin = axis.around(logged.span.begin).earliest(logged.span.begin);
    let closed = logged.launched.plus(timed.submitting_ns.into());
    let length = logged.span.end.since(logged.span.begin);
    (begin > closed.plus(WAITED_NS)).then(|| timed.length.saturating_sub(length).max(0))
}

fn keep<T>(waiting: &mut BTreeMap<StreamTaskNumber, T>, of: StreamTaskNumber, value: T) {
    if waiting.len() >= MOST_WAITING {
        waiting.pop_first();
    }
    waiting.insert(of, value);
}

impl Samples {
    fn push_rows(&mut self, process: u32, device: u32, rows: &mut Vec<Row>) {
        let count = self.all.len();
        if count < LEAST_SAMPLES || count == self.reported {
            return;
        }
        self.reported = count;
        let (median, open) = spread(&self.all);
        let figures = [
            (Figure::LoggedNs, median),
            (Figure::LoggedOpenNs, open),
            (Figure::LoggedMeanNs, mean_open(&self.all, median).min(open)),
        ];
        for (figure, ns) in figures {
            let ns = u32::try_from(ns).unwrap_or(u32::MAX);
            if let Some(what) = figure.code(device) {
                rows.push(Row::Counter(CounterRow {
                    process,
                    what,
                    value: figure::packed(count as u32, ns),
                }));
            }
        }
    }
}

/// The median, and how far a further sample may be from it.
fn spread(samples: &[i64]) -> (i64, i64) {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0);
    let last = sorted.len().saturating_sub(1);
    let (median, least) = (at(last / 2), at(0));
    let most = at(last - last / RARE);
    let reach = (most - median).max(median - least);
    // The longest and the shortest may still be to come.
    (median, reach + (most - least) / 4)
}

/// A mean may be off by this number of its standard errors.
const DEVIATIONS: f64 = 3.0;

/// How far the mean of further samples may be from the median.
fn mean_open(samples: &[i64], median: i64) -> i64 {
    let count = samples.len().max(1) as f64;
    let offs = samples.iter().map(|it| (it - median) as f64);
    let off = offs.clone().sum::<f64>() / count;
    let squares: f64 = offs.map(|it| it * it).sum();
    (off.abs() + DEVIATIONS * squares.sqrt() / count).ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::WallClock;
    use ascend_trace_format::time::DeviceNs;

    fn logged(begin: i64, length: i64, launched: i64) -> Logged {
        let span = LoggedSpan {
            begin: DeviceNs::new(begin),
            end: DeviceNs::new(begin + length),
            seen: HostNs::new(begin + 1_000_000),
        };
        Logged {
            device: 0,
            span,
            launched: HostNs::new(launched),
        }
    }

    fn row(sequence: u32, length: i64) -> TaskTimeRow {
        TaskTimeRow {
            process: 0,
            stream: 3,
            sequence,
            untimed: 0,
            begin_device_ns: 77,
            end_device_ns: 77 + length,
            seen_ns: 0,
            arming_ns: 1,
            submitting_ns: 2_000,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        }
    }

    fn axes() -> BTreeMap<u32, LogClockOffset> {
        let wall = WallClock {
            now: DeviceNs::new(0),
            behind_ns: 0,
        };
        BTreeMap::from([(0, LogClockOffset::near(wall))])
    }

    #[test]
    fn kernels_that_waited_show_what_events_add_in_any_order_of_the_sources() {
        let (mut added, mut rows) = (Added::default(), Vec::new());
        for sequence in 0..40_u32 {
            let time = row(sequence, 14_000 + i64::from(sequence % 3) * 100);
            let of = logged(500_000, 10_000, 0);
            if sequence % 2 == 0 {
                added.timed(&time);
                added.settle(0, &axes(), &mut rows);
            }
            added.logged((3, sequence), 0, of.span, 0);
            added.timed(&time);
            added.settle(0, &axes(), &mut rows);
        }
        let last = |figure: Figure| {
            let code = figure.code(0).unwrap();
            let values = rows.iter().filter_map(|row| match row {
                Row::Counter(row) if row.what == code => Some(row.value),
                _ => None,
            });
            figure::unpacked(values.max().unwrap())
        };
        assert_eq!(last(Figure::LoggedNs), (40, 4_100));
        assert_eq!(last(Figure::LoggedOpenNs), (40, 150));
        assert!(added.logged.is_empty());
    }

    #[test]
    fn a_kernel_that_ran_at_once_says_nothing() {
        let axis = axes()[&0];
        let timed = Timed {
            length: 40_000,
            submitting_ns: 2_000,
        };
        // The log's clock is known to 50 µs.
        assert_eq!(
            difference(axis, logged(500_000, 10_000, 480_000), timed),
            None
        );
        let waited = difference(axis, logged(500_000, 10_000, 100_000), timed);
        assert_eq!(waited, Some(30_000));
    }
}

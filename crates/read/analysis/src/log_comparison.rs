//! Comparison of the hardware log with events: the times of tasks that have both.

use std::collections::BTreeMap;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{StreamId, TimeRange, Trace};

/// How values are spread, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    pub least: i64,
    pub median: i64,
    /// The value that 99 of 100 do not exceed.
    pub p99: i64,
    pub most: i64,
}

/// Tasks of one device that have times of both sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Position in the table of processes.
    pub process: u32,
    pub device: u32,
    pub tasks: usize,
    /// By how much tasks are longer by events than by the log.
    pub longer: Spread,
    /// How much shorter the pause after a task is by events than by the log: the duration of the
    /// events, or their error. Of tasks that follow each other on a stream.
    pub shorter_pause: Spread,
    /// Begins by events less begins by the log, less the median of that: how far the two clocks are apart.
    pub apart: Spread,
    /// By how many parts per million the log's clock and the host's go apart.
    pub drift_ppm: f64,
}

/// A task of both sources.
#[derive(Clone, Copy)]
struct Pair {
    stream: StreamId,
    sequence: u32,
    events: TimeRange,
    log: TimeRange,
}

/// Compares the sources, device by device. Empty for a trace with tasks that have times of one source
/// only.
pub fn compare(trace: &Trace) -> Vec<Comparison> {
    if trace.session().timing != "both" {
        return Vec::new();
    }
    let mut devices: BTreeMap<(u32, u32), Vec<Pair>> = BTreeMap::new();
    for pair in pairs(trace) {
        let stream = trace.stream(pair.stream);
        let of = devices.entry((stream.process.0, stream.device));
        of.or_default().push(pair);
    }
    let devices = devices.into_iter();
    devices
        .map(|((process, device), pairs)| comparison(process, device, &pairs))
        .collect()
}

/// In the order of streams and tasks.
fn pairs(trace: &Trace) -> Vec<Pair> {
    let streams = (0..trace.streams().len() as u32).map(StreamId);
    let mut pairs = Vec::new();
    for id in streams {
        for place in trace.stream_tasks(id) {
            let task = trace.task(*place);
            // A replay contains more than its entries in the log.
            let timed = task
                .time
                .filter(|_| !matches!(task.kind, TaskKind::Record | TaskKind::Graph));
            let log = trace.logged_span(*place).filter(|_| trace.runs(task));
            if let (Some(time), Some(log)) = (timed, log) {
                pairs.push(Pair {
                    stream: id,
                    sequence: task.sequence,
                    events: time.range(),
                    log,
                });
            }
        }
    }
    pairs
}

fn comparison(process: u32, device: u32, pairs: &[Pair]) -> Comparison {
    let longer = pairs
        .iter()
        .map(|pair| pair.events.duration() - pair.log.duration());
    let follow = pairs.windows(2).filter(|two| {
        two[0].stream == two[1].stream && two[0].sequence.checked_add(1) == Some(two[1].sequence)
    });
    let pauses = follow.map(|two| {
        let pause = |of: fn(&Pair) -> TimeRange| of(&two[1]).begin - of(&two[0]).end;
        pause(|pair| pair.log) - pause(|pair| pair.events)
    });
    let apart: Vec<i64> = (pairs.iter())
        .map(|pair| pair.events.begin.saturating_sub(pair.log.begin))
        .collect();
    let middle = spread(apart.iter().copied()).median;
    Comparison {
        process,
        device,
        tasks: pairs.len(),
        longer: spread(longer),
        shorter_pause: spread(pauses),
        apart: spread(apart.iter().map(|value| value - middle)),
        drift_ppm: drift_ppm(pairs, middle),
    }
}

/// The slope of the line through the distances, by least squares.
fn drift_ppm(pairs: &[Pair], middle: i64) -> f64 {
    let Some(first) = pairs.iter().map(|pair| pair.log.begin).min() else {
        return 0.0;
    };
    let points = pairs.iter().map(|pair| {
        let apart = pair.events.begin.saturating_sub(pair.log.begin) - middle;
        ((pair.log.begin - first) as f64, apart as f64)
    });
    let count = pairs.len() as f64;
    let (x, y) = (points.clone()).fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let (above, below) = points.fold((0.0, 0.0), |(above, below), point| {
        let away = point.0 - x;
        (above + away * (point.1 - y), below + away * away)
    });
    if below > 0.0 {
        above / below * 1e6
    } else {
        0.0
    }
}

fn spread(values: impl Iterator<Item = i64>) -> Spread {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    let at = |share: usize| {
        let place = values.len().saturating_sub(1) * share / 100;
        values.get(place).copied().unwrap_or(0)
    };
    Spread {
        least: at(0),
        median: at(50),
        p99: at(99),
        most: at(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_pauses_and_drift_are_compared() {
        let pairs: Vec<Pair> = (0..100)
            .map(|number: i64| {
                let begin = number * 1_000_000;
                Pair {
                    stream: StreamId(0),
                    sequence: number as u32,
                    // Events come 400 ns before and 600 ns after, on a clock that goes 50 ppm faster.
                    events: TimeRange::new(begin - 400 + number * 50, begin + 10_600 + number * 50),
                    log: TimeRange::new(begin, begin + 10_000),
                }
            })
            .collect();
        let compared = comparison(0, 1, &pairs);
        assert_eq!((compared.device, compared.tasks), (1, 100));
        assert_eq!(compared.longer.median, 1_000);
        assert_eq!(compared.shorter_pause.median, 950);
        assert_eq!(compared.apart.most - compared.apart.least, 99 * 50);
        assert!((compared.drift_ppm - 50.0).abs() < 0.1, "{compared:?}");
    }
}

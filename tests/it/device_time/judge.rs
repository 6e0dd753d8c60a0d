//! Holds the times of a recording against the true ones.

use std::collections::BTreeMap;

use crate::support::{CsvRow, Recording, Tables, truth};

/// Times of tasks, each with how far it was off; printed and judged by its quantiles.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread(pub(super) Vec<i64>);

impl Spread {
    /// The value that this share of all does not exceed.
    pub(super) fn quantile(&self, share: f64) -> i64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let place = (last as f64 * share).ceil() as usize;
        sorted.get(place).copied().unwrap_or(0)
    }

    fn line(&self, name: &str) {
        let [half, most, nearly] = [0.5, 0.99, 0.999].map(|share| self.quantile(share));
        let (count, last) = (self.0.len(), self.quantile(1.0));
        println!(
            "  {name:<34} {count:>7}  p50 {half:>7}  p99 {most:>7}  p99.9 {nearly:>8}  max {last:>9}"
        );
    }
}

/// How well the times of one recording were.
#[derive(Clone, Default)]
pub(super) struct Result {
    pub(super) tasks: usize,
    pub(super) untimed: BTreeMap<String, usize>,
    /// Where the stream had a queue: durations, and distances between begins, beyond the clock's
    /// unknown rate from one comparison of the clocks to the next.
    pub(super) lengths: Spread,
    pub(super) steps: Spread,
    /// The same beyond what bars leave open: of the clock's rate, and of each task on its device.
    pub(super) blunt_lengths: Spread,
    pub(super) blunt_steps: Spread,
    /// Begins against the host, of tasks that had to queue and of those that ran at once.
    pub(super) busy_begins: Spread,
    pub(super) idle_begins: Spread,
    /// The length of the call that launched such a task: what its begin may be off by.
    pub(super) idle_calls: Spread,
    /// Begins of such tasks, beyond the duration of their call and the clock's part in their bar.
    pub(super) idle_beyond: Spread,
    pub(super) bars: Spread,
    /// As the bars, without the unknown part of the task on its device.
    pub(super) bands: Spread,
    pub(super) inside: usize,
    pub(super) inside_device: usize,
}

impl Result {
    /// How far lengths and distances between begins are off. Where others took the processors away from the comparisons of
    /// clocks, be it for a while, neither the rate nor the submit latency is known to the tick: then the bars say so.
    pub(super) fn as_known(&self, submit: i64) -> (&Spread, &Spread) {
        match self.bands.quantile(1.0) <= SHARP_BAND_NS + submit * 3 / 4 {
            true => (&self.lengths, &self.steps),
            false => (&self.blunt_lengths, &self.blunt_steps),
        }
    }

    pub(super) fn print(&self, soft: &str) {
        println!("{soft}: {} tasks, untimed {:?}", self.tasks, self.untimed);
        self.lengths.line("length, busy");
        self.steps.line("begin to begin, busy");
        self.busy_begins.line("begin to host, busy");
        self.idle_begins.line("begin to host, idle");
        self.idle_calls.line("length of the call, idle");
        self.idle_beyond.line("begin beyond the call, idle");
        self.bars.line("error bar");
        self.bands.line("error bar, clock alone");
        let share = |count: usize| count as f64 / self.bars.0.len() as f64 * 100.0;
        let [whole, device] = [self.inside, self.inside_device].map(share);
        println!("  truth inside the bar {whole:.3} %, of the device alone {device:.3} %");
    }
}

/// A task with what really happened.
pub(super) struct Point<'t> {
    pub(super) task: &'t CsvRow,
    pub(super) entry: truth::TruthLogTask,
    /// It, and the event after it, were in the queue before the stream came to them.
    pub(super) is_busy: (bool, bool),
}

/// Reasons for tasks without a time on cards with streams that take few events.
pub(super) const REASONS: [&str; 2] = ["queue-full", "not-sampled"];
const MOST_RATE_OPEN: f64 = 400e-6;
/// How far comparisons of clocks lie apart at least that a mapping is drawn through.
const COMPARED_NS: f64 = 10_000_000.0;
/// The clock's bar on a machine that has nothing else to do is below this and three quarters of the submit
/// latency.
const SHARP_BAND_NS: i64 = 2000;

/// Possible error of a device's rate: between its bars are all lines along which its clock may have
/// run, a second of it at a time. No device drifts by more than 200 ppm, and the mapping may by as
/// much.
fn rate_open(lane: &[Point<'_>]) -> f64 {
    let timed = lane
        .iter()
        .filter(|point| point.task.text("untimed").is_empty());
    let band = |task: &CsvRow| task.number("err_ns") - task.number("err_device_ns");
    let bands = Spread(timed.clone().map(|point| band(point.task)).collect());
    let span = |ends: Option<(i64, i64)>| ends.map_or(1, |(first, last)| last - first);
    let begins = || timed.clone().map(|point| point.entry.begin);
    let span = span(begins().min().zip(begins().max())).clamp(1, 1_000_000_000);
    // The worst comparisons decide: the number of tasks does not show how long clocks were hardly
    // compared.
    match bands.quantile(1.0) {
        wide if wide > 5_000 => MOST_RATE_OPEN,
        wide => (2.0 * wide as f64 / span as f64).min(MOST_RATE_OPEN),
    }
}

/// A stream's tasks in their order; the tracer's entries among them show whether it had a queue.
pub(super) fn points<'t>(tables: &'t Tables, recording: &Recording) -> Vec<Vec<Point<'t>>> {
    let mut entries: BTreeMap<(i64, i64), Vec<truth::TruthLogTask>> = BTreeMap::new();
    for entry in truth::read(&recording.truth()) {
        let stream = (entry.device, entry.stream_id);
        entries.entry(stream).or_default().push(entry);
    }
    let mut tasks: BTreeMap<(i64, i64), Vec<&CsvRow>> = BTreeMap::new();
    for task in &tables.tasks {
        let stream = (task.number("device"), task.number("stream_id"));
        tasks.entry(stream).or_default().push(task);
    }
    let lanes = tasks.into_iter().map(|(stream, tasks)| {
        let all = &entries[&stream];
        let own = (0..all.len()).filter(|place| !all[*place].is_tracers());
        let own: Vec<usize> = own.collect();
        assert_eq!(own.len(), tasks.len(), "on stream {stream:?}");
        let pairs = own.into_iter().zip(tasks);
        pairs
            .map(|(place, task)| {
                let entry = all[place].clone();
                assert_eq!(entry.kind, task.text("kind"), "on stream {stream:?}");
                let before = place.checked_sub(1).map(|place| all[place].end);
                let after = all.get(place + 1).map(|next| next.begin);
                Point {
                    is_busy: (before == Some(entry.begin), after == Some(entry.end)),
                    entry,
                    task,
                }
            })
            .collect()
    });
    lanes.collect()
}

pub(super) fn judge(tables: &Tables, lanes: &[Vec<Point<'_>>]) -> Result {
    let mut result = Result {
        tasks: tables.tasks.len(),
        ..Result::default()
    };
    for lane in lanes {
        let rate_open = rate_open(lane);
        // Beyond the unknown rate, and the bars of the tasks.
        let beyond = |off: i64, length: i64, bars: i64| {
            let open = (length as f64 * rate_open) as i64;
            (off.abs() - open.saturating_add(bars)).max(0)
        };
        let mut last: Option<(i64, i64, i64)> = None;
        for point in lane {
            let (task, truth) = (point.task, &point.entry);
            let reason = task.text("untimed");
            if !reason.is_empty() {
                *result.untimed.entry(reason.to_owned()).or_default() += 1;
                last = None;
                continue;
            }
            let (begin, end) = (task.number("begin_ns"), task.number("end_ns"));
            let off = (begin - truth.begin, end - truth.end);
            let bar = task.number("err_ns");
            let band = bar - task.number("err_device_ns");
            result.bars.0.push(bar);
            result.bands.0.push(band);
            result.inside += usize::from(off.0.abs() <= bar && off.1.abs() <= bar);
            let length = truth.end - truth.begin;
            let apart = ((end - begin) - length).abs();
            let rate = (2.0 * band as f64 / COMPARED_NS).min(MOST_RATE_OPEN);
            let beyond_rate =
                |off: i64, length: i64| (off.abs() - (length as f64 * rate) as i64).max(0);
            let open = 2 * task.number("err_device_ns");
            result.inside_device += usize::from(apart <= open);
            if apart > open {
                println!("  beyond its bar: off by {apart}, {length} long, {task:?}");
            }
            let here = (begin, truth.begin, open / 2);
            let (begun_busy, ended_busy) = point.is_busy;
            if begun_busy {
                result.busy_begins.0.push(off.0.abs());
                if ended_busy {
                    result.lengths.0.push(beyond_rate(apart, length));
                    result.blunt_lengths.0.push(beyond(apart, length, open));
                }
                if let Some((traced, true_begin, bar)) = last {
                    let distance = truth.begin - true_begin;
                    let off = (begin - traced) - distance;
                    result.steps.0.push(beyond_rate(off, distance));
                    result
                        .blunt_steps
                        .0
                        .push(beyond(off, distance, bar + open / 2));
                }
                last = Some(here);
            } else {
                let call = &tables.calls[task.number("call") as usize];
                let length = call.number("end_ns") - call.number("begin_ns");
                result.idle_begins.0.push(off.0.abs());
                result.idle_calls.0.push(length);
                // A begin that is known from its call has a shorter bar than the task on its device: no clock
                // is in it.
                let beyond = off.0.abs() - length - band.max(0);
                result.idle_beyond.0.push(beyond.max(0));
                last = None;
            }
        }
    }
    result
}

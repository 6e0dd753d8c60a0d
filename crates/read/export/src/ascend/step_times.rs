//! `step_trace_time.csv`: what each step spent its time on.

use std::io::{self, Write};

use ascend_trace_analysis::collectives::{Collective, Peer};
use ascend_trace_analysis::stats::StepStats;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Task, TaskTime, Trace};

const COLUMNS: &str = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,\
                       Bubble,Communication(Not Overlapped and Exclude Receive),Preparing";

/// The steps of a rank, by begin.
pub(super) struct StepTimes(Vec<StepTime>);

/// A step.
pub(super) struct StepTime {
    pub(super) number: u64,
    /// The number of its process, and its thread.
    pub(super) process: u32,
    pub(super) tid: u32,
    pub(super) begin: i64,
    pub(super) end: i64,
    compute: i64,
    communication: i64,
    exposed: i64,
    /// Time in which it received from another rank.
    receiving: i64,
    /// When its first work on a device began.
    first_work: Option<i64>,
    device: Option<u32>,
}

impl StepTimes {
    pub(super) fn new(steps: &[&StepStats]) -> Self {
        let mut steps = steps.to_vec();
        steps.sort_by_key(|it| (it.begin_ns, it.process, it.tid));
        let laps = steps.iter().zip(0..).map(|(step, place)| StepTime {
            number: number(&step.name).unwrap_or(place),
            process: step.process,
            tid: step.tid,
            begin: step.begin_ns,
            end: step.begin_ns + step.length_ns,
            compute: step.compute_ns,
            communication: step.communication_ns,
            exposed: step.exposed_communication_ns,
            receiving: 0,
            first_work: None,
            device: None,
        });
        Self(laps.collect())
    }

    /// Takes in work of a device, and returns the number of the step that it began in.
    pub(super) fn take(&mut self, trace: &Trace, task: &Task, time: TaskTime) -> Option<u64> {
        let after = self.0.partition_point(|lap| lap.begin <= time.begin);
        let lap = self.0[..after]
            .last_mut()
            .filter(|lap| time.begin < lap.end)?;
        if is_receive(trace, task) {
            lap.receiving += time.end.min(lap.end) - time.begin;
        }
        if !matches!(task.kind, TaskKind::Memcpy | TaskKind::Memset) {
            lap.first_work = Some(lap.first_work.map_or(time.begin, |it| it.min(time.begin)));
        }
        lap.device.get_or_insert(trace.stream(task.stream).device);
        Some(lap.number)
    }

    /// All steps, by begin.
    pub(super) fn all(&self) -> &[StepTime] {
        &self.0
    }

    /// The steps without those that begin in another one.
    pub(super) fn apart(&self) -> impl Iterator<Item = &StepTime> {
        let mut reached = i64::MIN;
        self.0.iter().filter(move |step| {
            let is_apart = step.begin >= reached;
            if is_apart {
                reached = step.end;
            }
            is_apart
        })
    }

    pub(super) fn write(&self, trace: &Trace, to: &mut dyn Write) -> io::Result<()> {
        let device = trace.streams().first().map(|it| it.device);
        writeln!(to, "{COLUMNS}")?;
        for lap in &self.0 {
            lap.write(device, to)?;
        }
        Ok(())
    }
}

impl StepTime {
    /// The device that it used.
    pub(super) fn device(&self) -> Option<u32> {
        self.device
    }

    /// The times of the columns after the step, in nanoseconds.
    pub(super) fn columns(&self) -> [i64; 9] {
        let length = self.end - self.begin;
        [
            self.compute,
            self.exposed,
            self.communication - self.exposed,
            self.communication,
            length - self.compute - self.exposed,
            length - self.receiving,
            self.receiving,
            (self.exposed - self.receiving).max(0),
            self.first_work.map_or(0, |it| it - self.begin),
        ]
    }

    fn write(&self, device: Option<u32>, to: &mut dyn Write) -> io::Result<()> {
        let device = self.device.or(device);
        let device = device.map_or_else(|| "N/A".to_owned(), |it| it.to_string());
        write!(to, "{device},{}", self.number)?;
        for time in self.columns() {
            write!(
                to,
                ",{}.{:03}",
                time.div_euclid(1000),
                time.rem_euclid(1000)
            )?;
        }
        writeln!(to)
    }
}

fn is_receive(trace: &Trace, task: &Task) -> bool {
    let collective = Collective::of(trace, trace.call(task.call));
    matches!(collective.and_then(|it| it.peer), Some((Peer::Source, _)))
}

/// The number at the end of a step's name.
fn number(name: &str) -> Option<u64> {
    let before = name.trim_end_matches(|it: char| it.is_ascii_digit());
    name[before.len()..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_numbers_of_their_names() {
        assert_eq!(number("step 12"), Some(12));
        assert_eq!(number("#3"), Some(3));
        assert_eq!(number("ProfilerStep#7"), Some(7));
        assert_eq!(number("warm-up"), None);
    }

    #[test]
    fn the_times_of_a_step_are_those_that_the_columns_mean() {
        let lap = StepTime {
            number: 4,
            process: 1,
            tid: 7,
            begin: 1_000_000,
            end: 1_100_000,
            compute: 60_000,
            communication: 30_000,
            exposed: 10_500,
            receiving: 500,
            first_work: Some(1_002_000),
            device: Some(3),
        };
        let mut line = Vec::new();
        lap.write(None, &mut line).unwrap();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "3,4,60.000,10.500,19.500,30.000,29.500,99.500,0.500,10.000,2.000\n"
        );
    }
}

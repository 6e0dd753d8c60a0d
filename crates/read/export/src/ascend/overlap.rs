//! The process `Overlap Analysis` of `trace_view.json`: when the devices of a rank computed, communicated, and did neither.

use std::io;

use ascend_trace_analysis::Intervals;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Task, TaskTime, TimeRange};

use crate::ExportSource;
use crate::chrome::EventOutput;
use crate::tracks::SliceTrack;

/// The number of the process, above those of devices and tracks.
const PID: u32 = 30_000_000;

const PROCESS: &str = "Overlap Analysis";
const COMPUTING: &str = "Computing";
const COMMUNICATION: &str = "Communication";
const EXPOSED: &str = "Communication(Not Overlapped)";
const FREE: &str = "Free";

/// A task may begin this long before the time that it is sorted by.
const MOST_ERROR_NS: i64 = 2_000_000;

const TRACKS: [&str; 4] = [COMPUTING, COMMUNICATION, EXPOSED, FREE];

/// A track of a process that no device and no thread has.
pub(super) fn track(pid: u32, number: u32) -> SliceTrack {
    SliceTrack {
        pid,
        tid: pid + number,
        number: pid + number,
        lane: 0,
    }
}

/// Times of devices that are still looked at.
#[derive(Debug, Default)]
pub(super) struct OverlapAnalysis {
    computing: Vec<TimeRange>,
    communicating: Vec<TimeRange>,
    /// The end of everything that was written.
    busy_until: Option<i64>,
}

impl OverlapAnalysis {
    /// Takes work of a device. Copies are neither computing nor communication.
    pub(super) fn take(&mut self, task: &Task, time: TaskTime) {
        let times = match task.kind {
            TaskKind::Memcpy | TaskKind::Memset => return,
            TaskKind::Collective => &mut self.communicating,
            _ => &mut self.computing,
        };
        times.push(TimeRange::new(time.begin, time.end));
    }

    /// Writes the times that no later task can change.
    pub(super) fn write(
        &mut self,
        source: &ExportSource<'_>,
        output: &mut EventOutput<'_>,
    ) -> io::Result<()> {
        let until = match source.part.is_last {
            true => i64::MAX,
            false => source.part.until.saturating_sub(MOST_ERROR_NS),
        };
        let computing = Intervals::union_of(self.computing.drain(..));
        let communicating = Intervals::union_of(self.communicating.drain(..));
        let both = computing.parts().iter().chain(communicating.parts());
        let busy = Intervals::union_of(both.copied());
        let settled = busy.parts().iter().take_while(|it| it.end < until);
        let end = settled.clone().last().map_or(i64::MIN, |it| it.end);
        if self.busy_until.is_none() && end > i64::MIN {
            name_tracks(output)?;
        }
        let is_due = |it: &&TimeRange| it.end <= end;
        let exposed = communicating.difference(&computing);
        for (number, times) in [(0, &computing), (1, &communicating), (2, &exposed)] {
            for time in times.parts().iter().filter(is_due) {
                event(output, number, *time)?;
            }
        }
        for time in settled {
            if let Some(before) = self.busy_until.filter(|it| *it < time.begin) {
                event(output, 3, TimeRange::new(before, time.begin))?;
            }
            self.busy_until = Some(time.end);
        }
        let left = |times: &Intervals| {
            let left = times.parts().iter().filter(|it| it.end > end);
            left.copied().collect()
        };
        (self.computing, self.communicating) = (left(&computing), left(&communicating));
        Ok(())
    }
}

fn name_tracks(output: &mut EventOutput<'_>) -> io::Result<()> {
    output.label(track(PID, 0), "process", PROCESS, i64::from(PID))?;
    for (number, name) in (0..).zip(TRACKS) {
        output.label(track(PID, number), "thread", name, i64::from(number))?;
    }
    Ok(())
}

fn event(output: &mut EventOutput<'_>, number: u32, time: TimeRange) -> io::Result<()> {
    let name = TRACKS.get(number as usize).copied().unwrap_or(FREE);
    output.event(b'X', track(PID, number), |members| {
        members.named(name, "overlap");
        members.lasting(time.begin, time.end);
        members.args(|_| {});
    })
}

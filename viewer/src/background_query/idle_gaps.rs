//! Idle stretches of streams from one part of a recording into another.

use std::collections::{BTreeMap, HashMap, HashSet};

use ascend_trace_analysis::Cause;
use ascend_trace_recording::recording::{SearchDirection, WindowError};
use ascend_trace_recording::{Category, Recording, StreamId, Summary, TimeRange, Trace};

use crate::display_names;

/// Rows that are read to explain one idle stretch.
const MOST: u64 = 400_000;
/// Idle stretches from part to part that are shorter are not worth reading by themselves.
const SHORTEST: i64 = 1_000;
/// As far as the time of a task may differ from part to part: its clock is known better in one than in
/// the other.
const SLACK: i64 = 1_000_000;
/// Entries of the sums that show when streams continued.
pub(super) const ENTRIES: usize = 4_096;

/// A stretch between two tasks of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamGap {
    pub(super) stream: StreamId,
    pub(super) begin: i64,
    pub(super) end: i64,
}

impl StreamGap {
    /// All that happened meanwhile, unless that is too much.
    pub(super) fn read(&self, recording: &mut Recording) -> Result<Option<Trace>, WindowError> {
        let around = (
            self.begin.saturating_sub(SLACK),
            self.end.saturating_add(SLACK),
        );
        match recording.window(around, MOST) {
            Ok(trace) => Ok(Some(trace)),
            Err(WindowError::TooMany(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The cause, as far as the task that ended the stall shows it, and the culprit.
    pub(super) fn ended_by(
        &self,
        recording: &mut Recording,
    ) -> Result<(Cause, String), WindowError> {
        let end = (self.end.saturating_sub(1), self.end.saturating_add(SLACK));
        let trace = recording.window(end, u64::MAX)?;
        let streams = (0..trace.streams().len() as u32).map(StreamId);
        let own = streams.filter(|id| trace.lane_of(*id) == self.stream);
        let tasks = own.flat_map(|id| trace.stream_tasks(id));
        let mut tasks = tasks.map(|id| trace.task(*id));
        let middle = self.begin.midpoint(self.end);
        let next = tasks.find(|task| task.time.is_some_and(|time| time.end > middle));
        let launch = next.map(|task| trace.call(task.call));
        let Some(call) = launch.filter(|call| call.begin > middle) else {
            let words = "idle: too large to read at once".to_owned();
            return Ok((Cause::Unknown, words));
        };
        let thread = display_names::thread(&trace, call.thread);
        let sums = recording.summary((self.begin, self.end), ENTRIES)?;
        let lane = sums.thread(call.thread, 0);
        let waited = lane.map_or(0, |lane| {
            lane.sums(self.begin, self.end).busy[Category::Sync.slot()]
        });
        let is_most = waited > self.end.abs_diff(self.begin) / 2;
        Ok(match is_most {
            true => (Cause::HostBlocked, format!("host blocked ← {thread}")),
            false => (Cause::HostLate, format!("host late ← {thread}")),
        })
    }
}

/// Where streams were when the last part ended, in the direction of a query.
#[derive(Debug, Default)]
pub(super) struct StreamEdges {
    edges: HashMap<StreamId, i64>,
    /// Those of which no more needs to be known.
    settled: HashSet<StreamId>,
}

impl StreamEdges {
    /// Notes the first activity of each stream after a timestamp.
    pub(super) fn begin_before(&mut self, moment: i64, whole: &Summary) {
        for (id, lane) in whole.streams() {
            let entries = lane.entries();
            let next = entries.partition_point(|entry| entry.begin <= moment);
            // In the middle of a sum nothing is known of single tasks.
            let is_apart = next == 0 || entries[next - 1].end <= moment;
            if let Some(entry) = entries.get(next).filter(|_| is_apart) {
                self.edges.insert(id, entry.begin);
            }
        }
    }

    /// Goes on behind a part. Returns the idle stretches that end there and began in one before.
    pub(super) fn pass(
        &mut self,
        trace: &Trace,
        range: TimeRange,
        towards: SearchDirection,
    ) -> Vec<StreamGap> {
        let mut gaps = Vec::new();
        let mut lanes: BTreeMap<StreamId, Option<TimeRange>> = BTreeMap::new();
        for stream in (0..trace.streams().len() as u32).map(StreamId) {
            if let Some(worked) = ends(trace, stream, range) {
                let lane = lanes.entry(trace.lane_of(stream)).or_default();
                *lane = TimeRange::grown(*lane, worked);
            }
        }
        for (stream, worked) in lanes {
            let Some(worked) = worked else {
                continue;
            };
            let (near, far) = match towards {
                SearchDirection::Later => (worked.begin, worked.end),
                SearchDirection::Earlier => (worked.end, worked.begin),
            };
            self.settled.remove(&stream);
            if let Some(edge) = self.edges.insert(stream, far) {
                let TimeRange { begin, end } = TimeRange::between(edge, near);
                let is_apart = match towards {
                    SearchDirection::Later => edge < near && edge < range.begin,
                    SearchDirection::Earlier => near < edge && edge > range.end,
                };
                if is_apart && end.saturating_sub(begin) > SHORTEST {
                    gaps.push(StreamGap { stream, begin, end });
                }
            }
        }
        gaps
    }

    /// Streams with a last task that ended before a timestamp, and its end.
    pub(super) fn before(&self, moment: i64) -> impl Iterator<Item = (StreamId, i64)> {
        let edges = self.edges.iter().map(|(id, edge)| (*id, *edge));
        edges.filter(move |(id, edge)| *edge < moment && !self.settled.contains(id))
    }

    /// The successor of a stream's last task is known.
    pub(super) fn settle(&mut self, stream: StreamId) {
        self.settled.insert(stream);
    }
}

/// When a stream continued after a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamResumption {
    /// Too soon for the sums to show it.
    Near,
    At(i64),
    Never,
}

/// When a stream continued after its last task ended, by the sums of the range ahead.
pub(super) fn resumed(ahead: &Summary, stream: StreamId, ended: i64) -> StreamResumption {
    let entries = ahead.stream(stream).map_or(&[][..], |lane| lane.entries());
    let next = entries.partition_point(|entry| entry.end <= ended.saturating_add(SHORTEST));
    match entries.get(next) {
        None => StreamResumption::Never,
        Some(entry) if entry.begin > ended.saturating_add(SHORTEST) => {
            StreamResumption::At(entry.begin)
        }
        Some(_) => StreamResumption::Near,
    }
}

/// The begin of the first task of a stream that has a part in a range, or ends after its begin, and
/// the end of the last one that begins in it.
fn ends(trace: &Trace, id: StreamId, range: TimeRange) -> Option<TimeRange> {
    let times = trace.stream_tasks(id).iter();
    let mut times = times.filter_map(|task| trace.task(*task).time);
    let mut found: Option<TimeRange> = None;
    times.try_for_each(|time| {
        if time.begin > range.end {
            return None;
        }
        if time.end >= range.begin {
            found = TimeRange::grown(found, time.range());
        }
        Some(())
    });
    found
}

//! Stalls in all of a recording. A stall that lies in one part is found there; an idle stretch from
//! one part into another is noticed by what the stream did last and what it does next, and read by
//! itself.

use std::collections::HashMap;

use ascend_trace_analysis::{Cause, Dependencies, Lane, Stall, Stalls};
use ascend_trace_model::archive::{Answer, Towards, WindowError};
use ascend_trace_model::{Archive, StreamId, Summary, Trace};

use crate::arrangement::Arrangement;
use crate::blame::{self, Known};
use crate::item::TrackKey;
use crate::part::Identity;

use super::{Course, Found, News};

/// Rows that are read to explain one idle stretch.
const MOST: u64 = 400_000;
/// Idle stretches from part to part that are shorter are not worth reading by themselves.
const SHORTEST: i64 = 1_000;

/// A stall of a part that need not be loaded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) lane: Lane,
    pub(crate) cause: Cause,
    /// The cause and who is to blame.
    pub(crate) words: String,
}

impl Told {
    pub(crate) fn length(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    pub(crate) fn track(&self) -> TrackKey {
        track(self.lane)
    }

    pub(crate) fn found(&self) -> Found {
        Found {
            span: (self.begin, self.end),
            lane: self.track(),
            identity: Identity::Stall {
                lane: self.lane,
                begin: self.begin,
                end: self.end,
            },
        }
    }

    fn key(&self) -> (i64, Lane) {
        (self.begin, self.lane)
    }
}

fn track(lane: Lane) -> TrackKey {
    match lane {
        Lane::Stream(stream) => TrackKey::Stream(stream),
        Lane::Thread(thread) => TrackKey::Thread(thread, 0),
    }
}

/// Which stalls are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The first one past this moment and lane, the way it goes.
    Next(i64, Option<Lane>, Towards),
    /// So many, the longest ones.
    Longest(usize, Option<Cause>),
}

#[derive(Debug)]
pub(crate) struct StallQuest {
    wanted: Wanted,
    arrangement: Arrangement,
    /// What was found: the next one, or the longest ones, longest first.
    pub(crate) told: Vec<Told>,
    /// Where streams were when the last part ended, in the direction of the quest.
    edges: HashMap<StreamId, i64>,
    /// A stall was found: the next part may hold the end of one that began before it.
    last: bool,
}

impl StallQuest {
    pub(crate) fn new(wanted: Wanted, arrangement: Arrangement) -> Self {
        Self {
            wanted,
            arrangement,
            told: Vec::new(),
            edges: HashMap::new(),
            last: false,
        }
    }

    /// Begins before a moment: notes what each stream does first after it.
    pub(crate) fn begin_before(&mut self, moment: i64, whole: &Summary) {
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

    /// The cause of which the longest stalls are wanted, if it is these.
    pub(crate) fn listed(&self) -> Option<Option<Cause>> {
        match self.wanted {
            Wanted::Longest(_, cause) => Some(cause),
            Wanted::Next(..) => None,
        }
    }

    pub(super) fn advance(
        &mut self,
        course: &mut Course,
        archive: &mut Archive,
        keep_on: &mut dyn FnMut(&News) -> bool,
    ) -> Result<bool, WindowError> {
        loop {
            let now = *course;
            let mut next = now.next;
            let answer = archive.find(
                now.next,
                now.towards,
                |_| true,
                |reached| {
                    next = reached;
                    keep_on(&News::Reached(reached, now.wrapped))
                },
                |trace, range| Some((self.part(trace, range, now.towards), range)),
            )?;
            course.next = next;
            let (gaps, range) = match answer {
                Answer::Stopped => return Ok(false),
                Answer::Nothing => return Ok(true),
                Answer::Found(found) => found,
            };
            for gap in gaps {
                self.gap(archive, gap)?;
            }
            course.pass(range);
            if now.is_last(range) {
                return Ok(true);
            }
            let is_next = matches!(self.wanted, Wanted::Next(..));
            let is_found = is_next && !self.told.is_empty();
            if is_found && (self.last || now.towards == Towards::Earlier) {
                return Ok(true);
            }
            self.last = is_found;
        }
    }

    /// Takes the stalls of a part. Answers the idle stretches that go from there into the part before
    /// it.
    fn part(
        &mut self,
        trace: &Trace,
        range: (i64, i64),
        towards: Towards,
    ) -> Vec<(StreamId, i64, i64)> {
        let dependencies = Dependencies::of(trace);
        let stalls = Stalls::of_part(trace, &dependencies);
        let known = Known {
            dependencies: &dependencies,
            stalls: &stalls,
        };
        for stall in stalls.iter() {
            if (range.0..=range.1).contains(&stall.begin) {
                self.take(known, trace, stall);
            }
        }
        let mut gaps = Vec::new();
        for id in (0..trace.streams().len() as u32).map(StreamId) {
            let Some((first, last)) = ends(trace, id, range) else {
                continue;
            };
            let (near, far) = match towards {
                Towards::Later => (first, last),
                Towards::Earlier => (last, first),
            };
            if let Some(edge) = self.edges.insert(id, far) {
                let (begin, end) = (edge.min(near), edge.max(near));
                let is_apart = match towards {
                    Towards::Later => edge < near && edge < range.0,
                    Towards::Earlier => near < edge && edge > range.1,
                };
                if is_apart && end.saturating_sub(begin) > SHORTEST {
                    gaps.push((id, begin, end));
                }
            }
        }
        gaps
    }

    /// Reads and explains an idle stretch.
    fn gap(
        &mut self,
        archive: &mut Archive,
        (stream, begin, end): (StreamId, i64, i64),
    ) -> Result<(), WindowError> {
        let lane = Lane::Stream(stream);
        if !self.may_want(lane, begin, end) {
            return Ok(());
        }
        let around = (begin.saturating_sub(1), end.saturating_add(1));
        let trace = match archive.window(around, MOST) {
            Ok(trace) => trace,
            Err(WindowError::TooMany(_)) => {
                let told = Told {
                    begin,
                    end,
                    lane,
                    cause: Cause::Unknown,
                    words: "idle: too long to be read at once".to_owned(),
                };
                self.keep(told);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let dependencies = Dependencies::of(&trace);
        let stalls = Stalls::of_part(&trace, &dependencies);
        let known = Known {
            dependencies: &dependencies,
            stalls: &stalls,
        };
        let inside = stalls.in_window(lane, begin.saturating_add(1), end.saturating_sub(1));
        for stall in inside {
            self.take(known, &trace, stall);
        }
        Ok(())
    }

    fn take(&mut self, known: Known<'_>, trace: &Trace, stall: &Stall) {
        let is_cause = match self.wanted {
            Wanted::Longest(_, Some(cause)) => stall.cause == cause,
            _ => true,
        };
        if !stall.is_notable()
            || !is_cause
            || !self.arrangement.wants(trace, track(stall.lane))
            || !self.may_want(stall.lane, stall.begin, stall.end)
        {
            return;
        }
        self.keep(Told {
            begin: stall.begin,
            end: stall.end,
            lane: stall.lane,
            cause: stall.cause,
            words: blame::sentence(known, trace, stall),
        });
    }

    /// Whether a stall would be kept, as far as its place and length go.
    fn may_want(&self, lane: Lane, begin: i64, end: i64) -> bool {
        match self.wanted {
            Wanted::Next(from, from_lane, towards) => {
                let (own, key) = ((begin, Some(lane)), (from, from_lane));
                let first = self.told.first().map(Told::key);
                match towards {
                    Towards::Later => own > key && first.is_none_or(|it| (begin, lane) < it),
                    Towards::Earlier => own < key && first.is_none_or(|it| (begin, lane) > it),
                }
            }
            Wanted::Longest(number, _) => {
                let least = self.told.get(number.saturating_sub(1)).map(Told::length);
                least.is_none_or(|least| end.saturating_sub(begin) > least)
            }
        }
    }

    fn keep(&mut self, told: Told) {
        match self.wanted {
            Wanted::Next(..) => self.told = vec![told],
            Wanted::Longest(number, _) => {
                // What goes from one part into another may be told of by both.
                if self.told.iter().any(|it| it.key() == told.key()) {
                    return;
                }
                let order = |it: &Told| (-it.length(), it.begin, it.lane);
                let place = self.told.partition_point(|it| order(it) < order(&told));
                self.told.insert(place, told);
                self.told.truncate(number);
            }
        }
    }
}

/// The begin of the first task of a stream that has a part in a range, or ends after its begin, and
/// the end of the last one that begins in it.
fn ends(trace: &Trace, id: StreamId, range: (i64, i64)) -> Option<(i64, i64)> {
    let times = trace.stream_tasks(id).iter();
    let mut times = times.filter_map(|task| trace.task(*task).time);
    let mut found: Option<(i64, i64)> = None;
    times.try_for_each(|time| {
        if time.begin > range.1 {
            return None;
        }
        if time.end >= range.0 {
            let (first, last) = found.unwrap_or((time.begin, time.end));
            found = Some((first.min(time.begin), last.max(time.end)));
        }
        Some(())
    });
    found
}

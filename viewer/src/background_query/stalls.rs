//! Stalls in a whole recording. A stall inside one part is found there; an idle stretch across parts
//! shows in the last activity of the stream before and the first one after, and is read separately.

use ascend_trace_analysis::{Blame, Cause, Dependencies, Lane, Nesting, Stall, Stalls};
use ascend_trace_recording::recording::{SearchDirection, SearchResult, WindowError};
use ascend_trace_recording::{Recording, Summary, TimeRange, Trace};

use crate::arrangement::LaneArrangement;
use crate::blame::{self, StallContext};
use crate::item::TrackKey;
use crate::panels::StallPanel;
use crate::stable_id::StableId;

use super::idle_gaps::{self, StreamEdges, StreamGap};
use super::{FoundElsewhere, QueryPosition};
use crate::job::JobProgress;

/// A stall of a part that need not be loaded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundStall {
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) lane: Lane,
    pub(crate) cause: Cause,
    /// The cause and who is to blame.
    pub(crate) words: String,
}

impl FoundStall {
    pub(crate) fn length(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    pub(crate) fn track(&self) -> TrackKey {
        track(self.lane)
    }

    pub(crate) fn found(&self) -> FoundElsewhere {
        FoundElsewhere {
            span: TimeRange::new(self.begin, self.end),
            lane: self.track(),
            identity: StableId::Stall {
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

pub(super) fn track(lane: Lane) -> TrackKey {
    match lane {
        Lane::Stream(stream) => TrackKey::Stream(stream),
        Lane::Thread(thread) => TrackKey::Thread(thread, 0),
    }
}

/// Which stalls are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedStalls {
    /// The first one after this timestamp and lane, in this direction.
    Next(i64, Option<Lane>, SearchDirection),
    /// This number of the longest ones.
    Longest(usize, StallPanel),
}

#[derive(Debug)]
pub(crate) struct StallQuery {
    wanted: WantedStalls,
    /// Whom they must have to blame, if that matters.
    blame: Option<Blame>,
    /// Shorter ones are not wanted.
    least: i64,
    arrangement: LaneArrangement,
    /// The result: the next one, or the longest ones, longest first.
    pub(crate) found_stalls: Vec<FoundStall>,
    edges: StreamEdges,
}

impl StallQuery {
    pub(crate) fn new(wanted: WantedStalls, arrangement: LaneArrangement, least: i64) -> Self {
        Self {
            wanted,
            blame: None,
            least,
            arrangement,
            found_stalls: Vec::new(),
            edges: StreamEdges::default(),
        }
    }

    /// Only those that have this one to blame.
    pub(crate) fn blaming(mut self, blame: Option<Blame>) -> Self {
        self.blame = blame;
        self
    }

    /// Begins before a timestamp: notes the first activity of each stream after it.
    pub(crate) fn begin_before(&mut self, moment: i64, whole: &Summary) {
        self.edges.begin_before(moment, whole);
    }

    /// Of which the longest stalls are wanted, and how short they may be, if it is these.
    pub(crate) fn listed(&self) -> Option<(StallPanel, i64)> {
        match self.wanted {
            WantedStalls::Longest(_, which) => Some((which, self.least)),
            WantedStalls::Next(..) => None,
        }
    }

    pub(super) fn advance(
        &mut self,
        course: &mut QueryPosition,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        loop {
            let now = *course;
            let mut next = now.next;
            let answer = recording.find(
                now.next,
                now.towards,
                |_| true,
                |reached| {
                    next = reached;
                    keep_on(JobProgress::Moment(reached, now.wrapped))
                },
                |trace, range| Some((self.part(trace, range, now.towards), range)),
            )?;
            course.next = next;
            let (gaps, range) = match answer {
                SearchResult::Stopped => return Ok(false),
                SearchResult::Nothing => return Ok(true),
                SearchResult::Found(found) => found,
            };
            for gap in gaps {
                self.gap(recording, gap)?;
            }
            course.move_past(range);
            if now.is_last(range) {
                return Ok(true);
            }
            let is_next = matches!(self.wanted, WantedStalls::Next(..));
            let is_found = is_next && !self.found_stalls.is_empty();
            // In the direction of earlier times, all later stalls are known to their ends.
            if is_found
                && (now.towards == SearchDirection::Earlier
                    || !self.is_open(recording, course.next)?)
            {
                return Ok(true);
            }
        }
    }

    /// Whether a stream may have become idle before the stall that was found, and continued only after
    /// the part that was read. Where sums show when it continued, that stretch is read at once: it may
    /// be longer than any part.
    fn is_open(&mut self, recording: &mut Recording, next: i64) -> Result<bool, WindowError> {
        let trace = recording.entities();
        let open = self.edges.before(next).filter(|(id, edge)| {
            let lane = Lane::Stream(*id);
            self.may_want(lane, *edge, next) && self.arrangement.wants(trace, track(lane))
        });
        let open: Vec<_> = open.collect();
        if open.is_empty() {
            return Ok(false);
        }
        let ahead = recording.summary((next, i64::MAX), idle_gaps::ENTRIES)?;
        let mut is_open = false;
        for (stream, begin) in open {
            match idle_gaps::resumed(&ahead, stream, begin) {
                idle_gaps::StreamResumption::Near => is_open = true,
                idle_gaps::StreamResumption::Never => self.edges.settle(stream),
                idle_gaps::StreamResumption::At(end) => {
                    self.edges.settle(stream);
                    self.gap(recording, StreamGap { stream, begin, end })?;
                }
            }
        }
        Ok(is_open)
    }

    /// Takes the stalls of a part. Returns the idle stretches that go from there into the part before
    /// it.
    fn part(
        &mut self,
        trace: &Trace,
        range: TimeRange,
        towards: SearchDirection,
    ) -> Vec<StreamGap> {
        let dependencies = Dependencies::of(trace);
        let stalls = Stalls::of_part(trace, &dependencies, true);
        let known = StallContext {
            dependencies: &dependencies,
            stalls: &stalls,
        };
        let nesting = self.nesting(trace);
        for stall in stalls.iter() {
            if range.contains(stall.begin) {
                self.take(known, &nesting, trace, stall);
            }
        }
        self.edges.pass(trace, range, towards)
    }

    /// Reads and explains an idle stretch.
    fn gap(&mut self, recording: &mut Recording, gap: StreamGap) -> Result<(), WindowError> {
        let lane = Lane::Stream(gap.stream);
        let is_short = gap.end.saturating_sub(gap.begin) < self.least;
        if is_short || !self.may_want(lane, gap.begin, gap.end) {
            return Ok(());
        }
        let Some(trace) = gap.read(recording)? else {
            // Only its end is read, which shows its culprit.
            let is_wanted = self.arrangement.wants(recording.entities(), track(lane));
            let (cause, words) = gap.ended_by(recording)?;
            // Whom to blame is not known then.
            if is_wanted && self.is_cause(cause) && self.blame.is_none() {
                self.keep(FoundStall {
                    begin: gap.begin,
                    end: gap.end,
                    lane,
                    cause,
                    words,
                });
            }
            return Ok(());
        };
        let dependencies = Dependencies::of(&trace);
        let stalls = Stalls::of_part(&trace, &dependencies, true);
        let known = StallContext {
            dependencies: &dependencies,
            stalls: &stalls,
        };
        let nesting = self.nesting(&trace);
        let (begin, end) = (gap.begin.saturating_add(1), gap.end.saturating_sub(1));
        for stall in stalls.in_window(lane, begin, end) {
            self.take(known, &nesting, &trace, stall);
        }
        Ok(())
    }

    fn is_cause(&self, cause: Cause) -> bool {
        match self.wanted {
            WantedStalls::Longest(_, StallPanel::Cause(wanted)) => wanted == cause,
            _ => true,
        }
    }

    /// The program's ranges, where it matters in which one a stall was.
    fn nesting(&self, trace: &Trace) -> Nesting {
        match self.blame {
            Some(_) => Nesting::of(trace),
            None => Nesting::default(),
        }
    }

    fn take(&mut self, known: StallContext<'_>, nesting: &Nesting, trace: &Trace, stall: &Stall) {
        let is_next = matches!(self.wanted, WantedStalls::Next(..));
        let is_own = |blame: &Blame| {
            known
                .stalls
                .blame(trace, known.dependencies, nesting, stall)
                == *blame
        };
        if !stall.is_notable()
            || stall.length() < self.least
            || is_next && known.stalls.continues(stall)
            || !self.is_cause(stall.cause)
            || !self.arrangement.wants(trace, track(stall.lane))
            || !self.may_want(stall.lane, stall.begin, stall.end)
            || !self.blame.as_ref().is_none_or(is_own)
        {
            return;
        }
        self.keep(FoundStall {
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
            WantedStalls::Next(from, from_lane, towards) => {
                let (own, key) = ((begin, Some(lane)), (from, from_lane));
                let first = self.found_stalls.first().map(FoundStall::key);
                match towards {
                    SearchDirection::Later => {
                        own > key && first.is_none_or(|it| (begin, lane) < it)
                    }
                    SearchDirection::Earlier => {
                        own < key && first.is_none_or(|it| (begin, lane) > it)
                    }
                }
            }
            WantedStalls::Longest(number, _) => {
                let least = self
                    .found_stalls
                    .get(number.saturating_sub(1))
                    .map(FoundStall::length);
                least.is_none_or(|least| end.saturating_sub(begin) > least)
            }
        }
    }

    fn keep(&mut self, stall: FoundStall) {
        match self.wanted {
            WantedStalls::Next(..) => self.found_stalls = vec![stall],
            WantedStalls::Longest(number, _) => {
                // Both parts may report a stall that crosses their border.
                if self.found_stalls.iter().any(|it| it.key() == stall.key()) {
                    return;
                }
                let order = |it: &FoundStall| (-it.length(), it.begin, it.lane);
                let place = self
                    .found_stalls
                    .partition_point(|it| order(it) < order(&stall));
                self.found_stalls.insert(place, stall);
                self.found_stalls.truncate(number);
            }
        }
    }
}

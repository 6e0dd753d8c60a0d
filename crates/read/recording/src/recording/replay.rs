//! A whole recording read once, in the order of the file, as a trace that forgets: for exports, which
//! need every row once and only the part of the past that the present depends on.

use crate::file::index::Segment;
use crate::file::{Budget, FileItem, ItemSink, OpenError, Table};
use crate::load::TraceBuilder;
use crate::rows::{CallRow, RangeRow, Row, TaskTimeRow};
use crate::trace::{CallId, Trace};

use super::Recording;
use super::open::calls;
use super::times_ahead::{self, LaunchedTask, TimesAhead};

/// A file on its way through memory.
#[derive(Debug)]
pub struct Replay<'a> {
    recording: &'a mut Recording,
    builder: TraceBuilder,
    segments: Vec<Segment>,
    times: TimesAhead,
    /// By segment, and for the end of the file: no call begins before this from there on.
    ahead: Vec<i64>,
    /// The next segment to be read.
    next: usize,
    /// All before has been read.
    position: u64,
    rows_done: u64,
    /// The next chunk of entries of the hardware's log.
    next_entries: usize,
}

impl Recording {
    /// All of the recording, in memory at once.
    ///
    /// # Errors
    /// When the file cannot be read, or makes no sense within its memory limit.
    pub fn whole(&mut self) -> Result<Trace, OpenError> {
        let builder = self.builder.clone();
        let mut replay = self.replay_with(builder);
        while replay.advance(u64::MAX)? {}
        Ok(replay.builder.finish())
    }

    /// Reads the whole recording again, bit by bit.
    pub fn replay(&mut self) -> Replay<'_> {
        let mut builder = self.builder.clone();
        builder.set_forgetful();
        self.replay_with(builder)
    }

    fn replay_with(&mut self, builder: TraceBuilder) -> Replay<'_> {
        let groups = self.layout.groups();
        let segments: Vec<Segment> = groups.flat_map(|group| &group.segments).copied().collect();
        Replay {
            times: TimesAhead::new(&segments, self.layout.links()),
            ahead: ahead(&segments),
            recording: self,
            builder,
            segments,
            next: 0,
            position: 0,
            rows_done: 0,
            next_entries: 0,
        }
    }
}

fn ahead(segments: &[Segment]) -> Vec<i64> {
    let mut least = i64::MAX;
    let mut ahead = vec![least];
    for segment in segments.iter().rev() {
        if let Some(span) = segment.call_span {
            least = least.min(span.begin);
        }
        ahead.push(least);
    }
    ahead.reverse();
    ahead
}

impl Replay<'_> {
    /// Reads about `rows` rows. False when the file has no more.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn advance(&mut self, rows: u64) -> Result<bool, OpenError> {
        if self.next == 0 {
            self.read_ranges()?;
        }
        let until = self.rows_done.saturating_add(rows.max(1));
        let begin = self.next;
        let limit = Budget::most_held(self.recording.parts.length()?);
        let mut read = 0;
        while self.rows_done < until
            && read < rows.max(1)
            && let Some(segment) = self.segments.get(self.next).copied()
        {
            let number = self.next as u32;
            self.next += 1;
            self.rows_done += segment.rows();
            // The index may be wrong.
            read += self.read(&segment, number)?;
            if self.builder.rows_memory() > limit {
                return Err(OpenError::TooMuch);
            }
        }
        self.read_entries(limit)?;
        self.builder.settle();
        Ok(self.next > begin)
    }

    /// Reads the hardware log's entries of the tasks until now: they may be much later in the file.
    fn read_entries(&mut self, limit: u64) -> Result<(), OpenError> {
        let recording = &mut *self.recording;
        let length = recording.parts.length()?;
        let before = match self.next == self.segments.len() {
            true => u64::MAX,
            false => self.position,
        };
        let mut warnings = Vec::new();
        self.next_entries = recording.layout.entries().take_in_order(
            self.next_entries,
            before,
            (&recording.parts, length),
            &mut self.builder,
            &mut warnings,
        )?;
        if !warnings.is_empty() {
            self.builder.set_damaged();
        }
        recording.warn(warnings);
        match self.builder.rows_memory() > limit {
            true => Err(OpenError::TooMuch),
            false => Ok(()),
        }
    }

    /// Reads all ranges. They end after the calls inside them, and are not forgotten: so the ranges
    /// around every call are known.
    fn read_ranges(&mut self) -> Result<(), OpenError> {
        let recording = &mut *self.recording;
        let builder = &mut self.builder;
        let left = recording.layout.left();
        let length = recording.parts.length()?;
        let mut budget = Budget::window(length, left.rows(RangeRow::KIND));
        let mut warnings = Vec::new();
        let chunks = left.within((0, u64::MAX));
        for found in chunks.filter(|found| found.is(RangeRow::KIND)) {
            let mut take = |item| {
                if let FileItem::Row(row) = item {
                    builder.apply(row);
                }
            };
            warnings.extend(recording.parts.items(found, &mut budget, &mut take)?);
        }
        if !warnings.is_empty() {
            builder.set_damaged();
        }
        recording.warn(warnings);
        Ok(())
    }

    /// Reads a segment with the times of its tasks, and returns the number of its rows.
    fn read(&mut self, segment: &Segment, number: u32) -> Result<u64, OpenError> {
        let recording = &mut *self.recording;
        let builder = &mut self.builder;
        let first = builder.trace().tasks().len();
        let mut budget = Budget::segment(recording.parts.length()?, segment.rows());
        let mut take = SegmentSink {
            builder,
            rows: 0,
            times: Vec::new(),
        };
        let left = (self.position, segment.end());
        let mut warnings = Vec::new();
        let others = recording.layout.left().within(left);
        for found in others.filter(|found| !found.is(RangeRow::KIND)) {
            warnings.extend(recording.parts.items(found, &mut budget, &mut take)?);
        }
        self.position = self.position.max(segment.end());
        let bytes = (segment.offset, segment.end());
        let is_call = recording.layout.calls_of(segment);
        let has_times =
            segment.times > 0 && self.times.wants(number, number) && !self.times.has(number);
        let wanted = |kind| kind == is_call || (has_times && kind == TaskTimeRow::KIND);
        warnings.extend(
            recording
                .parts
                .range(bytes, wanted, &mut budget, &mut take)?,
        );
        let SegmentSink { rows, times, .. } = take;
        if has_times {
            self.times.hold(number, times, number);
        }
        if !warnings.is_empty() {
            builder.set_damaged();
        }
        recording.warn(warnings);
        self.read_times(number, first)?;
        Ok(rows)
    }

    /// Gives the tasks of a segment, which are the last ones from `first` on, their times.
    fn read_times(&mut self, number: u32, first: usize) -> Result<(), OpenError> {
        let needed = self.times.needed(number);
        if needed.is_empty() {
            return Ok(());
        }
        let tasks = LaunchedTask::since(self.builder.trace(), first);
        for segment in needed {
            if !self.times.has(segment) {
                self.read_times_of(segment, number)?;
            }
            self.times.time(segment, &tasks, &mut self.builder, number);
        }
        self.times.forget(number);
        Ok(())
    }

    /// Takes in the times that a segment has, somewhere in the file.
    fn read_times_of(&mut self, segment: u32, now: u32) -> Result<(), OpenError> {
        let recording = &mut *self.recording;
        let Some(found) = self.segments.get(segment as usize) else {
            return Ok(());
        };
        let length = recording.parts.length()?;
        let (rows, warnings) = times_ahead::read(&recording.parts, found, length)?;
        if !warnings.is_empty() {
            self.builder.set_damaged();
        }
        recording.warn(warnings);
        self.times.hold(segment, rows, now);
        Ok(())
    }

    /// The part in memory now.
    pub fn trace(&self) -> &Trace {
        self.builder.trace()
    }

    /// Whether everything has been read.
    pub fn is_done(&self) -> bool {
        self.next == self.segments.len()
    }

    /// Rows that have been read, and all there are.
    pub fn progress(&self) -> (u64, u64) {
        (self.rows_done, self.recording.rows())
    }

    /// All calls that begin before this time are known, with the times of their tasks.
    pub fn horizon(&self) -> i64 {
        self.ahead.get(self.next).copied().unwrap_or(i64::MAX)
    }

    /// Forgets the calls that are not to be kept, and their tasks: ids change, and numbers do not.
    pub fn forget(&mut self, keep: &[bool]) {
        debug_assert_eq!(keep.len(), self.trace().calls().len());
        self.builder.retain(keep);
    }
}

/// Takes the rows of a segment in.
struct SegmentSink<'b> {
    builder: &'b mut TraceBuilder,
    rows: u64,
    times: Vec<TaskTimeRow>,
}

impl ItemSink for SegmentSink<'_> {
    fn take(&mut self, item: FileItem) {
        match item {
            FileItem::Row(row) => {
                self.rows += 1;
                match row {
                    Row::TaskTime(row) => self.times.push(row),
                    row => self.builder.apply(row),
                }
            }
            item => calls(item).for_each(|row| self.builder.apply(Row::Call(row))),
        }
    }

    fn call(&mut self, row: &mut CallRow) {
        self.rows += 1;
        self.builder.apply_call(row);
    }
}

/// The calls of a trace to keep.
#[derive(Clone, Debug)]
pub struct KeptCalls(Vec<bool>);

impl KeptCalls {
    /// Nothing of a trace.
    pub fn none(trace: &Trace) -> Self {
        Self(vec![false; trace.calls().len()])
    }

    /// Keeps a call, and the task that it submitted.
    pub fn call(&mut self, id: CallId) {
        if let Some(keep) = self.0.get_mut(id.index()) {
            *keep = true;
        }
    }

    pub fn has(&self, id: CallId) -> bool {
        self.0.get(id.index()).copied().unwrap_or(false)
    }

    /// Maps the ids of kept calls to their ids after the others are forgotten.
    pub fn moves(&self) -> impl Fn(CallId) -> Option<CallId> {
        let mut next = 0;
        let moves = self.0.iter().map(|is_kept| {
            next += u32::from(*is_kept);
            is_kept.then(|| CallId(next - 1))
        });
        let moves: Vec<Option<CallId>> = moves.collect();
        move |id| moves.get(id.index()).copied().flatten()
    }

    pub fn as_slice(&self) -> &[bool] {
        &self.0
    }
}

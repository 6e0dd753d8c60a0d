//! Launches that wait for their times, and times that wait for their launches: who comes first waits, however
//! long that takes, until its counterpart with the same sequence comes.
//!
//! The latest ones are known one by one. Of older ones only runs are known: sequences without a gap, in the same part
//! of the file. Where there are very many runs, neighbours are put together, with the gap between them. Such a loose run
//! may name a part of the file for nothing, but it never leaves one out.

use std::collections::VecDeque;

/// A part of the file: from the begin of its first segment to that of its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileSpan {
    pub(crate) from: u64,
    pub(crate) until: u64,
}

impl FileSpan {
    /// One segment.
    pub(crate) fn at(segment: u64) -> Self {
        Self {
            from: segment,
            until: segment,
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            from: self.from.min(other.from),
            until: self.until.max(other.until),
        }
    }
}

/// A launch or a time that waits for the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingItem {
    pub(super) sequence: u32,
    word: PendingWord,
    is_taken: bool,
    /// Of a launch: the begin of its call.
    pub(super) begin: i64,
    /// Where its segment begins.
    pub(super) segment: u64,
}

impl PendingItem {
    pub(super) fn new(sequence: u32, word: PendingWord, begin: i64, segment: u64) -> Self {
        Self {
            sequence,
            word,
            is_taken: false,
            begin,
            segment,
        }
    }
}

/// The class of a task that waits, where it is known, and the reason that was given for having no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingWord(u8);

impl PendingWord {
    const SLOT_BITS: u32 = 3;

    /// Reasons beyond this are one.
    const MOST: u8 = u8::MAX >> Self::SLOT_BITS;

    pub(super) fn new(slot: u8, reason: u8) -> Self {
        Self(reason.min(Self::MOST) << Self::SLOT_BITS | slot)
    }

    fn slot(self) -> u8 {
        self.0 & ((1 << Self::SLOT_BITS) - 1)
    }

    fn reason(self) -> u8 {
        self.0 >> Self::SLOT_BITS
    }
}

/// Some that wait, with sequences in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingRun {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) place: FileSpan,
    /// No launch of them began before this.
    pub(crate) begin: i64,
    /// Of all of them, the reason that was given for having no time.
    pub(crate) reason: u8,
}

impl PendingRun {
    fn of(item: &PendingItem) -> Self {
        Self {
            first: item.sequence,
            last: item.sequence,
            place: FileSpan::at(item.segment),
            begin: item.begin,
            reason: item.word.reason(),
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            place: self.place.and(other.place),
            begin: self.begin.min(other.begin),
            reason: self.reason,
        }
    }

    /// Whether another one goes on where this one ends.
    fn goes_on(&self, other: &Self) -> bool {
        (self.place, self.reason) == (other.place, other.reason)
            && self.last.checked_add(1) == Some(other.first)
    }
}

/// One that waited.
#[derive(Clone, Copy, Debug)]
pub(super) enum PendingMatch {
    Exactly(PendingItem),
    /// It is one of these, and waits no more.
    Among(PendingRun),
    /// It may be one of these, or has not come.
    Maybe(PendingRun),
}

impl PendingMatch {
    pub(super) fn place(&self) -> FileSpan {
        match self {
            Self::Exactly(item) => FileSpan::at(item.segment),
            Self::Among(run) | Self::Maybe(run) => run.place,
        }
    }

    pub(super) fn begin(&self) -> i64 {
        match self {
            Self::Exactly(item) => item.begin,
            Self::Among(run) | Self::Maybe(run) => run.begin,
        }
    }

    pub(super) fn is_certain(&self) -> bool {
        !matches!(self, Self::Maybe(_))
    }

    /// The reason that was given for having no time.
    pub(super) fn reason(&self) -> u8 {
        match self {
            Self::Exactly(item) => item.word.reason(),
            Self::Among(run) | Self::Maybe(run) => run.reason,
        }
    }

    /// The class of the task, where it is known.
    pub(super) fn slot(&self) -> Option<u8> {
        match self {
            Self::Exactly(item) => Some(item.word.slot()),
            Self::Among(_) | Self::Maybe(_) => None,
        }
    }
}

/// Those of one stream that wait, in the order of their sequences.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingTasks {
    items: VecDeque<PendingItem>,
    /// Of the items.
    taken: usize,
    runs: Vec<PendingRun>,
    /// With gaps: not all sequences in them wait.
    loose: Vec<PendingRun>,
}

impl PendingTasks {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.runs.is_empty() && self.loose.is_empty()
    }

    /// Items that take memory.
    pub(super) fn items(&self) -> usize {
        self.items.len()
    }

    /// Runs that take memory.
    pub(super) fn runs(&self) -> usize {
        self.runs.len() + self.loose.len()
    }

    /// All runs, and whether they are loose.
    pub(super) fn all_runs(&self) -> impl Iterator<Item = (PendingRun, bool)> {
        let runs = self.runs.iter().map(|run| (*run, false));
        runs.chain(self.loose.iter().map(|run| (*run, true)))
    }

    pub(super) fn push(&mut self, item: PendingItem) {
        let is_next = self
            .items
            .back()
            .is_none_or(|last| last.sequence < item.sequence);
        if is_next {
            return self.items.push_back(item);
        }
        let place = self.items.partition_point(|it| it.sequence < item.sequence);
        if self.items[place].sequence != item.sequence {
            self.items.insert(place, item);
        }
    }

    /// Takes the one with this sequence out.
    pub(super) fn take(&mut self, sequence: u32) -> Option<PendingMatch> {
        if let Some(found) = self.take_item(sequence) {
            return Some(PendingMatch::Exactly(found));
        }
        if let Some(found) = self.take_of_run(sequence) {
            return Some(PendingMatch::Among(found));
        }
        Some(PendingMatch::Maybe(
            self.loose[place_in(&self.loose, sequence)?],
        ))
    }

    fn take_of_run(&mut self, sequence: u32) -> Option<PendingRun> {
        let place = place_in(&self.runs, sequence)?;
        let found = self.runs[place];
        let before = PendingRun {
            last: sequence.wrapping_sub(1),
            ..found
        };
        let after = PendingRun {
            first: sequence.wrapping_add(1),
            ..found
        };
        match (found.first < sequence, sequence < found.last) {
            (false, false) => drop(self.runs.remove(place)),
            (false, true) => self.runs[place] = after,
            (true, false) => self.runs[place] = before,
            (true, true) => {
                self.runs[place] = before;
                self.runs.insert(place + 1, after);
            }
        }
        Some(found)
    }

    fn take_item(&mut self, sequence: u32) -> Option<PendingItem> {
        let is_first = self.items.front()?.sequence == sequence;
        let place = match is_first {
            true => 0,
            false => self.items.partition_point(|it| it.sequence < sequence),
        };
        let item = self.items.get_mut(place)?;
        if item.sequence != sequence || item.is_taken {
            return None;
        }
        item.is_taken = true;
        let found = *item;
        self.taken += 1;
        while self.items.front().is_some_and(|it| it.is_taken) {
            self.items.pop_front();
            self.taken -= 1;
        }
        Some(found)
    }

    /// Makes room: taken items leave. If they are less than half of all, `count` of the oldest items become runs.
    pub(super) fn shrink(&mut self, count: usize) {
        let is_enough = self.taken * 2 >= self.items.len() && self.taken > 0;
        self.items.retain(|it| !it.is_taken);
        self.taken = 0;
        if is_enough {
            return;
        }
        let count = count.min(self.items.len());
        let oldest: Vec<PendingItem> = self.items.drain(..count).collect();
        let mut last: Option<PendingRun> = None;
        for run in oldest.iter().map(PendingRun::of) {
            match &mut last {
                Some(known) if known.goes_on(&run) => *known = known.and(&run),
                _ => {
                    if let Some(known) = last.replace(run) {
                        add(&mut self.runs, known);
                    }
                }
            }
        }
        if let Some(known) = last {
            add(&mut self.runs, known);
        }
    }

    /// Adds runs that were known elsewhere.
    pub(super) fn add_run(&mut self, run: PendingRun, is_loose: bool) {
        match is_loose {
            false => add(&mut self.runs, run),
            true => add(&mut self.loose, run),
        }
    }

    /// Has about half as many runs from now on: those that are loose, or else the older half.
    pub(super) fn halve_runs(&mut self) {
        if self.loose.len() >= self.runs.len() {
            self.loose = halved(&self.loose);
            return;
        }
        let older = self.runs.len().div_ceil(2);
        let older: Vec<PendingRun> = self.runs.drain(..older).collect();
        for run in halved(&older) {
            add(&mut self.loose, run);
        }
    }

    /// All of them, as `most` runs or fewer.
    pub(super) fn as_runs(&self, most: usize) -> Self {
        let mut all = self.clone();
        all.taken = 0;
        all.items.retain(|it| !it.is_taken);
        all.shrink(usize::MAX);
        while all.runs() > most.max(2) {
            all.halve_runs();
        }
        all
    }
}

/// The run that has a sequence.
fn place_in(runs: &[PendingRun], sequence: u32) -> Option<usize> {
    let place = runs.partition_point(|run| run.last < sequence);
    (runs.get(place)?.first <= sequence).then_some(place)
}

/// Adds a run, together with those that have sequences in common with it.
fn add(runs: &mut Vec<PendingRun>, mut run: PendingRun) {
    let from = runs.partition_point(|it| it.last < run.first);
    let until = from + runs[from..].partition_point(|it| it.first <= run.last);
    for known in runs.drain(from..until) {
        run = known.and(&run);
    }
    runs.insert(from, run);
}

/// Neighbours put together, two and two.
fn halved(runs: &[PendingRun]) -> Vec<PendingRun> {
    let pairs = runs.chunks(2);
    pairs
        .map(|pair| match pair {
            [one, other] => one.and(other),
            _ => pair[0],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(sequence: u32, segment: u64) -> PendingItem {
        PendingItem::new(
            sequence,
            PendingWord::new(0, 0),
            i64::from(sequence) * 10,
            segment,
        )
    }

    #[test]
    fn each_is_found_once_in_any_order() {
        let mut pending = PendingTasks::default();
        for sequence in [3, 1, 2, 900, 5, 4] {
            pending.push(launch(sequence, 7));
        }
        for sequence in [900, 2, 3, 1, 5, 4] {
            let found = pending.take(sequence).map(|it| it.begin());
            assert_eq!(found, Some(i64::from(sequence) * 10));
            assert!(pending.take(sequence).is_none());
        }
        assert!(pending.is_empty());
    }

    #[test]
    fn old_ones_are_known_as_runs_and_found_once_as_well() {
        let mut pending = PendingTasks::default();
        (0..100).for_each(|sequence| pending.push(launch(sequence, u64::from(sequence / 10))));
        pending.take(50);
        pending.shrink(80);
        assert_eq!((pending.items(), pending.runs()), (19, 9));
        for sequence in (0..100).rev().filter(|it| *it != 50) {
            let found = pending.take(sequence).expect("it waits");
            assert_eq!(found.place(), FileSpan::at(u64::from(sequence / 10)));
            assert!(found.is_certain() && pending.take(sequence).is_none());
        }
        assert!(pending.is_empty());
    }

    #[test]
    fn loose_runs_leave_none_out() {
        let mut pending = PendingTasks::default();
        (0..100).for_each(|number| pending.push(launch(number * 2, u64::from(number / 10))));
        let few = pending.as_runs(5);
        assert!(few.runs() <= 5 && few.items() == 0);
        for number in 0..100 {
            let found = few.clone().take(number * 2).expect("it waits");
            let place = found.place();
            let segment = u64::from(number / 10);
            assert!(place.from <= segment && segment <= place.until, "{place:?}");
            assert!(found.begin() <= i64::from(number) * 20);
        }
    }

    #[test]
    fn taken_items_make_room_before_runs_are_made() {
        let mut pending = PendingTasks::default();
        (0..100).for_each(|sequence| pending.push(launch(sequence, 0)));
        // The first one never comes.
        (1..100).for_each(|sequence| assert!(pending.take(sequence).is_some()));
        assert_eq!(pending.items(), 100);
        pending.shrink(50);
        assert_eq!((pending.items(), pending.runs()), (1, 0));
    }
}

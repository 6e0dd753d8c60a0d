//! Streams while their tasks pass: launches wait here for their times, and times that come first for their
//! launches.

use std::collections::HashMap;

use crate::summary::LaneBuilder;

use super::pending::{PendingItem, PendingMatch, PendingRun, PendingTasks};
use super::stretches::StreamStretches;
use super::totals::StreamTotals;

/// Of one stream, that many wait one by one; of all streams, that many.
const MOST_LAUNCHES: PendingLimits = PendingLimits {
    of_stream: 1 << 16,
    of_all: 1 << 20,
};
/// Times come before their launches only where two threads are nearly at once.
const MOST_TIMES: PendingLimits = PendingLimits {
    of_stream: 1 << 14,
    of_all: 1 << 17,
};
/// Runs of older ones, of all streams.
const MOST_RUNS: usize = 1 << 16;
/// Runs at the end of a group: of a stream, where there are few streams, and of all.
const RUNS_AT_END: usize = 256;
const ALL_RUNS_AT_END: usize = 1 << 12;
const CACHE: usize = 64;

/// How many may wait one by one.
#[derive(Clone, Copy, Debug)]
struct PendingLimits {
    of_stream: usize,
    of_all: usize,
}

/// Launches or times that wait on a stream when a group ends, for readers that go on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingTasks {
    /// Process and serial.
    pub(crate) stream: (u32, u32),
    /// Times that wait for launches, instead of launches that wait for times.
    pub(crate) is_time: bool,
    /// Not all sequences in the run wait.
    pub(crate) is_loose: bool,
    pub(crate) run: PendingRun,
}

/// How many wait on all streams, of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct PendingSums {
    items: usize,
    runs: usize,
}

impl PendingSums {
    /// Counts what changes while something is done with a stream.
    fn around<T>(
        &mut self,
        waits: &mut StreamWaits,
        work: impl FnOnce(&mut PendingTasks) -> T,
    ) -> T {
        let pending = waits.get_or_insert_default();
        let before = (pending.items(), pending.runs());
        let done = work(pending);
        self.items = (self.items + pending.items()).saturating_sub(before.0);
        self.runs = (self.runs + pending.runs()).saturating_sub(before.1);
        done
    }

    fn push(&mut self, waits: &mut StreamWaits, item: PendingItem, most: PendingLimits) {
        let all = *self;
        self.around(waits, |pending| {
            pending.push(item);
            if pending.items() > most.of_stream {
                pending.shrink(most.of_stream / 2);
            } else if all.items >= most.of_all {
                pending.shrink(usize::MAX);
            }
            if all.runs > MOST_RUNS && pending.runs() > 1 {
                pending.halve_runs();
            }
        });
    }

    fn take(&mut self, waits: &mut StreamWaits, sequence: u32) -> Option<PendingMatch> {
        waits.as_ref()?;
        self.around(waits, |pending| pending.take(sequence))
    }
}

#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) key: (u32, u32),
    /// As its row says.
    pub(super) device: Option<u32>,
    /// Of the current group.
    pub(super) lane: LaneBuilder,
    pub(super) totals: StreamTotals,
    /// Of the current group.
    pub(super) stretches: StreamStretches,
    launches: StreamWaits,
    times: StreamWaits,
}

/// Launches or times that wait on a stream. Most of many streams have none.
type StreamWaits = Option<Box<PendingTasks>>;

impl StreamState {
    /// Whether nothing of the current group has touched it.
    pub(super) fn is_untouched(&self) -> bool {
        self.totals.tasks == 0 && self.totals.timed == 0 && self.lane.slices() == 0
    }
}

/// All streams that calls or times have named.
#[derive(Debug)]
pub(super) struct Streams {
    places: HashMap<(u32, u32), usize>,
    states: Vec<StreamState>,
    /// Where the last streams were found.
    cache: [((u32, u32), usize); CACHE],
    touched: Vec<usize>,
    lane_limit: usize,
    /// Largest number of streams.
    most: usize,
    launches: PendingSums,
    times: PendingSums,
}

impl Streams {
    pub(super) fn new(lane_limit: usize) -> Self {
        Self {
            places: HashMap::new(),
            states: Vec::new(),
            cache: [((0, 0), usize::MAX); CACHE],
            touched: Vec::new(),
            lane_limit,
            most: usize::MAX,
            launches: PendingSums::default(),
            times: PendingSums::default(),
        }
    }

    /// The same streams with all that waits on them, and nothing of a group.
    pub(super) fn aside(&self) -> Self {
        let mut aside = Self::new(self.lane_limit);
        for state in &self.states {
            if let Some(place) = aside.place(state.key) {
                let beside = &mut aside.states[place];
                beside.device = state.device;
                beside.launches = state.launches.clone();
                beside.times = state.times.clone();
            }
        }
        aside.launches = self.launches;
        aside.times = self.times;
        aside
    }

    /// From now on further streams are skipped beyond this number.
    pub(super) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// The stream, which is about to be changed; none when there are too many.
    pub(super) fn touch(&mut self, process: u32, serial: u32) -> Option<&mut StreamState> {
        let place = self.place((process, serial))?;
        if self.states[place].is_untouched() {
            self.touched.push(place);
        }
        self.states.get_mut(place)
    }

    /// Takes a launch and returns its time, if there was one before. If that is not certain, the launch waits as well.
    pub(super) fn launch(&mut self, key: (u32, u32), launch: PendingItem) -> Option<PendingMatch> {
        let place = self.place(key)?;
        let state = &mut self.states[place];
        let time = self.times.take(&mut state.times, launch.sequence);
        if !time.is_some_and(|it| it.is_certain()) {
            let launches = &mut state.launches;
            self.launches.push(launches, launch, MOST_LAUNCHES);
        }
        time
    }

    /// Takes a time and returns its launch, if there was one before. If that is not certain, the time waits as well.
    pub(super) fn time(&mut self, key: (u32, u32), time: PendingItem) -> Option<PendingMatch> {
        let place = self.place(key)?;
        let state = &mut self.states[place];
        let launch = self.launches.take(&mut state.launches, time.sequence);
        if !launch.is_some_and(|it| it.is_certain()) {
            self.times.push(&mut state.times, time, MOST_TIMES);
        }
        launch
    }

    /// All that waits now, in few runs.
    pub(super) fn waiting(&self) -> Vec<WaitingTasks> {
        let kinds = |state: &StreamState| {
            let kinds = [&state.launches, &state.times].into_iter().flatten();
            kinds.filter(|it| !it.is_empty()).count()
        };
        let busy: usize = self.states.iter().map(kinds).sum();
        let most = (ALL_RUNS_AT_END / busy.max(1)).clamp(1, RUNS_AT_END);
        let mut waiting = Vec::new();
        for state in &self.states {
            for (is_time, pending) in [(false, &state.launches), (true, &state.times)] {
                let Some(pending) = pending.as_ref().filter(|it| !it.is_empty()) else {
                    continue;
                };
                let few = pending.as_runs(most);
                waiting.extend(few.all_runs().map(|(run, is_loose)| WaitingTasks {
                    stream: state.key,
                    is_time,
                    is_loose,
                    run,
                }));
            }
        }
        waiting
    }

    /// Goes on where this waits, and nothing else.
    pub(super) fn set_waiting(&mut self, waiting: &[WaitingTasks]) {
        for state in &mut self.states {
            state.launches = None;
            state.times = None;
        }
        self.launches = PendingSums::default();
        self.times = PendingSums::default();
        for WaitingTasks {
            stream,
            is_time,
            is_loose,
            run,
        } in waiting
        {
            let Some(place) = self.place(*stream) else {
                continue;
            };
            let state = &mut self.states[place];
            let (sums, pending) = match is_time {
                false => (&mut self.launches, &mut state.launches),
                true => (&mut self.times, &mut state.times),
            };
            sums.around(pending, |pending| pending.add_run(*run, *is_loose));
        }
    }

    fn place(&mut self, key: (u32, u32)) -> Option<usize> {
        let cached = &mut self.cache[(key.0.wrapping_mul(7).wrapping_add(key.1)) as usize % CACHE];
        if cached.1 != usize::MAX && cached.0 == key {
            return Some(cached.1);
        }
        if self.states.len() >= self.most && !self.places.contains_key(&key) {
            return None;
        }
        let states = &mut self.states;
        let limit = self.lane_limit;
        let place = *self.places.entry(key).or_insert_with(|| {
            states.push(StreamState {
                key,
                device: None,
                lane: LaneBuilder::new(limit),
                totals: StreamTotals::default(),
                stretches: StreamStretches::default(),
                launches: None,
                times: None,
            });
            states.len() - 1
        });
        *cached = (key, place);
        Some(place)
    }

    /// A stream's row says on which device it is.
    pub(super) fn set_device(&mut self, process: u32, serial: u32, device: u32) {
        if let Some(place) = self.place((process, serial)) {
            self.states[place].device = Some(device);
        }
    }

    /// The streams that this group has touched.
    pub(super) fn touched(&mut self) -> impl Iterator<Item = &mut StreamState> {
        let mut touched = self.touched.clone();
        touched.sort_unstable();
        touched.dedup();
        let mut wanted = touched.into_iter().peekable();
        let states = self.states.iter_mut().enumerate();
        states
            .filter(move |(place, _)| wanted.next_if_eq(place).is_some())
            .map(|(_, state)| state)
    }

    /// Begins the next group.
    pub(super) fn start_over(&mut self) {
        for place in self.touched.drain(..) {
            let state = &mut self.states[place];
            state.lane = LaneBuilder::new(self.lane_limit);
            state.totals = StreamTotals::default();
            state.stretches = StreamStretches::default();
        }
    }
}

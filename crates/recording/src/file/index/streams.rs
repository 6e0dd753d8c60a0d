//! Streams while their tasks go by: what was launched waits here for its time.

use std::collections::{HashMap, VecDeque};

use crate::summary::LaneBuilder;

use super::totals::StreamTotals;

/// Launches of one stream that wait for their times. The oldest are given up beyond that.
const MOST_WAITING: usize = 1 << 16;
/// Those of all streams.
const MOST_OF_ALL: usize = 1 << 20;
/// A time is looked for among so many of the oldest launches: times come nearly in their order.
const NEAR: usize = 64;
const CACHE: usize = 64;

/// A task that has no time yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch {
    pub(super) sequence: u32,
    pub(super) slot: u8,
    /// Begin of the call.
    pub(super) begin: i64,
    /// Where the segment with the call begins.
    pub(super) segment: u64,
}

#[derive(Debug)]
pub(super) struct StreamState {
    pub(super) key: (u32, u32),
    pub(super) device: u32,
    /// Of the current group.
    pub(super) lane: LaneBuilder,
    pub(super) totals: StreamTotals,
    waiting: VecDeque<Launch>,
}

impl StreamState {
    /// Takes the launch with this sequence out; older ones than those near the front stay lost.
    fn launched(&mut self, sequence: u32) -> Option<Launch> {
        // What is far behind was passed over for good.
        while let Some(first) = self.waiting.front()
            && i64::from(first.sequence) + (NEAR as i64) < i64::from(sequence)
        {
            self.waiting.pop_front();
        }
        let near = self.waiting.iter().take(NEAR);
        let place = near
            .enumerate()
            .find(|(_, launch)| launch.sequence == sequence)?
            .0;
        self.waiting.remove(place)
    }

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
    /// There may be so many.
    most: usize,
    /// Launches of all streams that wait.
    waiting: usize,
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
            waiting: 0,
        }
    }

    /// From now on further streams are passed over when there are so many.
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

    /// Notes a launch on a stream, in place of its oldest one when very many wait.
    pub(super) fn launch(&mut self, process: u32, serial: u32, launch: Launch) {
        let Some(place) = self.place((process, serial)) else {
            return;
        };
        let waiting = &mut self.states[place].waiting;
        if waiting.len() >= MOST_WAITING || self.waiting >= MOST_OF_ALL {
            if waiting.pop_front().is_none() {
                return;
            }
            self.waiting -= 1;
        }
        waiting.push_back(launch);
        self.waiting += 1;
    }

    /// Takes the launch of a task out; older ones than those near it stay lost.
    pub(super) fn launched(&mut self, process: u32, serial: u32, sequence: u32) -> Option<Launch> {
        let place = self.place((process, serial))?;
        let state = &mut self.states[place];
        let before = state.waiting.len();
        let launch = state.launched(sequence);
        self.waiting -= before - state.waiting.len();
        launch
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
                device: 0,
                lane: LaneBuilder::new(limit),
                totals: StreamTotals::default(),
                waiting: VecDeque::new(),
            });
            states.len() - 1
        });
        *cached = (key, place);
        Some(place)
    }

    /// A stream's row says on which device it is.
    pub(super) fn set_device(&mut self, process: u32, serial: u32, device: u32) {
        if let Some(place) = self.place((process, serial)) {
            self.states[place].device = device;
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
        }
    }
}

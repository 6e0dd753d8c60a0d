//! Results of the seed of `order=adversarial`: the starved streams, and their order.

use crate::scatter::scatter;
use crate::stream::Stream;

/// As in `noise_seed`.
#[derive(Clone, Copy)]
pub(super) struct Seed(pub(super) u64);

impl Seed {
    /// Is this task of the stream starved?
    ///
    /// Seed 0 starves all streams, the next ones each one of four neighbours, and three more those that have a bit
    /// in their numbers. Later seeds starve changing streams.
    pub(super) fn starves(self, stream: &Stream, seq: u64) -> bool {
        let number = stream.id as u64 + 3 * u64::from(stream.device.physical);
        match self.0 {
            0 => true,
            1..=4 => number % 4 == self.0 - 1,
            5..=7 => number >> (self.0 - 5) & 1 == 0,
            _ => {
                // Tasks that follow one another change sides together, for up to 16 of them.
                let stretch = seq / (1 + scatter(self.0) % 16);
                scatter(scatter(self.0) ^ place(stream) ^ stretch).is_multiple_of(2)
            }
        }
    }

    /// Of the starved streams with a waiter, the one with the least rank comes first.
    pub(super) fn rank(self, stream: &Stream) -> u64 {
        scatter(scatter(self.0) ^ place(stream))
    }

    /// The order of the lanes of a replay.
    pub(super) fn lanes(self, stream: &Stream, seq: u64, count: usize) -> Box<[usize]> {
        let mut lanes: Box<[usize]> = (0..count).collect();
        let replay = scatter(scatter(self.0) ^ place(stream)) ^ seq;
        lanes.sort_by_key(|lane| scatter(replay ^ (*lane as u64) << 32));
        lanes
    }
}

/// Tells streams apart, in each run alike.
pub(super) fn place(stream: &Stream) -> u64 {
    (stream.device.physical as u64) << 56 | (stream.id as u64) << 32
}

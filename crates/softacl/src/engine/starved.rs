//! What follows from the seed of `order=adversarial`: who is starved, and who comes first.

use crate::scatter::scatter;
use crate::stream::Stream;

/// As in `noise_seed`.
#[derive(Clone, Copy)]
pub(super) struct Seed(pub(super) u64);

/// Seeds below this one starve a stream as long as it lives.
const STEADY: u64 = 8;

impl Seed {
    /// Is this task of the stream starved?
    ///
    /// Of seven neighbouring streams, each two are both starved, both prompt, and each way round with two of
    /// the eight first seeds: they are the words of a Hadamard code. With seed 0, all are starved.
    pub(super) fn starves(self, stream: &Stream, seq: u64) -> bool {
        let seeds = if self.0 < STEADY {
            self.0
        } else {
            // Tasks that follow one another change sides together, for up to 16 of them.
            let stretch = seq / (1 + scatter(self.0) % 16);
            scatter(scatter(self.0) ^ place(stream) ^ stretch)
        };
        (word(stream) & seeds).count_ones().is_multiple_of(2)
    }

    /// Of the starved streams for which somebody waits, the one with the least rank comes first.
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

/// 1 to 7, different for streams that were made one after the other.
fn word(stream: &Stream) -> u64 {
    (stream.id as u64 + 3 * stream.device.physical as u64) % 7 + 1
}

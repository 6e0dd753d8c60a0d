//! Frames of Python among the native frames that they run in.

use super::MOST_WORDS;
use super::python::{Chain, FramePart};
use super::walk::{ADDRESS, Frames, MOST_FRAMES};

/// Where native frames begin on the stack, innermost first.
pub(super) struct FrameAddresses {
    places: [usize; MOST_FRAMES],
    count: usize,
}

impl FrameAddresses {
    pub(super) fn new() -> Self {
        Self {
            places: [0; MOST_FRAMES],
            count: 0,
        }
    }

    pub(super) fn push(&mut self, place: usize) {
        if let Some(free) = self.places.get_mut(self.count) {
            *free = place;
            self.count += 1;
        }
    }

    /// The frame with this address, from the frame `first` on. The last frame has no end.
    fn of(&self, address: usize, first: usize) -> Option<usize> {
        let places = self.places.get(..self.count)?;
        let after = places.partition_point(|place| *place <= address);
        let index = after.checked_sub(1)?;
        (index >= first && after < self.count).then_some(index)
    }
}

/// The words of a stack with both kinds of frames.
pub(super) struct Merged {
    words: [u64; MOST_WORDS],
    count: usize,
}

impl Merged {
    pub(super) fn new() -> Self {
        Self {
            words: [0; MOST_WORDS],
            count: 0,
        }
    }

    pub(super) fn words(&self) -> &[u64] {
        self.words.get(..self.count).unwrap_or(&[])
    }

    fn push(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    fn extend(&mut self, words: &[u64]) {
        for word in words {
            self.push(*word);
        }
    }

    /// Puts each run of Python's frames before the native frame that runs it. Runs without a known
    /// native frame come before the next one, or at the end. `tell` returns the parts of the chain.
    pub(super) fn fill(
        &mut self,
        native: &Frames,
        places: &FrameAddresses,
        chain: &Chain,
        tell: impl FnOnce(&mut dyn FnMut(FramePart)) -> bool,
    ) -> bool {
        self.put(
            native.words(),
            places,
            |address| chain.is_eval(address),
            tell,
        )
    }

    fn put(
        &mut self,
        native: &[u64],
        places: &FrameAddresses,
        is_eval: impl Fn(usize) -> bool,
        tell: impl FnOnce(&mut dyn FnMut(FramePart)) -> bool,
    ) -> bool {
        let mut runs = Runs::new();
        let mut first = 0;
        let answer = tell(&mut |part| {
            let place = match part {
                FramePart::Frame(word) => return runs.push(word),
                FramePart::Entry(place) => place,
            };
            let is_it = |word: &u64| is_eval(*word as usize & ADDRESS);
            let found = match place {
                Some(address) => places.of(address, first),
                None => {
                    let mut left = native.iter().enumerate().skip(first);
                    left.find(|(_, word)| is_it(word)).map(|(index, _)| index)
                }
            };
            if let Some(index) = found {
                runs.end(index);
                first = match place {
                    Some(_) => index,
                    None => index + 1,
                };
            }
        });
        // Native frames that there is room for.
        let room = MOST_WORDS.saturating_sub(runs.count);
        let native = native.get(..room).unwrap_or(native);
        let mut done = 0;
        for (index, word) in native.iter().enumerate() {
            let end = runs.before(index);
            self.extend(runs.words.get(done..end).unwrap_or(&[]));
            done = done.max(end);
            self.push(*word);
        }
        self.extend(runs.words.get(done..runs.count).unwrap_or(&[]));
        answer
    }
}

/// The words of Python's frames.
struct Runs {
    words: [u64; MOST_FRAMES],
    count: usize,
    /// For each native frame, the number of them up to the end of its run.
    ends: [u8; MOST_FRAMES],
}

impl Runs {
    fn new() -> Self {
        Self {
            words: [0; MOST_FRAMES],
            count: 0,
            ends: [0; MOST_FRAMES],
        }
    }

    fn push(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    fn end(&mut self, index: usize) {
        if let Some(end) = self.ends.get_mut(index) {
            *end = self.count as u8;
        }
    }

    fn before(&self, index: usize) -> usize {
        self.ends.get(index).map_or(0, |end| usize::from(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(native: &[u64], parts: &[FramePart]) -> Vec<u64> {
        let mut places = FrameAddresses::new();
        for index in 0..native.len() {
            places.push(1000 + 100 * index);
        }
        let mut merged = Merged::new();
        merged.put(
            native,
            &places,
            |address| address >= 50,
            |item| {
                for part in parts {
                    item(match part {
                        FramePart::Frame(word) => FramePart::Frame(*word),
                        FramePart::Entry(place) => FramePart::Entry(*place),
                    });
                }
                true
            },
        );
        merged.words().to_vec()
    }

    #[test]
    fn runs_come_before_the_native_frames_that_they_run_in() {
        use FramePart::{Entry, Frame};
        let native = [1, 51, 2, 52, 3];
        let found = merged(
            &native,
            &[
                Frame(901),
                Frame(902),
                Entry(Some(1150)),
                Frame(903),
                Entry(Some(1300)),
                Frame(904),
                Entry(Some(5000)),
            ],
        );
        assert_eq!(found, [1, 901, 902, 51, 2, 903, 52, 3, 904]);
        let found = merged(
            &native,
            &[
                Frame(901),
                Entry(None),
                Frame(902),
                Entry(None),
                Frame(903),
                Entry(None),
            ],
        );
        assert_eq!(found, [1, 901, 51, 2, 902, 52, 3, 903]);
        let found = merged(
            &native,
            &[
                Frame(901),
                Entry(Some(7)),
                Frame(902),
                Entry(Some(1300)),
                Frame(903),
            ],
        );
        assert_eq!(found, [1, 51, 2, 901, 902, 52, 3, 903]);
        assert_eq!(merged(&native, &[]), native);
    }

    #[test]
    fn frames_of_python_are_kept_where_there_is_no_room_for_all() {
        let native: Vec<u64> = (0..100).map(|index| 1 + index % 40).collect();
        let parts: Vec<FramePart> = (0..30).map(|index| FramePart::Frame(900 + index)).collect();
        let found = merged(&native, &parts);
        assert_eq!(found.len(), MOST_WORDS);
        assert_eq!(found[MOST_WORDS - 1], 929);
        assert_eq!(found[MOST_WORDS - 31], native[MOST_WORDS - 31]);
    }
}

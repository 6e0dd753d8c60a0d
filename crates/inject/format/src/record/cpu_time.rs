//! Processor time of a thread, between two readings of the kernel's account of it.

/// Nanoseconds of a unit.
const UNIT_NS: u64 = 1_000;

/// Bits of both times in a word; the others count blocks.
const BITS: u32 = 28;
const MOST: u64 = (1 << BITS) - 1;
const MOST_BLOCKS: u64 = u8::MAX as u64;

/// How long a thread used a processor in a time of this length, and how often it gave its processor up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// In microseconds.
    used: u32,
    over: u32,
    blocks: u8,
}

impl CpuTime {
    /// `None` if the time is too short or too long. The two clocks are read one after the other. So the
    /// used time may exceed the whole, and is cut to it. `blocks` counts how often the thread waited for anything: a lock, a time, input.
    pub const fn new(used_ns: u64, over_ns: u64, blocks: u64) -> Option<Self> {
        let over = over_ns / UNIT_NS;
        let used = used_ns / UNIT_NS;
        let used = if used > over { over } else { used };
        let blocks = if blocks > MOST_BLOCKS {
            MOST_BLOCKS
        } else {
            blocks
        };
        Self::of_numbers(used, over, blocks)
    }

    /// `None` if the numbers make no sense.
    pub const fn of_numbers(used: u64, over: u64, blocks: u64) -> Option<Self> {
        if used > over || over == 0 || over > MOST || blocks > MOST_BLOCKS {
            return None;
        }
        Some(Self {
            used: used as u32,
            over: over as u32,
            blocks: blocks as u8,
        })
    }

    /// Its word in a record.
    #[inline]
    pub const fn encode(self) -> u64 {
        self.used as u64 | (self.over as u64) << BITS | (self.blocks as u64) << (2 * BITS)
    }

    /// `None` for a word that makes no sense.
    pub const fn decode(word: u64) -> Option<Self> {
        Self::of_numbers(word & MOST, word >> BITS & MOST, word >> (2 * BITS))
    }

    /// The used time and the whole time in microseconds, and the number of blocks, at most 255.
    pub const fn numbers(self) -> (u32, u32, u8) {
        (self.used, self.over, self.blocks)
    }

    pub const fn used_ns(self) -> i64 {
        self.used as i64 * UNIT_NS as i64
    }

    pub const fn over_ns(self) -> i64 {
        self.over as i64 * UNIT_NS as i64
    }

    /// How often the thread blocked. 255 may also be more.
    pub const fn blocks(self) -> u8 {
        self.blocks
    }

    /// The least and the most that the thread used a processor in a part of the time.
    pub fn within(self, part_ns: i64) -> (i64, i64) {
        // The times are cut to units.
        let unit = UNIT_NS as i64;
        let rest = (self.over_ns() + unit - part_ns).max(0);
        let most = (self.used_ns() + unit).min(part_ns).max(0);
        ((self.used_ns() - rest).clamp(0, most), most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_used_time_is_a_part_of_the_whole() {
        let time = CpuTime::new(6_400, 64_900, 3).unwrap();
        assert_eq!(
            (time.used_ns(), time.over_ns(), time.blocks()),
            (6_000, 64_000, 3)
        );
        assert_eq!(CpuTime::decode(time.encode()), Some(time));
        let cut = CpuTime::new(70_000, 64_000, 1_000).unwrap();
        assert_eq!(cut.numbers(), (64, 64, 255));
        assert_eq!(CpuTime::decode(cut.encode()), Some(cut));
        assert_eq!(CpuTime::new(1, 999, 0), None);
        assert_eq!(CpuTime::new(1, u64::MAX, 0), None);
        assert_eq!(CpuTime::decode(5), None);
        assert_eq!(CpuTime::of_numbers(3, 2, 0), None);
    }

    #[test]
    fn the_time_in_a_part_has_two_bounds() {
        let time = CpuTime::new(64_000, 256_000, 0).unwrap();
        assert_eq!(time.within(257_000), (64_000, 65_000));
        assert_eq!(time.within(225_000), (32_000, 65_000));
        assert_eq!(time.within(32_000), (0, 32_000));
        assert_eq!(time.within(300_000), (64_000, 65_000));
    }
}

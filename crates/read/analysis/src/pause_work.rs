//! How long threads used a processor in their pauses outside AscendCL.
//!
//! A reading of a thread's processor time may come some calls after the pause, and it counts these too. So there is a least and a most.

use std::collections::VecDeque;

use ascend_trace_format::record::CpuTime;

/// How long a thread used a processor in a pause: the least and the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) least: i64,
    pub(crate) most: i64,
    /// How often it gave the processor up, at most: to wait for a lock, a time or input. Its calls next to the pause may count too.
    pub(crate) blocks: u8,
}

/// A pause with a known processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownPause {
    /// The place of the call after it, among the outermost calls of its thread.
    pub(crate) ordinal: u32,
    pub(crate) begin: i64,
    pub(crate) end: i64,
    pub(crate) work: Work,
}

/// The most that the tool's own work between two readings may take, as a rule: the readings, and the record of the call before. Nanoseconds.
const TOOL_NS: i64 = 5_000;

/// Calls after a pause until its reading, at most.
const RECENT: usize = 16;

/// A pause with the place of the call after it.
#[derive(Clone, Copy, Debug)]
struct RecentPause {
    ordinal: u32,
    begin: i64,
    end: i64,
}

/// Passes over the outermost calls of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct PauseWork {
    ordinal: u32,
    reached: Option<i64>,
    recent: VecDeque<RecentPause>,
}

impl PauseWork {
    /// The last call goes on until then.
    pub(crate) fn go_on(&mut self, end: i64) {
        self.reached = Some(self.reached.map_or(end, |it| it.max(end)));
    }

    /// Takes the next call, with the reading at its begin. Returns the pause that the reading is about: the longest of those that
    /// it counts.
    pub(crate) fn take(
        &mut self,
        begin: i64,
        end: i64,
        cpu: Option<CpuTime>,
    ) -> Option<KnownPause> {
        let ordinal = self.ordinal;
        self.ordinal += 1;
        if let Some(reached) = self.reached.filter(|it| *it < begin) {
            self.recent.truncate(RECENT - 1);
            self.recent.push_front(RecentPause {
                ordinal,
                begin: reached,
                end: begin,
            });
        }
        self.go_on(end);
        let cpu = cpu?;
        let since = begin - cpu.over_ns();
        let counted = self.recent.iter().filter(|it| it.end > since);
        let longest = counted.max_by_key(|it| it.end - it.begin).copied();
        // The next reading counts from here on.
        self.recent.clear();
        longest.map(|it| {
            let (least, most) = cpu.within(it.end - it.begin);
            let least = (least - TOOL_NS).max(0);
            KnownPause {
                ordinal: it.ordinal,
                begin: it.begin,
                end: it.end,
                work: Work {
                    least,
                    most,
                    blocks: cpu.blocks(),
                },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    fn cpu(used_us: u64, over_us: u64) -> Option<CpuTime> {
        CpuTime::new(used_us * 1_000, over_us * 1_000, 3)
    }

    #[test]
    fn a_reading_is_about_the_pause_before_its_call() {
        let mut pauses = PauseWork::default();
        assert_eq!(pauses.take(0, 60 * US, None), None);
        let found = pauses.take(200 * US, 210 * US, cpu(50, 140)).unwrap();
        let work = Work {
            least: 44 * US,
            most: 51 * US,
            blocks: 3,
        };
        assert_eq!((found.ordinal, found.work), (1, work));
        assert_eq!((found.begin, found.end), (60 * US, 200 * US));
    }

    #[test]
    fn a_short_call_may_come_between_a_pause_and_its_reading() {
        let mut pauses = PauseWork::default();
        pauses.take(0, 60 * US, None);
        pauses.take(660 * US, 680 * US, None);
        // Of 640 us since the end of the first call, 40 are outside the pause.
        let found = pauses.take(700 * US, 710 * US, cpu(130, 640)).unwrap();
        assert_eq!((found.ordinal, found.end), (1, 660 * US));
        assert_eq!((found.work.least, found.work.most), (84 * US, 131 * US));
        // It has no other reading.
        let next = pauses.take(711 * US, 720 * US, cpu(1, 20));
        assert_eq!(next.map(|it| it.ordinal), Some(3));
    }

    #[test]
    fn a_reading_without_a_pause_says_nothing() {
        let mut pauses = PauseWork::default();
        assert_eq!(pauses.take(0, 60 * US, cpu(1, 2)), None);
        assert_eq!(pauses.take(60 * US, 120 * US, cpu(1, 1)), None);
    }
}

//! When tasks ran that have their times in a segment, on the clocks of their devices.

/// More of a group are known only in part.
const MOST: usize = 1 << 14;

/// Some tasks of one device, with their times in a segment, ran in this range of device time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunSpan {
    /// Where the segment begins.
    pub(crate) segment: u64,
    /// Process and device; none for tasks of which neither the device nor the range is known.
    pub(crate) clock: Option<(u32, u32)>,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// Those of a group, while it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct RunSpans(Vec<RunSpan>);

impl RunSpans {
    pub(super) fn add(&mut self, ran: RunSpan) {
        let mut here = self.0.iter_mut().rev();
        let known = here
            .by_ref()
            .take_while(|it| it.segment == ran.segment)
            .find(|it| it.clock == ran.clock);
        if let Some(known) = known {
            known.begin = known.begin.min(ran.begin);
            known.end = known.end.max(ran.end);
            return;
        }
        let clock = ran.clock.filter(|_| self.0.len() < MOST);
        match clock {
            None if ran.clock.is_some() => self.add(RunSpan { clock, ..ran }),
            _ => self.0.push(ran),
        }
    }

    pub(super) fn known(&self) -> Vec<RunSpan> {
        self.0.clone()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

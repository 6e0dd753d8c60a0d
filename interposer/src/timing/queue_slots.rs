//! Limits how many places of a stream's queue the tool's events take. In a full queue, a submission of the
//! program waits. Without the tool it would not; and if the program's next call is the one that frees the
//! queue, it would wait for ever. So the tool takes at most half of a queue, and fewer places on some chips.

use crate::timing::chip;

/// Number of events in one queue that are remembered as marks, to find the progress of the stream.
const MARKS: usize = 8;

/// Most events of the tool in one queue. From half of this number on, each task gets one event only.
fn most() -> u64 {
    chip::most_events()
}

/// An event in the queue.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) event: u64,
    /// Position of its pair in the lane.
    pub(crate) place: u64,
    /// The tick after its submission.
    pub(crate) closed: u64,
    /// Number of the tool's events up to it.
    events: u64,
}

pub(crate) struct Slots {
    /// Number of the tool's events that went into the queue, and of those that are known to have left
    /// it.
    put: u64,
    left: u64,
    marks: [Mark; MARKS],
    count: usize,
}

/// How full a queue is of our events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    /// They should be used sparingly.
    Little,
    None,
}

impl Slots {
    pub(crate) const fn new() -> Self {
        let nothing = Mark {
            event: 0,
            place: 0,
            closed: 0,
            events: 0,
        };
        Self {
            put: 0,
            left: 0,
            marks: [nothing; MARKS],
            count: 0,
        }
    }

    /// Whether the queue has enough events to make a look at the stream's progress worthwhile.
    #[inline]
    pub(crate) fn wants_look(&self) -> bool {
        self.inside() >= most() / 2
    }

    /// How full the queue is.
    #[inline]
    pub(crate) fn fullness(&self) -> Room {
        room_of(self.inside())
    }

    /// Asks from the oldest mark on how far the stream is.
    pub(crate) fn pass(&mut self, is_done: impl Fn(Mark) -> bool) {
        while let Some(mark) = self.marks.first().filter(|_| self.count > 0).copied() {
            if !is_done(mark) {
                break;
            }
            self.passed(mark);
        }
    }

    /// Pairs that are read, or were submitted before `readable` and so are known to be done, have left the queue. `put`
    /// and `taken` count the lane's pairs. This needs no lock: another thread may be reading times of the lane.
    pub(crate) fn pass_known(&mut self, (put, taken): (u64, u64), readable: u64) {
        self.pass(|mark| mark.place < taken || mark.closed < readable);
        if put == taken {
            self.left = self.put;
            self.count = 0;
        }
    }

    fn inside(&self) -> u64 {
        self.put.wrapping_sub(self.left)
    }

    fn passed(&mut self, mark: Mark) {
        self.left = mark.events;
        self.marks.rotate_left(1);
        self.count = self.count.saturating_sub(1);
    }

    /// The tool has put `events` into the queue, the last of them `event`: its pair is at `place`, and `closed` is the
    /// tick after its submission.
    #[inline]
    pub(crate) fn put(&mut self, events: u64, event: u64, (place, closed): (u64, u64)) {
        self.put = self.put.wrapping_add(events);
        let last = match self.count.checked_sub(1) {
            Some(last) => self.marks.get(last).map_or(0, |mark| mark.events),
            None => self.left,
        };
        if self.put.wrapping_sub(last) >= most() / MARKS as u64
            && let Some(mark) = self.marks.get_mut(self.count)
        {
            *mark = Mark {
                event,
                place,
                closed,
                events: self.put,
            };
            self.count = self.count.wrapping_add(1);
        }
    }

    /// The lane has another stream, or belongs to another process.
    pub(crate) fn forget(&mut self) {
        *self = Self::new();
    }
}

fn room_of(inside: u64) -> Room {
    // A task takes two at most.
    let then = inside.wrapping_add(2);
    let most = most();
    if then > most {
        Room::None
    } else if then > most / 2 {
        Room::Little
    } else {
        Room::Enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_events_make_room() {
        const STEP: u64 = 1024 / 8;
        chip::is_free();
        let most = most();
        let mut slots = Slots::new();
        for task in 0..most / 2 {
            assert_ne!(room_of(slots.inside()), Room::None, "task {task}");
            slots.put(2, 100 + task, (task, task));
        }
        assert_eq!(room_of(slots.inside()), Room::None);
        assert_eq!(slots.count, MARKS);
        let mark = slots.marks[0];
        assert_eq!((mark.events, mark.place), (STEP, STEP / 2 - 1));
        slots.passed(mark);
        assert_eq!(slots.inside(), most - STEP);
        assert_eq!(room_of(slots.inside()), Room::Little);
        // The place that has become free is used for later ones.
        slots.put(STEP, 7, (9000, 9000));
        assert_eq!(slots.marks[MARKS - 1].place, 9000);
        for _ in 0..MARKS {
            slots.passed(slots.marks[0]);
        }
        assert_eq!((slots.inside(), slots.count), (0, 0));
        assert_eq!(room_of(slots.inside()), Room::Enough);
    }
    #[test]
    fn what_is_read_or_known_to_be_done_makes_room() {
        chip::is_free();
        let most = most();
        let full = || {
            let mut slots = Slots::new();
            for task in 0..most {
                slots.put(1, 100 + task, (task, 5000 + task));
            }
            slots
        };
        let mut slots = full();
        slots.pass_known((most, 0), 5000);
        assert_eq!((slots.inside(), slots.fullness()), (most, Room::None));
        slots.pass_known((most, 0), 5000 + most / 2);
        assert_eq!(slots.inside(), most / 2, "known");
        slots.pass_known((most, most - most / 4), 0);
        assert_eq!(slots.inside(), most / 4, "read");
        slots.pass_known((most, most), 0);
        assert_eq!((slots.inside(), slots.count), (0, 0), "all read");
    }
}

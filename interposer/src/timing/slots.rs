//! How many places of a stream's queue our events take. A queue that they filled would make the
//! program wait where it would not without us; where it waits for something that it would only have
//! done next, for ever. So no more than half of a queue is theirs, and far less where that is known to be so.

use crate::timing::api::Api;
use crate::timing::lane::Lane;
use crate::timing::{chip, harvest};

/// So often among the events that may be in one queue, one is remembered by which it can be told how far
/// the stream has come.
const MARKS: usize = 8;

/// Events that may be in one queue; with half of them, one event for each task has to do.
fn most() -> u64 {
    chip::most_events()
}

/// An event in the queue.
#[derive(Clone, Copy)]
struct Mark {
    event: u64,
    /// Its pair's place among all of the lane.
    place: u64,
    /// Events of ours until it.
    events: u64,
}

pub(crate) struct Slots {
    /// Events of ours that went into the queue, and those that are known to have left it.
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
            events: 0,
        };
        Self {
            put: 0,
            left: 0,
            marks: [nothing; MARKS],
            count: 0,
        }
    }

    /// Whether there is room for the events of one more task.
    #[inline]
    pub(crate) fn room(&mut self, lane: &Lane, api: &Api) -> Room {
        if lane.pairs_held() >= chip::most_held() {
            return Room::None;
        }
        if self.inside() >= most() / 2 {
            self.look(lane, api);
        }
        room_of(self.inside())
    }

    fn inside(&self) -> u64 {
        self.put.wrapping_sub(self.left)
    }

    /// Finds out how far the stream has come.
    #[cold]
    fn look(&mut self, lane: &Lane, api: &Api) {
        // The program may have records that are only readable once somebody has looked.
        let may_ask = lane.may_be_looked_at() || room_of(self.inside()) == Room::None;
        let Some(look) = lane.look() else { return };
        while let Some(mark) = self.marks.first().filter(|_| self.count > 0).copied() {
            let is_done = look.is_read(mark.place)
                || may_ask && harvest::is_done(lane, api, mark.event) == Some(true);
            if !is_done {
                break;
            }
            self.passed(mark);
        }
        if look.is_all_read() {
            self.left = self.put;
            self.count = 0;
        }
    }

    fn passed(&mut self, mark: Mark) {
        self.left = mark.events;
        self.marks.rotate_left(1);
        self.count = self.count.saturating_sub(1);
    }

    /// So many events have gone into the queue, the last of them `event`; `place` is that of their
    /// pair.
    #[inline]
    pub(crate) fn put(&mut self, events: u64, event: u64, place: u64) {
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
    fn what_has_gone_by_makes_room() {
        const STEP: u64 = 1024 / 8;
        chip::is_free();
        let most = most();
        let mut slots = Slots::new();
        for task in 0..most / 2 {
            assert_ne!(room_of(slots.inside()), Room::None, "task {task}");
            slots.put(2, 100 + task, task);
        }
        assert_eq!(room_of(slots.inside()), Room::None);
        assert_eq!(slots.count, MARKS);
        let mark = slots.marks[0];
        assert_eq!((mark.events, mark.place), (STEP, STEP / 2 - 1));
        slots.passed(mark);
        assert_eq!(slots.inside(), most - STEP);
        assert_eq!(room_of(slots.inside()), Room::Little);
        // The place that has become free is used for later ones.
        slots.put(STEP, 7, 9000);
        assert_eq!(slots.marks[MARKS - 1].place, 9000);
        for _ in 0..MARKS {
            slots.passed(slots.marks[0]);
        }
        assert_eq!((slots.inside(), slots.count), (0, 0));
        assert_eq!(room_of(slots.inside()), Room::Enough);
    }
}

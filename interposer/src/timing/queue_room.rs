//! Whether there is room for more of our events in a stream's queue, which takes a look at the stream where that is
//! not known.

use crate::timing::api::Api;
use crate::timing::lane::Lane;
use crate::timing::queue_slots::{Room, Slots};
use crate::timing::{chip, harvest};

impl Slots {
    /// Whether there is room for the events of one more task.
    #[inline]
    pub(crate) fn room(&mut self, lane: &Lane, api: &Api) -> Room {
        if lane.pairs_held() >= chip::most_held() {
            return Room::None;
        }
        if self.wants_look() {
            self.look(lane, api);
        }
        self.fullness()
    }

    /// Finds the progress of the stream.
    #[cold]
    fn look(&mut self, lane: &Lane, api: &Api) {
        self.pass_known(lane.pending.counts(), lane.readable());
        if self.wants_look() {
            self.ask(lane, api);
        }
    }

    /// Asks the runtime about the marks.
    fn ask(&mut self, lane: &Lane, api: &Api) {
        // The program may have records that are only readable after a look.
        let wants = lane.may_be_looked_at() || self.fullness() == Room::None;
        if !wants || lane.is_locked() {
            return;
        }
        // Events that are read meanwhile are used again.
        let Some(look) = lane.look() else { return };
        self.pass(|mark| {
            if look.is_read(mark.place) {
                return true;
            }
            let is_done = harvest::is_done(lane, api, mark.event) == Some(true);
            if is_done {
                lane.finds(mark.closed.saturating_add(1));
            }
            is_done
        });
    }
}

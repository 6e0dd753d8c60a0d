//! Decides whether an entered call is recorded when an obstacle exists.

use crate::thread::upper_layers::{look_for_recorder, settle};
use crate::thread::{Admission, ThreadState};
use crate::{cost, lifecycle, session};

impl ThreadState {
    /// A call has been entered with the stack at `here`, and an obstacle may exist.
    #[cold]
    #[inline(never)]
    pub(crate) fn admit(&self, here: usize) -> Admission {
        if self.is_own() {
            return Admission::Past;
        }
        if !session::is_on() {
            session::count_homeless();
            return Admission::Past;
        }
        if self.is_fragile() || self.is_blind() {
            self.count_lost();
            return Admission::Past;
        }
        if self.is_busy() && !self.mend(here) {
            return Admission::Inside;
        }
        lifecycle::take_duties_on();
        if session::is_armed() {
            session::armed::list();
        }
        if !settle(self) {
            session::count_homeless();
            return Admission::Past;
        }
        if session::is_armed() {
            look_for_recorder(self);
        }
        if self.is_behind() {
            self.leave_session();
        }
        self.catch_up();
        if self.is_sampling() {
            cost::begin_sample(self);
        }
        Admission::Straight
    }

    /// Whether a record other than a call can be written now, with the stack at `here`.
    pub(crate) fn admits_reported(&self, here: usize) -> bool {
        if self.is_own() || self.is_fragile() || self.is_blind() {
            return false;
        }
        lifecycle::take_duties_on();
        if self.is_busy() && !self.mend(here) || !settle(self) {
            return false;
        }
        if self.is_behind() {
            self.leave_session();
        }
        self.catch_up();
        true
    }
}

//! Causes for the runtime to look for completed tasks, and the depth of the look.

use super::line::StreamLine;
use super::recycled::recycling;
use crate::context::device_contexts;
use crate::{clock, process, virtual_time};
use softacl_options::RecyclingMode;

impl StreamLine {
    /// Somebody has waited for the stream, or for an event on it.
    pub(crate) fn seen_by_wait(&self) {
        let options = process::options();
        let begin = clock::now();
        virtual_time::settle();
        let count = self.recycle();
        match recycling() {
            RecyclingMode::Thread | RecyclingMode::ThreadOrQuery => {
                device_contexts::of(self.device).recycle();
                // One interrupt and one wake-up, however many entries there are.
                self.spend(begin, options.completion_ns * count.min(1), count);
            }
            RecyclingMode::Caller => self.spend(begin, options.completion_ns * count.min(1), count),
            RecyclingMode::Synchronisation => self.spend(begin, options.readback_ns * count, count),
        }
    }

    /// Somebody has asked about an event of the stream, and its record is not recycled.
    pub(crate) fn seen_by_query(&self) {
        virtual_time::settle();
        match recycling() {
            RecyclingMode::Thread => {
                self.recycle();
                device_contexts::of(self.device).recycle();
            }
            RecyclingMode::ThreadOrQuery | RecyclingMode::Caller => {
                let _alone = self.hold_synchronising();
                self.recycle();
            }
            RecyclingMode::Synchronisation => self.read_back(),
        }
    }

    /// A full queue makes the submitter look.
    pub(crate) fn seen_by_submitter(&self) {
        virtual_time::settle();
        self.recycle();
        if matches!(
            recycling(),
            RecyclingMode::Thread | RecyclingMode::ThreadOrQuery
        ) {
            device_contexts::of(self.device).recycle();
        }
    }
}

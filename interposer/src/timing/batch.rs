//! Pairs that one thread reads one after another. Values that threads share are changed once for many pairs.

use crate::clock::Rate;
use crate::objects::ContextEntry;
use crate::timing::api::Api;
use crate::timing::counters;
use crate::timing::pool::MOST_AT_ONCE;
use crate::timing::price::Price;
use crate::timing::reference::Series;

/// Results of the pairs that were read since the last flush, for other threads.
pub(super) struct Batch<'a> {
    api: &'a Api,
    pub(super) context: &'static ContextEntry,
    pub(super) rate: Rate,
    /// How their times are read.
    pub(super) series: Series,
    /// Events with times that were read.
    events: [u64; MOST_AT_ONCE],
    count: usize,
    pub(super) price: Price,
    pub(super) short_tasks: u64,
}

impl<'a> Batch<'a> {
    pub(super) fn of(context: &'static ContextEntry, api: &'a Api) -> Self {
        Self {
            api,
            context,
            rate: Rate::now(),
            series: Series::of(context),
            events: [0; MOST_AT_ONCE],
            count: 0,
            price: Price::NONE,
            short_tasks: 0,
        }
    }

    /// The time of an event has been read.
    pub(super) fn give(&mut self, event: u64) {
        if self.count == MOST_AT_ONCE {
            self.flush();
        }
        if let Some(place) = self.events.get_mut(self.count) {
            *place = event;
            self.count = self.count.wrapping_add(1);
        }
    }

    fn flush(&mut self) {
        // Before the events are used again: their next times are later than all that were read.
        self.series.end();
        let count = core::mem::take(&mut self.count);
        let events = self.events.get(..count).unwrap_or_default();
        self.context.timing.give_events(self.api, events);
        let Price { device, stream } = core::mem::replace(&mut self.price, Price::NONE);
        counters::DEVICE.add(device);
        counters::STREAMS.add(stream);
        counters::SHORT_TASKS.add(core::mem::take(&mut self.short_tasks));
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

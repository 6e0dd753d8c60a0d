//! Events that a stream has at hand. Taking one from the context's pool takes a handful of locked
//! instructions; here it takes none, since only one thread at a time submits to a stream.

use core::sync::atomic::Ordering::Relaxed;

use crate::objects::ContextEntry;
use crate::timing::api::Api;
use crate::timing::lane;

/// Number of events that are fetched at a time, unless many streams would hoard them.
const ROOM: usize = 16;
/// As many where each event takes an id that the program, or another stream, may need.
const FEW: usize = 2;

pub(crate) struct Stash {
    events: [u64; ROOM],
    count: usize,
    /// Serial of the context that they are of.
    context: u32,
}

impl Stash {
    pub(crate) const fn new() -> Self {
        Self {
            events: [0; ROOM],
            count: 0,
            context: 0,
        }
    }

    /// An event that is pending nowhere. The context must be current.
    #[inline]
    pub(crate) fn take(&mut self, context: &ContextEntry, api: &Api) -> Option<u64> {
        if self.count == 0 || self.context != context.serial.load(Relaxed) {
            self.fetch(context, api);
        }
        let last = self.count.checked_sub(1)?;
        self.count = last;
        self.events.get(last).copied()
    }

    #[cold]
    fn fetch(&mut self, context: &ContextEntry, api: &Api) {
        // The rest belongs to an ended context.
        self.forget();
        self.context = context.serial.load(Relaxed);
        let most = match lane::used() {
            _ if api.events_are_scarce() => FEW,
            0..=256 => ROOM,
            257..=1024 => ROOM / 4,
            _ => FEW,
        };
        if let Some(room) = self.events.get_mut(..most) {
            self.count = context.timing.take_events(api, room);
        }
    }

    /// Puts an unused event back.
    pub(crate) fn put_back(&mut self, context: &ContextEntry, api: &Api, event: u64) {
        match self.events.get_mut(self.count) {
            Some(place) if event != 0 => {
                *place = event;
                self.count = self.count.wrapping_add(1);
            }
            _ => context.timing.give_event(api, event),
        }
    }

    /// Gives all events back to the context.
    pub(crate) fn empty(&mut self, context: &ContextEntry, api: &Api) {
        if self.context == context.serial.load(Relaxed) {
            for event in self.events.iter().take(self.count) {
                context.timing.give_event(api, *event);
            }
        }
        self.count = 0;
    }

    /// Forgets events that are another process's, or gone.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }
}

//! `--budget`: the part of a stream's time that the events of `--timing auto` may take.
//!
//! Each task of a stream earns a part of the time until the stream can take the next one. A task with events
//! pays the time that its events add: on the device as measured by stretches of tasks without events, and on the
//! host as measured by the tool's clock. It pays an expected price, and the difference when its times are read. Short tasks
//! need a full account, so they leave it to longer ones. A kind of operation without a recent sample needs only the price.
//!
//! A stream begins with a loan, for the first measurements. Two thirds of its earnings repay the loan. So after some time
//! the events of a stream have taken no more than the budget, with those of its begin.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicI8, AtomicI32, AtomicI64, AtomicU16, AtomicU32};

use ascend_trace_format::session::WHOLE_BUDGET;

/// The account is in this part of a nanosecond, since budgets are in this part of the time.
const WHOLE: i64 = WHOLE_BUDGET as i64 * 10;
/// The used part of a budget, of 10. The rest is for records that measure records, and for comparisons of clocks.
const USED: i64 = 9;
/// An account has room for the earnings of this time.
const WINDOW_NS: i64 = 25_000_000;
/// A stream begins with this much beyond a full account, as a loan: the tool learns there what events cost. A program may
/// submit hundreds of tasks before it waits for the first one, and a short program wants times of all of its tasks.
const START_NS: i64 = 2_000_000;
/// This part of the earnings repays the loan, of 3.
const REPAID: i64 = 2;
/// The assumed price of events on the device before anything was measured.
const UNKNOWN_NS: u32 = 5_000;
/// Events of a task take the host no longer than this: a thread that took longer had lost its processor.
const MOST_HOST_NS: u16 = 50_000;
/// Events of one task count as this much at most.
const MOST_SETTLED_NS: u32 = 100_000;
/// Each kind of operation has a sample in about this time.
const SAMPLE_MS: u32 = 25;
/// Kinds of operations with a known time of the last sample.
const KINDS: usize = 1024;
/// A stream counts as one with a queue when this many more of its timed tasks waited there than did not.
const MOST_WAITING: i8 = 16;

/// The account of one stream. Threads that submit to it at the same time may lose an entry of each other.
pub(crate) struct Account {
    credit: AtomicI64,
    /// The part of the first credit that is not repaid, with what events have taken beyond the credit.
    loan: AtomicI64,
    /// By how much events have taken longer than their tasks had paid, in nanoseconds, until the account pays it.
    unpaid: AtomicI32,
    /// Nanoseconds of the host: when the stream will have done all submitted tasks. 0 before the first one.
    free_at: AtomicI64,
    /// The time that the events of a task add, for the device and for the host.
    device: AtomicU32,
    host: AtomicU16,
    /// The part of a measured duration that is due to the events.
    beyond: AtomicU32,
    /// The usual duration of a task, and of a wait or replay.
    length: AtomicU32,
    other_length: AtomicU32,
    waiting: AtomicI8,
}

/// When each kind of operation had its last sample, in milliseconds; 0 without one. Two kinds may share a place.
static LAST: [AtomicU32; KINDS] = [const { AtomicU32::new(0) }; KINDS];

/// A task that a stream gets.
#[derive(Clone, Copy)]
pub(crate) struct Offer {
    /// Distinguishes kinds of operations.
    pub(crate) kind: u32,
    /// It is no wait, record or replay: these get events whenever the account has the price.
    pub(crate) is_work: bool,
    /// Its duration with events, if that is known.
    pub(crate) known: Option<u32>,
    pub(crate) now_ns: i64,
}

impl Account {
    pub(crate) const fn new() -> Self {
        Self {
            credit: AtomicI64::new(0),
            loan: AtomicI64::new(0),
            unpaid: AtomicI32::new(0),
            free_at: AtomicI64::new(0),
            device: AtomicU32::new(UNKNOWN_NS),
            host: AtomicU16::new(0),
            beyond: AtomicU32::new(0),
            length: AtomicU32::new(0),
            other_length: AtomicU32::new(0),
            waiting: AtomicI8::new(0),
        }
    }

    pub(crate) fn forget(&self) {
        self.unpaid.store(0, Relaxed);
        self.free_at.store(0, Relaxed);
        self.device.store(UNKNOWN_NS, Relaxed);
        self.host.store(0, Relaxed);
        self.beyond.store(0, Relaxed);
        self.length.store(0, Relaxed);
        self.other_length.store(0, Relaxed);
        self.waiting.store(0, Relaxed);
    }

    /// The price of the events of a task, which the stream then has to pay. `None` if the task gets none. `budget` is the part
    /// of the time that events may take.
    pub(crate) fn takes(&self, offer: Offer, budget: u32) -> Option<u32> {
        let budget = i64::from(budget).saturating_mul(USED);
        let length = match offer.known {
            Some(known) => known.saturating_sub(self.beyond.load(Relaxed)),
            None if offer.is_work => self.length.load(Relaxed),
            None => self.other_length.load(Relaxed),
        };
        let price_ns = self.price();
        let price = i64::from(price_ns).saturating_mul(WHOLE);
        let full = WINDOW_NS
            .saturating_mul(budget)
            .max(price.saturating_mul(2));
        let credit = self.earn(offer.now_ns, length, budget, full);
        if price == 0 {
            return Some(0);
        }
        let own = i64::from(length).saturating_mul(budget).min(price);
        // The part of a full account that stays for longer tasks.
        let missing = (price.saturating_sub(own) / (price / 1024).max(1)).min(1024);
        let kept = full.saturating_sub(price) / 1024 * missing;
        let is_due = !offer.is_work || is_due(offer);
        let needed = price.saturating_add(if is_due { 0 } else { kept });
        if credit < needed {
            return None;
        }
        note_sample(offer);
        Some(price_ns)
    }

    /// A task gets its events: for the thread with the turn to submit.
    pub(crate) fn pay(&self, price_ns: u32) {
        if price_ns > 0 {
            let price = i64::from(price_ns).saturating_mul(WHOLE);
            let credit = self.credit.load(Relaxed);
            self.credit.store(credit.saturating_sub(price), Relaxed);
        }
    }

    /// The events of a task took the device this long, and it had paid this: for who reads times.
    pub(crate) fn settle(&self, device_ns: u64, paid_ns: u32) {
        if paid_ns > 0 {
            let taken = device_ns.max(self.host_price().into());
            let taken = u32::try_from(taken)
                .unwrap_or(u32::MAX)
                .min(MOST_SETTLED_NS);
            let paid = paid_ns.min(MOST_SETTLED_NS);
            let more = taken.cast_signed().wrapping_sub(paid.cast_signed());
            if more != 0 {
                self.unpaid.fetch_add(more, Relaxed);
            }
        }
    }

    /// Adds the earnings of a task of this length, and of the time before it in which the stream is free.
    fn earn(&self, now_ns: i64, length: u32, budget: i64, full: i64) -> i64 {
        let before = self.free_at.load(Relaxed);
        if before == 0 {
            let credit = full.saturating_add(START_NS.saturating_mul(WHOLE));
            self.free_at.store(now_ns.max(1), Relaxed);
            self.credit.store(credit, Relaxed);
            self.loan.store(credit, Relaxed);
            return credit;
        }
        let free_at = before.max(now_ns).saturating_add(i64::from(length));
        self.free_at.store(free_at, Relaxed);
        let earned = free_at.saturating_sub(before).min(WINDOW_NS);
        let earned = earned.saturating_mul(budget);
        let loan = self.loan.load(Relaxed);
        let before = self.credit.load(Relaxed).saturating_sub(self.take_unpaid());
        let (before, owed) = match before {
            0.. => (before, loan),
            // Without any credit, nothing would be measured until all is repaid.
            missing => (0, loan.saturating_sub(missing)),
        };
        let repaid = owed.min(earned / 3 * REPAID);
        let whole = before.saturating_add(earned).saturating_sub(repaid);
        // A stream that has just begun may have more than a full account.
        let credit = whole.min(full.max(before));
        self.credit.store(credit, Relaxed);
        if owed > 0 {
            // All earnings that the account has no room for repay the loan as well.
            let surplus = whole.saturating_sub(credit);
            let left = owed.saturating_sub(repaid).saturating_sub(surplus);
            self.loan.store(left.max(0), Relaxed);
        }
        credit
    }

    /// The differences that the account has to pay now.
    fn take_unpaid(&self) -> i64 {
        match self.unpaid.load(Relaxed) {
            0 => 0,
            _ => i64::from(self.unpaid.swap(0, Relaxed)).saturating_mul(WHOLE),
        }
    }

    /// Nanoseconds that the events of a task add.
    fn price(&self) -> u32 {
        self.device.load(Relaxed).max(self.host_price())
    }

    /// The same on the host. Where tasks wait in a queue, the host is ahead of the device, and its time adds nothing.
    fn host_price(&self) -> u32 {
        match self.waiting.load(Relaxed) {
            1.. => 0,
            _ => self.host.load(Relaxed).into(),
        }
    }

    /// The host took this long for the events of a task. The account follows short times fast and long ones slowly: a
    /// thread may have lost its processor meanwhile.
    pub(crate) fn note_host(&self, ns: u64) {
        let ns = u16::try_from(ns).unwrap_or(u16::MAX).min(MOST_HOST_NS);
        let known = self.host.load(Relaxed);
        let next = if known == 0 {
            ns
        } else if ns < known {
            known.saturating_sub(known.saturating_sub(ns).div_ceil(4))
        } else {
            known.saturating_add(ns.saturating_sub(known).min(known / 32))
        };
        self.host.store(next, Relaxed);
    }

    /// Whether tasks mostly wait in the queue of the stream.
    pub(crate) fn waits(&self) -> bool {
        self.waiting.load(Relaxed) > 0
    }

    /// A wait or a replay took this long, and events around it add this time.
    pub(crate) fn note_other(&self, length: u32, price: u32) {
        self.device.store(price, Relaxed);
        follow(&self.other_length, length);
    }

    /// A task was read: its duration with events, the part of it that is due to them, the time that the events of a task add, and
    /// whether it had waited in the queue.
    pub(crate) fn note_device(&self, length: u32, beyond: u32, price: u32, waited: bool) {
        self.beyond.store(beyond, Relaxed);
        self.device.store(price, Relaxed);
        follow(&self.length, length.saturating_sub(beyond));
        let step = if waited { 1 } else { -1 };
        let waiting = self.waiting.load(Relaxed).saturating_add(step);
        self.waiting
            .store(waiting.clamp(-MOST_WAITING, MOST_WAITING), Relaxed);
    }
}

/// A mean of about the last eight.
fn follow(mean: &AtomicU32, length: u32) {
    let (own, known) = (i64::from(length), i64::from(mean.load(Relaxed)));
    let next = if known == 0 {
        own
    } else {
        known.saturating_add(own.saturating_sub(known) / 8)
    };
    mean.store(u32::try_from(next).unwrap_or(u32::MAX), Relaxed);
}

/// Where the last sample of an operation is noted, and the present time there.
fn sample_of(offer: Offer) -> (Option<&'static AtomicU32>, u32) {
    let milliseconds = (offer.now_ns / 1_000_000) as u32;
    (LAST.get(offer.kind as usize % KINDS), milliseconds.max(1))
}

/// Whether this kind of operation has had no sample for some time.
fn is_due(offer: Offer) -> bool {
    let (place, now) = sample_of(offer);
    place.is_some_and(|place| {
        let last = place.load(Relaxed);
        last == 0 || now.wrapping_sub(last) >= SAMPLE_MS
    })
}

fn note_sample(offer: Offer) {
    if let (Some(place), now) = sample_of(offer) {
        place.store(now, Relaxed);
    }
}

#[cfg(test)]
mod tests;

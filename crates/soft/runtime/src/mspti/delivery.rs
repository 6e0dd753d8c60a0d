//! The thread that packs records into the profiler's buffers and hands them over.

use std::collections::VecDeque;
use std::time::Duration;

use super::record::ActivityItem;
use super::{Callbacks, Mspti, result};
use crate::clock::mono;
use crate::process;
use crate::sync::lock;
use crate::threads::spawn;

/// How often it is looked whether there are many, unless the profiler says otherwise.
const PERIOD: Duration = Duration::from_millis(100);
/// With this number of records a buffer is full enough to be delivered; smaller ones are delivered on
/// request.
const MANY: usize = 16_384;
/// How long a flush waits.
const FLUSH: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Delivery {
    items: VecDeque<ActivityItem>,
    callbacks: Option<Callbacks>,
    period: Option<Duration>,
    runs: bool,
    /// Flushes that were asked for, and that are over.
    flush_requests: u64,
    over: u64,
}

impl Mspti {
    pub(super) fn put(&self, item: ActivityItem) {
        let mut delivery = lock(&self.delivery);
        if delivery.callbacks.is_none() {
            return;
        }
        delivery.items.push_back(item);
        if delivery.items.len().is_multiple_of(MANY) {
            self.wake.notify_all();
        }
    }

    pub(crate) fn register(&self, callbacks: Callbacks) -> i32 {
        let mut delivery = lock(&self.delivery);
        delivery.callbacks = Some(callbacks);
        if !delivery.runs {
            let began = spawn("softacl-mspti", move || super::get().deliver());
            delivery.runs = began.is_some();
        }
        match delivery.runs {
            true => result::SUCCESS,
            false => result::INNER,
        }
    }

    pub(crate) fn set_period(&self, milliseconds: u32) -> i32 {
        let wanted = (milliseconds != 0).then(|| Duration::from_millis(milliseconds.into()));
        lock(&self.delivery).period = wanted;
        self.wake.notify_all();
        result::SUCCESS
    }

    /// Delivers the records, and waits for that, but not for late ones.
    pub(crate) fn flush(&self) -> i32 {
        let mut delivery = lock(&self.delivery);
        if !delivery.runs {
            return result::SUCCESS;
        }
        delivery.flush_requests += 1;
        let mine = delivery.flush_requests;
        self.wake.notify_all();
        let waited = self
            .done
            .sleep_while(delivery, FLUSH, |delivery| delivery.over < mine);
        match waited {
            (_, true) => result::INNER,
            (_, false) => result::SUCCESS,
        }
    }

    fn deliver(&self) {
        loop {
            let delivery = lock(&self.delivery);
            let period = delivery.period.unwrap_or(PERIOD);
            let idle = |delivery: &mut Delivery| {
                delivery.over == delivery.flush_requests && delivery.items.len() < MANY
            };
            let (mut delivery, _) = self.wake.sleep_while(delivery, period, idle);
            let flush_requests = delivery.flush_requests;
            if delivery.over == flush_requests && delivery.items.len() < MANY {
                continue;
            }
            let items = due(&mut delivery.items);
            let callbacks = delivery.callbacks;
            drop(delivery);
            if let Some(callbacks) = callbacks {
                hand_over(items, callbacks);
            }
            lock(&self.delivery).over = flush_requests;
            self.done.notify_all();
        }
    }
}

/// Records that are old enough to be delivered, in the requested order.
fn due(items: &mut VecDeque<ActivityItem>) -> Vec<ActivityItem> {
    let options = process::options();
    let since = mono().saturating_sub(options.mspti_late_ms * 1_000_000);
    let count = items.iter().take_while(|item| item.made <= since).count();
    let mut due: Vec<ActivityItem> = items.drain(..count).collect();
    if options.mspti_shuffle {
        due.sort_by_key(|item| std::cmp::Reverse(item.place));
    }
    due
}

/// Packs records into as many buffers as they need. What finds no buffer is lost.
fn hand_over(items: Vec<ActivityItem>, callbacks: Callbacks) {
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        let (mut buffer, mut size, mut most) = (std::ptr::null_mut::<u8>(), 0_usize, 0_usize);
        (callbacks.request)(&raw mut buffer, &raw mut size, &raw mut most);
        if buffer.is_null() {
            return;
        }
        let (mut valid, mut records) = (0, 0);
        while let Some(item) =
            items.next_if(|item| valid + item.kind.size() <= size && (most == 0 || records < most))
        {
            let bytes = item.encode();
            // SAFETY: the profiler gave `size` bytes, and the written part ends before that.
            unsafe { buffer.add(valid).copy_from(bytes.as_ptr(), bytes.len()) };
            valid += bytes.len();
            records += 1;
        }
        (callbacks.complete)(buffer, size, valid);
        if records == 0 {
            // It is too small for even one.
            return;
        }
    }
}

//! What calls do with events: three ways to create them, and what each kind permits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::captured::EventUses;
use super::kind::{EventClass, flag};
use super::record::Record;
use super::{EVENTS, Event, EventState, of};
use crate::code::{
    Fault, INVALID_PARAM, Outcome, RT_EVENT_SYNC_TIMEOUT, RT_INTERNAL, RT_NO_EVENT,
    RT_NOT_SUPPORTED, RT_PARAM_INVALID, RT_TIMESTAMP_INVALID, check, fault,
};
use crate::context::{Context, device_contexts};
use crate::device::Lease;
use crate::engine::task::Work;
use crate::graph::events::{self, EventRouting};
use crate::progress::WaitResult;
use crate::stream::submit::QueueRoom;
use crate::stream::{Stream, access};
use crate::sync::{Mutex, MutexGuard, lock};
use crate::{current, process, virtual_time};
use softacl_options::RecyclingMode;

const NO_ID: Fault = Fault {
    code: RT_NO_EVENT,
    why: "the device has no event left",
};
const UNSUPPORTED: Fault = Fault {
    code: RT_NOT_SUPPORTED,
    why: "events of this kind do not permit this call",
};

fn make(class: EventClass, flags: u32) -> Outcome<usize> {
    let context: Arc<Context> = current::context()?;
    let device = context.device;
    let holds = matches!(class, EventClass::HeldSync | EventClass::External);
    let held_id = if holds {
        Some(device.event_lease().ok_or(NO_ID)?)
    } else {
        None
    };
    let event = EVENTS.get().insert_with(|handle| Event {
        handle,
        flags,
        class,
        device,
        failures: Arc::clone(&context.failures),
        held_id,
        state: Mutex::default(),
        is_captured: AtomicBool::new(false),
        uses: EventUses::default(),
    });
    event.map(|event| event.handle).ok_or(NO_ID)
}

pub(crate) fn create() -> Outcome<usize> {
    make(EventClass::Default, flag::DEFAULT)
}

pub(crate) fn create_with_flag(flags: u32) -> Outcome<usize> {
    let class = match flags {
        flag::DEVICE_USE_ONLY => EventClass::DeviceUseOnly,
        flag::EXTERNAL => EventClass::External,
        _ => {
            check(
                flags != 0 && flags & !flag::MIX == 0,
                "these event flags do not go together",
            )?;
            match flags {
                _ if flags & flag::SYNC != 0 => EventClass::HeldSync,
                _ if flags & flag::DEVICE_SYNC != 0 => EventClass::Default,
                _ => EventClass::HeldPlain,
            }
        }
    };
    make(class, flags)
}

pub(crate) fn create_ex_with_flag(flags: u32) -> Outcome<usize> {
    if flags == flag::IPC {
        return make(EventClass::Ipc, flags);
    }
    check(
        flags != 0 && flags & !flag::MIX == 0,
        "these event flags do not go together",
    )?;
    let syncs = flags & (flag::SYNC | flag::DEVICE_SYNC) != 0;
    make(
        if syncs {
            EventClass::ExSync
        } else {
            EventClass::ExPlain
        },
        flags,
    )
}

impl Record {
    fn wait(&self, limit: Option<Duration>) -> Outcome {
        let Some((stream, seq)) = self.place.get() else {
            return Ok(());
        };
        if self.is_recycled() && !virtual_time::is_on() {
            return Ok(());
        }
        let waited = {
            let _alone = stream.hold_synchronising();
            stream.wait_for(*seq, limit)
        };
        stream.seen_by_wait();
        match waited {
            WaitResult::Done => Ok(()),
            WaitResult::TimedOut => fault(RT_EVENT_SYNC_TIMEOUT, "the event is not complete yet"),
            WaitResult::Aborted(code) => fault(code, "the event's stream was aborted"),
        }
    }
}

impl Event {
    /// The state, and a place in the queue. The state is not locked while the queue is full.
    fn with_room<'a>(
        &'a self,
        stream: &'a Arc<Stream>,
    ) -> Outcome<(MutexGuard<'a, EventState>, QueueRoom<'a>)> {
        loop {
            let state = lock(&self.state);
            if let Some(room) = stream.room()? {
                return Ok((state, room));
            }
            drop(state);
            stream.wait_for_room()?;
        }
    }

    pub(crate) fn record(self: &Arc<Self>, stream: usize) -> Outcome {
        self.host_may_use()?;
        let stream = access::of_context(stream)?;
        self.uses.record_plainly(self.class)?;
        if events::record(self, &stream)? == EventRouting::Yes {
            return Ok(());
        }
        let id = self.id_for_record()?;
        let is_timed = self.flags & flag::TIME_LINE != 0;
        if is_timed {
            stream.wait_for_timeline();
        }
        let (mut state, room) = self.with_room(&stream)?;
        let record = state
            .expected
            .take()
            .unwrap_or_else(|| Record::new(self.name()));
        if let Some(id) = id {
            let _ = record.id.set(id);
        }
        let task = Arc::clone(&record);
        room.fill(|seq| {
            let _ = task.place.set((Arc::clone(&stream.line), seq));
            if is_timed {
                stream.note_timed(seq);
            }
            Work::Record(task)
        });
        state.latest = Some(record);
        state.waits.clear();
        Ok(())
    }

    /// The id that a record takes; waits for one while the device still has work that holds some.
    fn id_for_record(&self) -> Outcome<Option<Arc<Lease>>> {
        if !self.class.takes_id_at_record() {
            return Ok(self.held_id.clone());
        }
        loop {
            if let Some(id) = self.device.event_lease() {
                return Ok(Some(id));
            }
            if device_contexts::of(self.device).is_idle() {
                // Nothing will free an id any more, except dropping our own older record.
                lock(&self.state).latest = None;
                return self.device.event_lease().map(Some).ok_or(NO_ID);
            }
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// Makes the stream wait for the latest record.
    pub(crate) fn wait_in(self: &Arc<Self>, stream: usize, timeout_s: u64) -> Outcome {
        self.host_may_use()?;
        let stream = access::of_context(stream)?;
        if matches!(self.class, EventClass::HeldPlain | EventClass::ExPlain) {
            return Err(UNSUPPORTED);
        }
        self.uses.wait_plainly(self.class)?;
        if events::wait(self, &stream)? == EventRouting::Yes {
            return Ok(());
        }
        let (mut state, room) = self.with_room(&stream)?;
        let record = match &state.latest {
            Some(record) => Arc::clone(record),
            None if !self.class.is_old() => return Ok(()),
            None if self.class == EventClass::Default => {
                return fault(RT_PARAM_INVALID, "the event was never recorded");
            }
            None => Arc::clone(
                state
                    .expected
                    .get_or_insert_with(|| Record::new(self.name())),
            ),
        };
        // Order inside a stream needs no wait.
        if record
            .place
            .get()
            .is_some_and(|(source, _)| Arc::ptr_eq(source, &stream.line))
        {
            return Ok(());
        }
        let timeout_ns = timeout_s.saturating_mul(1_000_000_000);
        let seq = room.fill(|_| Work::Wait { record, timeout_ns });
        state.waits.retain(|(line, seq)| !line.has_completed(*seq));
        state.waits.push((Arc::clone(&stream.line), seq));
        Ok(())
    }

    /// A task that takes the record back, in the order of the stream that waited for it.
    pub(crate) fn reset_in(self: &Arc<Self>, stream: usize) -> Outcome {
        self.host_may_use()?;
        let stream = access::of_context(stream)?;
        match self.class {
            // For the last one it is not defined, and samples do it.
            EventClass::HeldSync | EventClass::External | EventClass::Default => {}
            _ => return Err(UNSUPPORTED),
        }
        if events::reset(self, &stream)? == EventRouting::Yes {
            return Ok(());
        }
        let (mut state, room) = self.with_room(&stream)?;
        room.fill(|_| Work::Marker);
        if self.class != EventClass::Default {
            state.latest = None;
        }
        Ok(())
    }

    /// `aclrtQueryEventStatus`: has the latest record been reached?
    pub(crate) fn is_complete(&self) -> Outcome<bool> {
        self.host_may_use()?;
        self.refuse_while_captured()?;
        if self.class == EventClass::External {
            return Err(UNSUPPORTED);
        }
        self.failures.check()?;
        let latest = self.latest();
        match latest {
            None => Ok(!self.class.is_old()),
            Some(record) => self.is_reached(&record),
        }
    }

    /// Unseen completion is not reported while its time is missing: the runtime looks, and the next
    /// query finds it.
    fn is_reached(&self, record: &Record) -> Outcome<bool> {
        let Some(stream) = record.line() else {
            return Ok(false);
        };
        if record.is_recycled() {
            return Ok(true);
        }
        let _inside = stream.look();
        stream.check_context()?;
        virtual_time::settle();
        if !record.has_ended() {
            return Ok(false);
        }
        let comes_first = process::options().chip.recycling() == RecyclingMode::Synchronisation;
        if self.flags & flag::TIME_LINE == 0 || comes_first {
            return Ok(true);
        }
        stream.seen_by_query();
        Ok(false)
    }

    /// The queries without a wait are for events of `aclrtCreateEvent` and `aclrtCreateEventWithFlag`.
    fn can_be_asked(&self) -> Outcome {
        self.host_may_use()?;
        self.refuse_while_captured()?;
        match self.class {
            EventClass::Default | EventClass::HeldSync | EventClass::HeldPlain => Ok(()),
            _ => Err(UNSUPPORTED),
        }
    }

    /// `aclrtQueryEvent`: is there no record under way?
    pub(crate) fn has_no_pending_record(&self) -> Outcome<bool> {
        self.can_be_asked()?;
        self.failures.check()?;
        let latest = self.latest();
        latest.map_or(Ok(true), |record| Self::is_known_to_be_reached(&record))
    }

    /// This query always looks. A thread that looks comes too late for the result.
    fn is_known_to_be_reached(record: &Record) -> Outcome<bool> {
        let before = record.is_recycled();
        let Some(stream) = record.line().filter(|_| !before) else {
            return Ok(before);
        };
        let _inside = stream.look();
        stream.check_context()?;
        stream.seen_by_query();
        if record.end_ns().is_none() {
            record.asked_in_vain();
        }
        Ok(match process::options().chip.recycling() {
            RecyclingMode::Thread => false,
            _ => record.is_recycled(),
        })
    }

    /// `aclrtQueryEventWaitStatus`: have all waits been passed?
    pub(crate) fn has_no_pending_wait(&self) -> Outcome<bool> {
        self.can_be_asked()?;
        virtual_time::settle();
        let state = lock(&self.state);
        Ok(state
            .waits
            .iter()
            .all(|(line, seq)| line.is_found_complete(*seq)))
    }

    pub(crate) fn synchronize(&self, limit: Option<Duration>) -> Outcome {
        // An event for the device only has nothing that the host could wait for.
        if self.class == EventClass::DeviceUseOnly {
            return Ok(());
        }
        self.refuse_while_captured()?;
        if self.class == EventClass::External {
            return Err(UNSUPPORTED);
        }
        self.latest().map_or(Ok(()), |record| record.wait(limit))
    }

    /// The device's clock at the latest record, in nanoseconds. Completed events without a
    /// timeline have the time zero, as on the device, and so do records that were dropped.
    pub(crate) fn device_time_ns(&self) -> Outcome<i64> {
        self.host_may_use()?;
        self.refuse_while_captured()?;
        if matches!(self.class, EventClass::External | EventClass::Ipc) {
            return Err(UNSUPPORTED);
        }
        let Some(record) = self.latest() else {
            return fault(RT_INTERNAL, "the event was never recorded");
        };
        match record.end_ns() {
            Some(end) if record.is_recycled() && record.has_ended() => {
                let timed = self.flags & flag::TIME_LINE != 0 && !record.was_dropped();
                Ok(if timed {
                    self.device.clock.read(end)
                } else {
                    0
                })
            }
            _ => fault(
                RT_TIMESTAMP_INVALID,
                "the time has not been seen to be ready",
            ),
        }
    }

    pub(crate) fn id(&self) -> Outcome<u32> {
        if matches!(
            self.class,
            EventClass::Ipc | EventClass::External | EventClass::DeviceUseOnly
        ) {
            return Err(UNSUPPORTED);
        }
        // An event that takes an id with each record gives it back when the record was reached.
        let pending = self.latest().filter(|record| record.end_ns().is_none());
        let recorded = if self.class == EventClass::ExSync {
            pending.and_then(|record| record.id.get().cloned())
        } else {
            self.latest().and_then(|record| record.id.get().cloned())
        };
        let id = self.held_id.clone().or(recorded);
        id.map(|lease| lease.id()).ok_or(Fault {
            code: RT_INTERNAL,
            why: "the event has no id now",
        })
    }

    /// A record in a graph that is seen outside of it.
    pub(crate) fn record_externally(self: &Arc<Self>, stream: usize) -> Outcome {
        self.host_may_use()?;
        let stream = access::of_context(stream)?;
        events::check_external(self, &stream)?;
        self.uses.record_externally()?;
        events::record_external(self, &stream)
    }

    /// A wait in a graph for a record from outside. It has no timeout; older samples say so with -1.
    pub(crate) fn wait_externally(self: &Arc<Self>, stream: usize, timeout_s: u32) -> Outcome {
        self.host_may_use()?;
        let is_endless = timeout_s == 0 || timeout_s == u32::MAX && !process::options().strict;
        if !is_endless {
            return fault(INVALID_PARAM, "an external wait has no timeout");
        }
        let stream = access::of_context(stream)?;
        events::check_external(self, &stream)?;
        self.uses.wait_externally()?;
        events::wait_external(self, &stream)
    }
}

/// Milliseconds from one event to another, as a 32-bit float like the device library's.
pub(crate) fn elapsed_ms(start: usize, end: usize) -> Outcome<f32> {
    let (start, end) = (of(start)?, of(end)?);
    let span = end.device_time_ns()? - start.device_time_ns()?;
    let span = if process::options().chip.elapses_unsigned() {
        span as u64 as f64
    } else {
        span as f64
    };
    Ok((span / 1e6) as f32)
}

/// The device's time at the record, in whole microseconds.
pub(crate) fn timestamp_us(event: usize) -> Outcome<u64> {
    Ok((of(event)?.device_time_ns()?.max(0) / 1000) as u64)
}

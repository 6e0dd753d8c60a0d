//! msPTI: activities of the devices, delivered to one profiler in its buffers.
//!
//! The engine and the exported functions note activities; a thread packs them into buffers and delivers
//! these. Copies and fills are reported by their calls, without the times of their runs. Times are on
//! the wall clock by one comparison with the device's, as on a card: from then on they have the rate of
//! the device's clock.

mod delivery;
pub(crate) mod record;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::clock::mono;
use crate::device::Device;
use crate::per_process::PerProcess;
use crate::process;
use crate::sync::{Condvar, Mutex, lock};
use record::{ActivityItem, ActivityKind};
use softacl_options::MsptiMode;

static MSPTI: PerProcess<Mspti> = PerProcess::new(Mspti::new);

pub(crate) fn get() -> &'static Mspti {
    MSPTI.get()
}

/// `msptiResult`.
pub(crate) mod result {
    pub(crate) const SUCCESS: i32 = 0;
    pub(crate) const INVALID_PARAMETER: i32 = 1;
    pub(crate) const MULTIPLE_SUBSCRIBERS: i32 = 2;
    pub(crate) const MAX_LIMIT_REACHED: i32 = 3;
    pub(crate) const DEVICE_OFFLINE: i32 = 4;
    pub(crate) const QUEUE_EMPTY: i32 = 5;
    pub(crate) const WITHOUT_PRELOAD: i32 = 6;
    pub(crate) const INNER: i32 = 999;
}

pub(crate) type Request = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
pub(crate) type Complete = extern "C" fn(*mut u8, usize, usize);

/// The profiler's callbacks.
#[derive(Clone, Copy)]
pub(crate) struct Callbacks {
    pub(crate) request: Request,
    pub(crate) complete: Complete,
}

/// One process's msPTI.
pub(crate) struct Mspti {
    is_subscribed: AtomicBool,
    /// A bit for each kind that is enabled.
    enabled: AtomicU32,
    correlations: AtomicU64,
    /// Records there were, for the defects.
    count: AtomicU64,
    names: Mutex<HashSet<CString>>,
    anchors: Mutex<Vec<Option<Anchor>>>,
    pub(crate) delivery: Mutex<delivery::Delivery>,
    pub(crate) wake: Condvar,
    pub(crate) done: Condvar,
}

/// The one comparison of a device's clock with the wall clock.
#[derive(Clone, Copy)]
struct Anchor {
    wall_ns: i64,
    count: i64,
}

impl Anchor {
    /// As narrow as it can be had, and then as wrong as was asked for.
    fn of(device: &Device) -> Self {
        let tries = (0..16).map(|_| {
            let (before, wall_ns, after) = (mono(), wall(), mono());
            (after - before, before + (after - before) / 2, wall_ns)
        });
        let best = tries.min_by_key(|(width, _, _)| *width);
        let (_, host_ns, wall_ns) = best.unwrap_or_default();
        let wall_ns = wall_ns + process::options().mspti_anchor_ns;
        if let Some(truth) = process::truth() {
            truth.add_log_clock(device.id, host_ns, wall_ns);
        }
        Self {
            count: device.clock.count(host_ns),
            wall_ns,
        }
    }
}

/// What ran.
pub(crate) struct Activity<'a> {
    pub(crate) kind: ActivityKind,
    pub(crate) name: Option<&'a str>,
    /// It is an operator, which may have several kernels.
    pub(crate) has_parts: bool,
}

/// Where something ran.
pub(crate) struct ActivityPlace {
    pub(crate) device: &'static Device,
    pub(crate) stream_id: i32,
    pub(crate) correlation: u64,
}

impl ActivityPlace {
    /// With the number of one of the kernels of an operator.
    fn of_kernel(&self, part: u64) -> Self {
        let options = process::options();
        let correlation = match options.mspti_own_numbers {
            true => self.correlation * u64::from(options.mspti_kernels) + part,
            false => self.correlation,
        };
        Self {
            correlation,
            ..*self
        }
    }
}

thread_local! {
    /// The number of the exported call under way in this thread, once it has one.
    static CALL: Cell<u64> = const { Cell::new(0) };
    /// The copy or fill that it has submitted last.
    static MOVED: RefCell<Option<ActivityItem>> = const { RefCell::new(None) };
}

/// An exported call begins; returns the time, if a profiler needs it.
#[inline]
pub(crate) fn enter() -> Option<u64> {
    if !get().is_active() {
        return None;
    }
    let _ = CALL.try_with(|call| call.set(0));
    let _ = MOVED.try_with(RefCell::take);
    Some(mono())
}

/// It returns. Calls without submissions are not reported.
pub(crate) fn leave(function: &'static str, begin: u64) {
    let number = CALL.try_with(Cell::get).unwrap_or(0);
    let mspti = get();
    let end = mono();
    if number != 0 && mspti.wants(ActivityKind::Api) {
        mspti.put(ActivityItem::api(mspti.name(function), number).called(begin, end));
    }
    let moved = MOVED.try_with(RefCell::take).ok().flatten();
    if let Some(moved) = moved.filter(|moved| mspti.wants(moved.kind)) {
        mspti.put(moved.called(begin, end));
    }
}

/// Work is put on a stream. Returns the number of the call. `moved` is the kind and the bytes of a copy
/// or fill.
pub(crate) fn submitted(
    device: &'static Device,
    stream_id: i32,
    moved: impl FnOnce() -> Option<(ActivityKind, u64)>,
) -> u64 {
    let correlation = correlation();
    if correlation != 0
        && let Some((kind, bytes)) = moved()
    {
        let place = ActivityPlace {
            device,
            stream_id,
            correlation,
        };
        let item = ActivityItem::moving(kind, bytes, &place);
        let _ = MOVED.try_with(|moved| moved.replace(Some(item)));
    }
    correlation
}

/// The number of the running call, the same for all its submissions; 0 without a profiler.
pub(crate) fn correlation() -> u64 {
    let mspti = get();
    if !mspti.is_active() {
        return 0;
    }
    let own = CALL.try_with(|call| {
        if call.get() == 0 {
            call.set(mspti.correlations.fetch_add(1, Ordering::Relaxed) + 1);
        }
        call.get()
    });
    own.unwrap_or(0)
}

/// The wall clock, in nanoseconds.
fn wall() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as i64)
}

impl Mspti {
    pub(crate) fn new() -> Self {
        Self {
            is_subscribed: AtomicBool::new(false),
            enabled: AtomicU32::new(0),
            correlations: AtomicU64::new(0),
            count: AtomicU64::new(0),
            names: Mutex::default(),
            anchors: Mutex::default(),
            delivery: Mutex::default(),
            wake: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Whether any kind is enabled.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.enabled.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn wants(&self, kind: ActivityKind) -> bool {
        self.enabled.load(Ordering::Relaxed) & 1 << kind as u32 != 0
    }

    pub(crate) fn subscribe(&self) -> i32 {
        let answers = process::options().mspti;
        if answers == MsptiMode::Broken {
            return result::INNER;
        }
        if answers == MsptiMode::Busy || self.is_subscribed.swap(true, Ordering::AcqRel) {
            return result::MULTIPLE_SUBSCRIBERS;
        }
        result::SUCCESS
    }

    pub(crate) fn unsubscribe(&self) -> i32 {
        self.is_subscribed.store(false, Ordering::Release);
        result::SUCCESS
    }

    pub(crate) fn enable(&self, kind: ActivityKind) -> i32 {
        let options = process::options();
        let is_copy = matches!(
            kind,
            ActivityKind::Memcpy | ActivityKind::Memset | ActivityKind::Memory
        );
        let needs_preload =
            kind == ActivityKind::Hccl || is_copy && options.mspti == MsptiMode::Preload;
        if needs_preload && !is_preloaded() {
            return result::WITHOUT_PRELOAD;
        }
        if options.mspti == MsptiMode::Offline || options.chip.timeline_slots().is_some() {
            return result::DEVICE_OFFLINE;
        }
        if options.mspti == MsptiMode::Full {
            return result::MAX_LIMIT_REACHED;
        }
        self.enabled.fetch_or(1 << kind as u32, Ordering::AcqRel);
        result::SUCCESS
    }

    pub(crate) fn disable(&self, kind: ActivityKind) -> i32 {
        self.enabled
            .fetch_and(!(1 << kind as u32), Ordering::AcqRel);
        result::SUCCESS
    }

    /// A text that stays where it is.
    fn name(&self, text: &str) -> usize {
        let mut names = lock(&self.names);
        let text = CString::new(text).unwrap_or_default();
        if !names.contains(&text) {
            names.insert(text.clone());
        }
        // The target of a `CString` does not move with it, and none is ever taken out.
        names.get(&text).map_or(0, |kept| kept.as_ptr() as usize)
    }

    /// A device's time on msPTI's clock.
    fn profiler_time(&self, device: &Device, host_ns: u64) -> u64 {
        let mut anchors = lock(&self.anchors);
        let place = device.id as usize;
        if anchors.len() <= place {
            anchors.resize(place + 1, None);
        }
        let anchor = *anchors[place].get_or_insert_with(|| Anchor::of(device));
        let passed = i128::from(device.clock.count(host_ns)) - i128::from(anchor.count);
        let clock = &device.clock;
        let ns = (passed * i128::from(clock.nanoseconds)).div_euclid(i128::from(clock.ticks));
        anchor.wall_ns.wrapping_add(ns as i64) as u64
    }

    /// An activity has run. Returns whether it is reported.
    pub(crate) fn ran(
        &self,
        activity: Option<Activity<'_>>,
        place: ActivityPlace,
        (begin, end): (u64, u64),
    ) -> bool {
        if !self.is_active() {
            return false;
        }
        let Some(activity) = activity.filter(|it| self.wants(it.kind)) else {
            return false;
        };
        let parts = match activity.has_parts {
            true => u64::from(process::options().mspti_kernels),
            false => 1,
        };
        for part in 0..parts {
            let at = |part: u64| begin + (end - begin) * part / parts;
            let name = match (activity.name, part) {
                (None, _) => 0,
                (Some(name), 0) => self.name(name),
                (Some(name), _) => self.name(&format!("{name}_{}", part + 1)),
            };
            let times = [at(part), at(part + 1)].map(|ns| self.profiler_time(place.device, ns));
            let place = place.of_kernel(part);
            self.put_device(ActivityItem::device(activity.kind, &place, name, times));
        }
        true
    }

    /// Puts a record of a device down, with the defects that were asked for.
    fn put_device(&self, mut item: ActivityItem) {
        let options = process::options();
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let is_nth = |step: u64| step != 0 && number.is_multiple_of(step);
        if is_nth(options.mspti_drop) {
            return;
        }
        if is_nth(options.mspti_zero) {
            item.times = [0, 0];
        }
        self.put(item);
    }
}

/// Whether a library of this name was preloaded, as the vendor's own looks it up.
fn is_preloaded() -> bool {
    std::env::var("LD_PRELOAD").is_ok_and(|list| {
        let mut entries = list.split([':', ' ']);
        entries.any(|entry| entry.ends_with("libmspti.so"))
    })
}

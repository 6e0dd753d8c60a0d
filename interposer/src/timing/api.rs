//! The runtime's functions that measuring needs, called directly and never through our wrappers.

use core::ffi::c_void;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr};

use crate::{real, until_exit};

/// Event flag: a timestamp is taken. Such an event uses no hardware event id.
const TIME_LINE: u32 = 0x8;
/// The record has not been seen done, or its time has not come yet.
const NOT_YET: i32 = 107_006;
/// The code for a query that was not made, since the process is ending.
const RUNTIME_GONE: i32 = 507_000;
/// Device times are never this far from each other: some chips return the difference of unsigned
/// numbers when the second event came first.
const ABSURD_NS: f64 = 4e18;
/// `aclrtEventRecordedStatus`: the record is done and its time can be read.
const COMPLETE: i32 = 1;
/// `aclmdlRICaptureStatus`: no capture.
const CAPTURE_NONE: i32 = 0;

type Handle = *mut c_void;

type CreateEvent = unsafe extern "C" fn(*mut Handle) -> i32;
type CreateEventFlag = unsafe extern "C" fn(*mut Handle, u32) -> i32;
type DestroyEvent = unsafe extern "C" fn(Handle) -> i32;
type Record = unsafe extern "C" fn(Handle, Handle) -> i32;
type QueryStatus = unsafe extern "C" fn(Handle, *mut i32) -> i32;
type Elapsed = unsafe extern "C" fn(*mut f32, Handle, Handle) -> i32;
type Timestamp = unsafe extern "C" fn(Handle, *mut u64) -> i32;
type GetHandle = unsafe extern "C" fn(*mut Handle) -> i32;
type SetHandle = unsafe extern "C" fn(Handle) -> i32;
type StreamId = unsafe extern "C" fn(Handle, *mut i32) -> i32;
type StreamFlags = unsafe extern "C" fn(Handle, *mut u32) -> i32;
type GetDevice = unsafe extern "C" fn(*mut i32) -> i32;
type CaptureInfo = unsafe extern "C" fn(Handle, *mut i32, *mut Handle) -> i32;
type PointerAttributes = unsafe extern "C" fn(*const c_void, *mut PointerAttribute) -> i32;

/// `aclrtPtrAttributes`: where an address lies.
#[repr(C)]
#[derive(Default)]
struct PointerAttribute {
    device: u32,
    location: i32,
    page_size: u32,
    reserved: [u32; 4],
}

/// `aclrtMemLocationType`: host memory that the runtime did not allocate or register.
const UNREGISTERED: i32 = 2;

/// How a context's timeline events are made: the best way that the runtime offers.
#[derive(Clone, Copy)]
enum Creation {
    Ex(CreateEventFlag),
    Flag(CreateEventFlag),
    Plain(CreateEvent),
}

/// Why the runtime did not return a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It may later.
    NotYet,
    Never,
}

/// The result of a call with a code.
fn answer<T>(code: i32, value: T) -> Result<T, Refusal> {
    match code {
        0 => Ok(value),
        NOT_YET => Err(Refusal::NotYet),
        _ => Err(Refusal::Never),
    }
}

/// The runtime's facts about a stream and captures.
#[derive(Clone, Copy)]
pub(crate) struct StreamCapture {
    /// Also when the capture has been invalidated.
    pub(crate) is_capturing: bool,
    /// The graph's handle, 0 without one.
    pub(crate) handle: u64,
}

/// The functions found in the runtime.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    creation: Creation,
    destroy: DestroyEvent,
    record: Record,
    query: QueryStatus,
    elapsed: Elapsed,
    timestamp: Timestamp,
    get_context: GetHandle,
    set_context: SetHandle,
    stream_id: Option<StreamId>,
    stream_flags: Option<StreamFlags>,
    get_device: Option<GetDevice>,
    capture_info: Option<CaptureInfo>,
    attributes: Option<PointerAttributes>,
}

/// Found once and kept for ever.
static API: AtomicPtr<Api> = AtomicPtr::new(core::ptr::null_mut());
static ABSENT: AtomicBool = AtomicBool::new(false);

/// The runtime's functions; `None` when the runtime lacks one that measuring cannot do without.
pub(crate) fn get() -> Option<&'static Api> {
    // SAFETY: a pointer that was stored comes from a box that is never given back.
    if let Some(api) = unsafe { API.load(Acquire).as_ref() } {
        return Some(api);
    }
    if ABSENT.load(Acquire) {
        return None;
    }
    let Some(api) = find() else {
        ABSENT.store(true, Release);
        return None;
    };
    let made = Box::into_raw(Box::new(api));
    // Two threads may both find it: the first one's is kept, and the other's is given back, as a leak
    // checker in the program would complain of it.
    let kept = match API.compare_exchange(core::ptr::null_mut(), made, AcqRel, Acquire) {
        Ok(_) => made,
        Err(first) => {
            // SAFETY: it was made above, and has no other user.
            drop(unsafe { Box::from_raw(made) });
            first
        }
    };
    // SAFETY: a pointer that was stored comes from a box that is never given back.
    unsafe { kept.as_ref() }
}

/// The real function `$name` as a `$type`.
macro_rules! function {
    ($name:literal, $type:ty) => {
        // SAFETY: the address is that of the function with this name; `$type` repeats its signature
        // from the table.
        real::by_name($name).map(|address| unsafe { core::mem::transmute::<usize, $type>(address) })
    };
}

fn find() -> Option<Api> {
    let creation = function!("aclrtCreateEventExWithFlag", CreateEventFlag)
        .map(Creation::Ex)
        .or_else(|| function!("aclrtCreateEventWithFlag", CreateEventFlag).map(Creation::Flag))
        .or_else(|| function!("aclrtCreateEvent", CreateEvent).map(Creation::Plain))?;
    Some(Api {
        creation,
        destroy: function!("aclrtDestroyEvent", DestroyEvent)?,
        record: function!("aclrtRecordEvent", Record)?,
        query: function!("aclrtQueryEventStatus", QueryStatus)?,
        elapsed: function!("aclrtEventElapsedTime", Elapsed)?,
        timestamp: function!("aclrtEventGetTimestamp", Timestamp)?,
        get_context: function!("aclrtGetCurrentContext", GetHandle)?,
        set_context: function!("aclrtSetCurrentContext", SetHandle)?,
        stream_id: function!("aclrtStreamGetId", StreamId),
        stream_flags: function!("aclrtStreamGetFlags", StreamFlags),
        get_device: function!("aclrtGetDevice", GetDevice),
        capture_info: function!("aclmdlRICaptureGetInfo", CaptureInfo),
        attributes: function!("aclrtPointerGetAttributes", PointerAttributes),
    })
}

/// A handle as the word it is kept as.
fn handle(word: u64) -> Handle {
    word as usize as Handle
}

impl Api {
    /// Whether pending events take ids from a supply that the program draws on as well.
    pub(crate) fn events_are_scarce(&self) -> bool {
        matches!(self.creation, Creation::Plain(_))
    }

    /// A new timeline event of the current context.
    pub(crate) fn create_event(&self) -> Option<u64> {
        let mut event: Handle = core::ptr::null_mut();
        // SAFETY: `event` is a live local; the flag is a documented one.
        let code = until_exit::call(|| unsafe {
            match self.creation {
                Creation::Ex(create) | Creation::Flag(create) => create(&mut event, TIME_LINE),
                Creation::Plain(create) => create(&mut event),
            }
        })?;
        (code == 0 && !event.is_null()).then_some(event as usize as u64)
    }

    pub(crate) fn destroy_event(&self, event: u64) {
        // SAFETY: `event` was made by `create_event` and is not used after this.
        until_exit::call(|| unsafe { (self.destroy)(handle(event)) });
    }

    /// Records `event` on a stream of the current context.
    pub(crate) fn record(&self, event: u64, stream: u64) -> bool {
        // SAFETY: `event` belongs to the tool and is pending nowhere; `stream` comes from the program.
        until_exit::call(|| unsafe { (self.record)(handle(event), handle(stream)) == 0 })
            .unwrap_or(false)
    }

    /// Whether a recorded event is done; the code when the runtime does not say. Times of all that
    /// is done on the event's stream can be read from then on.
    pub(crate) fn is_complete(&self, event: u64) -> Result<bool, i32> {
        let mut status = 0;
        // SAFETY: `event` is ours; `status` is a live local of the enumeration's size.
        let code = until_exit::call(|| unsafe { (self.query)(handle(event), &mut status) });
        match code.unwrap_or(RUNTIME_GONE) {
            0 => Ok(status == COMPLETE),
            code => Err(code),
        }
    }

    /// Nanoseconds of device time from one completed event to another.
    pub(crate) fn elapsed_ns(&self, from: u64, to: u64) -> Result<f64, Refusal> {
        let nanoseconds = self.elapsed_raw(from, to)?;
        if nanoseconds < ABSURD_NS {
            return Ok(nanoseconds);
        }
        self.elapsed_raw(to, from).map(|nanoseconds| -nanoseconds)
    }

    fn elapsed_raw(&self, from: u64, to: u64) -> Result<f64, Refusal> {
        let mut milliseconds = 0f32;
        // SAFETY: both events are ours; `milliseconds` is a live local.
        let code = until_exit::call(|| unsafe {
            (self.elapsed)(&mut milliseconds, handle(from), handle(to))
        });
        answer(code.unwrap_or(RUNTIME_GONE), f64::from(milliseconds) * 1e6)
    }

    /// The device clock at a completed event, in whole microseconds.
    pub(crate) fn timestamp_us(&self, event: u64) -> Result<u64, Refusal> {
        let mut microseconds = 0;
        // SAFETY: `event` is ours; `microseconds` is a live local.
        let code =
            until_exit::call(|| unsafe { (self.timestamp)(handle(event), &mut microseconds) });
        answer(code.unwrap_or(RUNTIME_GONE), microseconds)
    }

    /// The current context's handle.
    pub(crate) fn current_context(&self) -> Option<u64> {
        let mut context: Handle = core::ptr::null_mut();
        // SAFETY: `context` is a live local.
        let code = until_exit::call(|| unsafe { (self.get_context)(&mut context) })?;
        (code == 0 && !context.is_null()).then_some(context as usize as u64)
    }

    /// Makes a context current in the calling thread.
    pub(crate) fn enter_context(&self, context: u64) -> bool {
        // SAFETY: the caller vouches that the context exists.
        until_exit::call(|| unsafe { (self.set_context)(handle(context)) == 0 }).unwrap_or(false)
    }

    /// The runtime's number of a stream.
    pub(crate) fn stream_id(&self, stream: u64) -> Option<i32> {
        let mut id = 0;
        let ask = self.stream_id?;
        // SAFETY: `stream` comes from the program; `id` is a live local.
        let code = until_exit::call(|| unsafe { ask(handle(stream), &mut id) })?;
        (code == 0).then_some(id)
    }

    /// With which flags a stream was made.
    pub(crate) fn stream_flags(&self, stream: u64) -> Option<u32> {
        let mut flags = 0;
        let ask = self.stream_flags?;
        // SAFETY: `stream` was made or used by the program just now; `flags` is a live local.
        let code = until_exit::call(|| unsafe { ask(handle(stream), &mut flags) })?;
        (code == 0).then_some(flags)
    }

    /// The device of the thread's current context.
    pub(crate) fn device(&self) -> Option<u32> {
        let mut device = 0;
        let ask = self.get_device?;
        // SAFETY: `device` is a live local.
        let code = until_exit::call(|| unsafe { ask(&mut device) })?;
        (code == 0).then_some(device as u32)
    }

    /// Whether a stream takes part in a capture; `None` when the runtime cannot say. The default
    /// stream must not be asked about, and can never be captured. Asking is allowed at any time and
    /// changes nothing.
    pub(crate) fn capture_of(&self, stream: u64) -> Option<StreamCapture> {
        if stream == 0 {
            return Some(StreamCapture {
                is_capturing: false,
                handle: 0,
            });
        }
        let mut status = 0;
        let mut model: Handle = core::ptr::null_mut();
        let ask = self.capture_info?;
        // SAFETY: `stream` comes from the program; both outputs are live locals.
        let code = until_exit::call(|| unsafe { ask(handle(stream), &mut status, &mut model) })?;
        let is_capturing = status != CAPTURE_NONE;
        (code == 0).then_some(StreamCapture {
            is_capturing,
            handle: if is_capturing {
                model as usize as u64
            } else {
                0
            },
        })
    }

    /// Whether an address is pageable host memory; `None` when the runtime cannot say.
    pub(crate) fn is_pageable(&self, address: u64) -> Option<bool> {
        let mut attribute = PointerAttribute::default();
        let ask = self.attributes?;
        // SAFETY: the address is only classified, not read; `attribute` has the size of the
        // runtime's structure.
        let code = until_exit::call(|| unsafe { ask(handle(address), &mut attribute) })?;
        (code == 0).then_some(attribute.location == UNREGISTERED)
    }
}

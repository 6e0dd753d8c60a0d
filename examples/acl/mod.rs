//! The few AscendCL functions that the Rust examples need, and counts of the requested work, to compare
//! with a trace.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

mod ffi {
    use super::*;

    #[link(name = "ascendcl", kind = "dylib")]
    unsafe extern "C" {
        pub(super) fn aclInit(config: *const c_char) -> c_int;
        pub(super) fn aclFinalize() -> c_int;
        pub(super) fn aclrtSetDevice(device: i32) -> c_int;
        pub(super) fn aclrtResetDevice(device: i32) -> c_int;
        pub(super) fn aclrtCreateStream(stream: *mut *mut c_void) -> c_int;
        pub(super) fn aclrtDestroyStream(stream: *mut c_void) -> c_int;
        pub(super) fn aclrtSynchronizeStream(stream: *mut c_void) -> c_int;
        pub(super) fn aclrtCreateEventExWithFlag(event: *mut *mut c_void, flag: u32) -> c_int;
        pub(super) fn aclrtDestroyEvent(event: *mut c_void) -> c_int;
        pub(super) fn aclrtRecordEvent(event: *mut c_void, stream: *mut c_void) -> c_int;
        pub(super) fn aclrtStreamWaitEvent(stream: *mut c_void, event: *mut c_void) -> c_int;
        pub(super) fn aclrtMalloc(address: *mut *mut c_void, size: usize, policy: c_int) -> c_int;
        pub(super) fn aclrtFree(address: *mut c_void) -> c_int;
        pub(super) fn aclrtMallocHost(address: *mut *mut c_void, size: usize) -> c_int;
        pub(super) fn aclrtFreeHost(address: *mut c_void) -> c_int;
        pub(super) fn aclrtMemsetAsync(
            address: *mut c_void,
            room: usize,
            value: i32,
            count: usize,
            stream: *mut c_void,
        ) -> c_int;
        pub(super) fn aclrtMemcpyAsync(
            to: *mut c_void,
            room: usize,
            from: *const c_void,
            count: usize,
            kind: c_int,
            stream: *mut c_void,
        ) -> c_int;
    }
}

const EVENT_SYNC: u32 = 1;
const HUGE_FIRST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;

static CALLS: AtomicU32 = AtomicU32::new(0);
static TASKS: AtomicU32 = AtomicU32::new(0);
static WAITS: AtomicU32 = AtomicU32::new(0);

/// Checks the result of a call; every call of the examples must succeed.
fn done(name: &str, code: c_int) {
    CALLS.fetch_add(1, Relaxed);
    if code != 0 {
        eprintln!("{name} failed with {code}");
        std::process::exit(1);
    }
}

/// As [`done`], of a call that put a task on a stream.
fn submitted(name: &str, code: c_int) {
    TASKS.fetch_add(1, Relaxed);
    done(name, code);
}

/// A handle from a function that makes one.
fn made(name: &str, make: impl FnOnce(*mut *mut c_void) -> c_int) -> *mut c_void {
    let mut handle = ptr::null_mut();
    done(name, make(&raw mut handle));
    handle
}

/// The runtime with device 0; goes down when dropped.
pub(crate) struct Runtime;

impl Runtime {
    pub(crate) fn start() -> Self {
        // SAFETY: no configuration is named.
        done("aclInit", unsafe { ffi::aclInit(ptr::null()) });
        // SAFETY: takes a number.
        done("aclrtSetDevice", unsafe { ffi::aclrtSetDevice(0) });
        Self
    }

    /// Takes the runtime down and prints the last line of every example.
    pub(crate) fn finish(self) {
        // SAFETY: takes a number; everything on the device has been given back.
        done("aclrtResetDevice", unsafe { ffi::aclrtResetDevice(0) });
        // SAFETY: has no preconditions.
        done("aclFinalize", unsafe { ffi::aclFinalize() });
        let [calls, tasks, waits] = [&CALLS, &TASKS, &WAITS].map(|count| count.load(Relaxed));
        println!("calls {calls}, tasks {tasks}, waits {waits}");
    }
}

/// Memory on the device.
pub(crate) struct DeviceBuffer(*mut c_void, usize);

impl DeviceBuffer {
    pub(crate) fn new(size: usize) -> Self {
        // SAFETY: the address is written to a live local.
        let make = |address| unsafe { ffi::aclrtMalloc(address, size, HUGE_FIRST) };
        Self(made("aclrtMalloc", make), size)
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        // SAFETY: the address came from aclrtMalloc; the streams that used it are done.
        done("aclrtFree", unsafe { ffi::aclrtFree(self.0) });
    }
}

/// Pinned memory of the host.
pub(crate) struct HostBuffer(*mut c_void, usize);

impl HostBuffer {
    pub(crate) fn new(size: usize) -> Self {
        // SAFETY: the address is written to a live local.
        let make = |address| unsafe { ffi::aclrtMallocHost(address, size) };
        Self(made("aclrtMallocHost", make), size)
    }

    /// The bytes. No copy to or from them may be under way.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the runtime gave us this many bytes, and no other reference exists.
        unsafe { std::slice::from_raw_parts_mut(self.0.cast(), self.1) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // SAFETY: the address came from aclrtMallocHost; the streams that used it are done.
        done("aclrtFreeHost", unsafe { ffi::aclrtFreeHost(self.0) });
    }
}

/// A point on a stream that other streams can wait for.
pub(crate) struct Event(*mut c_void);

impl Event {
    pub(crate) fn new() -> Self {
        // SAFETY: the handle is written to a live local.
        let make = |event| unsafe { ffi::aclrtCreateEventExWithFlag(event, EVENT_SYNC) };
        Self(made("aclrtCreateEventExWithFlag", make))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is alive.
        done("aclrtDestroyEvent", unsafe {
            ffi::aclrtDestroyEvent(self.0)
        });
    }
}

/// A queue of tasks. Its methods submit one each, and return before it runs.
pub(crate) struct Stream(*mut c_void);

impl Stream {
    pub(crate) fn new() -> Self {
        // SAFETY: the handle is written to a live local.
        let make = |stream| unsafe { ffi::aclrtCreateStream(stream) };
        Self(made("aclrtCreateStream", make))
    }

    pub(crate) fn fill(&self, buffer: &DeviceBuffer, value: u8) {
        let DeviceBuffer(address, size) = *buffer;
        // SAFETY: the whole of a live buffer is filled.
        let code = unsafe { ffi::aclrtMemsetAsync(address, size, i32::from(value), size, self.0) };
        submitted("aclrtMemsetAsync", code);
    }

    pub(crate) fn copy_in(&self, to: &DeviceBuffer, from: &HostBuffer) {
        let (room, count) = (to.1, from.1);
        // SAFETY: both buffers are alive until the stream has been waited for.
        let code =
            unsafe { ffi::aclrtMemcpyAsync(to.0, room, from.0, count, HOST_TO_DEVICE, self.0) };
        submitted("aclrtMemcpyAsync", code);
    }

    pub(crate) fn copy_out(&self, to: &HostBuffer, from: &DeviceBuffer) {
        let (room, count) = (to.1, from.1);
        // SAFETY: both buffers are alive until the stream has been waited for.
        let code =
            unsafe { ffi::aclrtMemcpyAsync(to.0, room, from.0, count, DEVICE_TO_HOST, self.0) };
        submitted("aclrtMemcpyAsync", code);
    }

    pub(crate) fn record(&self, event: &Event) {
        // SAFETY: both handles are alive.
        let code = unsafe { ffi::aclrtRecordEvent(event.0, self.0) };
        submitted("aclrtRecordEvent", code);
    }

    /// Later tasks of this stream run when the event's latest record has been reached.
    pub(crate) fn wait_for(&self, event: &Event) {
        WAITS.fetch_add(1, Relaxed);
        // SAFETY: both handles are alive.
        let code = unsafe { ffi::aclrtStreamWaitEvent(self.0, event.0) };
        submitted("aclrtStreamWaitEvent", code);
    }

    /// Keeps the host waiting until every task of the stream is done.
    pub(crate) fn synchronize(&self) {
        // SAFETY: the handle is alive.
        done("aclrtSynchronizeStream", unsafe {
            ffi::aclrtSynchronizeStream(self.0)
        });
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is alive.
        done("aclrtDestroyStream", unsafe {
            ffi::aclrtDestroyStream(self.0)
        });
    }
}

//! Callbacks of the program that the runtime calls when something happens: states of devices and
//! streams, aborts, exceptions, initialisation.

use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, fault};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

pub(crate) type DeviceFn = extern "C" fn(i32, u32, usize);
pub(crate) type StreamFn = extern "C" fn(usize, u32, usize);
pub(crate) type AbortFn = extern "C" fn(i32, u32, u32, usize) -> i32;

/// Gets the configuration's text, its length, and the data of the registration.
pub(crate) type InitFn = extern "C" fn(usize, usize, usize) -> i32;
pub(crate) type FinaliseFn = extern "C" fn(usize) -> i32;

pub(crate) mod device_state {
    pub(crate) const SET_PRE: u32 = 0;
    pub(crate) const SET_POST: u32 = 1;
    pub(crate) const RESET_PRE: u32 = 2;
    pub(crate) const RESET_POST: u32 = 3;
}

pub(crate) mod stream_state {
    pub(crate) const CREATE_POST: u32 = 1;
    pub(crate) const DESTROY_PRE: u32 = 2;
}

static OBSERVERS: PerProcess<Observers> = PerProcess::new(Observers::default);

pub(crate) fn get() -> &'static Observers {
    OBSERVERS.get()
}

#[derive(Default)]
pub(crate) struct Observers {
    device: NamedCallbacks<DeviceFn>,
    stream: NamedCallbacks<StreamFn>,
    abort: NamedCallbacks<AbortFn>,
    /// Every exception callback that is registered; no task of softacl raises exceptions.
    pub(crate) exceptions: Mutex<Vec<usize>>,
    /// Type and callback of what `aclFinalize` and `aclInit` have to call.
    pub(crate) at_init: Mutex<Vec<(u32, InitFn, usize)>>,
    pub(crate) at_finalise: Mutex<Vec<(u32, FinaliseFn, usize)>>,
}

/// Callbacks under names; each name may be used once.
struct NamedCallbacks<F>(Mutex<Vec<(String, F, usize)>>);

impl<F> Default for NamedCallbacks<F> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<F: Copy> NamedCallbacks<F> {
    /// Registers a callback, or removes it when `callback` is `None`.
    fn register(&self, name: Option<String>, callback: Option<F>, data: usize) -> Outcome {
        let Some(name) = name else {
            return fault(INVALID_PARAM, "the name is NULL");
        };
        let mut known = lock(&self.0);
        let index = known.iter().position(|(other, _, _)| *other == name);
        match (callback, index) {
            (Some(callback), None) => known.push((name, callback, data)),
            (None, Some(index)) => drop(known.remove(index)),
            (Some(_), Some(_)) => return fault(RT_PARAM_INVALID, "the name is registered already"),
            (None, None) => return fault(RT_PARAM_INVALID, "the name is not registered"),
        }
        Ok(())
    }

    /// The callbacks, copied so that none runs under the lock.
    fn all(&self) -> Vec<(F, usize)> {
        lock(&self.0)
            .iter()
            .map(|(_, callback, data)| (*callback, *data))
            .collect()
    }
}

pub(crate) fn observe_devices(
    name: Option<String>,
    callback: Option<DeviceFn>,
    data: usize,
) -> Outcome {
    OBSERVERS.get().device.register(name, callback, data)
}

pub(crate) fn observe_streams(
    name: Option<String>,
    callback: Option<StreamFn>,
    data: usize,
) -> Outcome {
    OBSERVERS.get().stream.register(name, callback, data)
}

pub(crate) fn observe_aborts(
    name: Option<String>,
    callback: Option<AbortFn>,
    data: usize,
) -> Outcome {
    OBSERVERS.get().abort.register(name, callback, data)
}

pub(crate) fn device_changes(device: u32, state: u32) {
    for (callback, data) in OBSERVERS.get().device.all() {
        callback(device as i32, state, data);
    }
}

pub(crate) fn stream_changes(stream: usize, state: u32) {
    for (callback, data) in OBSERVERS.get().stream.all() {
        callback(stream, state, data);
    }
}

pub(crate) fn device_aborts(device: u32, stage: u32, timeout_ms: u32) {
    for (callback, data) in OBSERVERS.get().abort.all() {
        callback(device as i32, stage, timeout_ms, data);
    }
}

pub(crate) fn initialised() {
    let callbacks = lock(&OBSERVERS.get().at_init).clone();
    let config = c"";
    for (_, callback, data) in callbacks {
        callback(config.as_ptr() as usize, 0, data);
    }
}

pub(crate) fn finalised() {
    let callbacks = lock(&OBSERVERS.get().at_finalise).clone();
    for (_, callback, data) in callbacks {
        callback(data);
    }
}

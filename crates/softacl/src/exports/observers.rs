//! Callbacks of the program for states, aborts and exceptions.

use super::acl;
use crate::code::{INVALID_PARAM, RT_PARAM_INVALID, fault};
use crate::ffi::Text;
use crate::observers::{self, AbortFn, DeviceFn, StreamFn};
use crate::runtime;
use crate::sync::lock;

acl! {
    fn aclrtRegDeviceStateCallback(name: Text, callback: Option<DeviceFn>, data: usize) {
        observers::observe_devices(name.optional(), callback, data)
    }

    fn aclrtRegStreamStateCallback(name: Text, callback: Option<StreamFn>, data: usize) {
        observers::observe_streams(name.optional(), callback, data)
    }

    fn aclrtSetDeviceTaskAbortCallback(name: Text, callback: Option<AbortFn>, data: usize) {
        observers::observe_aborts(name.optional(), callback, data)
    }

    fn aclrtSetExceptionInfoCallback(callback: usize) {
        let mut known = lock(&runtime::get().observers.exceptions);
        known.clear();
        known.extend((callback != 0).then_some(callback));
        Ok(())
    }

    fn aclrtExceptionInfoCallbackRegister(callback: usize) {
        if callback == 0 {
            return fault(INVALID_PARAM, "the function is NULL");
        }
        lock(&runtime::get().observers.exceptions).push(callback);
        Ok(())
    }

    fn aclrtExceptionInfoCallbackUnregister(callback: usize) {
        let mut known = lock(&runtime::get().observers.exceptions);
        let index = known.iter().position(|&other| other == callback);
        let Some(index) = index else {
            return fault(RT_PARAM_INVALID, "the function is not registered");
        };
        known.remove(index);
        Ok(())
    }
}

/// What the accessors answer when there is no exception to look into.
const NO_EXCEPTION: u32 = u32::MAX;

macro_rules! of_exception {
    ($($name:ident)*) => {$(
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name(_info: usize) -> u32 {
            // No task raises exceptions, so no valid information can exist.
            NO_EXCEPTION
        }
    )*};
}

of_exception! {
    aclrtGetDeviceIdFromExceptionInfo
    aclrtGetErrorCodeFromExceptionInfo
    aclrtGetStreamIdFromExceptionInfo
    aclrtGetTaskIdFromExceptionInfo
    aclrtGetThreadIdFromExceptionInfo
}

//! Callbacks of the program for states, aborts and exceptions.

use super::acl;
use crate::code::{check, refusal};
use crate::ffi::Text;
use crate::observers::{self, AbortFn, DeviceFn, StreamFn};
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
        let mut known = lock(&observers::get().exceptions);
        known.clear();
        known.extend((callback != 0).then_some(callback));
        Ok(())
    }

    fn aclrtExceptionInfoCallbackRegister(callback: usize) {
        check(callback != 0, refusal::EXCEPTION_CALLBACK)?;
        lock(&observers::get().exceptions).push(callback);
        Ok(())
    }

    fn aclrtExceptionInfoCallbackUnregister(callback: usize) {
        check(callback != 0, refusal::EXCEPTION_CALLBACK)?;
        let mut known = lock(&observers::get().exceptions);
        // One that is not registered is no mistake.
        if let Some(index) = known.iter().position(|&other| other == callback) {
            known.remove(index);
        }
        Ok(())
    }
}

/// Result of the accessors without an exception.
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

//! Initialisation, versions and errors.

use std::ffi::c_char;

use super::acl;
use crate::code::{Code, INVALID_PARAM};
use crate::ffi::{Out, Text};
use crate::{errors, guard, init, process};

acl! {
    fn aclInit(config: Text) { init::initialise(config.optional().as_deref()) }

    fn aclFinalize() { init::finalise() }

    fn aclFinalizeReference(count: Out<u64>) {
        init::finalise_one(|left| count.put_if_wanted(left))
    }

    fn aclrtGetVersion(major: Out<i32>, minor: Out<i32>, patch: Out<i32>) {
        major.put(1)?;
        minor.put(17)?;
        patch.put(0)
    }
}

// SAFETY: as in `acl!`; these return something else than a code, or must not note an error.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetRecentErrMsg() -> *const c_char {
    guard::took_an_error("aclGetRecentErrMsg");
    errors::recent_message()
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclrtGetLastError(level: u32) -> Code {
    match level {
        0 => {
            guard::took_an_error("aclrtGetLastError");
            errors::take()
        }
        _ => INVALID_PARAM,
    }
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclrtPeekAtLastError(level: u32) -> Code {
    match level {
        0 => errors::peek(),
        _ => INVALID_PARAM,
    }
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclrtGetSocName() -> *const c_char {
    process::options().chip.soc_name().as_ptr()
}

//! Functions of the tables that have no behaviour here. The build lists them (`build/stubs.rs`): all but those that
//! `src/exports` and `src/aclnn` define.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::code::{Code, Fault, RT_NOT_SUPPORTED};
use crate::ffi::complain;
use crate::{errors, process};

/// The code of the collective libraries with the same meaning.
const HCCL_NOT_SUPPORTED: Code = 5;

/// Notes the refusal for the calling thread, and once on standard error for who asked for it.
fn refuse(function: &str, code: Code, was_reported: &AtomicBool) -> Code {
    if process::options().verbose && !was_reported.swap(true, Ordering::Relaxed) {
        complain(&format!("{function} is not supported ({code})"));
    }
    errors::note(
        function,
        Fault {
            code,
            why: "not supported by the software runtime",
        },
    );
    code
}

/// One function with a result type and a result; arguments are ignored.
macro_rules! stub {
    ($name:ident -> $type:ty, $answer:expr) => {
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name() -> $type {
            $answer
        }
    };
}

macro_rules! refused {
    ($name:ident, $code:ident) => {{
        static WAS_REPORTED: std::sync::atomic::AtomicBool =
            std::sync::atomic::AtomicBool::new(false);
        $crate::stubs::refuse(stringify!($name), $crate::stubs::$code, &WAS_REPORTED)
    }};
}

/// Reports a missing feature: with the runtime's code, with the collective libraries'
/// code, with zero or NULL, with nothing, or with a zero of floating point.
macro_rules! unsupported {
    ($(code: $($code:ident)*;)? $(hccl: $($hccl:ident)*;)? $(zero: $($zero:ident)*;)?
     $(nothing: $($nothing:ident)*;)? $(double: $($double:ident)*;)?) => {
        $($(stub!($code -> i32, refused!($code, RT_NOT_SUPPORTED));)*)?
        $($(stub!($hccl -> i32, refused!($hccl, HCCL_NOT_SUPPORTED));)*)?
        $($(stub!($zero -> usize, {
            refused!($zero, RT_NOT_SUPPORTED);
            0
        });)*)?
        $($(stub!($nothing -> (), {
            refused!($nothing, RT_NOT_SUPPORTED);
        });)*)?
        $($(stub!($double -> f64, {
            refused!($double, RT_NOT_SUPPORTED);
            0.0
        });)*)?
    };
}

/// Succeeds without doing anything: returns success, a pointer that is not NULL, zero, or nothing.
macro_rules! accepted {
    ($(code: $($code:ident)*;)? $(pointer: $($pointer:ident)*;)? $(zero: $($zero:ident)*;)?
     $(nothing: $($nothing:ident)*;)?) => {
        $($(stub!($code -> i32, 0);)*)?
        $($(stub!($pointer -> *const u64, &raw const $crate::stubs::OBJECT);)*)?
        $($(stub!($zero -> usize, 0);)*)?
        $($(stub!($nothing -> (), ());)*)?
    };
}

/// Target of the handles that the runtime accepts and does not use.
static OBJECT: u64 = 0;

include!(concat!(env!("OUT_DIR"), "/stubs.rs"));

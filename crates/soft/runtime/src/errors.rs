//! Errors per thread: the last error code and the collected messages.

use std::cell::{Cell, RefCell};
use std::ffi::{CString, c_char};

use crate::code::{Code, Fault, SUCCESS};

/// Messages beyond this are dropped: a program that never reads them must not grow.
const MOST_BYTES: usize = 16 << 10;

thread_local! {
    static LAST: Cell<Code> = const { Cell::new(SUCCESS) };
    static MESSAGES: RefCell<String> = const { RefCell::new(String::new()) };
    /// Keeps the text alive that `recent_message` handed out.
    static SHOWN: RefCell<CString> = RefCell::new(CString::default());
}

/// Notes a failed call of this thread.
pub(crate) fn note(function: &str, failed: Fault) {
    // During thread exit the thread's storage may have been destroyed; then no query can follow.
    if is_runtime(failed.code) && !failed.is_of_upper_layer() {
        let _ = LAST.try_with(|last| last.set(failed.code));
    }
    let _ = MESSAGES.try_with(|messages| {
        let Ok(mut text) = messages.try_borrow_mut() else {
            return;
        };
        if text.len() < MOST_BYTES {
            let Fault { code, why } = failed;
            text.push_str(&format!("{}: [{function}] {why} ({code})\n", family(code)));
        }
    });
}

/// Takes over the messages of a context.
pub(crate) fn adopt(texts: &str) {
    let _ = MESSAGES.try_with(|messages| {
        if let Ok(mut text) = messages.try_borrow_mut()
            && text.len() < MOST_BYTES
        {
            text.push_str(texts);
        }
    });
}

/// The last error is the runtime layer's; errors of the layer above do not change it.
const fn is_runtime(code: Code) -> bool {
    matches!(code / 1000, 107 | 207 | 507)
}

/// The message families of the vendor's runtime, by what kind of mistake it was.
const fn family(code: Code) -> &'static str {
    match code {
        107_000 => "EE1003",
        100_000 => "EE1004",
        107_002 | 107_003 => "EE1010",
        207_000 => "EE1016",
        207_001 | 207_007..=207_010 => "EE1023",
        _ => "EE9999",
    }
}

pub(crate) fn peek() -> Code {
    LAST.try_with(Cell::get).unwrap_or(SUCCESS)
}

pub(crate) fn take() -> Code {
    LAST.try_with(|last| last.replace(SUCCESS))
        .unwrap_or(SUCCESS)
}

/// Returns and clears the collected messages; null without any.
pub(crate) fn recent_message() -> *const c_char {
    let text = MESSAGES
        .try_with(|messages| messages.take())
        .unwrap_or_default();
    if text.is_empty() {
        return std::ptr::null();
    }
    SHOWN
        .try_with(|shown| {
            let mut shown = shown.borrow_mut();
            *shown = CString::new(text).unwrap_or_default();
            shown.as_ptr()
        })
        .unwrap_or(std::ptr::null())
}

#[cfg(test)]
mod tests {
    use super::{note, peek, recent_message, take};
    use crate::code::Fault;

    #[test]
    fn peek_keeps_and_take_clears_the_last_error() {
        note(
            "aclrtFree",
            Fault {
                code: 107_000,
                why: "no such allocation",
            },
        );
        assert_eq!(
            (peek(), peek(), take(), take()),
            (107_000, 107_000, 107_000, 0)
        );
    }

    #[test]
    fn a_refusal_of_the_upper_layer_is_no_last_error() {
        note(
            "aclInit",
            Fault {
                code: 100_002,
                why: "called before",
            },
        );
        assert_eq!(peek(), 0);
    }

    #[test]
    fn a_code_of_the_runtime_that_the_upper_layer_gives_is_no_last_error() {
        note(
            "aclrtSynchronizeStreamWithTimeout",
            Fault {
                code: 107_000,
                why: crate::code::refusal::TIMEOUT,
            },
        );
        assert_eq!(peek(), 0);
    }

    #[test]
    fn the_message_is_handed_out_once() {
        note(
            "aclrtFree",
            Fault {
                code: 107_000,
                why: "no such allocation",
            },
        );
        assert!(!recent_message().is_null());
        assert!(recent_message().is_null());
    }
}

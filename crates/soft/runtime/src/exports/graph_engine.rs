//! The C++ functions of the graph engine (`ge::`) that clients link to. With them, a client's library can be loaded and use
//! everything else. softacl builds no models: the functions that would build one return `GRAPH_FAILED`.
//!
//! In the platform's C++ interface, the object is the first argument. An `AscendString` and a `Graph` consist of one shared
//! pointer each. Without a control block, a shared pointer owns nothing, so its destructor in the client does nothing.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};

use crate::code::{API_NOT_SUPPORTED, Fault};
use crate::errors;
use crate::ffi::{Out, complain};
use crate::sync::{Mutex, lock};

/// `ge::graphStatus`.
pub(super) type GraphStatus = u32;
pub(super) const GRAPH_SUCCESS: GraphStatus = 0;
pub(super) const GRAPH_FAILED: GraphStatus = u32::MAX;

/// A shared pointer: the object, and the control block.
pub(super) type SharedPointer = [usize; 2];

/// Each text of an `AscendString` once. They stay: the copies of a string share its text.
static TEXTS: Mutex<BTreeSet<Box<CStr>>> = Mutex::new(BTreeSet::new());

/// The address of a text that never ends; 0 for NULL.
fn kept(text: *const c_char) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: not null, and the caller passes a string that ends with a zero.
    let text = unsafe { CStr::from_ptr(text) };
    let mut texts = lock(&TEXTS);
    if !texts.contains(text) {
        texts.insert(text.into());
    }
    texts.get(text).map_or(0, |kept| kept.as_ptr() as usize)
}

fn text_of(string: &Out<SharedPointer>) -> Option<&'static CStr> {
    let [text, _] = string.get().ok()?;
    // SAFETY: an `AscendString` has 0 or an address of `kept`, where texts stay.
    (text != 0).then(|| unsafe { CStr::from_ptr(text as *const c_char) })
}

pub(super) fn refuse(function: &'static str) -> GraphStatus {
    let text = format!("{function} is not supported: softacl builds no models");
    complain(&text);
    let why = "softacl builds no models";
    errors::note(
        function,
        Fault {
            code: API_NOT_SUPPORTED,
            why,
        },
    );
    GRAPH_FAILED
}

/// A constructor of the graph engine from a name.
macro_rules! from_name {
    ($symbol:literal, $name:ident, |$text:ident| $words:expr) => {
        // SAFETY: the name is that of the constructor; nothing else in this library defines it.
        #[unsafe(export_name = $symbol)]
        extern "C" fn $name(this: Out<SharedPointer>, $text: *const c_char) {
            this.put_if_wanted($words);
        }
    };
}

from_name!("_ZN2ge12AscendStringC1EPKc", new_string, |text| [
    kept(text),
    0
]);
from_name!("_ZN2ge5GraphC1EPKc", new_graph, |_text| [0, 0]);

/// `AscendString::operator<`: the order of the texts, and first those without a text.
// SAFETY: as above.
#[unsafe(export_name = "_ZNK2ge12AscendStringltERKS0_")]
extern "C" fn is_less(this: Out<SharedPointer>, other: Out<SharedPointer>) -> bool {
    text_of(&this) < text_of(&other)
}

// SAFETY: as above.
#[unsafe(export_name = "_ZN2ge20aclgrphBuildFinalizeEv")]
extern "C" fn finalise_builds() {}

/// Functions that fail. Their symbols have the types of their parameters, which nothing here reads.
macro_rules! refused {
    ($($symbol:literal $name:ident,)*) => {
        $(
            // SAFETY: as above.
            #[unsafe(export_name = $symbol)]
            extern "C" fn $name() -> GraphStatus {
                refuse(concat!("ge::", stringify!($name)))
            }
        )*
    };
}

#[expect(non_snake_case, reason = "the names of the graph engine")]
mod builds {
    use super::{GraphStatus, refuse};

    refused! {
        "_ZN2ge22aclgrphBuildInitializeERSt3mapINS_12AscendStringES1_St4lessIS1_ESaISt4pairIKS1_S1_EEE"
            aclgrphBuildInitialize,
        "_ZN2ge17aclgrphBuildModelERKNS_5GraphERKSt3mapINS_12AscendStringES4_St4lessIS4_ESaISt4pairIKS4_S4_EEERNS_15ModelBufferDataE"
            aclgrphBuildModel,
        "_ZN2ge16aclgrphSaveModelEPKcRKNS_15ModelBufferDataE" aclgrphSaveModel,
        "_ZN2ge23aclgrphParseONNXFromMemEPKcmRKSt3mapINS_12AscendStringES3_St4lessIS3_ESaISt4pairIKS3_S3_EEERNS_5GraphE"
            aclgrphParseONNXFromMem,
    }
}

//! Options for compiling operators. Nothing is compiled here, so they are only kept.

use std::ffi::c_char;

use super::acl;
use crate::code::{API_NOT_SUPPORTED, INVALID_PARAM, Outcome, fault};
use crate::ffi::{Out, Text};
use crate::settings;
use crate::sync::lock;

/// Options are numbered from 0 to this.
const LAST: i32 = 16;
/// `ACL_OP_JIT_COMPILE`: the one option that has a value from the start.
const JIT_COMPILE: i32 = 10;
/// A 910B takes compiled operators where there are some.
const JIT_COMPILE_DEFAULT: &str = "disable";

/// The value of an option, or its default.
fn value(option: i32) -> Option<String> {
    let set = lock(&settings::get().compile_options).get(&option).cloned();
    set.or_else(|| (option == JIT_COMPILE).then(|| JIT_COMPILE_DEFAULT.to_owned()))
}

fn check(holds: bool, why: &'static str) -> Outcome {
    match holds {
        true => Ok(()),
        false => fault(INVALID_PARAM, why),
    }
}

fn known(option: i32) -> Outcome {
    check(
        (0..=LAST).contains(&option),
        "this compile option does not exist",
    )
}

acl! {
    fn aclSetCompileopt(option: i32, value: Text) {
        known(option)?;
        let Some(value) = value.optional() else {
            return fault(INVALID_PARAM, "the value of the option is NULL");
        };
        let is_switch = matches!(value.as_str(), "enable" | "disable");
        check(option != JIT_COMPILE || is_switch, "the option is `enable` or `disable`")?;
        lock(&settings::get().compile_options).insert(option, value);
        Ok(())
    }

    // By default for the shapes of a call, or for any shape. There is no function that returns it.
    fn aclopSetCompileFlag(flag: i32) {
        check((0..=1).contains(&flag), "this compile flag does not exist")
    }

    fn aclGetCompileopt(option: i32, room: Out<c_char>, length: usize) {
        room.check()?;
        known(option)?;
        let Some(value) = value(option) else {
            return fault(API_NOT_SUPPORTED, "the option has no value");
        };
        check(value.len() < length, "there is no room for the value and the zero behind it")?;
        room.put_text(&value);
        Ok(())
    }
}

/// Room for the value and the zero behind it; 0 for an option without one.
// SAFETY: the name is AscendCL's; nothing else in this library defines it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetCompileoptSize(option: i32) -> usize {
    value(option).map_or(0, |value| value.len() + 1)
}

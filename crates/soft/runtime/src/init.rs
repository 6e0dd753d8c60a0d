//! `aclInit`, `aclFinalize` and their reference count.

use crate::code::{
    Fault, INVALID_FILE, INVALID_PARAM, Outcome, PARSE_FILE, REPEAT_FINALIZE, REPEAT_INITIALIZE,
    fault,
};
use crate::ffi::complain;
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};
use crate::{current, device, observers, process};

static INIT: PerProcess<Mutex<InitState>> = PerProcess::new(Mutex::default);

#[derive(Default)]
struct InitState {
    references: u64,
    /// An end came after the last initialisation, or before the first one.
    is_finalised: bool,
}

impl InitState {
    const fn is_initialised(&self) -> bool {
        self.references > 0
    }
}

/// A repeated call counts, but returns the code that programs should ignore.
pub(crate) fn initialise(config: Option<&str>) -> Outcome {
    if let Some(error) = process::options_error() {
        complain(error);
        return fault(INVALID_PARAM, "SOFTACL holds an invalid option");
    }
    let default_device = config.map_or(Ok(None), default_device)?;
    let mut state = lock(INIT.get());
    state.references += 1;
    state.is_finalised = false;
    if state.references > 1 {
        return fault(REPEAT_INITIALIZE, "aclInit was called before");
    }
    drop(state);
    if let Some(device) = default_device {
        device::of(device)?;
        current::set_default_device(device);
    }
    observers::initialised();
    Ok(())
}

/// The device that a configuration file names for threads that set none:
/// `{"defaultDevice": {"default_device": "0"}}`. Other settings have no meaning here.
fn default_device(path: &str) -> Outcome<Option<i32>> {
    const UNREADABLE: Fault = Fault {
        code: INVALID_FILE,
        why: "the configuration file cannot be read",
    };
    let text = std::fs::read_to_string(path).map_err(|_| UNREADABLE)?;
    device_in(&text).ok_or(Fault {
        code: PARSE_FILE,
        why: "the configuration is not valid",
    })
}

/// `None` for a text that is no JSON object or names no number.
fn device_in(text: &str) -> Option<Option<i32>> {
    let text = text.trim();
    if text.is_empty() {
        return Some(None);
    }
    if !text.starts_with('{') || !text.ends_with('}') {
        return None;
    }
    let Some((_, rest)) = text.split_once("\"default_device\"") else {
        return Some(None);
    };
    let value = rest
        .trim_start()
        .strip_prefix(':')?
        .trim_start()
        .trim_start_matches('"');
    let end = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    value[..end].parse().ok().map(Some)
}

/// Ends all initialisations at once, also if the program made none. A second end in a row is refused. Devices stay: the
/// program resets them, or the process ends.
pub(crate) fn finalise() -> Outcome {
    let mut state = lock(INIT.get());
    if state.is_finalised {
        return NONE_TO_END;
    }
    state.references = 0;
    state.is_finalised = true;
    drop(state);
    over(true);
    Ok(())
}

const NONE_TO_END: Outcome = fault(REPEAT_FINALIZE, "there is no initialisation to end");

/// Ends one initialisation, and reports in any case how many are left.
pub(crate) fn finalise_one(left: impl FnOnce(u64)) -> Outcome {
    let mut state = lock(INIT.get());
    if !state.is_initialised() {
        left(0);
        return NONE_TO_END;
    }
    state.references -= 1;
    let others = state.references;
    state.is_finalised = others == 0;
    drop(state);
    left(others);
    over(others == 0);
    Ok(())
}

fn over(was_the_last: bool) {
    if was_the_last {
        observers::finalised();
    }
    process::flush_truth();
}

#[cfg(test)]
mod tests {
    use super::device_in;

    #[test]
    fn the_default_device_is_found_in_a_configuration() {
        let text = "{ \"defaultDevice\": { \"default_device\" : \"1\" } }";
        assert_eq!(device_in(text), Some(Some(1)));
        assert_eq!(device_in("{\"default_device\":0}"), Some(Some(0)));
        assert_eq!(device_in("{\"dump\":{}}"), Some(None));
        assert_eq!(device_in(""), Some(None));
        assert_eq!(device_in("{\"default_device\":\"x\"}"), None);
        assert_eq!(device_in("nonsense"), None);
    }
}

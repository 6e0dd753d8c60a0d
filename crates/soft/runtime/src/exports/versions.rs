//! Versions of CANN packages, and callbacks around initialisation.

use super::acl;
use crate::code::{INVALID_PARAM, Outcome, RT_PARAM_INVALID, check, fault};
use crate::ffi::{Out, Text};
use crate::observers::{FinaliseFn, InitFn};
use crate::sync::{Mutex, lock};
use crate::{observers, process};

/// `aclCANNPackageVersion`: version, major, minor, release, patch, reserved.
pub(crate) type PackageVersion = [u8; 512];

const VERSION: &[u8] = b"9.1.0";
const NUMBER: i32 = 90_100_000;

acl! {
    fn aclsysGetCANNVersion(package: u32, version: Out<PackageVersion>) {
        version.check()?;
        if package > 7 {
            return fault(INVALID_PARAM, "this package does not exist");
        }
        let mut text = [0; 512];
        let mut put = |at: usize, part: &[u8]| text[at..at + part.len()].copy_from_slice(part);
        put(0, VERSION);
        put(128, b"9");
        put(192, b"1");
        put(256, b"0");
        put(320, b"0");
        version.put(text)
    }

    fn aclsysGetVersionStr(package: Text, version: Out<[u8; 6]>) {
        package.get()?;
        version.put(*b"9.1.0\0")
    }

    fn aclsysGetVersionNum(package: Text, number: Out<i32>) {
        package.get()?;
        number.put(NUMBER)
    }

    fn aclrtCheckArchCompatibility(soc: Text, compatible: Out<i32>) {
        let Some(soc) = soc.optional().filter(|_| !compatible.is_null()) else {
            return fault(RT_PARAM_INVALID, "the name or the result is NULL");
        };
        // A model runs on all chips of a generation, which is the name up to its last digit.
        let own = process::options().chip.soc_name().to_string_lossy();
        let same = soc.starts_with(own.trim_end_matches(|c: char| c.is_ascii_digit()));
        compatible.put(i32::from(same))
    }

    fn aclInitCallbackRegister(kind: u32, function: Option<InitFn>, data: usize) {
        observe(&observers::get().at_init, kind, function, data)
    }

    fn aclInitCallbackUnRegister(kind: u32, function: Option<InitFn>) {
        let address = function.map_or(0, |function| function as usize);
        forget(&observers::get().at_init, |&(other, known, _)| {
            other == kind && known as usize == address
        })
    }

    fn aclFinalizeCallbackRegister(kind: u32, function: Option<FinaliseFn>, data: usize) {
        observe(&observers::get().at_finalise, kind, function, data)
    }

    fn aclFinalizeCallbackUnRegister(kind: u32, function: Option<FinaliseFn>) {
        let address = function.map_or(0, |function| function as usize);
        forget(&observers::get().at_finalise, |&(other, known, _)| {
            other == kind && known as usize == address
        })
    }
}

type Callbacks<F> = Mutex<Vec<(u32, F, usize)>>;

fn observe<F>(list: &Callbacks<F>, kind: u32, function: Option<F>, data: usize) -> Outcome {
    let Some(function) = function else {
        return fault(INVALID_PARAM, "the function is NULL");
    };
    check(kind <= 7 || kind == 0xffff, "this type does not exist")?;
    lock(list).push((kind, function, data));
    Ok(())
}

fn forget<F>(list: &Callbacks<F>, is_it: impl Fn(&(u32, F, usize)) -> bool) -> Outcome {
    let mut list = lock(list);
    let Some(index) = list.iter().position(is_it) else {
        return fault(INVALID_PARAM, "the function is not registered");
    };
    list.remove(index);
    Ok(())
}

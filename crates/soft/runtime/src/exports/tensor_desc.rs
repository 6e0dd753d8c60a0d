//! Descriptions of tensors, as operators by name take them.

use std::ffi::{CString, c_char};

use super::acl;
use crate::code::{INVALID_PARAM, Outcome, fault};
use crate::ffi::{In, Out, Text};

/// `aclTensorDesc`.
#[derive(Clone, Default)]
pub(crate) struct TensorDesc {
    pub(crate) data_type: i32,
    pub(crate) shape: Vec<i64>,
    pub(crate) format: i32,
    /// The order of the elements in memory, if it differs from the shape.
    pub(crate) storage: Option<Vec<i64>>,
    /// The data are in the host's memory.
    pub(crate) is_on_host: bool,
    pub(crate) name: CString,
    /// The data themselves, for values that are known when the operator is compiled.
    pub(crate) constant: Vec<u8>,
}

/// `ACL_MEMTYPE_HOST` and `ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT`.
const ON_HOST: [i32; 2] = [1, 2];
const UNKNOWN: i32 = -1;

fn dims(count: i32, dims: &In<i64>) -> Outcome<Vec<i64>> {
    match usize::try_from(count) {
        Ok(0) => Ok(Vec::new()),
        Ok(count) => dims.array(count),
        Err(_) => fault(INVALID_PARAM, "the number of dimensions is negative"),
    }
}

// SAFETY: the names are AscendCL's; nothing else in this library defines them. This holds for all
// functions here that `acl!` cannot declare because they return something else than a code.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclCreateTensorDesc(
    data_type: i32,
    count: i32,
    shape: In<i64>,
    format: i32,
) -> *mut TensorDesc {
    let Ok(shape) = dims(count, &shape) else {
        return std::ptr::null_mut();
    };
    let desc = TensorDesc {
        data_type,
        shape,
        format,
        ..TensorDesc::default()
    };
    Box::into_raw(Box::new(desc))
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclDestroyTensorDesc(desc: Out<TensorDesc>) {
    // NULL is fine.
    let _ = desc.free();
}

/// Reads a description; `otherwise` for NULL.
fn of<T>(desc: &Out<TensorDesc>, otherwise: T, read: impl FnOnce(&mut TensorDesc) -> T) -> T {
    desc.with(read).unwrap_or(otherwise)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescType(desc: Out<TensorDesc>) -> i32 {
    of(&desc, UNKNOWN, |desc| desc.data_type)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescFormat(desc: Out<TensorDesc>) -> i32 {
    of(&desc, UNKNOWN, |desc| desc.format)
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescNumDims(desc: Out<TensorDesc>) -> usize {
    of(&desc, 0, |desc| desc.shape.len())
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescElementCount(desc: Out<TensorDesc>) -> usize {
    of(&desc, 0, |desc| desc.elements())
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescSize(desc: Out<TensorDesc>) -> usize {
    of(&desc, 0, |desc| {
        desc.elements() * super::base::aclDataTypeSize(desc.data_type)
    })
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescDim(desc: Out<TensorDesc>, index: usize) -> i64 {
    of(&desc, -1, |desc| {
        desc.shape.get(index).copied().unwrap_or(-1)
    })
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclGetTensorDescName(desc: Out<TensorDesc>) -> *const c_char {
    of(&desc, c"".as_ptr(), |desc| desc.name.as_ptr())
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn aclSetTensorDescName(desc: Out<TensorDesc>, name: Text) {
    let name = CString::new(name.optional().unwrap_or_default()).unwrap_or_default();
    of(&desc, (), |desc| desc.name = name);
}

impl TensorDesc {
    fn elements(&self) -> usize {
        self.shape
            .iter()
            .map(|length| (*length).max(0) as usize)
            .product()
    }
}

/// Changes a description.
fn change(desc: &Out<TensorDesc>, change: impl FnOnce(&mut TensorDesc)) -> Outcome {
    desc.check()?;
    of(desc, (), change);
    Ok(())
}

acl! {
    fn aclGetTensorDescDimV2(desc: Out<TensorDesc>, index: usize, length: Out<i64>) {
        desc.check()?;
        match of(&desc, None, |desc| desc.shape.get(index).copied()) {
            Some(found) => length.put(found),
            None => fault(INVALID_PARAM, "the tensor has no such dimension"),
        }
    }

    fn [aclSetTensorFormat, aclSetTensorStorageFormat, aclSetTensorOriginFormat](
        desc: Out<TensorDesc>, format: i32,
    ) { change(&desc, |desc| desc.format = format) }

    fn [aclSetTensorShape, aclSetTensorStorageShape](
        desc: Out<TensorDesc>, count: i32, shape: In<i64>,
    ) {
        let shape = dims(count, &shape)?;
        change(&desc, |desc| desc.storage = Some(shape))
    }

    fn aclSetTensorOriginShape(desc: Out<TensorDesc>, count: i32, shape: In<i64>) {
        let shape = dims(count, &shape)?;
        change(&desc, |desc| desc.shape = shape)
    }

    fn aclSetTensorPlaceMent(desc: Out<TensorDesc>, memory: i32) {
        change(&desc, |desc| desc.is_on_host = ON_HOST.contains(&memory))
    }

    fn aclSetTensorConst(desc: Out<TensorDesc>, data: In<u8>, length: usize) {
        let data = data.array(length)?;
        change(&desc, |desc| desc.constant = data)
    }
}

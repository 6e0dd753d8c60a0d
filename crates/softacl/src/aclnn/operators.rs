//! The table of operators: both phases of each, and the kernel behind it.
//!
//! A row gives the parameters of the first phase that stand before `workspaceSize`; the kernel gets
//! them in this order. `usize` stands for a tensor or scalar.

use super::{executor, kernels};
use crate::code::Code;
use crate::ffi::{self, Out};

/// Defines the two exported functions of each row.
macro_rules! operators {
    ($(fn $first:ident($($argument:ident: $type:ty),*) => $kernel:path; fn $second:ident;)*) => {$(
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $first(
            $($argument: $type,)*
            workspace: Out<u64>,
            made: Out<usize>,
        ) -> Code {
            ffi::call(stringify!($first), || {
                executor::prepare(stringify!($second), &workspace, &made, |call| {
                    $kernel(call, $($argument),*)
                })
            })
        }

        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $second(
            workspace: usize,
            size: u64,
            made: usize,
            stream: usize,
        ) -> Code {
            ffi::call(stringify!($second), || {
                executor::launch(stringify!($second), workspace, size, made, stream)
            })
        }
    )*};
}

operators! {
    fn aclnnAddGetWorkspaceSize(this: usize, other: usize, alpha: usize, out: usize) => kernels::add;
    fn aclnnAdd;
    fn aclnnInplaceAddGetWorkspaceSize(this: usize, other: usize, alpha: usize) => kernels::add_in_place;
    fn aclnnInplaceAdd;
    fn aclnnAddsGetWorkspaceSize(this: usize, other: usize, alpha: usize, out: usize) => kernels::adds;
    fn aclnnAdds;
    fn aclnnInplaceAddsGetWorkspaceSize(this: usize, other: usize, alpha: usize) => kernels::adds_in_place;
    fn aclnnInplaceAdds;
    fn aclnnMulGetWorkspaceSize(this: usize, other: usize, out: usize) => kernels::mul;
    fn aclnnMul;
    fn aclnnInplaceMulGetWorkspaceSize(this: usize, other: usize) => kernels::mul_in_place;
    fn aclnnInplaceMul;
    fn aclnnMulsGetWorkspaceSize(this: usize, other: usize, out: usize) => kernels::muls;
    fn aclnnMuls;
    fn aclnnInplaceMulsGetWorkspaceSize(this: usize, other: usize) => kernels::muls_in_place;
    fn aclnnInplaceMuls;
    fn aclnnInplaceCopyGetWorkspaceSize(this: usize, source: usize) => kernels::copy_in_place;
    fn aclnnInplaceCopy;
    fn aclnnCastGetWorkspaceSize(this: usize, data_type: i32, out: usize) => kernels::cast;
    fn aclnnCast;
    fn aclnnInplaceZeroGetWorkspaceSize(this: usize) => kernels::zero;
    fn aclnnInplaceZero;
    fn aclnnInplaceOneGetWorkspaceSize(this: usize) => kernels::one;
    fn aclnnInplaceOne;
    fn aclnnInplaceFillScalarGetWorkspaceSize(this: usize, value: usize) => kernels::fill_scalar;
    fn aclnnInplaceFillScalar;
    fn aclnnMatmulGetWorkspaceSize(this: usize, other: usize, out: usize, precision: i8) => kernels::matmul;
    fn aclnnMatmul;
    fn aclnnMmGetWorkspaceSize(this: usize, other: usize, out: usize, precision: i8) => kernels::mm;
    fn aclnnMm;
    fn aclnnReluGetWorkspaceSize(this: usize, out: usize) => kernels::relu;
    fn aclnnRelu;
    fn aclnnInplaceReluGetWorkspaceSize(this: usize) => kernels::relu_in_place;
    fn aclnnInplaceRelu;
    fn aclnnSoftmaxGetWorkspaceSize(this: usize, dimension: i64, out: usize) => kernels::softmax;
    fn aclnnSoftmax;
}

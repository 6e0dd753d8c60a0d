//! The table of operators: both phases of each, and the kernel behind it.
//!
//! A row gives the parameters of the first phase that stand before `workspaceSize`, and what describes
//! the work.

use super::kernels;

/// What parameters are: a tensor that is read, one that is written, one that may be missing, and so on.
pub(crate) type In = usize;
pub(crate) type Written = usize;
pub(crate) type Scalar = usize;

/// Defines the two exported functions of each row.
macro_rules! operators {
    ($($name:ident |$call:ident $(, $argument:ident: $type:ty)*| $kernel:expr;)*) => {$(
        const _: () = {
            // SAFETY: the name is AscendCL's; nothing else in this library defines it.
            #[unsafe(export_name = concat!(stringify!($name), "GetWorkspaceSize"))]
            extern "C" fn first(
                $($argument: $type,)*
                workspace: $crate::ffi::Out<u64>,
                made: $crate::ffi::Out<usize>,
            ) -> $crate::code::Code {
                $crate::aclnn::executor::first(
                    [concat!(stringify!($name), "GetWorkspaceSize"), stringify!($name)],
                    &workspace,
                    &made,
                    &mut |$call| $kernel,
                )
            }

            // SAFETY: the name is AscendCL's; nothing else in this library defines it.
            #[unsafe(export_name = stringify!($name))]
            extern "C" fn second(
                workspace: usize,
                size: u64,
                made: usize,
                stream: usize,
            ) -> $crate::code::Code {
                $crate::aclnn::executor::second(stringify!($name), workspace, size, made, stream)
            }
        };
    )*};
}

operators! {
    aclnnAdd |call, this: In, other: In, alpha: Scalar, out: Written| kernels::add(call, this, other, alpha, out);
    aclnnInplaceAdd |call, this: Written, other: In, alpha: Scalar| kernels::add_in_place(call, this, other, alpha);
    aclnnAdds |call, this: In, other: Scalar, alpha: Scalar, out: Written| kernels::adds(call, this, other, alpha, out);
    aclnnInplaceAdds |call, this: Written, other: Scalar, alpha: Scalar| kernels::adds_in_place(call, this, other, alpha);
    aclnnMul |call, this: In, other: In, out: Written| kernels::mul(call, this, other, out);
    aclnnInplaceMul |call, this: Written, other: In| kernels::mul_in_place(call, this, other);
    aclnnMuls |call, this: In, other: Scalar, out: Written| kernels::muls(call, this, other, out);
    aclnnInplaceMuls |call, this: Written, other: Scalar| kernels::muls_in_place(call, this, other);
    aclnnInplaceCopy |call, this: Written, source: In| kernels::copy_in_place(call, this, source);
    aclnnCast |call, this: In, data_type: i32, out: Written| kernels::cast(call, this, data_type, out);
    aclnnInplaceZero |call, this: Written| kernels::zero(call, this);
    aclnnInplaceOne |call, this: Written| kernels::one(call, this);
    aclnnInplaceFillScalar |call, this: Written, value: Scalar| kernels::fill_scalar(call, this, value);
    aclnnMatmul |call, this: In, other: In, out: Written, precision: i8| kernels::matmul(call, this, other, out, precision);
    aclnnMm |call, this: In, other: In, out: Written, precision: i8| kernels::mm(call, this, other, out, precision);
    aclnnRelu |call, this: In, out: Written| kernels::relu(call, this, out);
    aclnnInplaceRelu |call, this: Written| kernels::relu_in_place(call, this);
    aclnnSoftmax |call, this: In, dimension: i64, out: Written| kernels::softmax(call, this, dimension, out);
}

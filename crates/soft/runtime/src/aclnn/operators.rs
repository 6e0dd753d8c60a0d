//! The operators that every build has: a row names both phases of one, and the kernel behind it.

use softacl_base::operators;
use softacl_base::parameters::{In, Scalar, Written};

use super::kernels;

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

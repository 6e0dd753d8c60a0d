/* Kernels of a chosen length: an operator on so many elements, made once and launched often.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_KERNELS_H
#define TESTS_KERNELS_H

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_relu.h"
#include "program.h"

static inline aclOpExecutor *kernel_of(void *memory, int64_t elements)
{
    aclTensor *tensors[2];
    aclOpExecutor *executor;
    uint64_t size;

    for (int i = 0; i < 2; i++) {
        tensors[i] = aclCreateTensor(&elements, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &elements, 1, memory);
        require(tensors[i] != NULL, "a tensor");
    }
    DO(aclnnReluGetWorkspaceSize(tensors[0], tensors[1], &size, &executor));
    DO(aclSetAclOpExecutorRepeatable(executor));
    return executor;
}

static inline void launch(aclOpExecutor *kernel, aclrtStream stream)
{
    DO(aclnnRelu(NULL, 0, kernel, stream));
}

#endif

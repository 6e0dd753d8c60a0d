/* An executor runs twice, the second time with all of its tensors at other addresses. The operator does not need the bias.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <math.h>

#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

enum { ROWS = 3, COLUMNS = 4, COUNT = ROWS * COLUMNS, TENSORS = 9, BYTES = COUNT * sizeof(float) };

aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(const aclTensor *grad, const aclTensor *x, const aclIntArray *shape,
                                                   const aclTensor *mean, const aclTensor *rstd, const aclTensor *weight,
                                                   const aclTensor *bias, const aclBoolArray *mask, aclTensor *grad_x,
                                                   aclTensor *grad_weight, aclTensor *grad_bias, uint64_t *size,
                                                   aclOpExecutor **executor);
aclnnStatus aclnnLayerNormBackward(void *workspace, uint64_t size, aclOpExecutor *executor, aclrtStream stream);

int main(void)
{
    const int64_t whole[2] = {ROWS, COLUMNS}, rows[2] = {ROWS, 1}, columns[1] = {COLUMNS};
    const bool all[3] = {true, true, true};
    aclIntArray *shape = aclCreateIntArray(columns, 1);
    aclBoolArray *mask = aclCreateBoolArray(all, 3);
    aclTensor *tensors[TENSORS];
    void *memory[2][TENSORS];
    float values[COUNT], sums[COLUMNS];
    aclOpExecutor *executor = NULL;
    aclrtStream stream;
    uint64_t size = 0;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    for (int run = 0; run < 2; run++) {
        for (int at = 0; at < TENSORS; at++) {
            for (int index = 0; index < COUNT; index++) {
                values[index] = (float)(index * (at + 1) % 7 + run);
            }
            DO(aclrtMalloc(&memory[run][at], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
            DO(aclrtMemcpy(memory[run][at], BYTES, values, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }
    /* Gradient, input, mean, deviation, weight and bias; then the gradients of input, weight and bias. */
    for (int at = 0; at < TENSORS; at++) {
        const bool is_whole = at < 2 || at == 6, is_row = at == 2 || at == 3;
        const int64_t *its_shape = is_whole ? whole : is_row ? rows : columns;
        tensors[at] = aclCreateTensor(its_shape, is_whole || is_row ? 2 : 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, its_shape,
                                      is_whole || is_row ? 2 : 1, memory[0][at]);
    }
    DO(aclnnLayerNormBackwardGetWorkspaceSize(tensors[0], tensors[1], shape, tensors[2], tensors[3], tensors[4], tensors[5], mask,
                                              tensors[6], tensors[7], tensors[8], &size, &executor));
    DO(aclSetAclOpExecutorRepeatable(executor));
    for (int run = 0; run < 2; run++) {
        for (int at = 0; at < TENSORS; at++) {
            DO(aclSetTensorAddr(executor, at, tensors[at], memory[run][at]));
        }
        DO(aclnnLayerNormBackward(NULL, 0, executor, stream));
        DO(aclrtSynchronizeStream(stream));
        DO(aclrtMemcpy(values, BYTES, memory[run][0], BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
        DO(aclrtMemcpy(sums, sizeof sums, memory[run][8], sizeof sums, ACL_MEMCPY_DEVICE_TO_HOST));
        for (int column = 0; column < COLUMNS; column++) {
            float sum = 0;
            for (int row = 0; row < ROWS; row++) {
                sum += values[row * COLUMNS + column];
            }
            require(fabsf(sum - sums[column]) < 1e-5f, "the gradient of the bias is the sum of the gradients");
        }
    }
    require(aclSetTensorAddr(executor, TENSORS, tensors[0], memory[0][0]) != 0, "there are no more tensors");
    puts("done");
    return 0;
}

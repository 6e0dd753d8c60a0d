/* Operators on tensors of several types and dimensions; handles of tensors are used again. */
#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_relu.h"

static void *memory;

static aclTensor *tensor(aclDataType type, int rank, const int64_t *dims)
{
    aclTensor *made = aclCreateTensor(dims, (uint64_t)rank, type, NULL, 0, ACL_FORMAT_ND, dims,
                                      (uint64_t)rank, memory);
    require(made != NULL, "a tensor");
    return made;
}

static void destroy(aclTensor *tensors[], int count)
{
    for (int i = 0; i < count; i++) {
        DO(aclDestroyTensor(tensors[i]));
    }
}

int main(void)
{
    const int64_t flat[3] = {2, 3, 4}, matrix[2] = {4, 2};
    float two = 2;
    uint64_t size;
    aclOpExecutor *add, *relu, *cast;
    aclrtStream stream;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemset(memory, 4096, 0, 4096));
    aclScalar *alpha = aclCreateScalar(&two, ACL_FLOAT);
    aclTensor *floats[3], *others[2];

    /* Planned in one order and submitted in another. */
    for (int i = 0; i < 3; i++) {
        floats[i] = tensor(ACL_FLOAT, 2, matrix);
    }
    others[0] = tensor(ACL_FLOAT16, 3, flat);
    others[1] = tensor(ACL_FLOAT16, 3, flat);
    DO(aclnnAddGetWorkspaceSize(floats[0], floats[1], alpha, floats[2], &size, &add));
    require(size == 0, "no workspace");
    DO(aclnnReluGetWorkspaceSize(others[0], others[1], &size, &relu));
    require(size == 0, "no workspace");
    DO(aclnnRelu(NULL, 0, relu, stream));
    DO(aclnnAdd(NULL, 0, add, stream));
    DO(aclrtSynchronizeStream(stream));
    destroy(floats, 3);
    destroy(others, 2);

    /* The allocator gives the same places out again. A number of no dimensions. */
    others[0] = tensor(ACL_INT32, 0, flat);
    others[1] = tensor(ACL_INT64, 0, flat);
    DO(aclnnCastGetWorkspaceSize(others[0], ACL_INT64, others[1], &size, &cast));
    DO(aclnnCast(NULL, 0, cast, stream));
    DO(aclrtSynchronizeStream(stream));
    destroy(others, 2);

    /* One that cannot be made. */
    require(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 2, memory) == NULL,
            "no tensor without dimensions");
    aclIntArray *axes = aclCreateIntArray(flat, 3);
    DO(aclDestroyIntArray(axes));
    DO(aclDestroyScalar(alpha));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}

/* What the programs about operators share. */
#ifndef OPERATORS_H
#define OPERATORS_H

#include "check.h"
#include <aclnn/aclnn_base.h>
#include <opdev/op_errno.h>

static inline void *device_memory(size_t size)
{
    void *memory = NULL;
    OK(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    return memory;
}

/* Device memory with these bytes. */
static inline void *uploaded(const void *bytes, size_t size)
{
    void *memory = device_memory(size);
    OK(aclrtMemcpy(memory, size, bytes, size, ACL_MEMCPY_HOST_TO_DEVICE));
    return memory;
}

static inline void download(void *to, const void *memory, size_t size)
{
    OK(aclrtMemcpy(to, size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST));
}

/* A tensor without gaps. */
static inline aclTensor *tensor_of(aclDataType type, void *data, int rank, const int64_t *shape)
{
    return aclCreateTensor(shape, (uint64_t)rank, type, NULL, 0, ACL_FORMAT_ND, shape,
                           (uint64_t)rank, data);
}

static inline aclTensor *vector_of(aclDataType type, void *data, int64_t length)
{
    return tensor_of(type, data, 1, &length);
}

static inline aclTensor *matrix_of(aclDataType type, void *data, int64_t rows, int64_t columns)
{
    int64_t shape[2] = {rows, columns};
    return tensor_of(type, data, 2, shape);
}

static inline aclScalar *scalar_of(float value)
{
    return aclCreateScalar(&value, ACL_FLOAT);
}

/* Both phases on the default stream, and waits; `made` is a call of the first phase that ends in
 * `&workspace_size, &executor`. */
#define RUN(operator, made)                                                                 \
    do {                                                                                    \
        uint64_t workspace_size = 0;                                                        \
        aclOpExecutor *executor = NULL;                                                     \
        void *workspace = NULL;                                                             \
        OK(made);                                                                           \
        if (workspace_size > 0) {                                                           \
            workspace = device_memory(workspace_size);                                      \
        }                                                                                   \
        OK(operator(workspace, workspace_size, executor, NULL));                            \
        OK(aclrtSynchronizeStream(NULL));                                                   \
        if (workspace) {                                                                    \
            OK(aclrtFree(workspace));                                                       \
        }                                                                                   \
    } while (0)

#endif

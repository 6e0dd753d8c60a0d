/* Calls an operator with other parameters than the one of that name in CANN, from the library that the argument names.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <dlfcn.h>

#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

int main(int argc, char **argv)
{
    const int64_t dims[2] = {4, 2};
    uint64_t size = 7;
    aclOpExecutor *executor = NULL;
    aclrtStream stream;
    void *memory;
    unsigned char byte;

    void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    require(library != NULL, "the library loads");
    aclnnStatus (*plan)(const aclTensor *, int64_t, aclTensor *, int64_t, uint64_t *, aclOpExecutor **);
    aclnnStatus (*run)(void *, uint64_t, aclOpExecutor *, aclrtStream);
    *(void **)&plan = dlsym(library, "aclnnTrilGetWorkspaceSize");
    *(void **)&run = dlsym(library, "aclnnTril");
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, memory);
    for (int round = 0; round < 3; round++) {
        DO(plan(tensor, round, tensor, 5, &size, &executor));
        DO(run(NULL, 0, executor, stream));
        DO(aclrtSynchronizeStream(stream));
        DO(aclrtMemcpy(&byte, 1, memory, 1, ACL_MEMCPY_DEVICE_TO_HOST));
        printf("filled with %d\n", byte);
    }
    printf("refused %d\n", plan(tensor, 0, NULL, 5, &size, &executor));
    DO(aclDestroyTensor(tensor));
    DO(aclrtFree(memory));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}

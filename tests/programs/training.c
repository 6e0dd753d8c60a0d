/* A loop as a training has it: each step copies its input, computes on one stream, reads a result on another, and has
 * a range of its name. Words: steps, elements of an operator, and optionally the step that takes four times as long.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "kernels.h"

__attribute__((weak)) uint64_t mstxRangeStartA(const char *message, aclrtStream stream);
__attribute__((weak)) void mstxRangeEnd(uint64_t id);

enum { OPERATORS = 3, BYTES = 1 << 16 };

static void step(aclOpExecutor *kernel, aclrtStream *streams, aclrtEvent event, void *device, void *host, int times)
{
    DO(aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, streams[0]));
    for (int i = 0; i < OPERATORS * times; i++) {
        launch(kernel, streams[0]);
    }
    DO(aclrtRecordEvent(event, streams[0]));
    DO(aclrtStreamWaitEvent(streams[1], event));
    DO(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, streams[1]));
    DO(aclrtSynchronizeStream(streams[1]));
}

int main(int count, char **words)
{
    int steps = count > 1 ? atoi(words[1]) : 4;
    int64_t elements = count > 2 ? atoll(words[2]) : 1 << 16;
    int slow = count > 3 ? atoi(words[3]) : -1;
    aclrtStream streams[2];
    aclrtEvent event;
    void *device, *host;
    aclOpExecutor *kernel;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&streams[0]));
    DO(aclrtCreateStream(&streams[1]));
    DO(aclrtCreateEvent(&event));
    DO(aclrtMalloc(&device, (size_t)elements * 4 + BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMallocHost(&host, BYTES));
    kernel = kernel_of(device, elements);
    for (int i = 0; i < steps; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %d", i);
        uint64_t range = mstxRangeStartA != NULL ? mstxRangeStartA(name, NULL) : 0;
        step(kernel, streams, event, device, host, i == slow ? 4 : 1);
        if (mstxRangeEnd != NULL) {
            mstxRangeEnd(range);
        }
    }
    DO(aclDestroyAclOpExecutor(kernel));
    DO(aclrtFree(device));
    DO(aclrtFreeHost(host));
    DO(aclrtDestroyEvent(event));
    DO(aclrtDestroyStream(streams[0]));
    DO(aclrtDestroyStream(streams[1]));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}

/* Devices that are reset and set again, contexts that are switched, a runtime that goes down and
 * comes up. */
#include "program.h"

enum { BYTES = 4096 };

static void switch_contexts(void)
{
    aclrtContext contexts[2];
    aclrtContext current;
    aclrtStream streams[2];
    void *buffers[2];

    for (int i = 0; i < 2; i++) {
        DO(aclrtCreateContext(&contexts[i], i));
        DO(aclrtCreateStream(&streams[i]));
        DO(aclrtMalloc(&buffers[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int round = 0; round < 6; round++) {
        int i = round % 2;

        DO(aclrtSetCurrentContext(contexts[i]));
        DO(aclrtMemsetAsync(buffers[i], BYTES, round, BYTES, streams[i]));
        DO(aclrtMemsetAsync(buffers[i], BYTES, round, BYTES, NULL));
        printf("stream of the other context: %d\n",
               aclrtMemsetAsync(buffers[i], BYTES, 0, BYTES, streams[1 - i]));
        /* Waiting is possible from any context. */
        DO(aclrtSynchronizeStream(streams[1 - i]));
        DO(aclrtGetCurrentContext(&current));
        printf("still in context %d: %s\n", i, current == contexts[i] ? "yes" : "no");
    }
    for (int i = 0; i < 2; i++) {
        DO(aclrtSetCurrentContext(contexts[i]));
        DO(aclrtSynchronizeDevice());
        DO(aclrtDestroyStream(streams[i]));
        DO(aclrtFree(buffers[i]));
        DO(aclrtDestroyContext(contexts[i]));
    }
}

int main(void)
{
    for (int life = 0; life < 3; life++) {
        DO(aclInit(NULL));
        for (int round = 0; round < 3; round++) {
            for (int device = 0; device < 2; device++) {
                fill_on_new_stream(device, 2);
                DO(aclrtResetDevice(device));
            }
        }
        switch_contexts();
        DO(aclrtSetDevice(0));
        DO(aclrtSetDevice(0));
        DO(aclrtResetDevice(0));
        DO(aclrtResetDevice(0));
        printf("one too many: %d\n", aclrtResetDevice(0));
        DO(aclFinalize());
    }
    return 0;
}

/* A program with the usual faults: it waits after every step, copies from ordinary memory, comes
 * late with the next step, and makes one stream wait for another without need. */
#include "demo.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20 };

int demo_stall(int rounds) {
    aclrtStream compute, copy;
    aclrtEvent computed;
    int wrong = 0;
    CHECK(aclrtCreateStream(&compute));
    CHECK(aclrtCreateStream(&copy));
    CHECK(aclrtCreateEvent(&computed));
    unsigned char *pageable = malloc(BYTES);
    unsigned char *result = demo_pinned_memory(BYTES);
    void *input = demo_device_memory(BYTES);
    void *output = demo_device_memory(BYTES);
    for (int round = 0; round < rounds && pageable != NULL; round++) {
        memset(pageable, round, BYTES);
        /* Ordinary memory cannot be copied in the background: the call itself waits. */
        CHECK(aclrtMemcpyAsync(input, BYTES, pageable, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, compute));
        CHECK(aclrtMemcpyAsync(output, BYTES, input, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE, compute));
        CHECK(aclrtRecordEvent(computed, compute));
        CHECK(aclrtSynchronizeStream(compute));
        CHECK(aclrtStreamWaitEvent(copy, computed));
        CHECK(aclrtMemcpyAsync(result, BYTES, output, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, copy));
        CHECK(aclrtSynchronizeDevice());
        wrong |= result[0] != (unsigned char)round;
        demo_host_work(500);
    }
    CHECK(aclrtFree(input));
    CHECK(aclrtFree(output));
    CHECK(aclrtFreeHost(result));
    free(pageable);
    CHECK(aclrtDestroyEvent(computed));
    CHECK(aclrtDestroyStream(compute));
    CHECK(aclrtDestroyStream(copy));
    return wrong;
}

/* The host waits for everything that the current context has on its device. */
#include "count.h"

enum { STREAMS = 4, BYTES = 1 << 20 };

int main(void)
{
    aclrtStream streams[STREAMS];
    char *device;

    CALL(aclInit(NULL));
    CALL(aclrtSetDevice(0));
    /* A part for each stream, and one for the default stream. */
    CALL(aclrtMalloc((void **)&device, (STREAMS + 1) * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < STREAMS; i++) {
        CALL(aclrtCreateStream(&streams[i]));
        for (int pass = 0; pass <= i; pass++) {
            TASK(aclrtMemsetAsync(device + i * BYTES, BYTES, pass, BYTES, streams[i]));
        }
    }
    /* The default stream counts as well. */
    TASK(aclrtMemsetAsync(device + STREAMS * BYTES, BYTES, 9, BYTES, NULL));
    CALL(aclrtSynchronizeDevice());
    printf("%d streams are done\n", STREAMS);

    for (int i = 0; i < STREAMS; i++) {
        CALL(aclrtDestroyStream(streams[i]));
    }
    CALL(aclrtFree(device));
    CALL(aclrtResetDevice(0));
    CALL(aclFinalize());
    return report_counts();
}

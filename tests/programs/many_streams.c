/* A pool of streams as frameworks make them: of 32 two have tasks. */
#include "program.h"

enum { STREAMS = 32, USED = 2, TASKS = 8, BYTES = 4096 };

int main(void)
{
    aclrtStream streams[STREAMS];
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtCreateStream(&streams[i]));
    }
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, streams[i % USED]));
    }
    for (int i = 0; i < USED; i++) {
        DO(aclrtSynchronizeStream(streams[i]));
    }
    usleep(20000);
    for (int i = 0; i < STREAMS; i++) {
        DO(aclrtDestroyStream(streams[i]));
    }
    DO(aclrtFree(buffer));
    printf("%d tasks on %d of %d streams\n", TASKS, USED, STREAMS);
    return 0;
}

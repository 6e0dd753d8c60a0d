/* Tasks of two microseconds that all wait in the queue before the first one runs. */
#include <stdatomic.h>

#include "program.h"

enum { TASKS = 400, BYTES = 64 };

static atomic_int is_submitted;

static void hold(void *unused)
{
    (void)unused;
    while (!is_submitted) {
        usleep(100);
    }
}

int main(void)
{
    aclrtStream stream;
    void *memory;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    DO(aclrtLaunchHostFunc(stream, hold, NULL));
    for (int i = 0; i < TASKS; i++) {
        DO(aclrtMemsetAsync(memory, BYTES, i, BYTES, stream));
    }
    is_submitted = 1;
    DO(aclrtSynchronizeStream(stream));
    printf("%d tasks\n", TASKS);
    return 0;
}

/* Host functions run in a thread of the runtime, and may ask it harmless things. */
#include <stdatomic.h>

#include "program.h"

enum { TIMES = 10 };

static atomic_int ran;
static atomic_int wrong;

static void on_host(void *number)
{
    aclrtRunMode mode = ACL_DEVICE;

    wrong += aclrtGetRunMode(&mode) != ACL_SUCCESS || mode != ACL_HOST;
    wrong += ran != (int)(intptr_t)number;
    ran++;
}

int main(void)
{
    aclrtStream stream;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    for (intptr_t i = 0; i < TIMES; i++) {
        DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
        DO(aclrtLaunchHostFunc(stream, on_host, (void *)i));
    }
    DO(aclrtSynchronizeStream(stream));
    printf("%d ran, %d wrong\n", ran, wrong);
    return 0;
}

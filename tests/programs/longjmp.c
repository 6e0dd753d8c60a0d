/* A callback leaves aclrtProcessReport by longjmp; the thread goes on using AscendCL. */
#include <setjmp.h>

#include "program.h"

static jmp_buf outside;
static int jumps;

static void leap(void *unused)
{
    (void)unused;
    jumps++;
    longjmp(outside, 1);
}

int main(void)
{
    aclrtStream stream;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtSubscribeReport((uint64_t)pthread_self(), stream));
    for (volatile int round = 0; round < 3; round++) {
        DO(aclrtLaunchCallback(leap, NULL, ACL_CALLBACK_NO_BLOCK, stream));
        if (setjmp(outside) == 0) {
            aclrtProcessReport(-1);
            printf("it came back\n");
        }
        DO(aclrtMemsetAsync(buffer, 4096, round, 4096, stream));
        DO(aclrtSynchronizeStream(stream));
    }
    printf("%d jumps\n", jumps);
    DO(aclrtUnSubscribeReport((uint64_t)pthread_self(), stream));
    return 0;
}

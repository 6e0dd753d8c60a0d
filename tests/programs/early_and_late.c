/* AscendCL in a constructor, before main, and in an exit handler and a destructor, after it. */
#include "program.h"

static aclrtStream stream;
static void *buffer;

__attribute__((constructor)) static void before_main(void)
{
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
}

static void at_exit(void)
{
    DO(aclrtMemsetAsync(buffer, 4096, 3, 4096, stream));
    DO(aclrtSynchronizeStream(stream));
    printf("the handler is done\n");
}

__attribute__((destructor)) static void after_main(void)
{
    DO(aclrtMemsetAsync(buffer, 4096, 4, 4096, stream));
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtFree(buffer));
    DO(aclrtDestroyStream(stream));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    printf("the destructor is done\n");
    fflush(stdout);
}

int main(void)
{
    atexit(at_exit);
    DO(aclrtMemsetAsync(buffer, 4096, 2, 4096, stream));
    DO(aclrtSynchronizeStream(stream));
    printf("main is done\n");
    return 6;
}

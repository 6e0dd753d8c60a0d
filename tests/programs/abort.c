/* abort, with tasks still on their way. */
#include <sys/resource.h>

#include "program.h"

int main(void)
{
    struct rlimit none = {0, 0};
    aclrtStream stream;
    void *buffer;

    setrlimit(RLIMIT_CORE, &none);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtMemsetAsync(buffer, 4096, 1, 4096, stream));
    printf("aborting\n");
    fflush(stdout);
    abort();
}

/* _exit, with tasks still on their way: no handler of any library runs. */
#include "program.h"

int main(void)
{
    aclrtStream stream;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtCreateStream(&stream));
    DO(aclrtMalloc(&buffer, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < 20; i++) {
        DO(aclrtMemsetAsync(buffer, 1 << 20, i, 1 << 20, stream));
    }
    require(write(STDOUT_FILENO, "leaving\n", 8) == 8, "it can be said");
    _exit(5);
}

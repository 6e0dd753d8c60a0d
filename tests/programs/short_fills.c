/* Fills of a microsecond, so many as the first word says: the host submits them in bursts. */
#include "program.h"

enum { BURST = 500, BYTES = 64 };

int main(int count, char **words)
{
    unsigned long tasks = count > 1 ? strtoul(words[1], NULL, 10) : 1000;
    aclrtStream stream;
    void *memory;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    for (unsigned long i = 0; i < tasks; i++) {
        DO(aclrtMemsetAsync(memory, BYTES, 1, BYTES, stream));
        if (i % BURST == BURST - 1) {
            DO(aclrtSynchronizeStream(stream));
        }
    }
    DO(aclrtSynchronizeStream(stream));
    DO(aclrtDestroyStream(stream));
    DO(aclrtFree(memory));
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}

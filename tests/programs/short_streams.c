/* Makes streams one after another, as many as the first word says: each has a task, and ends before the next one begins. */
#include "program.h"

enum { BYTES = 4096 };

int main(int count, char **words)
{
    int streams = count > 1 ? atoi(words[1]) : 100;
    void *buffer;

    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int i = 0; i < streams; i++) {
        aclrtStream stream;

        DO(aclrtCreateStream(&stream));
        DO(aclrtMemsetAsync(buffer, BYTES, i, BYTES, stream));
        DO(aclrtSynchronizeStream(stream));
        DO(aclrtDestroyStream(stream));
    }
    DO(aclrtFree(buffer));
    printf("%d streams\n", streams);
    return 0;
}

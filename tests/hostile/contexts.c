/* Contexts with a stream and a task are made and destroyed, one after another, and many at a time: what the
 * tracer keeps of each must stay small. Tells how much memory of its own the process has at the end.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

enum { TIMES = 512, BYTES = 256 };

static long own_kilobytes(void)
{
    char line[256];
    long kilobytes = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "RssAnon: %ld kB", &kilobytes) == 1) {
            break;
        }
    }
    if (file) {
        fclose(file);
    }
    return kilobytes;
}

int main(void)
{
    static aclrtContext contexts[TIMES];

    COUNT(aclInit(NULL));
    for (int i = 0; i < TIMES; i++) {
        aclrtStream stream;
        void *buffer;

        COUNT(aclrtCreateContext(&contexts[i], 0));
        COUNT(aclrtCreateStream(&stream));
        COUNT(aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        COUNT(aclrtMemsetAsync(buffer, BYTES, 1, BYTES, stream));
        COUNT(aclrtSynchronizeStream(stream));
        COUNT(aclrtFree(buffer));
        COUNT(aclrtDestroyStream(stream));
    }
    printf("kilobytes %ld\n", own_kilobytes());
    for (int i = 0; i < TIMES; i++) {
        COUNT(aclrtDestroyContext(contexts[i]));
    }
    tell_counts();
    return 0;
}

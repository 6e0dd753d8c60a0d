/* Submits short fills at a given rate, with a synchronisation after 50 of them, and prints how long it took.
 * Arguments: tasks per second, seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

enum { BYTES = 4096, FILLED = 64, BATCH = 50 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words)
{
    long rate = count > 1 ? atol(words[1]) : 10000;
    long seconds = count > 2 ? atol(words[2]) : 20;
    long made = 0, total = rate * seconds;
    double begin = now(), inside = 0;
    aclrtStream stream;
    void *buffer;

    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream)
        || aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST)) {
        return 1;
    }
    while (made < total) {
        double passed = now() - begin;
        long due = passed < seconds ? (long)(passed * rate) : total;
        double before = now();
        struct timespec rest = {0, 1000000};

        while (made < due) {
            aclrtMemsetAsync(buffer, BYTES, 1, FILLED, stream);
            if (++made % BATCH == 0) {
                aclrtSynchronizeStream(stream);
            }
        }
        inside += now() - before;
        nanosleep(&rest, NULL);
    }
    aclrtSynchronizeStream(stream);
    printf("%ld tasks in %.2f s, %.0f ns a task\n", made, now() - begin, inside / made * 1e9);
    return 0;
}

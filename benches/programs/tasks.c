/* Submits tasks to one stream, in batches, and prints two figures: host nanoseconds per submission,
 * and nanoseconds per task from the first submission of a batch to the end of its synchronisation.
 * Arguments: bytes of a task, tasks of a batch, batches, and `events` to record an event before and
 * after each task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"

enum { BYTES = 1 << 20, MOST = 1024 };

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **words)
{
    size_t bytes = count > 1 ? strtoul(words[1], NULL, 10) : 64;
    int tasks = count > 2 ? atoi(words[2]) : 200;
    int batches = count > 3 ? atoi(words[3]) : 50;
    int events = count > 4 && strcmp(words[4], "events") == 0;
    static aclrtEvent before[MOST], after[MOST];
    double submitting = 0, whole = 0, least = 1e18;
    aclrtStream stream;
    void *buffer;

    if (bytes > BYTES || tasks > MOST || aclInit(NULL) || aclrtSetDevice(0)
        || aclrtCreateStream(&stream) || aclrtMalloc(&buffer, BYTES, ACL_MEM_MALLOC_HUGE_FIRST)) {
        return 1;
    }
    for (int i = 0; i < tasks && events; i++) {
        aclrtCreateEventExWithFlag(&before[i], ACL_EVENT_TIME_LINE);
        aclrtCreateEventExWithFlag(&after[i], ACL_EVENT_TIME_LINE);
    }
    for (int batch = 0; batch < batches; batch++) {
        double begin = now(), submitted;

        for (int i = 0; i < tasks; i++) {
            if (events) {
                aclrtRecordEvent(before[i], stream);
            }
            if (aclrtMemsetAsync(buffer, BYTES, 1, bytes, stream) != ACL_SUCCESS) {
                return 1;
            }
            if (events) {
                aclrtRecordEvent(after[i], stream);
            }
        }
        submitted = now();
        if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) {
            return 1;
        }
        submitting = (submitted - begin) / tasks;
        whole += (now() - begin) / tasks / batches;
        least = submitting < least ? submitting : least;
    }
    printf("%.1f %.1f\n", least, whole);
    return 0;
}

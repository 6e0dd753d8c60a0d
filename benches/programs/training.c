/* A training loop as its AscendCL calls see it: two threads, a device and two streams each. A step
 * copies a batch in, lets the computing stream wait for it, runs a few operators with a buffer each,
 * copies the loss out, and at the end of some steps waits for it. Prints the calls it made. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

enum { THREADS = 2, BATCHES = 4, EVENTS = 8, OPERATORS = 8, BUFFERS = 64, BYTES = 64 << 10 };

static int steps;

static void must(aclError code, int line)
{
    if (code != ACL_SUCCESS) {
        fprintf(stderr, "line %d: %d\n", line, (int)code);
        exit(1);
    }
}

#define DO(call) (must((call), __LINE__), made++)

static void *train(void *argument)
{
    int device = (int)(long)argument;
    unsigned random = 1 + (unsigned)device;
    long made = 0;
    aclrtStream copies, work;
    aclrtEvent arrived[EVENTS];
    void *host, *batches[BATCHES], *buffers[BUFFERS], *loss;

    DO(aclrtSetDevice(device));
    DO(aclrtCreateStream(&copies));
    DO(aclrtCreateStream(&work));
    DO(aclrtMallocHost(&host, BYTES));
    DO(aclrtMallocHost(&loss, 64));
    for (int i = 0; i < EVENTS; i++) {
        DO(aclrtCreateEvent(&arrived[i]));
    }
    for (int i = 0; i < BATCHES; i++) {
        DO(aclrtMalloc(&batches[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int i = 0; i < BUFFERS; i++) {
        DO(aclrtMalloc(&buffers[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int step = 0; step < steps; step++) {
        aclrtEvent event = arrived[step % EVENTS];
        void *batch = batches[step % BATCHES];
        DO(aclrtMemcpyAsync(batch, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, copies));
        DO(aclrtRecordEvent(event, copies));
        DO(aclrtStreamWaitEvent(work, event));
        for (int i = 0; i < OPERATORS; i++) {
            random = random * 1664525u + 1013904223u;
            void *out = buffers[random >> 26];
            size_t bytes = 512u << (random >> 8 & 7);
            int32_t current;
            DO(aclrtGetDevice(&current));
            DO(aclrtMemcpyAsync(out, BYTES, batch, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, work));
            batch = out;
        }
        DO(aclrtMemcpyAsync(loss, 64, batch, 64, ACL_MEMCPY_DEVICE_TO_HOST, work));
        if (step % 4 == 3) {
            DO(aclrtSynchronizeStream(work));
        }
    }
    DO(aclrtSynchronizeDevice());
    return (void *)made;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    long made = 0;

    steps = count > 1 ? atoi(words[1]) : 1000;
    must(aclInit(NULL), __LINE__);
    for (long i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, train, (void *)i) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        made += (long)result;
    }
    printf("%ld\n", made);
    return 0;
}

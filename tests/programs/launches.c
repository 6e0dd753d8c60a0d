/* Tasks of several threads on separate streams, in batches with a synchronisation: `launches THREADS BATCHES TASKS`.
 * Prints the nanoseconds of the host that a submission took, and those of a task from the first submission to the last
 * synchronisation, both as the mean of the threads. The first thread is the main one.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <time.h>

#include "program.h"

enum { BYTES = 4096, MOST_THREADS = 64 };

static long batches, tasks;
static pthread_barrier_t all;
static struct figures {
    double submitting, whole;
} of_thread[MOST_THREADS];

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *run(void *figures)
{
    struct figures *own = figures;
    aclrtStream stream;
    void *memory;

    DO(aclrtSetDevice(0));
    DO(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    DO(aclrtCreateStream(&stream));
    pthread_barrier_wait(&all);
    double first = now();
    for (long batch = 0; batch < batches; batch++) {
        double begin = now();
        for (long task = 0; task < tasks; task++) {
            DO(aclrtMemsetAsync(memory, BYTES, 0, 2000, stream));
        }
        own->submitting += now() - begin;
        DO(aclrtSynchronizeStream(stream));
    }
    own->whole = now() - first;
    pthread_barrier_wait(&all);
    DO(aclrtDestroyStream(stream));
    DO(aclrtFree(memory));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[MOST_THREADS];
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    struct figures sum = {0};

    require(argc > 3 && threads > 0 && threads <= MOST_THREADS, "arguments");
    batches = atol(argv[2]);
    tasks = atol(argv[3]);
    DO(aclInit(NULL));
    DO(aclrtSetDevice(0));
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (int i = 1; i < threads; i++) {
        require(!pthread_create(&thread[i], NULL, run, &of_thread[i]), "a thread");
    }
    run(&of_thread[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0) {
            pthread_join(thread[i], NULL);
        }
        sum.submitting += of_thread[i].submitting;
        sum.whole += of_thread[i].whole;
    }
    double count = (double)threads * (double)batches * (double)tasks;
    printf("%.1f %.1f\n", sum.submitting / count, sum.whole / count);
    DO(aclrtResetDevice(0));
    DO(aclFinalize());
    return 0;
}

/* Batches of short kernels, each held back until all of it was submitted. Prints the nanoseconds that a submission took.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../tests/programs/kernels.h"

enum { BYTES = 64, ELEMENTS = 4 };

static atomic_long submitted;

static void hold(void *batch)
{
    while (atomic_load(&submitted) <= (long)batch) {
        usleep(100);
    }
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    long tasks = argc > 1 ? atol(argv[1]) : 400, batches = argc > 2 ? atol(argv[2]) : 20;
    double took = 0;
    aclrtStream stream;
    void *memory;

    if (aclInit(NULL) || aclrtSetDevice(0) || aclrtCreateStream(&stream) ||
        aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST)) {
        return 1;
    }
    aclOpExecutor *kernel = kernel_of(memory, ELEMENTS);
    for (long batch = 0; batch < batches; batch++) {
        aclrtLaunchHostFunc(stream, hold, (void *)batch);
        double begin = now();
        for (long i = 0; i < tasks; i++) {
            launch(kernel, stream);
        }
        took += now() - begin;
        atomic_store(&submitted, batch + 1);
        aclrtSynchronizeStream(stream);
    }
    printf("%.1f\n", took / (double)(tasks * batches));
    return 0;
}

/* Threads that make their first calls at once, in the constructor of a library: before the tracer's own
 * constructor has run, so that one of them joins the recording while the others call.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

enum { THREADS = 16, CALLS = 4 };

static pthread_barrier_t barrier;

/* What the constructor's threads have called. */
unsigned long long early_calls(void) { return atomic_load(&returned); }

static void *calls(void *unused)
{
    int32_t device;

    (void)unused;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < CALLS; i++) {
        COUNT(aclrtGetDevice(&device));
    }
    return NULL;
}

__attribute__((constructor)) static void loaded(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        require(pthread_create(&threads[i], NULL, calls, NULL) == 0, "a thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

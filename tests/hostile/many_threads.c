/* More threads at one time than the recording has channels: calls of those that find none are counted, each
 * once, and nothing else is. Each makes calls that need records of other kinds as well.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

enum { THREADS = 4200, STACK = 64 * 1024 };

static pthread_barrier_t all_begun, all_over;

static void *calls(void *unused)
{
    aclrtEvent event;

    (void)unused;
    COUNT(aclrtCreateEvent(&event));
    pthread_barrier_wait(&all_begun);
    COUNT(aclrtDestroyEvent(event));
    pthread_barrier_wait(&all_over);
    return NULL;
}

int main(void)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;

    COUNT(aclInit(NULL));
    COUNT(aclrtSetDevice(0));
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_barrier_init(&all_begun, NULL, THREADS);
    pthread_barrier_init(&all_over, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], &small, calls, NULL) != 0) {
            /* Nobody lets so many begin. */
            _exit(77);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    tell_counts();
    return 0;
}

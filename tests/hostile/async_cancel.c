/* Threads that may be cancelled at any instruction are, while they call AscendCL: the program goes on, and
 * so does tracing of the other threads.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "counted.h"

static void *calls(void *unused)
{
    int before;

    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    for (;;) {
        int32_t version[3];
        COUNT(aclrtGetVersion(&version[0], &version[1], &version[2]));
    }
    return NULL;
}

int main(void)
{
    enum { THREADS = 50 };
    int32_t major, minor, patch;

    COUNT(aclInit(NULL));
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        unsigned long long before = returned;
        void *result;

        pthread_create(&thread, NULL, calls, NULL);
        while (returned < before + 100) {
        }
        pthread_cancel(thread);
        pthread_join(thread, &result);
        require(result == PTHREAD_CANCELED, "the thread was cancelled");
    }
    for (int i = 0; i < 100; i++) {
        COUNT(aclrtGetVersion(&major, &minor, &patch));
    }
    tell_counts();
    return 0;
}

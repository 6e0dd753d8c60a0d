/* Makes one cheap AscendCL call at a given rate in several threads, and times each call. Prints the number of calls, and the
 * nanoseconds that calls took: in the median, in all but one of ten thousand, and at most.
 * Arguments: threads, calls per second, seconds. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

/* Calls of up to KNOWN * STEP nanoseconds are counted by their time, the others in the last place. */
enum { MOST = 64, KNOWN = 100000, STEP = 10, TURNS_PER_SECOND = 1000 };

static atomic_long calls[KNOWN + 1], longest;
static long rate, seconds;

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void count(long ns)
{
    long place = ns / STEP, before = longest;

    atomic_fetch_add_explicit(&calls[place < KNOWN ? place : KNOWN], 1, memory_order_relaxed);
    while (ns > before && !atomic_compare_exchange_weak(&longest, &before, ns)) {
    }
}

/* Keeps to the rate by sleeping between short runs; one that was held up catches up. */
static void *run(void *nothing)
{
    long begin = now(), made = 0, total = rate * seconds;
    int32_t device;

    if (aclrtSetDevice(0) != ACL_SUCCESS) {
        exit(1);
    }
    while (made < total) {
        double passed = (now() - begin) / 1e9;
        long due = passed < seconds ? (long)(passed * rate) : total;

        for (; made < due; made++) {
            long before = now();
            aclrtGetDevice(&device);
            count(now() - before);
        }
        struct timespec rest = {0, 1000000000 / TURNS_PER_SECOND};
        nanosleep(&rest, NULL);
    }
    return nothing;
}

/* The time that this part of the calls does not exceed. */
static long within(double part, long made)
{
    long seen = 0;

    for (int place = 0; place <= KNOWN; place++) {
        seen += calls[place];
        if (seen >= part * made) {
            return place < KNOWN ? (place + 1L) * STEP : longest;
        }
    }
    return longest;
}

int main(int words, char **word)
{
    pthread_t thread[MOST];
    long made = 0;

    if (words != 4 || aclInit(NULL) != ACL_SUCCESS) {
        fprintf(stderr, "usage: gaps THREADS CALLS_PER_SECOND SECONDS\n");
        return 1;
    }
    int threads = atoi(word[1]);
    if (threads < 1 || threads > MOST) {
        return 1;
    }
    rate = atol(word[2]) / threads;
    seconds = atol(word[3]);
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&thread[i], NULL, run, NULL) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
    }
    for (int place = 0; place <= KNOWN; place++) {
        made += calls[place];
    }
    printf("%ld %ld %ld %ld\n", made, within(0.5, made), within(0.9999, made), (long)longest);
    return 0;
}

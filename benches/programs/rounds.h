/* What a call costs, in nanoseconds: the smallest of several rounds, since the machine may be busy with
 * other things. A round is short and a pause follows, so that what is measured is a call and not how
 * fast a trace can be written. */
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, CALLS = 50000, PAUSE_US = 20000 };

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

#define BEST_OF_ROUNDS(best, call) \
    for (int round = 0; round < ROUNDS; round++) { \
        usleep(PAUSE_US); \
        double begin = now_ns(); \
        for (int i = 0; i < CALLS; i++) { \
            (call); \
        } \
        double cost = (now_ns() - begin) / CALLS; \
        best = cost < best ? cost : best; \
    }

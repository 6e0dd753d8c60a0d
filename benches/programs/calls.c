/* Makes one cheap AscendCL call many times and prints what a call costs, in nanoseconds: the
 * smallest of several rounds, since the machine may be busy with other things. A round is short
 * and a pause follows, so that what is measured is a call and not how fast a trace can be written.
 * Then it prints how many AscendCL calls it has made in all. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"

enum { ROUNDS = 40, CALLS = 50000, PAUSE_US = 20000 };

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(void)
{
    double best = 1e18;
    int device;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        usleep(PAUSE_US);
        double begin = now_ns();
        for (int i = 0; i < CALLS; i++) {
            aclrtGetDevice(&device);
        }
        double cost = (now_ns() - begin) / CALLS;
        best = cost < best ? cost : best;
    }
    aclrtResetDevice(0);
    aclFinalize();
    printf("%.2f %d\n", best, ROUNDS * CALLS + 4);
    return 0;
}

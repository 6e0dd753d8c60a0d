/* Makes one cheap AscendCL call many times and prints what a call costs, in nanoseconds: the
 * smallest of several rounds, since the machine may be busy with other things. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

enum { ROUNDS = 15, CALLS = 200000 };

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
        double begin = now_ns();
        for (int i = 0; i < CALLS; i++) {
            aclrtGetDevice(&device);
        }
        double cost = (now_ns() - begin) / CALLS;
        best = cost < best ? cost : best;
    }
    printf("%.2f\n", best);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}

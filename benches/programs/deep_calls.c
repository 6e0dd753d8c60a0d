/* As calls.c, from a function that others have called: with `main` and what calls it, about ten frames. */
#define _GNU_SOURCE
#include <stdio.h>

#include "acl/acl.h"
#include "rounds.h"

static volatile int sink;

static __attribute__((noinline, noclone)) double deep(int left)
{
    double best = 1e18;
    int device;

    if (left > 0) {
        best = deep(left - 1);
    } else {
        BEST_OF_ROUNDS(best, aclrtGetDevice(&device));
    }
    sink++;
    return best;
}

int main(void)
{
    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    double best = deep(6);
    aclrtResetDevice(0);
    aclFinalize();
    printf("%.2f %d\n", best, ROUNDS * CALLS + 4);
    return 0;
}

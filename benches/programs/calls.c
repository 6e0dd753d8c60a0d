/* Makes one cheap AscendCL call many times and prints what a call costs, in nanoseconds, and how many
 * AscendCL calls it has made in all. */
#define _GNU_SOURCE
#include <stdio.h>

#include "acl/acl.h"
#include "rounds.h"

int main(void)
{
    double best = 1e18;
    int device;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    BEST_OF_ROUNDS(best, aclrtGetDevice(&device));
    aclrtResetDevice(0);
    aclFinalize();
    printf("%.2f %d\n", best, ROUNDS * CALLS + 4);
    return 0;
}

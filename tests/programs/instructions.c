/* Calls one function of the runtime a given number of times: the difference of two runs is the cost of the calls. */
#include <stdint.h>
#include <stdlib.h>

#include "acl/acl.h"

int main(int count, char **words)
{
    long calls = count > 1 ? atol(words[1]) : 0;
    int32_t device;

    if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    for (long i = 0; i < calls; i++) {
        aclrtGetDevice(&device);
    }
    aclrtResetDevice(0);
    return aclFinalize();
}

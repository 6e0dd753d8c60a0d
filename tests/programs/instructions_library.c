/* A runtime that does as little as possible, so that a count of instructions is that of its caller. */
#include "acl/acl.h"

aclError aclInit(const char *path)
{
    (void)path;
    return ACL_SUCCESS;
}

aclError aclFinalize(void)
{
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t device)
{
    (void)device;
    return ACL_SUCCESS;
}

aclError aclrtResetDevice(int32_t device)
{
    (void)device;
    return ACL_SUCCESS;
}

aclError aclrtGetDevice(int32_t *device)
{
    *device = 0;
    return ACL_SUCCESS;
}

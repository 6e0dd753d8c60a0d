/* A function of AscendCL that may be cancelled at any instruction, as the runtime's own may not.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "acl/acl.h"

aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch)
{
    *major = *minor = *patch = 1;
    return ACL_SUCCESS;
}

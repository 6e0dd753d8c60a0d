/* An operator with a well-known name and one parameter more than usual: it fills 256 bytes with a number.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

struct plan { void *memory; int value; };

aclnnStatus aclnnTrilGetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out, int64_t mode,
                                      uint64_t *workspaceSize, aclOpExecutor **executor)
{
    void *memory = NULL;
    if (out == NULL || aclGetRawTensorAddr(out, &memory) != 0) {
        return 161001;
    }
    struct plan *plan = malloc(sizeof *plan);
    plan->memory = memory;
    plan->value = (int)(diagonal + mode) + (self == out);
    *workspaceSize = 0;
    *executor = (aclOpExecutor *)plan;
    return 0;
}

aclnnStatus aclnnTril(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream)
{
    struct plan *plan = (struct plan *)executor;
    (void)workspace;
    (void)workspaceSize;
    aclnnStatus code = aclrtMemsetAsync(plan->memory, 256, plan->value, 256, stream);
    free(plan);
    return code;
}

/* Operators that no table has: each fills 256 bytes with a number that tells of its arguments. */
#include "untyped_operators.h"

struct plan { void *memory; int value; };

aclOpExecutor *own_executor(void *memory)
{
    struct plan *plan = malloc(sizeof *plan);
    plan->memory = memory;
    plan->value = 99;
    return (aclOpExecutor *)plan;
}

static aclnnStatus answer(const aclTensor *out, int value, uint64_t workspace, uint64_t *size,
                          aclOpExecutor **executor)
{
    void *memory = NULL;
    if (out == NULL || aclGetRawTensorAddr(out, &memory) != 0) {
        return 161001;
    }
    struct plan *plan = (struct plan *)own_executor(memory);
    plan->value = value & 0xff;
    *size = workspace;
    *executor = (aclOpExecutor *)plan;
    return 0;
}

static aclnnStatus run(aclOpExecutor *executor, aclrtStream stream)
{
    struct plan *plan = (struct plan *)executor;
    aclnnStatus code = aclrtMemsetAsync(plan->memory, 256, plan->value, 256, stream);
    free(plan);
    return code;
}

aclnnStatus aclnnOwnBlendGetWorkspaceSize(const aclTensor *self, double alpha, const aclTensor *other,
                                          bool exact, aclTensor *out, uint64_t *workspaceSize,
                                          aclOpExecutor **executor)
{
    int value = (self != other) + (int)(alpha * 4) + exact * 64;
    return answer(out, value, 1 << 20, workspaceSize, executor);
}

aclnnStatus aclnnOwnBlend(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                          aclrtStream stream)
{
    return workspace == NULL && workspaceSize > 0 ? 161002 : run(executor, stream);
}

aclnnStatus aclnnOwnWideGetWorkspaceSize(const aclTensor *a, const aclTensor *b, const aclTensor *c,
                                         const aclTensor *d, const aclIntArray *dims, int64_t e,
                                         double f, double g, double h, double i, double j, double k,
                                         double l, double m, double n, double o, bool p, char *q,
                                         const aclTensor *r, const aclScalar *s, aclTensor *out,
                                         uint64_t *workspaceSize, aclOpExecutor **executor)
{
    int value = (a != b) + (c != d) + (dims != NULL) + (int)e + p + *q + (r != NULL) + (s != NULL) +
                (int)(f + g + h + i + j + k + l + m + n + o);
    return answer(out, value, 0, workspaceSize, executor);
}

aclnnStatus aclnnOwnWide(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                         aclrtStream stream)
{
    (void)workspace;
    (void)workspaceSize;
    return run(executor, stream);
}

aclnnStatus aclnnOwnInit(int a, int b, int c, int d, int e)
{
    return a + b + c + d + e;
}

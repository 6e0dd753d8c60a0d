/* Operators that no table has.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_UNTYPED_OPERATORS_H
#define TESTS_UNTYPED_OPERATORS_H

#include "program.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

/* Few arguments, among them numbers of both kinds. */
aclnnStatus aclnnOwnBlendGetWorkspaceSize(const aclTensor *self, double alpha, const aclTensor *other,
                                          bool exact, aclTensor *out, uint64_t *workspaceSize,
                                          aclOpExecutor **executor);
aclnnStatus aclnnOwnBlend(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                          aclrtStream stream);

/* So many that most are on the stack. */
aclnnStatus aclnnOwnWideGetWorkspaceSize(const aclTensor *a, const aclTensor *b, const aclTensor *c,
                                         const aclTensor *d, const aclIntArray *dims, int64_t e,
                                         double f, double g, double h, double i, double j, double k,
                                         double l, double m, double n, double o, bool p, char *q,
                                         const aclTensor *r, const aclScalar *s, aclTensor *out,
                                         uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnOwnWide(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                         aclrtStream stream);

/* No operator: there is no function that plans it. */
aclnnStatus aclnnOwnInit(int a, int b, int c, int d, int e);

/* An executor that no planning function has answered. */
aclOpExecutor *own_executor(void *memory);

#endif

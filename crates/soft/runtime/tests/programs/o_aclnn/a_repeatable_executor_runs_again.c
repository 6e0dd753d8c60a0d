/* A repeatable executor stays until it is destroyed, and its tensors may move. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>

int main(void)
{
    float one[2] = {1, 2}, ten[2] = {10, 20}, got[2] = {0, 0};
    uint64_t size;
    aclOpExecutor *executor, *single;
    void *address = NULL;
    start();
    void *a = uploaded(one, 8), *b = uploaded(ten, 8), *c = uploaded(ten, 8);
    aclTensor *x = vector_of(ACL_FLOAT, NULL, 2), *y = vector_of(ACL_FLOAT, b, 2);
    aclTensor *out = vector_of(ACL_FLOAT, NULL, 2);
    aclScalar *alpha = scalar_of(1);
    OK(aclnnAddGetWorkspaceSize(x, y, alpha, out, &size, &executor));
    OK(aclSetAclOpExecutorRepeatable(executor));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_NULLPTR);
    OK(aclSetTensorAddr(executor, 0, x, a));
    OK(aclSetTensorAddr(executor, 2, out, c));
    for (int i = 0; i < 3; i++) {
        OK(aclnnAdd(NULL, 0, executor, NULL));
    }
    OK(aclrtSynchronizeStream(NULL));
    download(got, c, 8);
    TRUE(got[0] == 11 && got[1] == 22);

    /* What was submitted keeps the addresses it had. */
    struct gate gate = {0, 0};
    OK(aclrtLaunchHostFunc(NULL, wait_at_gate, &gate));
    OK(aclSetInputTensorAddr(executor, 1, y, c));
    OK(aclSetOutputTensorAddr(executor, 0, out, a));
    OK(aclGetRawTensorAddr(out, &address));
    TRUE(address == a);
    OK(aclnnAdd(NULL, 0, executor, NULL));
    OK(aclSetOutputTensorAddr(executor, 0, out, b));
    open_gate(&gate);
    OK(aclrtSynchronizeStream(NULL));
    download(got, a, 8);
    TRUE(got[0] == 12 && got[1] == 24);
    download(got, b, 8);
    TRUE(got[0] == 10 && got[1] == 20);

    EXPECT(aclSetTensorAddr(executor, 3, out, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetInputTensorAddr(executor, 2, x, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetOutputTensorAddr(executor, 1, out, a), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetTensorAddr(NULL, 0, x, a), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclSetTensorAddr(executor, 0, NULL, a), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclSetAclOpExecutorRepeatable(NULL), ACLNN_ERR_INNER_NULLPTR);

    /* Members of lists are reached by their place in the list. */
    const aclTensor *members[2] = {x, y};
    aclTensorList *list = aclCreateTensorList(members, 2);
    OK(aclSetDynamicInputTensorAddr(executor, 0, 1, list, b));
    OK(aclGetRawTensorAddr(y, &address));
    TRUE(address == b);
    EXPECT(aclSetDynamicTensorAddr(executor, 0, 2, list, b), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetDynamicOutputTensorAddr(executor, 0, 0, NULL, b), ACLNN_ERR_INNER_NULLPTR);

    OK(aclDestroyAclOpExecutor(executor));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);

    /* The older names are the same functions; a tensor can also be moved by itself. */
    OK(aclnnAddGetWorkspaceSize(x, y, alpha, out, &size, &single));
    OK(AclSetTensorAddr(single, 0, x, a));
    OK(AclSetInputTensorAddr(single, 1, y, a));
    OK(aclSetRawTensorAddr(out, c));
    OK(aclnnAdd(NULL, 0, single, NULL));
    OK(aclrtSynchronizeStream(NULL));
    download(got, c, 8);
    TRUE(got[0] == 24 && got[1] == 48);
    return finish();
}

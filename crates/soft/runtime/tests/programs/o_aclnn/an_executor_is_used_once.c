/* The second phase uses an executor up, also when it fails. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_mul.h>

static aclTensor *x;
static aclScalar *one;

static aclOpExecutor *made(void)
{
    uint64_t size = 99;
    aclOpExecutor *executor = NULL;
    OK(aclnnAddGetWorkspaceSize(x, x, one, x, &size, &executor));
    EXPECT(size, 0);
    TRUE(executor != NULL);
    return executor;
}

int main(void)
{
    float values[2] = {1, 2};
    start();
    void *data = uploaded(values, sizeof values);
    x = vector_of(ACL_FLOAT, data, 2);
    one = scalar_of(1);
    TRUE(x != NULL && one != NULL);

    aclOpExecutor *executor = made();
    OK(aclnnAdd(NULL, 0, executor, NULL));
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclrtSynchronizeStream(NULL));
    download(values, data, sizeof values);
    TRUE(values[0] == 2 && values[1] == 4);

    EXPECT(aclnnAdd(NULL, 0, NULL, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, (aclOpExecutor *)x, NULL), ACLNN_ERR_PARAM_INVALID);

    /* An executor knows its operator. */
    executor = made();
    EXPECT(aclnnMul(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    OK(aclnnAdd(NULL, 0, executor, NULL));

    executor = made();
    EXPECT(aclnnAdd(NULL, 64, executor, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);

    /* What the runtime refuses is told with its own code, too. */
    executor = made();
    OK(aclrtSynchronizeStream(NULL));
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT(aclnnAdd(NULL, 0, executor, (aclrtStream)0x10), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);

    /* One that is not run is destroyed. */
    executor = made();
    OK(aclDestroyAclOpExecutor(executor));
    EXPECT(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclDestroyAclOpExecutor(NULL), ACLNN_ERR_INNER_NULLPTR);
    EXPECT(aclnnAdd(NULL, 0, executor, NULL), ACLNN_ERR_PARAM_INVALID);
    download(values, data, sizeof values);
    TRUE(values[0] == 4 && values[1] == 8);
    return finish();
}

/* The first phase tells NULL from what is wrong, and hands out nothing then. */
#include "../operators.h"
#include <aclnnop/aclnn_add.h>
#include <aclnnop/aclnn_cast.h>
#include <aclnnop/aclnn_matmul.h>
#include <aclnnop/aclnn_mm.h>
#include <aclnnop/aclnn_softmax.h>

int main(void)
{
    uint64_t size = 77;
    aclOpExecutor *executor = (aclOpExecutor *)&size;
    start();
    char *data = device_memory(4096);
    aclTensor *x = matrix_of(ACL_FLOAT, data, 2, 3);
    aclTensor *y = matrix_of(ACL_FLOAT, data, 3, 2);
    aclTensor *whole = matrix_of(ACL_INT32, data, 2, 3);
    aclTensor *bytes = matrix_of(ACL_UINT16, data, 2, 3);
    aclTensor *square = matrix_of(ACL_FLOAT, data, 2, 2);
    aclScalar *one = scalar_of(1);
    int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, negative[2] = {2, -1};
    aclTensor *deep = tensor_of(ACL_FLOAT, data, 9, shape);
    aclTensor *fractal = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_FRACTAL_NZ,
                                         shape, 2, data);
    TRUE(deep != NULL && bytes != NULL && fractal != NULL);

    EXPECT(aclnnAddGetWorkspaceSize(NULL, x, one, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, NULL, one, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, NULL, x, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, NULL, &size, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, x, NULL, &executor), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, x, &size, NULL), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(aclnnAddGetWorkspaceSize(x, y, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(x, x, one, y, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(x, whole, one, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(bytes, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(deep, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize(fractal, x, one, x, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnAddGetWorkspaceSize((aclTensor *)one, x, one, x, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnCastGetWorkspaceSize(x, ACL_FLOAT16, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnSoftmaxGetWorkspaceSize(x, 2, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnSoftmaxGetWorkspaceSize(whole, 0, whole, &size, &executor),
           ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMmGetWorkspaceSize(x, x, square, 0, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMmGetWorkspaceSize(x, y, square, 9, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(aclnnMatmulGetWorkspaceSize(x, y, x, 0, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    EXPECT(size, 77);
    TRUE(executor == (aclOpExecutor *)&size);

    /* The message says why. */
    aclGetRecentErrMsg();
    EXPECT(aclnnAddGetWorkspaceSize(bytes, x, one, x, &size, &executor), ACLNN_ERR_PARAM_INVALID);
    const char *message = aclGetRecentErrMsg();
    TRUE(message && strstr(message, "aclnnAddGetWorkspaceSize") && strstr(message, "161002"));

    /* A tensor cannot be described by negative numbers or missing arrays. */
    TRUE(aclCreateTensor(negative, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, negative, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, NULL, -1, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, data) == NULL);
    TRUE(aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, NULL, 2, data) == NULL);
    TRUE(aclCreateScalar(NULL, ACL_FLOAT) == NULL);
    TRUE(aclCreateScalar(shape, ACL_STRING) == NULL);
    return finish();
}

/* The second phase looks at where tensors lie. */
#include "../operators.h"
#include <aclnnop/aclnn_one.h>

static int run(aclTensor *tensor)
{
    uint64_t size;
    aclOpExecutor *executor;
    OK(aclnnInplaceOneGetWorkspaceSize(tensor, &size, &executor));
    return aclnnInplaceOne(NULL, size, executor, NULL);
}

int main(void)
{
    float host[4] = {0}, *pinned = NULL;
    start();
    char *data = device_memory(16);
    EXPECT(run(vector_of(ACL_FLOAT, data, 4)), ACLNN_SUCCESS);
    EXPECT(run(vector_of(ACL_FLOAT, data, 5)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, data + 8, 3)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, data + 2, 1)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, host, 4)), ACLNN_ERR_PARAM_INVALID);
    EXPECT(run(vector_of(ACL_FLOAT, NULL, 4)), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT(run(vector_of(ACL_FLOAT, NULL, 0)), ACLNN_SUCCESS);
    OK(aclrtMallocHost((void **)&pinned, 16));
    EXPECT(run(vector_of(ACL_FLOAT, pinned, 4)), ACLNN_SUCCESS);

    /* An offset and strides count, the storage does not. */
    int64_t two = 2, three = 3, none = 0;
    aclTensor *every_third =
        aclCreateTensor(&two, 1, ACL_FLOAT, &three, 1, ACL_FORMAT_ND, &none, 1, data);
    EXPECT(run(every_third), ACLNN_ERR_PARAM_INVALID);
    every_third = aclCreateTensor(&two, 1, ACL_FLOAT, &three, 0, ACL_FORMAT_ND, &none, 1, data);
    OK(aclrtSynchronizeStream(NULL));
    OK(aclrtMemset(data, 16, 0, 16));
    EXPECT(run(every_third), ACLNN_SUCCESS);
    OK(aclrtSynchronizeStream(NULL));
    download(host, data, 16);
    TRUE(host[0] == 1 && host[1] == 0 && host[2] == 0 && host[3] == 1);
    TRUE(pinned[0] == 1 && pinned[3] == 1);
    return finish();
}

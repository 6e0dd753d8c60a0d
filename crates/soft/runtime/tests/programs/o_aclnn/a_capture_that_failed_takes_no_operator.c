/* The operator layer has a code of its own for what the runtime refuses. */
#include "../operators.h"
#include <aclnnop/aclnn_one.h>

int main(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    aclrtStream stream, other;
    aclrtEvent event;
    aclmdlRI model = NULL;
    start();
    float *data = device_memory(16);
    aclTensor *x = vector_of(ACL_FLOAT, data, 4);
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    OK(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    /* Two captures must not touch. */
    OK(aclrtRecordEvent(event, stream));
    TRUE(aclrtStreamWaitEvent(other, event) != ACL_SUCCESS);
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    /* The capture is lost, and only its end says so. */
    OK(aclnnInplaceOne(NULL, 0, executor, stream));
    EXPECT(aclnnInplaceOne(NULL, 0, executor, stream), ACLNN_ERR_PARAM_INVALID);
    TRUE(data[0] == 0);
    TRUE(aclmdlRICaptureEnd(stream, &model) != ACL_SUCCESS);
    TRUE(aclmdlRICaptureEnd(other, &model) != ACL_SUCCESS);
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    EXPECT(aclnnInplaceOne(NULL, 0, executor, x), ACLNN_ERR_RUNTIME_ERROR);
    EXPECT(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_HANDLE);
    OK(aclnnInplaceOneGetWorkspaceSize(x, &size, &executor));
    OK(aclnnInplaceOne(NULL, 0, executor, stream));
    OK(aclrtSynchronizeStream(stream));
    TRUE(data[0] == 1 && data[3] == 1);
    return finish();
}
